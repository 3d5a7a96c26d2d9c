// The part of a program that is kept current, in a form that counts well: aggregates stand in heads
// (plan/aggregates.h), and where `_` under `not` or a modal operator means "some row", a helper
// predicate has those rows once.
//
//   ok(X) :- node(X), not edge(X, _).        __xlog_some_0(X) :- edge(X, _).
//                                            ok(X) :- node(X), not __xlog_some_0(X).
#pragma once

#include <string>
#include <vector>

#include "incremental/open_program.h"
#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"

namespace xlog::incremental {

enum class KeptKind : uint8_t {
  Counted,     // not recursive: each row has the number of rule instances that derive it
  Supported,   // recursive: and how many of those are older than the row
  Best,        // recursive, with minima or maxima inside: and the candidates behind it
  Results,     // of a fold over rows that may hold (open_folds.h): all that it may have
  Recomputed,  // evaluated afresh when something it reads has changed
  Open,        // worlds differ in it, and it is not kept
};

struct KeptProgram {
  lang::Program program;  // without facts; predicates of the source have the same numbers
  logic::Analysis analysis;
  std::vector<KeptKind> kinds;       // by component
  std::vector<std::string> reasons;  // by component: why it is recomputed
  // By predicate: the one whose rows it has, which is mostly itself. `?- p(X, Y).` shows the rows
  // of p, and needs none of its own.
  std::vector<lang::PredId> same_as;
  std::vector<uint32_t> constraints;  // that are kept: they read nothing open
  bool has_open_constraints = false;  // there are others
  // What worlds differ in: the rows of such a predicate are then those that may hold.
  OpenProgram worlds;
};

KeptProgram make_kept_program(const lang::Program& source, const logic::Analysis& analysis,
                              const logic::AnswerOptions& options, lang::Session& session);

// Whether the arithmetic in a term can be without a value.
bool may_have_no_value(const lang::Term& term);
bool may_have_no_value(const lang::Rule& rule);

// `not p` and the modal forms that are false when p holds in the only world there is.
bool is_negative(const lang::Literal& literal);

}  // namespace xlog::incremental
