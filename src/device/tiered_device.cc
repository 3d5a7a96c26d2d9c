// The cpu: a kernel begins in the chunked interpreter, which needs no compiler, and climbs to
// machine code once its work has cost as much as a compiler would. So a program of many small
// kernels starts at once and never opens LLVM, and large work loses at most about as much time as
// it would have spent with the compiler anyway.
//
// Work is what the interpreter counts, and not measured time: the same calls climb at the same
// places, however busy the machine is. It is looked at between launches, and inside a launch of a
// kernel with loops between parts of it, always on the thread that calls: a kernel changes its tier
// while nobody runs it.
//
// What the disk cache holds as machine code is never interpreted, nor lowered: a program that ran
// before starts with what it needs. What it does not hold is noted with its work when the device
// goes (work_notes.h), so that small kernels that come again in every run climb in the end.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "device/host_code.h"
#include "device/llvm_compile.h"
#include "device/work_estimate.h"
#include "device/work_notes.h"
#include "kernel/canonical.h"
#include "kernel/text.h"

namespace xlog::device {

namespace {

using render::ChunkedKernel;

// What things cost, in units of interpreted work: a step takes some 0.1 to 0.2 ns a lane.
constexpr double kMillisecond = 6e6;
constexpr double kOpenCost = 25 * kMillisecond;      // LLVM, for the first kernel that climbs
constexpr double kCompileCost = 10 * kMillisecond;   // 5 to 15 for most kernels
constexpr double kPrepareCost = 0.3 * kMillisecond;  // lowering for the interpreter
// Who came in earlier runs will come in later ones: work that is noted counts for more than work of
// today.
constexpr double kEarlierCounts = 8;
// What a run may spend at most on kernels that are worth it only for later runs.
constexpr double kMostForLater = 100 * kMillisecond;
// Notes about less are not worth a file.
constexpr double kNoteworthy = 1 * kMillisecond;
// Instances of the first part of a launch whose loops nobody knows the length of; each next part is
// as large as all before.
constexpr uint32_t kFirstPart = 1024;

constexpr std::string_view kSoftware =
    "interpreter over chunks of instances, machine code through LLVM for kernels with much work";

// A kernel on its way. Only the thread that calls the device touches what is mutable.
class TieredCode : public Code {
 public:
  TieredCode(std::string canonical_text, std::string canonical_bytes, Signature of,
             WorkEstimate estimated)
      : text(std::move(canonical_text)),
        bytes(std::move(canonical_bytes)),
        signature(std::move(of)),
        estimate(std::move(estimated)) {}

  const std::string text;   // the caller's graph may go
  const std::string bytes;  // of which keys are made
  const Signature signature;
  const WorkEstimate estimate;
  std::shared_ptr<const InterpretedCode> interpreted;  // nullptr: it cannot run there
  mutable CodeHandle native;                           // nullptr: not yet
  mutable double work = 0;                             // interpreted, as if by one thread
  double earlier = 0;                                  // of other runs, as it counts
  mutable bool stays = false;                          // there will be no machine code
};

class TieredDevice : public HostDevice {
 public:
  explicit TieredDevice(const OpenOptions& options)
      : HostDevice("cpu", std::string(kSoftware), &render::kChunked, options) {}
  ~TieredDevice() override { note_work(); }

 protected:
  // Of the handles alone: the key on disk holds LLVM's version too.
  Result<std::string> compiler() override { return std::string("tiers"); }

  Result<CodeHandle> make_code(kernel::Graph& graph, kernel::Id kernel, const CacheKey&,
                               Signature& signature) override {
    if (!looked_) version_ = host_version_without_llvm().value_or("");
    looked_ = true;
    std::string bytes = kernel::canonical_bytes(graph, kernel);
    if (!version_.empty()) {
      if (CodeHandle stored = stored_code(native_key(bytes), signature, load_)) return stored;
    }
    // The interpreter's target takes all that LLVM's takes, and larger arrays.
    Result<kernel::Lowered> lowered = kernel::lower(graph, kernel, *info_.target);
    if (!lowered.ok()) return lowered.error();
    signature.hidden = lowered->hidden;
    auto code =
        std::make_shared<TieredCode>(kernel::print_canonical(graph, kernel), std::move(bytes),
                                     signature, WorkEstimate(graph, *lowered));
    Result<ChunkedKernel> chunked = ChunkedKernel::compile(graph, *lowered);
    if (chunked.ok()) {
      code->interpreted = std::make_shared<InterpretedCode>(std::move(*chunked));
      if (!version_.empty()) {
        code->earlier = kEarlierCounts * notes().work_of(native_key(code->bytes));
        work_ += code->earlier;
      }
      interpreted_.push_back(code);
      return CodeHandle(code);
    }
    if (Status s = find_version(); !s.ok()) {
      return Error{fmt::format("{}, and {}", chunked.error().message, s.error().message),
                   s.error().help};
    }
    if (Status s = climb(*code); !s.ok()) return s.error();
    return CodeHandle(code);
  }

  Status launch_code(const Code& code, const Signature& signature,
                     const BoundLaunch& launch) override {
    const Arguments arguments = arguments_of(launch);
    const auto* tiered = dynamic_cast<const TieredCode*>(&code);
    uint32_t done = 0;
    if (tiered != nullptr && tiered->native == nullptr) {
      done = interpret(*tiered, signature, launch, arguments);
    }
    if (done == launch.instances) return Done{};
    run_part(static_cast<const HostCode&>(tiered != nullptr ? *tiered->native : code), signature,
             launch, arguments, done, launch.instances);
    return Done{};
  }

