// The world views of one unit: a ground program whose modal literals ask about its own atoms.
//
// Generate: a stable model of the unit in which every question has an open answer gives a guess
// that fits this one world. Propagate: guesses that earlier tests exclude are never generated
// again. Test: all worlds under the guess are asked for a counterexample, and for the worlds that
// the guess promises; then for foundedness. What fails is learned for all guesses that fail for the
// same reason: a world excludes every guess that keeps the answers on which the world rests, and
// where no world is found, the answers that the solver needed to see it.
#pragma once

#include <vector>

#include "epistemic/views.h"
#include "logic/answer.h"
#include "oracle/context.h"

namespace xlog::epistemic {

// In increasing order of statuses, atom by atom. Throws what the context's limits throw.
std::vector<View> solve_unit(const oracle::GroundProgram& unit, oracle::Context& context,
                             SearchCounts& counts);

}  // namespace xlog::epistemic
