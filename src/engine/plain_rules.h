// The rules of an open component as plain ones, one for each atom that a head may derive: what
// they derive together is all that may hold.
#pragma once

#include <vector>

#include "lang/program.h"
#include "logic/answer.h"

namespace xlog::engine {

struct PlainRule {
  lang::Rule rule;  // with one atom as its head
  // Whether the atom holds in every world where the body does and `others` do not: it is not
  // chosen.
  bool is_forced = true;
  std::vector<lang::Literal> others;  // the other atoms of a disjunction
};

// The bounds of a choice are left out.
std::vector<PlainRule> plain_rules(const lang::Rule& rule);

// Holds where its atom does not: `not p`, `not know p`, `not possible p`.
bool is_negative(const lang::Literal& literal);

// Whether a literal may hold only once its atom is derived. Else it may hold because it is believed
// to, so that nothing can be said of it before its atom's component is evaluated.
bool needs_derivation(const lang::Literal& literal, logic::Mode mode);

}  // namespace xlog::engine
