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
// for, in a helper of its own.
#pragma once

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"

namespace xlog::plan {

// Rewrites the rules of determined components and the constraints over them. True when something
// changed: the program has to be analysed again.
bool expand_aggregates(lang::Program& program, const logic::Analysis& analysis,
                       lang::Session& session);

}  // namespace xlog::plan
