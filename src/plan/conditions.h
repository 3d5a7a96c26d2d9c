// Parts of a body that share no variable with the head or the rest say only whether something
// exists. They become helper rules without columns:
//
//   p(Y, X) :- p(X, Y), q(Z, V), r(V).
//
//   __xlog_some_5 :- q(Z, V), r(V).
//   p(Y, X) :- p(X, Y), __xlog_some_5.
//
// As they stand, each solution of the rest would meet each of theirs (Ramakrishnan, Beeri,
// Krishnamurthy: Optimizing existential Datalog queries, 1988).
#pragma once

#include <string>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "plan/shared_joins.h"

namespace xlog::plan {

struct Condition {
  std::string literals;  // "q(Z, V), r(V)"
  std::string helper;    // "__xlog_some_5"
};

// Rewrites rules of determined components, where many solutions would meet or everywhere. If there
// are some, the program has to be analysed again.
std::vector<Condition> separate_conditions(lang::Program& program, const logic::Analysis& analysis,
                                           lang::Session& session, Sharing sharing);

std::string to_text(const std::vector<Condition>& conditions);

}  // namespace xlog::plan
