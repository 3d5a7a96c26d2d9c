// Stable models of a small objective ground program, by trying every guess.
#pragma once

#include <vector>

#include "oracle/context.h"
#include "oracle/ground.h"

namespace xlog::oracle {

// Every stable model once, in order of the guesses. A stable model is the least model of its own
// reduct, so it is determined by the truth of the atoms that the reduct looks at (negated, in
// aggregates, heads of choices and disjunctions): these are guessed, the rest is derived.
std::vector<Interpretation> stable_models(const GroundProgram& program, Context& context);

// The same without the well-founded simplification first, for tests.
std::vector<Interpretation> stable_models_by_guessing(const GroundProgram& program,
                                                      Context& context);

}  // namespace xlog::oracle
