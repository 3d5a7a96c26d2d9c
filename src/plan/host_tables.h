// What a device cannot compute from the numbers it has for values, as relations that the host
// fills: the order of symbols, and what lists are made of.
//
//   first(X) :- name(X), X < m.          first(X) :- name(X), __xlog_rank(X, R), __xlog_rank(m, S),
//                                                    R < S.
//   in(X, R) :- route(R, L),             in(X, R) :- route(R, L), __xlog_member(L, X).
//               member(X, L).
//   rest(T) :- rest([_ | T]).            rest(T) :- rest(L), __xlog_cons(L, _, T).
#pragma once

#include <string>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"

namespace xlog::plan {

enum class HostTableKind : uint8_t {
  Rank,    // symbol, its place among all symbols by text
  Cons,    // list, first element, list of the others; of all lists and their rests
  Member,  // list, element
  Nth,     // list, position from 0, element
  Length,  // list, number of elements
};

struct HostTable {
  HostTableKind kind = HostTableKind::Rank;
  lang::TypeKind element{};  // of the lists
  lang::PredId pred;
  bool shared = true;  // its rows are known before anything is evaluated
};

// Rewrites the rules of determined components, so that they can run on a device: they read such
// tables, and where lists are made as the program runs, or for what no table has, the host solves a
// literal at a time (patterns.h, StepKind::Host). Where something changed, the program has to be
// analysed again. A table holds what there is when the first component reads it; where `findall`
// makes lists, components do not share tables of lists. With the well-founded semantics components
// that are not determined may run on a device too; they read no tables.
std::vector<HostTable> use_host_tables(lang::Program& program, const logic::Analysis& analysis,
                                       lang::Session& session, bool well_founded, bool& changed);

}  // namespace xlog::plan
