// What simplify() leaves of a formula under assumptions, in the arrays that local search walks
// over.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/cnf.h"

namespace xlog::solve {

struct WalkFormula {
  bool contradiction = false;     // simplifying alone shows that there is no model
  Model fixed;                    // what is decided; false for all other variables
  std::vector<int32_t> original;  // the number of each variable in the formula it came from
  // Literals are 2 * variable, and one more for the negation.
  std::vector<uint32_t> clause_starts;  // in literals, one more than clauses
  std::vector<uint32_t> literals;
  std::vector<uint32_t> occurrence_starts;  // in occurrences, one more than literals
  std::vector<uint32_t> occurrences;        // clauses of each literal
  uint32_t longest = 0;                     // literals of a clause

  uint32_t variables() const { return static_cast<uint32_t>(original.size()); }
  uint32_t clauses() const { return static_cast<uint32_t>(clause_starts.size() - 1); }
};

WalkFormula walk_formula(const Cnf& cnf, std::span<const Literal> assumptions);

}  // namespace xlog::solve
