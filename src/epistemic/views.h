// The world views of one unit of a ground program, and how they were found.
#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <vector>

#include "oracle/ground.h"

namespace xlog::epistemic {

// In how many worlds of a view an atom holds.
enum class AtomStatus : uint8_t { Never, Sometimes, Always };

struct View {
  std::vector<AtomStatus> status;  // by atom
  mpz_class worlds;                // how many
  // The first of them, where they were asked for: true atoms, ascending.
  std::vector<std::vector<oracle::AtomId>> listed;

  bool operator==(const View&) const = default;
};

struct Solution {
  std::vector<View> views;
  bool all_found = true;  // else the search ended when there were enough
};

// What the search did.
struct SearchCounts {
  uint64_t clusters = 0;  // of the program
  uint64_t clusters_done = 0;
  uint64_t units = 0;   // solved; the others were equal to one of these
  uint64_t reused = 0;  // equal to one that was solved
  uint64_t candidates = 0;
  uint64_t solver_calls = 0;
  uint64_t accepted = 0;
  // Why candidates are no world views.
  uint64_t not_known = 0;     // a world without an atom that was guessed to be known
  uint64_t not_possible = 0;  // no world with an atom that was guessed to be possible
  uint64_t not_open = 0;      // an atom is known, or possible, against the guess
  uint64_t unfounded = 0;
};

// What was done between two looks at the counts.
inline SearchCounts operator-(const SearchCounts& now, const SearchCounts& before) {
  return {.clusters = now.clusters - before.clusters,
          .clusters_done = now.clusters_done - before.clusters_done,
          .units = now.units - before.units,
          .reused = now.reused - before.reused,
          .candidates = now.candidates - before.candidates,
          .solver_calls = now.solver_calls - before.solver_calls,
          .accepted = now.accepted - before.accepted,
          .not_known = now.not_known - before.not_known,
          .not_possible = now.not_possible - before.not_possible,
          .not_open = now.not_open - before.not_open,
          .unfounded = now.unfounded - before.unfounded};
}

}  // namespace xlog::epistemic
