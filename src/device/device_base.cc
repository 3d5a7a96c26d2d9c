#include "device/device_base.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "base/memory.h"
#include "device/code_digest.h"
#include "kernel/canonical.h"

namespace xlog::device {

namespace {

uint64_t next_number() {
  static std::atomic<uint64_t> number{0};
  return ++number;
}

Status same_size(std::string_view call, uint64_t view, uint64_t given) {
  if (view == given) return Done{};
  return Error{fmt::format("{}: the view has {} bytes, {} are given", call, view, given), ""};
}

// Names do not change code, but they stand in messages.
std::string with_names(const CacheKey& key, const Signature& signature) {
  std::string text = key.hex() + " " + signature.kernel;
  for (const Parameter& param : signature.params) text += " " + param.name;
  return text;
}

// A target's name, and the abilities that differ from one device to the next.
std::string describe(const kernel::Target& target) {
  return fmt::format("{} {}{}{}{}{}{} {} {}", target.name, target.groups, target.collectives,
                     target.f64, target.fma, target.atomic32, target.atomic64, target.max_group,
                     target.max_local_bytes);
}

}  // namespace

DeviceBase::DeviceBase(const OpenOptions& options)
    : number_(next_number()),
      cache_(CacheOptions{.folder = options.cache_folder}),
      memory_limit_(options.memory_limit) {}

Status DeviceBase::ready(std::string_view call) const {
  if (lost_) return *lost_;
  if (noted_) {
    return Error{fmt::format("{}: not possible inside a sequence, which holds only launches, "
                             "copies and fills",
                             call),
                 "call end_sequence() first"};
  }
  return Done{};
}

Status DeviceBase::limit_allows(uint64_t more) const {
  if (memory_limit_ == 0 || more <= memory_limit_ - use_->allocated) return Done{};
  return Error{fmt::format("the memory limit of {} on {} is reached: {} are in use, {} more were "
                           "asked for",
                           size_text(memory_limit_), info_.name, size_text(use_->allocated),
                           size_text(more)),
               "raise the limit", ErrorKind::MemoryLimit};
}

Result<Buffer> DeviceBase::allocate(uint64_t bytes) {
  if (Status s = ready("allocate"); !s.ok()) return s.error();
  if (Status s = limit_allows(bytes); !s.ok()) return s.error();
  Result<std::shared_ptr<Memory>> memory = allocate_memory(bytes);
  if (!memory.ok()) return memory.error();
  Memory& made = **memory;
  made.bytes = bytes;
  made.id = ++buffers_;
  made.owner = number_;
  made.use = use_;
  use_->allocated += bytes;
  use_->peak = std::max(use_->peak, use_->allocated);
  return Buffer(*memory);
}

Status Device::resize(Buffer& buffer, uint64_t kept, uint64_t bytes) {
  Result<Buffer> made = allocate(bytes);
  if (!made.ok()) return made.error();
  if (kept > 0) {
    if (Status s = copy({*made, 0, kept}, {buffer, 0, kept}); !s.ok()) return s;
  }
  buffer = *made;
  return Done{};
}

Status DeviceBase::resize(Buffer& buffer, uint64_t kept, uint64_t bytes) {
  if (Status s = ready("resize"); !s.ok()) return s;
  if (Result<uint64_t> held = view_bytes({buffer, 0, kept}, number_, "resize"); !held.ok()) {
    return held.error();
  }
  XLOG_CHECK(kept <= bytes, "what is kept has room");
  if (buffer.use_count() > 1) return Device::resize(buffer, kept, bytes);
  const uint64_t before = buffer->bytes;
  if (Status s = limit_allows(bytes - std::min(bytes, before)); !s.ok()) return s;
  if (!resize_memory(*buffer, kept, bytes)) return Device::resize(buffer, kept, bytes);
  buffer->bytes = bytes;
  use_->allocated = use_->allocated - before + bytes;
  use_->peak = std::max(use_->peak, use_->allocated);
  return Done{};
}

Status DeviceBase::write(const View& to, std::span<const std::byte> bytes) {
  if (Status s = ready("write"); !s.ok()) return s;
  View part = to;
  if (part.bytes == UINT64_MAX) part.bytes = bytes.size();
  Result<uint64_t> room = view_bytes(part, number_, "write");
  if (!room.ok()) return room.error();
  if (Status s = same_size("write", *room, bytes.size()); !s.ok()) return s;
  if (bytes.empty()) return Done{};
  counters_.bytes_to_device += bytes.size();
  return write_memory(*to.buffer, to.offset, bytes);
}

Status DeviceBase::read(const View& from, std::span<std::byte> bytes) {
  if (Status s = ready("read"); !s.ok()) return s;
  View part = from;
  if (part.bytes == UINT64_MAX) part.bytes = bytes.size();
  Result<uint64_t> room = view_bytes(part, number_, "read");
  if (!room.ok()) return room.error();
  if (Status s = same_size("read", *room, bytes.size()); !s.ok()) return s;
  if (bytes.empty()) return Done{};
  counters_.bytes_from_device += bytes.size();
  ++counters_.waits;
  return read_memory(*from.buffer, from.offset, bytes);
}

Status DeviceBase::copy(const View& to, const View& from) {
  if (lost_) return *lost_;
  Result<uint64_t> room = view_bytes(to, number_, "copy, target");
  if (!room.ok()) return room.error();
  Result<uint64_t> bytes = view_bytes(from, number_, "copy, source");
  if (!bytes.ok()) return bytes.error();
  if (Status s = same_size("copy", *room, *bytes); !s.ok()) return s;
  if (to.buffer == from.buffer && to.offset < from.offset + *bytes &&
      from.offset < to.offset + *bytes) {
    return Error{"copy: source and target overlap", "copy through another buffer"};
  }
  if (*bytes == 0) return Done{};
  Step step = CopyStep{to, from, *bytes};
  if (noted_) {
    noted_->push_back(std::move(step));
    return Done{};
  }
  count({&step, 1});
  return run_steps({&step, 1});
}

Status DeviceBase::fill(const View& to, std::byte value) {
  if (lost_) return *lost_;
  Result<uint64_t> bytes = view_bytes(to, number_, "fill");
  if (!bytes.ok()) return bytes.error();
  if (*bytes == 0) return Done{};
  Step step = FillStep{to, *bytes, value};
  if (noted_) {
    noted_->push_back(std::move(step));
    return Done{};
  }
  return run_steps({&step, 1});
}

Result<KernelHandle> DeviceBase::compile(kernel::Graph& graph, kernel::Id kernel) {
  if (Status s = ready("compile"); !s.ok()) return s.error();
  Result<std::string> made_by = compiler();
  if (!made_by.ok()) return made_by.error();
  CacheKey key = key_of(kernel::canonical_bytes(graph, kernel), info_.target, *made_by);
  Signature signature = signature_of(graph, kernel);
  KernelHandle& known = kernels_[with_names(key, signature)];
  if (known != nullptr) return known;

  CodeHandle code;
  if (auto found = codes_.find(key); found != codes_.end()) {
    std::tie(code, signature.hidden) = found->second;
  } else {
    Result<CodeHandle> made = make_code(graph, kernel, key, signature);
    if (!made.ok()) return made.error();
    code = *made;
    codes_.emplace(key, std::pair(code, signature.hidden));
  }
  auto compiled = std::make_shared<CompiledKernel>();
  compiled->name = signature.kernel;
  compiled->key = key.hex();
  compiled->signature = std::move(signature);
  compiled->code = std::move(code);
  compiled->owner = number_;
  known = compiled;
  return known;
}

CacheKey DeviceBase::key_of(std::string_view canonical_bytes, const kernel::Target* target,
                            std::string_view compiler) const {
  return cache_key(
      {canonical_bytes, target == nullptr ? info_.name : describe(*target), kCodeDigest, compiler});
}

CodeHandle DeviceBase::stored_code(const CacheKey& key, Signature& signature,
                                   const LoadCode& load) {
  std::optional<std::string> entry = cache_.load(key);
  if (!entry) return nullptr;
  std::string_view rest = *entry;
  if (auto hidden = decode_hidden(rest)) {
    Result<CodeHandle> code = load(std::string(rest));
    if (code.ok()) {
      signature.hidden = *hidden;
      ++counters_.cached;
      return *code;
    }
  }
  cache_.remove(key);
  return nullptr;
}

Result<CodeHandle> DeviceBase::cached_code(
    kernel::Graph& graph, kernel::Id kernel, const kernel::Target& target, const CacheKey& key,
    Signature& signature, const std::function<Result<std::string>(const kernel::Lowered&)>& build,
    const LoadCode& load) {
  if (CodeHandle stored = stored_code(key, signature, load)) return stored;
  Result<kernel::Lowered> lowered = kernel::lower(graph, kernel, target);
  if (!lowered.ok()) return lowered.error();
  signature.hidden = lowered->hidden;
  Result<std::string> bytes = build(*lowered);
  if (!bytes.ok()) return bytes.error();
  ++counters_.compiled;
  Result<CodeHandle> code = load(*bytes);
  if (code.ok()) cache_.store(key, encode(signature.hidden) + *bytes);
  return code;
}

Status DeviceBase::launch(const KernelHandle& kernel, std::span<const Argument> arguments) {
  if (lost_) return *lost_;
  auto compiled = std::dynamic_pointer_cast<const CompiledKernel>(kernel);
  if (compiled == nullptr || compiled->owner != number_) {
    return Error{fmt::format("kernel {} was not compiled by this device ({})",
                             kernel == nullptr ? "(none)" : kernel->name, info_.name),
                 ""};
  }
  Result<BoundLaunch> bound = bind(compiled->signature, arguments, number_);
  if (!bound.ok()) return bound.error();
  if (noted_) {
    noted_->push_back(LaunchStep{std::move(compiled),
                                 std::vector<Argument>(arguments.begin(), arguments.end()),
                                 std::move(*bound)});
    return Done{};
  }
  ++counters_.launches;
  counters_.instances += bound->instances;
  if (bound->instances == 0) return Done{};
  return launch_code(*compiled->code, compiled->signature, *bound);
}

Status DeviceBase::wait() {
  if (Status s = ready("wait"); !s.ok()) return s;
  ++counters_.waits;
  return wait_for_all();
}

Result<std::optional<CheckFailure>> DeviceBase::checks() {
  if (Status s = ready("checks"); !s.ok()) return s.error();
  ++counters_.waits;
  Result<StatusWords> words = take_status();
  if (!words.ok()) return words.error();
  for (uint32_t code = 0; code < kernel::kCheckCodes; ++code) {
    if ((*words)[code] != UINT32_MAX) return std::optional(CheckFailure{code, (*words)[code]});
  }
  return std::optional<CheckFailure>();
}

Status DeviceBase::begin_sequence() {
  if (Status s = ready("begin_sequence"); !s.ok()) return s;
  noted_.emplace();
  return Done{};
}

Result<SequenceHandle> DeviceBase::end_sequence() {
  if (lost_) return *lost_;
  if (!noted_) return Error{"end_sequence: no sequence was begun", ""};
  std::vector<Step> steps = std::move(*noted_);
  noted_.reset();
  Result<std::shared_ptr<StepSequence>> made = make_sequence(std::move(steps));
  if (!made.ok()) return made.error();
  (*made)->owner = number_;
  return SequenceHandle(*made);
}

Result<std::shared_ptr<StepSequence>> DeviceBase::make_sequence(std::vector<Step> steps) {
  auto sequence = std::make_shared<StepSequence>();
  sequence->steps = std::move(steps);
  return sequence;
}

Status DeviceBase::run(const SequenceHandle& sequence) {
  if (Status s = ready("run"); !s.ok()) return s;
  const auto* steps = dynamic_cast<const StepSequence*>(sequence.get());
  if (steps == nullptr || steps->owner != number_) {
    return Error{fmt::format("run: the sequence was not made by this device ({})", info_.name), ""};
  }
  count(steps->steps);
  return run_sequence(*steps);
}

void DeviceBase::count(std::span<const Step> steps) {
  for (const Step& step : steps) {
    if (const auto* launched = std::get_if<LaunchStep>(&step)) {
      ++counters_.launches;
      counters_.instances += launched->bound.instances;
    } else if (const auto* copied = std::get_if<CopyStep>(&step)) {
      counters_.bytes_on_device += copied->bytes;
    }
  }
}

Status DeviceBase::run_steps(std::span<const Step> steps) {
  for (const Step& step : steps) {
    Status done = Done{};
    if (const auto* launched = std::get_if<LaunchStep>(&step)) {
      if (launched->bound.instances == 0) continue;
      done = launch_code(*launched->kernel->code, launched->kernel->signature, launched->bound);
    } else if (const auto* copied = std::get_if<CopyStep>(&step)) {
      done = copy_memory(*copied->to.buffer, copied->to.offset, *copied->from.buffer,
                         copied->from.offset, copied->bytes);
    } else {
      const auto& filled = std::get<FillStep>(step);
      done = fill_memory(*filled.to.buffer, filled.to.offset, filled.bytes, filled.value);
    }
    if (!done.ok()) return done;
  }
  return Done{};
}

Counters DeviceBase::counters() const {
  Counters all = counters_;
  all.allocated = use_->allocated;
  all.peak = use_->peak;
  return all;
}

}  // namespace xlog::device
