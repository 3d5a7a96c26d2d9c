#include "solve/core_guided.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::solve {
namespace {

constexpr uint64_t kProbeSteps = 20'000'000;    // of propagation, for the exclusions
constexpr uint64_t kPolishConflicts = 100;      // for each literal that the first model violates
constexpr int kPolishCalls = 1'000;             // of them, the heaviest
constexpr uint64_t kShrinkConflicts = 1'000;    // for each literal that may leave a core
constexpr uint64_t kExhaustConflicts = 1'000;   // for each step of a sum's bound
constexpr size_t kLargestCoreToShrink = 1'000;  // literals
constexpr int kTrims = 5;                       // solves again with the core alone
// A stratum reaches from its heaviest weight down to this part of it. Finer strata give up cores
// that need light literals, and groups that exclude each other fall apart.
constexpr uint64_t kStratumRatio = 4;

size_t index(Literal literal) {
  return 2 * static_cast<size_t>(variable_of(literal)) + (literal < 0 ? 1 : 0);
}

}  // namespace

CoreGuided::CoreGuided(const WeightedCnf& formula, const Limits& limits,
                       const MaxsatOptions& options)
    : formula_(formula),
      options_(options),
      soft_(soft_literals(formula)),
      oracle_(soft_.variables, limits),
      propagation_(soft_.variables) {}

MaxsatResult CoreGuided::run() {
  result_.lower_bound = soft_.unavoidable;
  for (const Cnf* clauses : std::initializer_list<const Cnf*>{&formula_.hard, &soft_.selectors}) {
    for (size_t i = 0; i < clauses->size(); ++i) {
      oracle_.add((*clauses)[i]);
      propagation_.add((*clauses)[i]);
    }
  }
  for (const SoftLiteral& soft : soft_.literals) give(soft.literal, soft.weight, false);
  result_.outcome = search();
  if (result_.outcome == Outcome::Optimal) {
    result_.lower_bound = result_.cost;
  } else if (result_.outcome != Outcome::Unsat && has_model_) {
    result_.outcome = Outcome::Sat;
    result_.lower_bound = std::min(result_.lower_bound, result_.cost);
  }
  return result_;
}

// Optimal, Unsat, or why it stopped.
Outcome CoreGuided::search() {
  const Outcome first = oracle_.solve({});
  if (first != Outcome::Sat) return first;
  take_model();
  polish();
  exclusions_ = Exclusions(active_, propagation_, kProbeSteps);
  for (const Literal literal : exclusions_.impossible()) exclude(literal);

  uint64_t stratum = UINT64_MAX;
  while (!closed()) {
    stratum = next_stratum(stratum);
    pay_exclusions(stratum);
    const Outcome outcome = relax_cores(stratum);
    if (outcome != Outcome::Sat) return outcome;
    if (stratum == 0) XLOG_CHECK(closed(), "a model without violated soft literals is the best");
  }
  return Outcome::Optimal;
}

// Makes the first model better: the heaviest literals that it violates are tried one by one while
// all heavier ones that hold stay. A bound near the optimum early hardens more and is worth more
// when time is short.
void CoreGuided::polish() {
  std::vector<Literal> by_weight = active_;
  std::ranges::stable_sort(by_weight, std::greater<>(),
                           [&](Literal literal) { return weight_of(literal); });
  std::vector<bool> held(weights_.size());
  const auto note_held = [&] {
    for (const Literal literal : by_weight) held[index(literal)] = oracle_.holds(literal);
  };
  note_held();
  std::vector<Literal> kept;
  int calls = 0;
  for (const Literal literal : by_weight) {
    kept.push_back(literal);
    if (held[index(literal)]) continue;
    if (oracle_.solve(kept, kPolishConflicts) == Outcome::Sat) {
      take_model();
      note_held();
    } else {
      kept.pop_back();
    }
    if (++calls == kPolishCalls || oracle_.stopped()) return;
  }
}

// The least weight of the next stratum; 0 takes in all that is left.
uint64_t CoreGuided::next_stratum(uint64_t above) const {
  uint64_t heaviest = 0;
  uint64_t lightest = UINT64_MAX;
  for (const Literal literal : active_) {
    const uint64_t weight = weight_of(literal);
    if (weight == 0) continue;
    lightest = std::min(lightest, weight);
    if (weight < above) heaviest = std::max(heaviest, weight);
  }
  const uint64_t least = heaviest / kStratumRatio;
  return lightest >= least ? 0 : least;
}

