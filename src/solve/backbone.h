// What all models of a formula have in common: the literals that hold in each of them. A literal
// holds in some model where its negation is none of these.
#pragma once

#include <vector>

#include "solve/solver.h"

namespace xlog::solve {

struct Backbone {
  Outcome outcome = Outcome::Unknown;  // Sat: exact; Unsat: there is no model; else a limit
  // By variable. At a limit: those that no model was found without, if there was a model.
  std::vector<Literal> literals;
  bool has_model = false;
};

// Of the variables that the solver has, under its assumptions. The solver is left with further
// variables, which are false and say nothing of the others.
Backbone backbone(Solver& solver, const Limits& limits);

}  // namespace xlog::solve
