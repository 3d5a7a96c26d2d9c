// Soft clauses as weighted literals: the form in which the search for cores sees a formula.
#pragma once

#include <cstdint>
#include <vector>

#include "solve/cnf.h"

namespace xlog::solve {

struct SoftLiteral {
  Literal literal = 0;
  uint64_t weight = 0;  // what it costs when the literal is false
};

struct SoftLiterals {
  std::vector<SoftLiteral> literals;  // at most one of each variable, ascending by variable
  Cnf selectors;                      // hard clauses that tie new literals to soft clauses
  int32_t variables = 0;              // those of the formula and the new literals
  uint64_t unavoidable = 0;           // cost of every model
};

// A soft clause of one literal is that literal; others get a new literal that implies the clause,
// equal clauses one together. Clauses that always hold fall away; an empty clause, and of a literal
// and its negation the lighter one, is cost that no model avoids.
SoftLiterals soft_literals(const WeightedCnf& formula);

}  // namespace xlog::solve
