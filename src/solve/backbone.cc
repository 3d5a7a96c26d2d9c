#include "solve/backbone.h"

#include <algorithm>

namespace xlog::solve {
namespace {

// Literals that are asked about together. A few make answers of "no model without one of these"
// cheap, many make models that leave out several likely.
constexpr size_t kTogether = 64;

}  // namespace

Backbone backbone(Solver& solver, const Limits& limits) {
  Backbone result;
  const int32_t variables = solver.variables();
  result.outcome = solver.solve(limits);
  if (result.outcome != Outcome::Sat) return result;
  result.has_model = true;
  std::vector<Literal> open;  // the last ones are asked about next
  for (Literal v = variables; v > 0; --v) open.push_back(solver.model().holds(v) ? v : -v);
  while (!open.empty()) {
    const Literal guard = solver.new_variable();
    const size_t first = open.size() - std::min(kTogether, open.size());
    std::vector<Literal> some_fails = {-guard};
    for (size_t i = first; i < open.size(); ++i) some_fails.push_back(-open[i]);
    solver.add(some_fails);
    solver.assume(guard);
    const Outcome outcome = solver.solve(limits);
    solver.retract(guard);
    solver.add({-guard});
    if (outcome == Outcome::Sat) {
      std::erase_if(open, [&](Literal literal) { return !solver.model().holds(literal); });
      continue;
    }
    if (outcome != Outcome::Unsat) {
      result.outcome = outcome;
      result.literals.insert(result.literals.end(), open.begin(), open.end());
      break;
    }
    result.literals.insert(result.literals.end(), open.begin() + static_cast<ptrdiff_t>(first),
                           open.end());
    open.resize(first);
  }
  std::ranges::sort(result.literals, {}, variable_of);
  return result;
}

}  // namespace xlog::solve
