// The Clark completion of a ground program as clauses and weight constraints of a search: every
// rule whose body holds has a head that holds, and every atom that holds has a support. Atoms and
// bodies that always agree share one variable.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/dependencies.h"
#include "solve/minimality.h"
#include "solve/unfounded.h"

namespace xlog::solve {

struct Completion {
  // Of each atom, in the search; [0] is a literal that always holds.
  std::vector<Literal> literals;
  // Atoms of positive cycles and their supports, for UnfoundedSets.
  std::vector<LoopAtom> loop_atoms;
  // The components in which that is not enough, for MinimalityCheck.
  std::vector<HeadCycle> head_cycles;

  Literal literal(Literal atom) const {
    const Literal mapped = literals[static_cast<size_t>(variable_of(atom))];
    return atom > 0 ? mapped : -mapped;
  }
};

// The program has no weighted bodies that depend on their heads. Atoms marked in `external` have
// no rules and stay open. `known`: literals of the search that the first atoms have already; these
// have no rules here and stay what they are.
Completion complete(const GroundProgram& program, const std::vector<bool>& external, Search& search,
                    std::span<const Literal> known = {});

}  // namespace xlog::solve
