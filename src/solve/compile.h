// Turns a formula into a circuit: the trace of a search that counts its models (Huang, Darwiche
// 2005). Answers about counts and weights are then linear in the size of the circuit.
#pragma once

#include "solve/circuit.h"
#include "solve/count_search.h"

namespace xlog::solve {

struct Compiled {
  Circuit circuit{0};
  Outcome outcome = Outcome::Unsat;  // Sat or Unsat; else a limit, and there is no circuit
};

// The circuit speaks about the variables that are `kept`, and about others that decide the rest of
// them: the fewer are kept, the smaller it may be. Weights of variables that are not kept must be
// 1, and their sums by literal mean nothing. The circuit takes memory that only the limits bound.
Compiled compile(const CountFormula& formula, const std::vector<bool>& kept, const Limits& limits,
                 const CountOptions& options = {});

}  // namespace xlog::solve
