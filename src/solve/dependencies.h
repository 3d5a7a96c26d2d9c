// How the atoms of a ground program depend on one another: positive recursion and its components.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "solve/ground_program.h"

namespace xlog::solve {

struct Components {
  static constexpr uint32_t kAlone = UINT32_MAX;  // no atom depends on itself

  std::vector<uint32_t> of_atom;           // [0] is unused
  std::vector<std::vector<Atom>> members;  // of each component, ascending
  std::vector<bool> head_cycles;           // whether a disjunction has two of its atoms in it

  bool together(Atom a, Atom b) const {
    const uint32_t component = of_atom[static_cast<size_t>(a)];
    return component != kAlone && component == of_atom[static_cast<size_t>(b)];
  }
};

// Atoms that depend on themselves through positive literals, in components.
Components positive_components(const GroundProgram& program);

// The program with weighted bodies whose atoms depend on their head spelled out as normal rules
// over new atoms behind the old ones; stable models stay one to one. Such a body of n literals
// becomes up to n * bound rules: an error where that is too many. Nothing where there are none.
Result<std::optional<GroundProgram>> without_recursive_weights(const GroundProgram& program);

// What is known of an atom in all stable models at once.
enum class AtomState : uint8_t {
  Open,
  False,    // in none
  Founded,  // in all, and derived without anything open
};

// Groups of open atoms such that no rule that matters speaks about two groups: the stable models
// of the program are the product of those of its groups.
constexpr uint32_t kNoGroup = UINT32_MAX;  // of atoms that are not open
struct Groups {
  std::vector<uint32_t> of_atom;  // [0] is unused
  uint32_t count = 0;
};
Groups independent_groups(const GroundProgram& program, const std::vector<AtomState>& states);

}  // namespace xlog::solve
