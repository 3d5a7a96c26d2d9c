#include "solve/local_search.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "base/memory.h"
#include "solve/limit_watch.h"
#include "solve/local_search_kernel.h"
#include "solve/walk_formula.h"

namespace xlog::solve {

using device::Argument;
using device::Buffer;
using device::KernelHandle;
using device::View;
using kernel::Scalar;

namespace {

using Clock = std::chrono::steady_clock;

// Flips of the first launch. Later ones double them while a launch is short, so that limits are
// looked at often enough. What is found does not depend on it.
constexpr uint32_t kFirstFlips = 1024;
constexpr std::chrono::milliseconds kShortLaunch(25);
// Walks hide the time that memory takes from each other.
constexpr uint32_t kWalksOfGpuUnit = 256;
// Of the device's memory, for all walks.
constexpr double kShareOfMemory = 0.5;

struct Kernels {
  KernelHandle start_values, start_words, start_false_clauses, walk;
};

// How likely a variable is to be flipped, by its breaks: (0.9 + breaks)^-2.06 for clauses of three
// literals, base^-breaks for longer ones, the constants of the paper.
std::vector<uint32_t> weights_for(uint32_t longest) {
  constexpr double kMost = 1 << 20;
  const auto weight = [&](uint32_t breaks) {
    if (longest <= 3) return std::pow(0.9 / (0.9 + breaks), 2.06);
    const double base = longest == 4 ? 2.85 : longest == 5 ? 3.7 : longest == 6 ? 5.0 : 5.4;
    return std::pow(base, -static_cast<double>(breaks));
  };
  std::vector<uint32_t> weights;
  for (uint32_t breaks = 0; breaks < kBreakWeights; ++breaks) {
    weights.push_back(std::max(1u, static_cast<uint32_t>(kMost * weight(breaks))));
  }
  return weights;
}

// The formula and the walks over it in device memory.
class Walks {
 public:
  Walks(device::Device& device, const Kernels& kernels, const WalkFormula& formula, uint64_t seed,
        uint32_t walks)
      : device_(device), kernels_(kernels), formula_(formula), seed_(seed), walks_(walks) {
    // A word holds a variable or a place among the clauses, and the number of true literals.
    shift_ =
        static_cast<uint32_t>(std::bit_width(std::max(formula.variables(), formula.clauses())));
  }

  bool fits_words() const {
    return shift_ + static_cast<uint32_t>(std::bit_width(formula_.longest)) <= 32;
  }
  Status start();
  // The walk that found a model with the fewest flips, or none.
  Result<std::optional<uint32_t>> go_on(uint32_t flips);
  Result<Model> model_of(uint32_t walk);

 private:
  template <typename T>
  Status upload(Buffer& to, const std::vector<T>& numbers) {
    if (Status made = make(to, numbers.size(), sizeof(T)); !made.ok()) return made;
    return numbers.empty() ? Status(Done{})
                           : device_.write({to}, std::as_bytes(std::span(numbers)));
  }
  Status make(Buffer& buffer, uint64_t elements, uint64_t size) {
    Result<Buffer> made = device_.allocate(std::max<uint64_t>(elements, 1) * size);
    if (!made.ok()) return made.error();
    buffer = *made;
    return Done{};
  }

