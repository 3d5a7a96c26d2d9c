// Several engines on the same clauses, each on a thread of its own: the first that knows the answer
// ends the others. Whether the answer is Sat or Unsat does not depend on who was first; which model
// or which failed assumptions it comes with may.
//
//   auto made = portfolio_solver(cadical_portfolio(4));
//   Solver& solver = **made;   // a Solver like any other
#pragma once

#include <string>

#include "device/device.h"
#include "solve/solver.h"

namespace xlog::solve {

struct Engine {
  std::string name;
  // A fresh solver that calls `share` with the units that it learns, if it learns any.
  std::function<Result<std::unique_ptr<Solver>>(const OnLearned& share)> make;
  // Whether it goes on after the conflicts of a solve are used up, and takes implied clauses. Such
  // an engine is run in slices, and gets the others' units in between.
  bool in_slices = false;
};

// Fails where an engine does.
Result<std::unique_ptr<Solver>> portfolio_solver(const std::vector<Engine>& engines);

// So many CaDiCaLs that differ: balanced, for satisfiable formulas, for unsatisfiable ones, and the
// same with other seeds.
std::vector<Engine> cadical_portfolio(uint32_t threads);

// Walks towards models while the others search. The device works for this engine alone and outlives
// it.
Engine local_search_engine(device::Device& device);

}  // namespace xlog::solve
