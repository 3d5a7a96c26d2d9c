// Which variables to decide first so that a formula falls apart: those in the middle of a tree
// decomposition of it. The decomposition comes from eliminating variables, the one with the fewest
// neighbours first (Korhonen, Järvisalo 2021 showed what that gains over counts of conflicts).
#pragma once

#include <cstdint>
#include <vector>

#include "solve/count_formula.h"
#include "solve/count_trail.h"

namespace xlog::solve {

// By variable, the highest first, of what the trail leaves open. All 0 where the formula is so
// tangled that no part of it would come apart.
std::vector<double> decision_ranks(const CountFormula& formula, const CountTrail& trail);

}  // namespace xlog::solve
