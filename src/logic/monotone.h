// Minima and maxima inside their own recursion: shortest paths, widest paths.
//
//   dist(Y, min(D + W)) :- dist(X, D), edge(X, Y, W).
//
// A recursion through such a head has a least fixpoint, in the order where a smaller minimum is
// more, when a better value never takes anything away. So the values of the minimum may flow only
// where that is plain to see: through expressions that rise with them into minima of the same
// recursion, and into comparisons that a better value passes too. Everything else is refused.
#pragma once

#include <string_view>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"

namespace xlog::logic {

// What to do where such a recursion reaches a limit.
inline constexpr std::string_view kNoBestHelp =
    "raise it with `--max-rows N`; a `min` inside its own recursion has no least value where it "
    "goes round a negative cycle (a `max` round one that gains), which is the likely reason";

// Fills analysis.best: the predicates whose rules fold their own recursion with min or max.
void find_best_columns(const lang::Program& program, Analysis& analysis);

// Reports the uses of their values that are not monotone (AggregateInCycle), and recursions whose
// rules depend on a choice. After the components have their classes.
void report_uses_not_monotone(const lang::Program& program, const Analysis& analysis,
                              lang::Session& session);

}  // namespace xlog::logic
