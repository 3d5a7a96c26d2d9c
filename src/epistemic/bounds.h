// Well-founded bounds as oracle/well_founded.h defines them, in time that goes with the size of the
// program for each turn of the alternation, on several threads where the program is large.
#pragma once

#include "base/parallel.h"
#include "oracle/well_founded.h"

namespace xlog::epistemic {

oracle::Bounds well_founded_bounds(const oracle::GroundProgram& program, logic::Mode mode,
                                   oracle::Context& context, const Parallel& parallel = in_turn);

// oracle::residual, likewise.
oracle::GroundProgram residual(const oracle::GroundProgram& program, const oracle::Bounds& bounds,
                               oracle::Context& context, const Parallel& parallel = in_turn);

}  // namespace xlog::epistemic
