// Unfounded sets by source pointers (Simons, Niemelä, Soininen 2002, in the form of clasp). Every
// atom of a positive cycle that is not false needs a source: a support whose atoms of the same
// cycle have sources before it. Atoms that lose theirs and find no other are unfounded: for each
// the clause "false, or some support from outside of the set holds" is learned.
#pragma once

#include <cstdint>
#include <vector>

#include "solve/search.h"

namespace xlog::solve {

// One way to derive an atom: a literal of the search, and the loop atoms that must be founded
// before.
struct LoopSupport {
  Literal literal = 0;
  std::vector<uint32_t> needs;
};

struct LoopAtom {
  Literal literal = 0;
  std::vector<LoopSupport> supports;
};

class UnfoundedSets final : public Propagator {
 public:
  explicit UnfoundedSets(const std::vector<LoopAtom>& atoms);

  Learned propagate(Search& search) override;
  Learned check(Search&) override { return Learned::Quiet; }
  void undo(const Search& search, uint32_t level, size_t trail_size) override;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Support {
    Literal literal = 0;
    uint32_t head = 0;
    uint32_t missing = 0;  // atoms it needs that have no source
    uint32_t needs_begin = 0;
    uint32_t needs_end = 0;
  };
  struct AtomInfo {
    Literal literal = 0;
    uint32_t source = kNone;
    uint32_t supports_begin = 0;
    uint32_t supports_end = 0;
    uint32_t uses_begin = 0;
    uint32_t uses_end = 0;
    bool waiting = false;  // in candidates_ or parked_
  };
  struct Parked {
    uint32_t atom = 0;
    uint32_t level = 0;
  };

  void lose_source(uint32_t atom);
  void find_sources(const Search& search);
  Learned reject(Search& search, uint32_t atom);

  std::vector<AtomInfo> atoms_;
  std::vector<Support> supports_;                 // those of an atom lie together
  std::vector<uint32_t> needs_;                   // atoms, by support
  std::vector<uint32_t> uses_;                    // supports that need an atom, by atom
  std::vector<std::vector<uint32_t>> falsified_;  // supports, by slot of the literal that ends them
  size_t head_ = 0;                               // the trail up to here has been seen
  std::vector<uint32_t> candidates_;              // atoms without a source
  std::vector<Parked> parked_;  // the same, but false since a level; levels ascend
  std::vector<uint32_t> work_;
  std::vector<uint32_t> set_;  // an unfounded set
  std::vector<bool> in_set_;
  std::vector<Literal> clause_;
};

}  // namespace xlog::solve
