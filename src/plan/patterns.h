// Patterns and arithmetic that stand where pipelines have columns, as equations of their own:
//
//   path(X, [X | P]) :- edge(X, Y), path(Y, P).     path(X, L) :- edge(X, Y), path(Y, P),
//                                                                 L = [X | P].
//   first(X) :- route([X | _]).                     first(X) :- route(L), L = [X | _].
//   new(X) :- stop(X), not route([X | _]).          new(X) :- stop(X), not __xlog_match_7(X).
//                                                   __xlog_match_7(X) :- route(L), L = [X | _].
#pragma once

#include <vector>

#include "lang/load.h"
#include "lang/program.h"

namespace xlog::plan {

// Rewrites a rule with an atom as its head, or without a head. Its literals keep their places, what
// is new stands behind them. Helpers that it needs become predicates at once; their rules are
// appended to `helpers`. Whether anything changed.
bool lift_patterns(lang::Rule& rule, lang::Program& program, lang::Session& session,
                   std::vector<lang::Rule>& helpers);

}  // namespace xlog::plan
