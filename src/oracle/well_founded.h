// Well-founded bounds of a ground program: what is true, and what may be true, in every world of
// every world view. Alternating fixpoint (Van Gelder 1989), with modal literals bounded as their
// mode allows.
#pragma once

#include "logic/answer.h"
#include "oracle/context.h"
#include "oracle/ground.h"

namespace xlog::oracle {

struct Bounds {
  Interpretation lower;  // true in every world
  Interpretation upper;  // everything else is false in every world
};

// Whether a positive modal literal must be founded in this mode: its atom has to be derived before
// it supports anything.
bool needs_foundation(lang::Modal modal, logic::Mode mode);

Bounds well_founded_bounds(const GroundProgram& program, logic::Mode mode, Context& context);

// Truth of a literal as far as the bounds tell.
Truth bounded_truth(const GroundLiteral& literal, const GroundProgram& program,
                    const Bounds& bounds, lang::Names& names);

// The program without what the bounds decide: literals replaced, rules for decided heads dropped.
// Decided atoms no longer occur in it.
GroundProgram residual(const GroundProgram& program, const Bounds& bounds, lang::Names& names);

}  // namespace xlog::oracle
