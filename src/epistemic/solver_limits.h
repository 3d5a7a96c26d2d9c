// The user's limits as those of a solver.
#pragma once

#include "oracle/context.h"
#include "solve/solver.h"

namespace xlog::epistemic {

solve::Limits limits_of(const oracle::Context& context);

// The outcome, where there is one; else throws oracle::LimitExceeded.
solve::Outcome settled(solve::Outcome outcome, const oracle::Context& context);

}  // namespace xlog::epistemic
