// Local search for large satisfiable formulas: many independent walks, each of which flips a
// variable of a clause that does not hold, chosen by chance and by how many clauses would become
// false (Balint and Schöning, Choosing probability distributions for stochastic local search,
// SAT 2012: probSAT). It finds models only: never Unsat.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "device/device.h"
#include "solve/solver.h"

namespace xlog::solve {

struct LocalSearchOptions {
  uint64_t seed = 1;
  uint32_t walks = 0;  // 0: as many as the device runs at a time
  // Of each walk; none: until a limit ends it. A solve's limit of conflicts is one of flips too:
  // each flip mends a clause that does not hold.
  std::optional<uint64_t> flips = {};
};

// The model is that of the walk with the fewest flips, so with the same number of walks and the
// same seed all devices give the same one. Unknown where flips, memory or interruption end the
// search, and for formulas that unit propagation shows to have no model.
Result<std::unique_ptr<Solver>> local_search_solver(device::Device& device,
                                                    const LocalSearchOptions& options = {});

}  // namespace xlog::solve
