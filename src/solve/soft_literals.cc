#include "solve/soft_literals.h"

#include <algorithm>
#include <map>

#include "base/check.h"

namespace xlog::solve {
namespace {

// Ordered, each literal once.
std::vector<Literal> normal_form(std::span<const Literal> clause) {
  std::vector<Literal> literals(clause.begin(), clause.end());
  std::ranges::sort(literals, [](Literal a, Literal b) {
    return variable_of(a) != variable_of(b) ? variable_of(a) < variable_of(b) : a < b;
  });
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  return literals;
}

bool always_holds(const std::vector<Literal>& normal) {
  return std::ranges::adjacent_find(normal, [](Literal a, Literal b) { return a == -b; }) !=
         normal.end();
}

}  // namespace

SoftLiterals soft_literals(const WeightedCnf& formula) {
  XLOG_CHECK(formula.weights.size() == formula.soft.size(), "each soft clause has a weight");
  SoftLiterals result;
  result.variables = formula.variables();
  std::map<Literal, uint64_t> weight_of;  // by literal
  std::map<std::vector<Literal>, Literal> selector_of;
  for (size_t i = 0; i < formula.soft.size(); ++i) {
    const uint64_t weight = formula.weights[i];
    if (weight == 0) continue;
    std::vector<Literal> clause = normal_form(formula.soft[i]);
    if (clause.empty()) {
      result.unavoidable += weight;
    } else if (clause.size() == 1) {
      weight_of[clause[0]] += weight;
    } else if (!always_holds(clause)) {
      const auto [known, is_new] = selector_of.try_emplace(clause, 0);
      if (is_new) {
        known->second = ++result.variables;
        clause.push_back(-known->second);
        result.selectors.add(clause);
      }
      weight_of[known->second] += weight;
    }
  }
  for (const auto& [literal, weight] : weight_of) {
    const auto opposite = weight_of.find(-literal);
    const uint64_t against = opposite == weight_of.end() ? 0 : opposite->second;
    if (literal > 0) result.unavoidable += std::min(weight, against);
    if (weight > against) result.literals.push_back({literal, weight - against});
  }
  std::ranges::sort(result.literals, {},
                    [](const SoftLiteral& soft) { return variable_of(soft.literal); });
  return result;
}

}  // namespace xlog::solve
