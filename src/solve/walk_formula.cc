#include "solve/walk_formula.h"

#include <algorithm>

#include "base/check.h"
#include "solve/simplify.h"

namespace xlog::solve {

namespace {

uint32_t code_of(Literal literal) {
  return 2 * static_cast<uint32_t>(variable_of(literal) - 1) + (literal < 0 ? 1 : 0);
}

// Where each literal occurs, the clauses of a literal in order.
void index_occurrences(WalkFormula& formula) {
  std::vector<uint32_t>& starts = formula.occurrence_starts;
  starts.assign(2 * size_t{formula.variables()} + 1, 0);
  for (const uint32_t literal : formula.literals) ++starts[literal + 1];
  for (size_t code = 1; code < starts.size(); ++code) starts[code] += starts[code - 1];
  formula.occurrences.resize(formula.literals.size());
  std::vector<uint32_t> next(starts.begin(), starts.end() - 1);
  for (uint32_t c = 0; c < formula.clauses(); ++c) {
    for (uint32_t l = formula.clause_starts[c]; l < formula.clause_starts[c + 1]; ++l) {
      formula.occurrences[next[formula.literals[l]]++] = c;
    }
  }
}

}  // namespace

WalkFormula walk_formula(const Cnf& cnf, std::span<const Literal> assumptions) {
  XLOG_CHECK(cnf.literals() < UINT32_MAX, "local search counts literals in 32 bits");
  Cnf whole = cnf;
  for (const Literal literal : assumptions) whole.add({literal});
  const Simplified left = simplify(whole);
  WalkFormula formula;
  formula.contradiction = left.unsat;
  formula.fixed = Model(left.original_variables);
  formula.clause_starts.push_back(0);
  if (left.unsat) return formula;
  for (const Literal literal : left.fixed) formula.fixed.set(literal);
  formula.original = left.original;
  for (size_t c = 0; c < left.formula.size(); ++c) {
    for (const Literal literal : left.formula[c]) formula.literals.push_back(code_of(literal));
    formula.longest = std::max(formula.longest, static_cast<uint32_t>(left.formula[c].size()));
    formula.clause_starts.push_back(static_cast<uint32_t>(formula.literals.size()));
  }
  index_occurrences(formula);
  return formula;
}

}  // namespace xlog::solve
