// World views of a small ground program, by trying every assignment to its modal atoms.
#pragma once

#include <vector>

#include "logic/answer.h"
#include "oracle/context.h"
#include "oracle/ground.h"

namespace xlog::oracle {

using WorldSet = std::vector<Interpretation>;  // non-empty, in increasing order

// Truth of a modal literal in a set of worlds.
bool holds_in(const GroundLiteral& modal, const WorldSet& worlds);

// Every world view of the program, in order of the assignments.
std::vector<WorldSet> world_views(const GroundProgram& program, logic::Mode mode, Context& context);

// Whether every atom of every world is founded (founded.cc): by the fixpoint when no head is
// disjunctive, else by unfounded sets.
bool is_founded(const GroundProgram& program, const WorldSet& worlds, logic::Mode mode,
                Context& context);
bool is_founded_by_fixpoint(const GroundProgram& program, const WorldSet& worlds, logic::Mode mode,
                            Context& context);
bool has_unfounded_set(const GroundProgram& program, const WorldSet& worlds, logic::Mode mode,
                       Context& context);

}  // namespace xlog::oracle
