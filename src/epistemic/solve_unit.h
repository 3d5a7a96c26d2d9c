// The world views of one unit: a ground program whose modal literals ask about its own atoms.
//
// Generate: a stable model of the unit in which every question has an open answer gives a guess
// that fits this one world. Propagate: guesses that earlier tests exclude are never generated
// again. Test: all worlds under the guess are asked for a counterexample, and for the worlds that
// the guess promises; then for foundedness. What fails is learned for all guesses that fail for the
// same reason: what follows from the choices of a world is asked of every guess
// (counterexamples.h), or where that cannot be said so, a world excludes every guess that keeps the
// answers on which the world rests; and where no world is found, the answers that the solver needed
// to see it.
#pragma once

#include <vector>

#include "epistemic/views.h"
#include "logic/answer.h"
#include "oracle/context.h"

namespace xlog::epistemic {

// In increasing order of statuses, atom by atom; all, or where `most` is not 0 so many. Throws what
// the context's limits throw.
Solution solve_unit(const oracle::GroundProgram& unit, uint64_t most, oracle::Context& context,
                    SearchCounts& counts);

// What becomes of a guess that answers one question of the unit in a given way.
enum class Verdict : uint8_t {
  NoWorld,      // no world fits such a guess
  NotKnown,     // a world of the guess lacks an atom that should be in all
  NotPossible,  // no world of the guess has an atom that should be in some
  NotOpen,      // an atom is in all worlds, or in some, where it should not
  Unfounded,    // some atom rests on nothing but that it is believed
  Accepted,
};
struct GuessTest {
  Verdict verdict = Verdict::NoWorld;
  oracle::AtomId atom = 0;            // that the failing question is about
  std::vector<oracle::AtomId> world;  // NotKnown, NotOpen: one that shows it, where there is one
};

// Tests the first guess that gives the question `all` (else: some) about the atom this answer.
GuessTest test_guess(const oracle::GroundProgram& unit, oracle::AtomId atom, bool all, bool answer,
                     oracle::Context& context);

}  // namespace xlog::epistemic
