// The user's limits as those of a solver.
#pragma once

#include "epistemic/views.h"
#include "oracle/context.h"
#include "solve/solver.h"

namespace xlog::epistemic {

// Long calls tell the user how far the search is. Refers to both.
solve::Limits limits_of(const oracle::Context& context, const SearchCounts& counts);

void show_progress(const oracle::Context& context, const SearchCounts& counts);

// The outcome, where there is one; else throws oracle::LimitExceeded.
solve::Outcome settled(solve::Outcome outcome, const oracle::Context& context);

}  // namespace xlog::epistemic
