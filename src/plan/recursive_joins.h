// Joins inside a recursion as helper rules of the same recursion, whose rows are kept:
//
//   points_to(Y, W) :- load(Y, X), points_to(X, Z), points_to(Z, W).
//
//   __xlog_joined_5(Y, Z) :- load(Y, X), points_to(X, Z).
//   points_to(Y, W) :- __xlog_joined_5(Y, Z), points_to(Z, W).
//
// Each version of the first rule begins with the new rows of one literal. For those of
// points_to(Z, W) it finds every X that points to Z, though few are loaded from: what comes of that
// is dropped, and done again for each W. The helper has only what is of use, by Z.
//
// A join is kept where the rule reads the recursion outside of it too: otherwise there is one order
// in which it is computed, which the planner has chosen. Atoms that a multiway join takes at once
// stay together, and a helper is no wider than the widest of its atoms: its rows take memory.
#pragma once

#include <string>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "plan/shared_joins.h"

namespace xlog::plan {

// What was made of the best join of a rule. Costs as in shared_joins.h, of all rounds.
struct KeptJoin {
  std::string join;    // "load(Y, X), points_to(X, Z)"
  std::string helper;  // "__xlog_joined_5(Y, Z)"; empty: the rule keeps it
  double apart = 0;    // what the rule costs as it is
  double kept = 0;     // the same with the helper
};

// Rewrites rules of determined components. Where some join has a helper, the program has to be
// analysed again.
std::vector<KeptJoin> keep_joins(lang::Program& program, const logic::Analysis& analysis,
                                 lang::Session& session, Sharing sharing);

std::string to_text(const std::vector<KeptJoin>& joins);

}  // namespace xlog::plan
