// Folds over rows in which worlds differ, as predicates of their own. What a solution of the braces
// is, an atom says; what the fold of those that hold may be, rows of another predicate:
//
//   busy(X, N) :- node(X), N = count : { edge(X, Y) }.
//
//   __xlog_asked_0(X) :- node(X).                              the groups that are asked for
//   __xlog_element_1(X, Y) :- __xlog_asked_0(X), edge(X, Y).
//   __xlog_fold_2(X, count()) :- __xlog_element_1(X, Y).
//   busy(X, N) :- node(X), __xlog_fold_2(X, N).
//
// The rows of a fold are all results that it may have (open_program.h), each an atom that holds
// where the elements that hold fold to it. Groups are asked for in any world: the rows that say so
// are those that may hold. Aggregates in heads become the same, with the groups of their elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "oracle/aggregates.h"

namespace xlog::incremental {

struct OpenFold {
  lang::PredId fold;     // columns: the group, then the results
  lang::PredId element;  // columns: the group, then values, then what tells solutions apart
  lang::PredId groups;   // its rows; not valid: not yet, as there are elements of each
  uint32_t group_columns = 0;
  std::vector<oracle::Fold> folds;          // by result
  std::vector<uint32_t> value_columns;      // by result, of the element; kNoValue: a plain count
  std::vector<lang::TypeKind> value_kinds;  // by result
  bool nonempty = false;                    // no result where no element holds
  // Rows of these hold in all worlds; not all that do so are among them (open_program.h).
  lang::PredId certain_element;
  lang::PredId certain_fold;  // not valid where nobody asks
  static constexpr uint32_t kNoValue = UINT32_MAX;
};

// A new variable of the rule that an equation, put into the body, binds to the term.
lang::Term named(lang::Rule& rule, const lang::Term& term, std::vector<lang::Literal>& body);

// Why a fold of an open rule cannot become a predicate, or "".
std::string why_not_expanded(const lang::Rule& rule, const logic::Analysis& analysis,
                             const std::vector<bool>& open);

// Rewrites the rules that fold over what is open, one level of braces, and those that are open and
// fold in their heads. True when something changed: the program has to be analysed again, and may
// have more levels.
bool expand_open_folds(lang::Program& program, const logic::Analysis& analysis,
                       const std::vector<bool>& open, lang::Session& session,
                       std::vector<OpenFold>& folds);

}  // namespace xlog::incremental
