// The world views of one unit: a ground program whose modal literals ask about its own atoms.
//
// Generate: a stable model of the unit in which every question has an open answer gives a guess
// that fits this one world. Propagate: guesses that earlier tests exclude are never generated
// again. Test: all worlds under the guess are asked for a counterexample, and for the worlds that
// the guess promises; then for foundedness. What fails is learned for all guesses that fail for the
// same reason: what follows from the choices of a world is asked of every guess
// (counterexamples.h), or where that cannot be said so, a world excludes every guess that keeps the
// answers on which the world rests; and where no world is found, the answers that the solver needed
// to see it.
#pragma once

#include <vector>

#include "epistemic/views.h"
#include "logic/answer.h"
#include "oracle/context.h"

namespace xlog::epistemic {

// In increasing order of statuses, atom by atom; all, or where `most` is not 0 so many. Throws what
// the context's limits throw.
Solution solve_unit(const oracle::GroundProgram& unit, uint64_t most, oracle::Context& context,
                    SearchCounts& counts);

}  // namespace xlog::epistemic
