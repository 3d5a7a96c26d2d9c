// Relations that one of their rules closes transitively, step by step instead of by doubling:
//
//   reach(X, Y) :- road(X, Y).
//   reach(X, Y) :- rail(X, Z), ferry(Z, Y).
//   reach(X, Y) :- reach(X, Z), reach(Z, Y).
//
//   __xlog_step_5(X, Y) :- road(X, Y).
//   __xlog_step_5(X, Y) :- rail(X, Z), ferry(Z, Y).
//   reach(X, Y) :- __xlog_step_5(X, Y).
//   reach(X, Y) :- reach(X, Z), __xlog_step_5(Z, Y).
//
// Composition is associative, so each row has a derivation whose right side is always a single
// step: what the other rules give. By doubling, a row of n steps is found n - 1 times for each way
// that leads there, once for each place to cut it in two; and what only carries columns along can
// be evaluated by whole words (relation/carry.h). Columns that both atoms and the head share stay
// as they are, and X, Y and Z may be several columns each.
//
// Left as it is where another rule of the relation reads its recursion: steps that come late, and
// are many, take more rounds than doubling saves (cspa: 58 rounds instead of 38, no time gained).
#pragma once

#include <string>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "plan/shared_joins.h"

namespace xlog::plan {

struct Closure {
  std::string rule;   // "flow(X, Y) :- flow(X, Z), flow(Z, Y)."
  std::string steps;  // the relation of single steps: "__xlog_step_5"
};

// Rewrites rules of determined components. If it rewrote some, the program has to be analysed
// again.
std::vector<Closure> close_by_steps(lang::Program& program, const logic::Analysis& analysis,
                                    lang::Session& session, Sharing sharing);

std::string to_text(const std::vector<Closure>& closures);

}  // namespace xlog::plan
