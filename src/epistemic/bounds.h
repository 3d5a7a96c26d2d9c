// Well-founded bounds as oracle/well_founded.h defines them, in time that goes with the size of the
// program for each turn of the alternation.
#pragma once

#include "oracle/well_founded.h"

namespace xlog::epistemic {

oracle::Bounds well_founded_bounds(const oracle::GroundProgram& program, logic::Mode mode,
                                   oracle::Context& context);

}  // namespace xlog::epistemic
