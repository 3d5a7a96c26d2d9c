// Joins that several rules, or several versions of a rule, would compute each for itself, as helper
// rules that compute them once:
//
//   both(X, Z)  :- likes(X, Y), likes(Z, Y), old(X).
//   other(X, Z) :- likes(X, Y), likes(Z, Y), not old(Z).
//
//   __xlog_shared_7(X, Z) :- likes(X, Y), likes(Z, Y).
//   both(X, Z)  :- __xlog_shared_7(X, Z), old(X).
//   other(X, Z) :- __xlog_shared_7(X, Z), not old(Z).
//
// What is shared are atoms that hang together by their variables, and comparisons of these. They
// lie below the component of each rule: what they are does not change while the rule is evaluated.
// Atoms that a multiway join (multiway.h) takes at once stay together.
#pragma once

#include <string>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"

namespace xlog::plan {

// A join that was met more than once, and what was made of it. Costs are bindings that pipelines
// are expected to make, those that take longer counted as several.
struct SharedJoin {
  std::string join;    // "likes(X, Y), likes(Z, Y)"
  std::string helper;  // "__xlog_shared_7(X, Z)"; empty: rules keep it
  uint32_t rules = 0;  // that have it
  double apart = 0;    // what all of them cost
  double shared = 0;   // the same with the helper
};

// Whether only joins are shared that cost less then; tests want all.
enum class Sharing : uint8_t { WherePays, Everywhere };

// Rewrites rules of determined components. Where some join has a helper, the program has to be
// analysed again.
std::vector<SharedJoin> share_joins(lang::Program& program, const logic::Analysis& analysis,
                                    lang::Session& session, Sharing sharing);

std::string to_text(const std::vector<SharedJoin>& joins);

}  // namespace xlog::plan
