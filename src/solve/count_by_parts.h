// Counts the stable models of programs in which a disjunction has two atoms of one positive cycle.
#pragma once

#include "solve/stable_models.h"

namespace xlog::solve {

ModelCount count_by_parts(GroundProgram program, const StableOptions& options,
                          const Limits& limits);

}  // namespace xlog::solve
