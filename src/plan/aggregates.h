// Aggregates in bodies as aggregates in heads, which pipelines have:
//
//   busy(X, N) :- node(X), N = count : { edge(X, Y) }.
//
//   __xlog_aggregate_0(X, count()) :- edge(X, Y).
//   busy(X, N) :- node(X), __xlog_aggregate_0(X, N).
//   busy(X, N) :- node(X), not __xlog_aggregate_0(X, _), N = 0.       count and sum of nothing are
//   0
//
// `findall` is an aggregate that gives a list, the empty one for nothing where nothing groups.
//
// Where the braces do not bind all that groups, what stands before them says which groups are asked
// for, in a helper of its own. Where the head folds too, so that one rule cannot become two, the
// results of nothing are rows of another helper:
//
//   __xlog_aggregate_1(X, N) :- __xlog_aggregate_0(X, N).
//   __xlog_aggregate_1(X, 0) :- asked(X), not __xlog_aggregate_0(X, _).
//
// What is asked for inside its own recursion, and groups of floats, are left for the host to fold
// (StepKind::Host).
#pragma once

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"

namespace xlog::plan {

// Rewrites the rules of determined components, one level of braces. True when something changed:
// the program has to be analysed again, and may have more levels.
bool expand_aggregates(lang::Program& program, const logic::Analysis& analysis,
                       lang::Session& session);

}  // namespace xlog::plan