  device::Device& device_;
  const Kernels& kernels_;
  const WalkFormula& formula_;
  const uint64_t seed_;
  const uint32_t walks_;
  uint32_t shift_ = 0;
  uint64_t flips_ = 0;  // that each walk made
  Buffer clause_starts_, literals_, occurrence_starts_, occurrences_, weights_;
  Buffer values_, words_, breaks_, false_clauses_, false_count_, flipped_;
};

Status Walks::start() {
  const uint64_t variables = uint64_t{walks_} * formula_.variables();
  const uint64_t clauses = uint64_t{walks_} * formula_.clauses();
  for (const Status& step :
       {upload(clause_starts_, formula_.clause_starts), upload(literals_, formula_.literals),
        upload(occurrence_starts_, formula_.occurrence_starts),
        upload(occurrences_, formula_.occurrences), upload(weights_, weights_for(formula_.longest)),
        make(values_, variables, 1), make(words_, clauses, 4), make(breaks_, variables, 4),
        make(false_clauses_, clauses, 4), make(false_count_, walks_, 4),
        make(flipped_, walks_, 4)}) {
    if (!step.ok()) return step;
  }
  const Scalar variable_count = Scalar::u32(formula_.variables());
  const Scalar clause_count = Scalar::u32(formula_.clauses());
  const Scalar shift = Scalar::u32(shift_);
  const Argument values[] = {Scalar::u32(static_cast<uint32_t>(variables)), variable_count,
                             Scalar::u64(seed_), View{values_}, View{breaks_}};
  if (Status done = device_.launch(kernels_.start_values, values); !done.ok()) return done;
  const Argument words[] = {Scalar::u32(static_cast<uint32_t>(clauses)),
                            clause_count,
                            variable_count,
                            shift,
                            View{clause_starts_},
                            View{literals_},
                            View{values_},
                            View{words_},
                            View{breaks_}};
  if (Status done = device_.launch(kernels_.start_words, words); !done.ok()) return done;
  const Argument list[] = {Scalar::u32(walks_), clause_count,         shift,
                           View{words_},        View{false_clauses_}, View{false_count_}};
  return device_.launch(kernels_.start_false_clauses, list);
}

Result<std::optional<uint32_t>> Walks::go_on(uint32_t flips) {
  const Argument arguments[] = {Scalar::u32(walks_),
                                Scalar::u32(formula_.clauses()),
                                Scalar::u32(formula_.variables()),
                                Scalar::u32(shift_),
                                Scalar::u64(seed_),
                                Scalar::u64(flips_),
                                Scalar::u32(flips),
                                View{clause_starts_},
                                View{literals_},
                                View{occurrence_starts_},
                                View{occurrences_},
                                View{weights_},
                                View{values_},
                                View{words_},
                                View{breaks_},
                                View{false_clauses_},
                                View{false_count_},
                                View{flipped_}};
  if (Status done = device_.launch(kernels_.walk, arguments); !done.ok()) return done.error();
  flips_ += flips;
  std::vector<uint32_t> false_count(walks_);
  std::vector<uint32_t> flipped(walks_);
  for (const Status& read :
       {device_.read({false_count_}, std::as_writable_bytes(std::span(false_count))),
        device_.read({flipped_}, std::as_writable_bytes(std::span(flipped)))}) {
    if (!read.ok()) return read.error();
  }
  std::optional<uint32_t> first;
  for (uint32_t walk = 0; walk < walks_; ++walk) {
    if (false_count[walk] != 0) continue;
    if (!first || flipped[walk] < flipped[*first]) first = walk;
  }
  return first;
}

Result<Model> Walks::model_of(uint32_t walk) {
  std::vector<uint8_t> values(formula_.variables());
  const View from = {values_, uint64_t{walk} * values.size(), values.size()};
  if (!values.empty()) {
    if (Status read = device_.read(from, std::as_writable_bytes(std::span(values))); !read.ok()) {
      return read.error();
    }
  }
  Model model = formula_.fixed;
  for (size_t v = 0; v < values.size(); ++v) {
    model.set(values[v] != 0 ? formula_.original[v] : -formula_.original[v]);
  }
  return model;
}

class LocalSearch final : public Solver {
 public:
  LocalSearch(device::Device& device, Kernels kernels, const LocalSearchOptions& options)
      : device_(device), kernels_(std::move(kernels)), options_(options) {}

 protected:
  void add_clause(std::span<const Literal>) override {}  // clauses() has it
  Outcome search(const Limits& limits) override;