std::vector<Literal> CoreGuided::assumptions(uint64_t least_weight) {
  std::erase_if(active_, [&](Literal literal) {
    const bool spent = weight_of(literal) == 0;
    if (spent) listed_[index(literal)] = false;
    return spent;
  });
  std::vector<Literal> chosen;
  for (const Literal literal : active_) {
    if (weight_of(literal) >= least_weight) chosen.push_back(literal);
  }
  return chosen;
}

// Sat once no core is left among the literals of the stratum; Optimal when the bounds meet.
Outcome CoreGuided::relax_cores(uint64_t least_weight) {
  while (!closed()) {
    harden();
    const std::vector<Literal> assumed = assumptions(least_weight);
    const Outcome outcome = oracle_.solve(assumed);
    if (outcome == Outcome::Sat) {
      take_model();
      if (delayed_.empty()) return Outcome::Sat;
      activate_delayed();
    } else if (outcome == Outcome::Unsat) {
      std::vector<Literal> core = core_of(assumed);
      // Only hardening can have made the clauses contradictory: nothing beats the best model.
      if (core.empty()) return Outcome::Optimal;
      shrink(core);
      if (oracle_.stopped()) return *oracle_.stopped();
      relax(core);
    } else {
      return outcome;
    }
  }
  return Outcome::Optimal;
}

void CoreGuided::pay_exclusions(uint64_t least_weight) {
  while (true) {
    std::vector<Literal> candidates = assumptions(least_weight);
    std::ranges::stable_sort(candidates, std::greater<>(),
                             [&](Literal literal) { return weight_of(literal); });
    std::vector<std::vector<Literal>> groups = exclusions_.groups(candidates);
    if (groups.empty()) return;
    for (std::vector<Literal>& group : groups) pay_group(std::move(group));
  }
}

// Of n literals that exclude each other n - 1 fail. What stays is that one of them may hold.
void CoreGuided::pay_group(std::vector<Literal> group) {
  while (group.size() > 1) {
    uint64_t least = UINT64_MAX;
    for (const Literal literal : group) least = std::min(least, weight_of(literal));
    for (const Literal literal : group) take(literal, least);
    pay(least * (group.size() - 1));
    const Literal one_holds = oracle_.new_variable();
    std::vector<Literal> clause = group;
    clause.push_back(-one_holds);
    oracle_.add(clause);
    give(one_holds, least, false);
    std::erase_if(group, [&](Literal literal) { return weight_of(literal) == 0; });
  }
}

std::vector<Literal> CoreGuided::core_of(const std::vector<Literal>& assumed) const {
  std::vector<Literal> core;
  for (const Literal literal : assumed) {
    if (oracle_.failed(literal)) core.push_back(literal);
  }
  return core;
}

// Solves again under the core alone, which often gives a smaller one, then tries to do without
// each literal, the lightest first: the lightest that stays is what the core is worth.
void CoreGuided::shrink(std::vector<Literal>& core) {
  for (int i = 0; i < kTrims && core.size() > 1; ++i) {
    if (oracle_.solve(core, kShrinkConflicts) != Outcome::Unsat) break;
    std::vector<Literal> smaller = core_of(core);
    if (smaller.empty() || smaller.size() == core.size()) break;
    core = std::move(smaller);
  }
  if (core.size() > kLargestCoreToShrink) return;
  std::ranges::stable_sort(core, {}, [&](Literal literal) { return weight_of(literal); });
  for (size_t i = 0; i < core.size() && core.size() > 1;) {
    const Literal left_out = core[i];
    core.erase(core.begin() + static_cast<ptrdiff_t>(i));
    const Outcome outcome = oracle_.solve(core, kShrinkConflicts);
    if (outcome == Outcome::Unsat) {
      // What stays keeps its order, and literals before i were found needed.
      std::vector<Literal> smaller = core_of(core);
      const size_t before = static_cast<size_t>(std::count_if(
          core.begin(), core.begin() + static_cast<ptrdiff_t>(i),
          [&](Literal literal) { return std::ranges::find(smaller, literal) != smaller.end(); }));
      if (smaller.empty()) {
        core.insert(core.begin() + static_cast<ptrdiff_t>(i), left_out);
        return;
      }
      core = std::move(smaller);
      i = before;
      continue;
    }
    core.insert(core.begin() + static_cast<ptrdiff_t>(i), left_out);
    if (outcome == Outcome::Sat) take_model();
    if (oracle_.stopped()) return;
    ++i;
  }
}

