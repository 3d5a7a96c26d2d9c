// Models of least cost by branch and bound: each model must cost less than the last. Priorities
// become one sum where 62 bits hold it, and are minimized one after the other where not.
#include <algorithm>
#include <map>

#include "base/check.h"
#include "solve/stable_models.h"

namespace xlog::solve {
namespace {

constexpr int64_t kMostTotal = INT64_MAX / 2;

using Coefficients = std::map<int32_t, int64_t>;  // of variables, up to a constant

int64_t total_of(const Coefficients& coefficients) {
  int64_t total = 0;
  for (const auto& [variable, coefficient] : coefficients) total += std::abs(coefficient);
  return total;
}

}  // namespace

std::vector<StableModels::Objective> StableModels::objectives() const {
  std::map<int64_t, Coefficients, std::greater<>> by_priority;
  for (const Minimize& statement : program_.minimize) {
    Coefficients& coefficients = by_priority[statement.priority];
    for (const WeightedLiteral& term : statement.literals) {
      const Literal l = completion_.literal(term.literal);
      coefficients[variable_of(l)] += l > 0 ? term.weight : -term.weight;
    }
  }
  std::vector<Coefficients> sums;
  for (const auto& [priority, coefficients] : by_priority) {
    const int64_t total = total_of(coefficients);
    if (sums.empty() || total_of(sums.back()) > (kMostTotal - total) / (total + 1)) {
      sums.push_back(coefficients);
      continue;
    }
    Coefficients& sum = sums.back();
    for (auto& [variable, coefficient] : sum) coefficient *= total + 1;
    for (const auto& [variable, coefficient] : coefficients) sum[variable] += coefficient;
  }
  std::vector<Objective> all;
  for (const Coefficients& sum : sums) {
    Objective& objective = all.emplace_back();
    objective.total = total_of(sum);
    for (const auto& [variable, coefficient] : sum) {
      if (coefficient > 0) objective.terms.push_back({variable, coefficient});
      if (coefficient < 0) objective.terms.push_back({-variable, -coefficient});
    }
  }
  return all;
}

int64_t StableModels::cost(const Objective& objective) const {
  int64_t sum = 0;
  for (const auto& [literal, weight] : objective.terms) {
    if (search_->value(literal) > 0) sum += weight;
  }
  return sum;
}

// With the guard that is added to `guards`, no model costs more than `most`.
void StableModels::bound_cost(const Objective& objective, int64_t most,
                              std::vector<CostGuard>& guards) {
  std::vector<WeightedLiteral> saved;
  for (const auto& [literal, weight] : objective.terms) saved.push_back({-literal, weight});
  const Literal guard = search_->new_variable();
  search_->set_phase(guard);
  guards.push_back({guard, search_->add_weight_constraint(guard, objective.total - most,
                                                          std::move(saved), false)});
}

void StableModels::drop(const CostGuard& guard) {
  search_->add({-guard.literal});
  search_->remove_weight_constraint(guard.constraint);
}

Outcome StableModels::minimize(const Objective& objective, const Limits& limits,
                               std::vector<CostGuard>& guards, Optimum& best,
                               const Visitor& better) {
  for (const auto& [literal, weight] : objective.terms) search_->set_phase(-literal);
  std::optional<int64_t> least;
  const size_t before = guards.size();
  for (;;) {
    std::vector<Literal> assumed;
    for (const CostGuard& guard : guards) assumed.push_back(guard.literal);
    const Outcome outcome = solve_with(assumed, limits);
    if (outcome == Outcome::Unsat) break;
    if (outcome != Outcome::Sat) return outcome;
    least = cost(objective);
    std::vector<Cost> now = costs();
    if (!best.model || now != best.costs) {
      best.model = model();
      best.costs = std::move(now);
      if (better && !better(*this)) return Outcome::Unknown;
    }
    if (*least == 0) break;
    if (guards.size() == before) {
      bound_cost(objective, *least - 1, guards);
    } else {
      search_->raise_bound(guards.back().constraint, objective.total - (*least - 1));
    }
  }
  if (!least) return Outcome::Unsat;
  if (guards.size() > before) {
    drop(guards.back());
    guards.pop_back();
  }
  bound_cost(objective, *least, guards);
  return Outcome::Optimal;
}

// Leaves guards under which exactly the models of least cost remain.
void StableModels::find_optimum(const Limits& limits, std::vector<CostGuard>& guards, Optimum& best,
                                const Visitor& better) {
  const std::vector<Objective> all = objectives();
  search_->forget_activity();
  if (all.empty()) {
    best.outcome = solve_with({}, limits);
    if (best.outcome != Outcome::Sat) return;
    best.outcome = Outcome::Optimal;
    best.model = model();
    if (better) better(*this);
    return;
  }
  search_->keep_phases(true);
  for (const Objective& objective : all) {
    best.outcome = minimize(objective, limits, guards, best, better);
    if (best.outcome != Outcome::Optimal) break;
  }
  search_->keep_phases(false);
}

Optimum StableModels::optimize(const Limits& limits, const Visitor& better) {
  Optimum best;
  std::vector<CostGuard> guards;
  find_optimum(limits, guards, best, better);
  for (const CostGuard& guard : guards) drop(guard);
  return best;
}

Enumeration StableModels::enumerate_optimal(const Limits& limits, const Visitor& visit) {
  Optimum best;
  std::vector<CostGuard> guards;
  find_optimum(limits, guards, best, nullptr);
  Enumeration result{.models = 0, .outcome = best.outcome};
  if (best.outcome == Outcome::Optimal) {
    std::vector<Literal> assumed;
    for (const CostGuard& guard : guards) assumed.push_back(guard.literal);
    enumerating_ = false;
    result = enumerate_with(assumed, limits, visit);
  }
  enumerating_ = false;
  for (const CostGuard& guard : guards) drop(guard);
  return result;
}

}  // namespace xlog::solve
