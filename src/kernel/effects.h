// Passes over effects: what stands in blocks, in order. None makes a store, load or check happen
// that did not happen before.
#pragma once

#include "kernel/pass.h"

namespace xlog::kernel {

// Drops loads nobody uses, loops without effect and values carried in vain, arrays nobody reads,
// loads repeated where the buffer cannot have changed, branches that constants decide, loops
// without a turn, and empty ones; a loop of one turn becomes its body.
Id simplify_effects(PassContext& context, Id kernel);

// One store of a selected value for two stores to the same cell in the two branches of an if; one
// if for an if that is all another one does, and for neighbours with the same condition.
Id convert_ifs(PassContext& context, Id kernel);

}  // namespace xlog::kernel
