// A smaller formula with the same answer, and the way back for its models.
//
//   const Simplified small = simplify(cnf);
//   if (small.unsat) ...
//   solver.add(small.formula); ... Model model = small.extend(solver.model());
//
// Literals that stand twice, clauses that always hold, unit clauses, literals whose negation is in
// no clause, and clauses that another one implies (subsumption) go. What is left is numbered anew,
// without gaps: a formula may use few of many variables. Models are lost on the way (a pure literal
// is set), so assume nothing about a formula that was simplified.
#pragma once

#include "solve/cnf.h"

namespace xlog::solve {

struct SimplifyOptions {
  uint64_t subsumption_steps = 50'000'000;  // literals looked at, before subsumption is left alone
};

struct Simplified {
  Cnf formula;
  bool unsat = false;  // then the formula is one empty clause
  // Of the original formula: what is decided, and the variable behind each of `formula`'s.
  std::vector<Literal> fixed;
  std::vector<int32_t> original;  // [v - 1]
  int32_t original_variables = 0;

  // A model of the original formula. Variables that nothing decides are false.
  Model extend(const Model& model) const;
};

Simplified simplify(const Cnf& cnf, const SimplifyOptions& options = {});

}  // namespace xlog::solve
