#include "solve/small_formula.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "solve/batch.h"
#include "solve/limit_watch.h"

namespace xlog::solve {
namespace {

// A question that is not answered after so many looks at all clauses is split.
constexpr uint32_t kPasses = 1 << 14;
constexpr uint32_t kSplitVariables = 4;  // into 2^4 cubes
// Questions of a batch: enough for all lanes, few enough for a look at the limits now and then.
constexpr uint32_t kQuestionsOfCore = 16;
constexpr uint32_t kQuestionsOfGpuUnit = 256;

template <typename Mask>
class Cubes {
 public:
  Cubes(device::Device& device, const Cnf& cnf, bool count, const Limits& limits)
      : device_(device), cnf_(cnf), count_(count), watch_(limits), solver_(device) {
    formulas_.add(cnf);
    order_variables();
  }

  Result<SmallAnswer> run(std::span<const Literal> assumptions) {
    Cube all;
    for (const Literal literal : assumptions) (literal > 0 ? all.holds : all.fails) |= bit(literal);
    if ((all.holds & all.fails) != 0) return SmallAnswer{Outcome::Unsat, {}, 0};
    if (formulas_.lengths()[0] == 0) return free_answer(all);
    Result<DeviceFormulas> there = solver_.upload(formulas_);
    if (!there.ok()) return there.error();
    there_ = *there;
    split(all);
    while (!open_.empty()) {
      if (watch_.reached()) {
        answer_.outcome = watch_.outcome();
        return answer_;
      }
      if (Status done = decide_some(); !done.ok()) return done.error();
      if (found_ && !count_) break;
    }
    answer_.outcome = found_ ? Outcome::Sat : Outcome::Unsat;
    return answer_;
  }

 private:
  struct Cube {
    Mask holds = 0, fails = 0;
    uint32_t depth = 0;  // so many variables of order_ are decided
  };

  static Mask bit(Literal literal) { return Mask{1} << (variable_of(literal) - 1); }

  // Those of most clauses first: both sides of a split are smaller then.
  void order_variables() {
    order_.resize(static_cast<size_t>(cnf_.variables()));
    std::iota(order_.begin(), order_.end(), 1);
    std::vector<size_t> occurrences(order_.size() + 1);
    for (size_t i = 0; i < cnf_.size(); ++i) {
      for (const Literal literal : cnf_[i])
        ++occurrences[static_cast<size_t>(variable_of(literal))];
    }
    std::ranges::stable_sort(order_, std::greater<>(),
                             [&](int32_t v) { return occurrences[static_cast<size_t>(v)]; });
  }

  // Nothing but the assumptions is said.
  SmallAnswer free_answer(const Cube& all) {
    take_model(all.holds);
    answer_.outcome = Outcome::Sat;
    const int open = cnf_.variables() - std::popcount(all.holds) - std::popcount(all.fails);
    if (count_) answer_.models = mpz_class(1) << static_cast<unsigned>(open);
    return answer_;
  }

  void split(const Cube& cube) {
    std::vector<Cube> parts = {cube};
    for (uint32_t splits = 0; splits < kSplitVariables && parts[0].depth < order_.size();) {
      const Mask variable = bit(order_[parts[0].depth]);
      const bool decided = ((cube.holds | cube.fails) & variable) != 0;
      std::vector<Cube> next;
      for (Cube& part : parts) {
        ++part.depth;
        if (decided) {
          next.push_back(part);
          continue;
        }
        next.push_back({part.holds | variable, part.fails, part.depth});
        next.push_back({part.holds, part.fails | variable, part.depth});
      }
      parts = std::move(next);
      if (!decided) ++splits;
    }
    open_.insert(open_.end(), parts.begin(), parts.end());
  }

  // The cubes that came last, so that few are open at a time.
  Status decide_some() {
    const device::DeviceInfo& info = device_.info();
    const size_t most = size_t{std::max(info.compute_units, 1u)} *
                        (info.has_groups ? kQuestionsOfGpuUnit : kQuestionsOfCore);
    const size_t n = std::min(most, open_.size());
    const std::vector<Cube> asked(open_.end() - static_cast<ptrdiff_t>(n), open_.end());
    open_.resize(open_.size() - n);
    Questions<Mask> questions;
    for (const Cube& cube : asked) questions.add(0, cube.holds, cube.fails);
    Result<DeviceQuestions> uploaded = solver_.upload(questions);
    if (!uploaded.ok()) return uploaded.error();
    BatchOptions options;
    options.counts = count_;
    options.passes = kPasses;
    Result<DeviceAnswers> there = solver_.solve(there_, &*uploaded, options);
    if (!there.ok()) return there.error();
    Result<BatchAnswers<Mask>> answers = solver_.download(*there);
    if (!answers.ok()) return answers.error();
    for (size_t i = 0; i < n; ++i) {
      const Outcome outcome = answers->outcome(i);
      if (outcome == Outcome::Unknown) split(asked[i]);
      if (outcome != Outcome::Sat) continue;
      if (!found_) take_model(answers->models[i]);
      // Some clause takes models away, so that the count is less than 2^64.
      if (count_) answer_.models += mpz_class(answers->counts[i]);
    }
    return Done{};
  }

  void take_model(Mask holds) {
    found_ = true;
    answer_.model = Model(cnf_.variables());
    for (Literal v = 1; v <= cnf_.variables(); ++v) {
      if ((holds & bit(v)) != 0) answer_.model.set(v);
    }
    XLOG_CHECK(answer_.model.satisfies(cnf_), "a model satisfies the clauses");
  }

  device::Device& device_;
  const Cnf& cnf_;
  const bool count_;
  LimitWatch watch_;
  BatchSolver<Mask> solver_;
  SmallFormulas<Mask> formulas_;
  DeviceFormulas there_;
  std::vector<int32_t> order_;  // variables
  std::vector<Cube> open_;
  bool found_ = false;
  SmallAnswer answer_;
};

}  // namespace

Result<SmallAnswer> decide_small(device::Device& device, const Cnf& cnf,
                                 std::span<const Literal> assumptions, bool count,
                                 const Limits& limits) {
  XLOG_CHECK(cnf.variables() <= kMostSmallVariables, "a small formula has at most 64 variables");
  if (cnf.variables() <= 32) return Cubes<uint32_t>(device, cnf, count, limits).run(assumptions);
  return Cubes<uint64_t>(device, cnf, count, limits).run(assumptions);
}

}  // namespace xlog::solve