 private:
  // How many walks there is memory and work for; 0 where not even one fits.
  uint32_t walks_for(const WalkFormula& formula, const Limits& limits) const;

  device::Device& device_;
  const Kernels kernels_;
  const LocalSearchOptions options_;
};

uint32_t LocalSearch::walks_for(const WalkFormula& formula, const Limits& limits) const {
  const device::DeviceInfo& info = device_.info();
  uint64_t walks = options_.walks;
  if (walks == 0) {
    const uint64_t units = std::max(info.compute_units, 1u);
    walks = info.has_groups ? units * kWalksOfGpuUnit : units;
  }
  const uint64_t cells = std::max(formula.clauses(), formula.variables());
  const uint64_t bytes_of_walk =
      8 * uint64_t{formula.clauses()} + 5 * uint64_t{formula.variables()};
  uint64_t memory = info.memory == 0
                        ? UINT64_MAX
                        : static_cast<uint64_t>(static_cast<double>(info.memory) * kShareOfMemory);
  if (limits.memory_bytes && !info.has_groups) {
    const uint64_t used = own_memory() + 8 * formula.literals.size();
    memory = std::min(memory, *limits.memory_bytes - std::min(*limits.memory_bytes, used));
  }
  walks = std::min({walks, UINT32_MAX / cells, memory / bytes_of_walk});
  return static_cast<uint32_t>(walks);
}

Outcome LocalSearch::search(const Limits& limits) {
  LimitWatch watch(limits);
  if (watch.reached()) return watch.outcome();
  const WalkFormula formula = walk_formula(clauses(), assumptions());
  if (formula.contradiction) return Outcome::Unknown;
  if (formula.clauses() == 0) {
    model_ = formula.fixed;
    return Outcome::Sat;
  }
  const uint32_t count = walks_for(formula, limits);
  Walks walks(device_, kernels_, formula, options_.seed, count);
  if (count == 0 || !walks.fits_words()) return Outcome::Unknown;
  // A device that fails has no more to say than one that finds nothing.
  if (!walks.start().ok()) return Outcome::Unknown;
  const uint64_t flips =
      std::min(options_.flips.value_or(UINT64_MAX), limits.conflicts.value_or(UINT64_MAX));
  uint32_t together = kFirstFlips;
  uint64_t made = 0;
  do {
    if (watch.reached()) return watch.outcome();
    const Clock::time_point begin = Clock::now();
    const auto now = static_cast<uint32_t>(std::min<uint64_t>(together, flips - made));
    const Result<std::optional<uint32_t>> found = walks.go_on(now);
    if (!found.ok()) return Outcome::Unknown;
    if (*found) {
      Result<Model> model = walks.model_of(**found);
      if (!model.ok()) return Outcome::Unknown;
      model_ = std::move(*model);
      return Outcome::Sat;
    }
    made += now;
    const bool was_short = Clock::now() - begin < kShortLaunch;
    if (was_short && together <= UINT32_MAX / 2) together *= 2;
  } while (made < flips);
  return Outcome::Unknown;
}

}  // namespace

Result<std::unique_ptr<Solver>> local_search_solver(device::Device& device,
                                                    const LocalSearchOptions& options) {
  kernel::Graph graph;
  Kernels kernels;
  struct Made {
    KernelHandle& kernel;
    kernel::Id (*build)(kernel::Graph&);
  };
  for (const Made& made : {Made{kernels.start_values, &start_values_kernel},
                           Made{kernels.start_words, &start_words_kernel},
                           Made{kernels.start_false_clauses, &start_false_clauses_kernel},
                           Made{kernels.walk, &walk_kernel}}) {
    Result<KernelHandle> handle = device.compile(graph, made.build(graph));
    if (!handle.ok()) return handle.error();
    made.kernel = *handle;
  }
  return std::unique_ptr<Solver>(
      std::make_unique<LocalSearch>(device, std::move(kernels), options));
}

}  // namespace xlog::solve
