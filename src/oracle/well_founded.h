// Well-founded bounds of a ground program: what is true, and what may be true, in every world of
// every world view. Alternating fixpoint (Van Gelder 1989), with modal literals bounded as their
// mode allows.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "logic/answer.h"
#include "logic/modes.h"
#include "oracle/context.h"
#include "oracle/ground.h"

namespace xlog::oracle {

using logic::needs_foundation;

struct Bounds {
  Interpretation lower;  // true in every world
  Interpretation upper;  // everything else is false in every world
};

// Whether a head may hold because of this rule: a disjunction with another head that holds anyway
// is satisfied, and by minimality supports nothing else.
bool may_support(const GroundRule& rule, AtomId head, const Bounds& bounds);

Bounds well_founded_bounds(const GroundProgram& program, logic::Mode mode, Context& context);

// The results that aggregates may have, by what they fold. Each result is a literal of its own, and
// all of them ask for the same; to find them takes a walk over all sets of open rows.
struct PossibleResults {
  std::optional<std::vector<std::vector<Value>>> values;  // nullopt: too many
  bool is_decided = false;                                // no row is open
  bool may_have_none = false;                             // no row is certain
};
using KnownResults = std::map<const AggregateInput*, PossibleResults>;

// Truth of a literal as far as the bounds tell. `known` is for who asks often about the same
// program and bounds.
Truth bounded_truth(const GroundLiteral& literal, const GroundProgram& program,
                    const Bounds& bounds, lang::Names& names, KnownResults* known = nullptr);

// The program without what the bounds decide: literals replaced, rules for decided heads dropped.
// Decided atoms no longer occur in it, and every other one is the head of a rule.
GroundProgram residual(const GroundProgram& program, const Bounds& bounds, lang::Names& names);

}  // namespace xlog::oracle
