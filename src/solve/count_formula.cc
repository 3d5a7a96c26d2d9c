#include "solve/count_formula.h"

#include <algorithm>

#include "solve/weight_constraints.h"

namespace xlog::solve {

int32_t CountFormula::new_derived_variable(Literal of) {
  const int32_t v = new_variable();
  copy_of.resize(static_cast<size_t>(v) + 1, 0);
  copy_of.back() = of;
  clauses.add({-v, of});
  return v;
}

void CountFormula::add_sum(Literal holds, int64_t bound, std::vector<WeightedLiteral> terms) {
  bound -= make_distinct(terms);
  int64_t total = 0;
  for (const WeightedLiteral& term : terms) total += term.weight;
  if (bound <= 0 || total < bound) {
    clauses.add({bound <= 0 ? holds : -holds});
    return;
  }
  const bool any = std::ranges::all_of(terms, [&](const auto& t) { return t.weight >= bound; });
  const bool all =
      std::ranges::all_of(terms, [&](const auto& t) { return total - t.weight < bound; });
  if (any || all) {
    const int sign = any ? 1 : -1;
    std::vector<Literal> clause = {-sign * holds};
    for (const WeightedLiteral& term : terms) {
      clause.push_back(sign * term.literal);
      clauses.add({sign * holds, -sign * term.literal});
    }
    clauses.add(clause);
    return;
  }
  const auto is_term = [&](const WeightedLiteral& t) {
    return variable_of(t.literal) == variable_of(holds);
  };
  if (std::ranges::any_of(terms, is_term)) {
    const Literal same = new_variable();
    clauses.add({-holds, same});
    clauses.add({holds, -same});
    holds = same;
  }
  Terms key;
  for (const WeightedLiteral& term : terms) {
    clauses.need_variables(variable_of(term.literal));
    key.emplace_back(term.literal, term.weight);
  }
  clauses.need_variables(variable_of(holds));
  const auto [found, added] = sum_of_.try_emplace(std::move(key), sums.size());
  if (added) sums.push_back({std::move(terms), {}});
  sums[found->second].thresholds.push_back({holds, bound});
}

}  // namespace xlog::solve