 private:
  // Runs instances until the launch ends or the kernel climbs; gives how many.
  uint32_t interpret(const TieredCode& code, const Signature& signature, const BoundLaunch& launch,
                     const Arguments& arguments) {
    const double threads = threads_for(signature, launch);
    const double instances = launch.instances;
    const double chunks = std::ceil(instances / render::chunked::kLanes);
    const double steps = code.estimate.nodes(launch);
    consider(code, steps * (chunks * ChunkedKernel::kStepWork + instances) / threads);
    uint32_t done = 0;
    double here = 0;
    while (done < launch.instances && code.native == nullptr) {
      const uint32_t left = launch.instances - done;
      const bool in_parts = signature.loops && !code.stays;
      const uint32_t part = in_parts ? std::min(left, std::max(kFirstPart, done)) : left;
      const uint64_t before = code.interpreted->work();
      run_part(*code.interpreted, signature, launch, arguments, done, done + part);
      const double work = static_cast<double>(code.interpreted->work() - before) / threads;
      code.work += work;
      work_ += work;
      here += work;
      done += part;
      if (done < launch.instances) consider(code, here / done * (launch.instances - done));
    }
    return done;
  }

  // Whether a kernel with this much work ahead is better off as machine code, and makes it.
  void consider(const TieredCode& code, double ahead) {
    if (code.stays || code.native != nullptr) return;
    const double due = code.work + ahead;
    const bool for_later = due < kCompileCost;
    if (due + code.earlier < kCompileCost) return;
    if (for_later && for_later_ + kCompileCost > kMostForLater) return;
    if (!has_compiled_ && work_ + ahead < kOpenCost) return;
    if (for_later) for_later_ += kCompileCost + (has_compiled_ ? 0 : kOpenCost);
    // What LLVM does not take (arrays that its stack cannot hold) stays where it runs.
    code.stays = !find_version().ok() || !climb(code).ok();
  }

  Status find_version() {
    if (!version_.empty()) return Done{};
    if (problem_) return *problem_;
    Result<std::string> found = llvm_compiler().version();
    if (!found.ok()) {
      problem_ = found.error();
      info_.software = fmt::format("{}; there is none: {}", kSoftware, found.error().message);
      return *problem_;
    }
    version_ = *found;
    return Done{};
  }

  Status climb(const TieredCode& code) {
    has_compiled_ = true;
    kernel::Graph graph;
    Result<std::vector<kernel::Id>> read = kernel::parse(graph, code.text, code.signature.kernel);
    XLOG_CHECK(read.ok() && read->size() == 1, "a printed kernel is read back");
    Signature made;
    Result<CodeHandle> native = cached_code(
        graph, read->front(), llvm_compiler().target(), native_key(code.bytes), made,
        [&](const kernel::Lowered& lowered) { return llvm_compiler().build(graph, lowered); },
        load_);
    if (!native.ok()) return native.error();
    expect_same_parameters(code, made);
    code.native = *native;
    return Done{};
  }

  // The one that the device `native` has for it.
  CacheKey native_key(std::string_view bytes) const {
    return key_of(bytes, &llvm_compiler().target(), version_);
  }

  // Of all kernels of this machine and version: one entry of the cache.
  CacheKey notes_key() const { return key_of("work", nullptr, version_); }
  const WorkNotes& notes() {
    if (!notes_) notes_.emplace(cache_.load(notes_key()).value_or(""));
    return *notes_;
  }

  void note_work() {
    if (version_.empty() || problem_) return;
    double all = 0;
    for (const auto& code : interpreted_) {
      if (code->native == nullptr) all += code->work + kPrepareCost;
    }
    if (all < kNoteworthy) return;
    // Others may have noted something since.
    WorkNotes notes(cache_.load(notes_key()).value_or(""));
    for (const auto& code : interpreted_) {
      if (code->native != nullptr || code->stays) continue;
      notes.add(native_key(code->bytes), code->work + kPrepareCost);
    }
    cache_.store(notes_key(), notes.bytes());
  }

  // Sequences hold launches that were bound before the kernel climbed.
  static void expect_same_parameters(const TieredCode& code, const Signature& native) {
    XLOG_CHECK(encode(native.hidden) == encode(code.signature.hidden),
               "a kernel has the same hidden parameters in each tier");
  }

  const LoadCode load_ = [](const std::string& object) {
    return llvm_compiler().load_bytes(object);
  };
  bool has_compiled_ = false;     // so that LLVM is open
  bool looked_ = false;           // for its version without opening it
  std::string version_;           // of LLVM; "": not known yet
  std::optional<Error> problem_;  // why there is none
  double work_ = 0;               // interpreted, of all kernels, and what earlier work counts
  double for_later_ = 0;          // spent on kernels that this run would not have compiled
  std::optional<WorkNotes> notes_;
  std::vector<std::shared_ptr<const TieredCode>> interpreted_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(const OpenOptions& options) {
  switch (options.tier) {
    case Tier::Interpreted:
      return make_interp_device(options);
    case Tier::Native:
      return make_native_device(options);
    case Tier::Auto:
      break;
  }
  return std::make_unique<TieredDevice>(options);
}

}  // namespace xlog::device
