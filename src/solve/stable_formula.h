// A ground program as a formula whose models are its stable models, one to one.
#pragma once

#include <optional>
#include <vector>

#include "solve/count_formula.h"

namespace xlog::solve {

struct StableFormula {
  CountFormula formula;
  std::vector<Literal> literals;  // of the atoms, by atom
};

// The completion of the program. An atom of a positive cycle gets a derived variable beside its
// own, which the rules must make true without going round in a circle (the copies of Kabir,
// Chakraborty, Meel: Exact ASP counting with compact encodings, 2024). Nothing where a disjunction
// has two atoms of one cycle: what is founded there is no matter of clauses. Externals, assumptions
// and all but the rules are left aside.
std::optional<StableFormula> stable_formula(const GroundProgram& program);

}  // namespace xlog::solve
