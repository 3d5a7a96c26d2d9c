// Atoms that nothing can derive any more, seen before all is assigned: the derived variables of a
// component that could only follow from one another. Their atoms are false, which a clause says:
// an atom of such a set holds only if a way from outside of the set holds (Lin, Zhao 2004).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/count_trail.h"

namespace xlog::solve {

class CountLoops {
 public:
  CountLoops(const CountFormula& formula, const CountTrail& trail);

  bool empty() const { return ways_.empty(); }

  enum class Found : uint8_t { Nothing, Implied, Conflict };
  // Looks at the variables of a component after propagation. Clauses go to the trail.
  Found look(std::span<const uint32_t> variables, CountTrail& trail);

 private:
  // A clause that derives a variable: when the conditions hold and the needed ones are derived.
  struct Way {
    uint32_t derived = 0;
    std::vector<Literal> conditions;
    std::vector<uint32_t> needs;  // derived variables
  };
  struct State {
    std::vector<uint32_t> ways;
    std::vector<uint32_t> uses;  // ways that need it
    uint64_t open = 0;           // the time when it last was
    bool possible = false;
  };

  bool is_lost(uint32_t variable) const {
    return states_[variable].open == time_ && !states_[variable].possible;
  }
  Literal why_blocked(const Way& way, const CountTrail& trail) const;
  void find_possible(const CountTrail& trail);

  const CountFormula& formula_;
  std::vector<Way> ways_;
  std::vector<State> states_;      // by variable
  std::vector<uint32_t> missing_;  // by way
  std::vector<uint32_t> open_;     // derived variables of the component
  std::vector<uint32_t> found_;    // that are possible, to go on from
  uint64_t time_ = 0;
  std::vector<Literal> clause_;
};

}  // namespace xlog::solve
