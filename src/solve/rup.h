// Checks a DRAT proof forward: each clause that it adds must follow by unit propagation (RUP), or
// be safe to add on its first literal (RAT), until the empty clause follows. Independent of the
// solvers: it shares no code with them but the formula.
//
// A proof is text (`1 -2 0` adds, `d 1 -2 0` deletes) or DRAT's binary form. Literals that unit
// propagation has decided stay decided when clauses are deleted, as other checkers have it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "solve/solver.h"

namespace xlog::solve {

struct CheckedProof {
  uint64_t added = 0;   // until the empty clause followed
  uint64_t by_rat = 0;  // of those, the ones that only RAT allows
  uint64_t deleted = 0;
  uint64_t unknown_deletions = 0;  // of clauses that were not there; harmless
};

// `file` is what errors call the proof. Of the limits, conflicts do not count; where one is
// reached, the error's kind is Limit.
Result<CheckedProof> check_proof(const Cnf& cnf, std::string_view proof, std::string_view file,
                                 const Limits& limits = {});

}  // namespace xlog::solve