void CoreGuided::relax(const std::vector<Literal>& core) {
  if (core.size() == 1) {
    exclude(core[0]);
    return;
  }
  uint64_t least = UINT64_MAX;
  for (const Literal literal : core) least = std::min(least, weight_of(literal));
  std::vector<Literal> failing;
  for (const Literal literal : core) {
    take(literal, least);
    raise_sum_of(literal, least);
    failing.push_back(-literal);
  }
  oracle_.add(failing);
  pay(least);

  const size_t number = totalizers_.size();
  totalizers_.emplace_back(failing);
  for (size_t count = 2; count <= failing.size(); ++count) {
    const Literal fewer = -totalizers_[number].at_least(count, oracle_);
    const Outcome alone = oracle_.solve(std::span(&fewer, 1), kExhaustConflicts);
    if (alone == Outcome::Unsat) {
      oracle_.add({-fewer});
      pay(least);
      continue;
    }
    if (alone == Outcome::Sat) take_model();
    sums_[fewer] = {number, count};
    give(fewer, least, true);
    return;
  }
}

// The literal cannot hold: all of its weight is paid.
void CoreGuided::exclude(Literal literal) {
  const uint64_t weight = weight_of(literal);
  oracle_.add({-literal});
  take(literal, weight);
  raise_sum_of(literal, weight);
  pay(weight);
}

// A sum that was paid for may fail once more for the same weight.
void CoreGuided::raise_sum_of(Literal literal, uint64_t weight) {
  const auto found = sums_.find(literal);
  if (found == sums_.end()) return;
  const SumBound next{found->second.totalizer, found->second.count + 1};
  Totalizer& totalizer = totalizers_[next.totalizer];
  if (next.count > totalizer.inputs()) return;
  const Literal fewer = -totalizer.at_least(next.count, oracle_);
  sums_[fewer] = next;
  give(fewer, weight, true);
}

// A literal that weighs as much as the gap fails in no better model.
void CoreGuided::harden() {
  for (const std::vector<Literal>* list : {&active_, &delayed_}) {
    for (const Literal literal : *list) {
      if (weight_of(literal) == 0 || weight_of(literal) < gap()) continue;
      oracle_.add({literal});
      weight_of(literal) = 0;
    }
  }
}

void CoreGuided::activate_delayed() {
  active_.insert(active_.end(), delayed_.begin(), delayed_.end());
  delayed_.clear();
}

uint64_t& CoreGuided::weight_of(Literal literal) {
  if (index(literal) >= weights_.size()) {
    weights_.resize(2 * index(literal) + 2);
    listed_.resize(weights_.size());
  }
  return weights_[index(literal)];
}

uint64_t CoreGuided::weight_of(Literal literal) const { return weights_[index(literal)]; }

void CoreGuided::give(Literal literal, uint64_t weight, bool delayed) {
  weight_of(literal) += weight;
  if (listed_[index(literal)]) return;
  listed_[index(literal)] = true;
  (delayed ? delayed_ : active_).push_back(literal);
}

void CoreGuided::take(Literal literal, uint64_t weight) { weight_of(literal) -= weight; }

void CoreGuided::pay(uint64_t weight) {
  if (weight == 0) return;
  // Hardening leaves out models that are no better: past the best cost a bound says nothing more.
  if (has_model_) weight = std::min(weight, gap());
  result_.lower_bound += weight;
  report(false);
}

void CoreGuided::take_model() {
  Model model(formula_.variables());
  for (int32_t v = 1; v <= formula_.variables(); ++v) model.set(oracle_.holds(v) ? v : -v);
  const uint64_t cost = cost_of(formula_, model);
  if (has_model_ && cost >= result_.cost) return;
  XLOG_CHECK(model.satisfies(formula_.hard), "a model satisfies the hard clauses");
  has_model_ = true;
  result_.model = std::move(model);
  result_.cost = cost;
  report(true);
}

void CoreGuided::report(bool better_model) const {
  if (!options_.progress) return;
  options_.progress(
      {result_.lower_bound, has_model_ ? &result_.model : nullptr, result_.cost, better_model});
}

}  // namespace xlog::solve
