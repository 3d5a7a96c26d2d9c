// The plan that finds the world views of many small units at once. See docs/batch_solving.md.
//
// A case is a guess of the questions of a unit together with an interpretation of what is guessed
// of its worlds. 64 cases are the bits of a word: interpretations count fastest, so a word has all
// cases of one or more guesses, or a guess has several words.
#pragma once

#include "kernel/graph.h"

namespace xlog::epistemic {

// Parameters: shapes, starts, checks, codes as in SmallUnits. Results, by accepted view in the
// order of units: its unit, how many worlds it has, which atoms hold in some of them and which fail
// in some, a bit each. All u32.
kernel::Id unit_batch_plan(kernel::Graph& graph);

}  // namespace xlog::epistemic
