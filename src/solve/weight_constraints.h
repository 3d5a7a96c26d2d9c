// Constraints `holds <-> weight of the true terms >= bound` for the search, by two counters a
// constraint: what the true terms weigh, and what the terms that are not false could weigh.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/ground_program.h"

namespace xlog::solve {

class Search;

// Literals as places in a vector: v is 2v, -v is 2v - 1.
constexpr size_t slot(Literal literal) {
  return static_cast<size_t>((literal << 1) ^ (literal >> 31));
}

// Leaves each variable once, in the order of variables, and returns what surely holds of the sum:
// of a variable that occurs with both signs one always counts.
int64_t make_distinct(std::vector<WeightedLiteral>& terms);

class WeightConstraints {
 public:
  explicit WeightConstraints(Search& search) : search_(search) {}

  // Weights are positive. Without `both`, only `holds -> weight >= bound` is kept.
  // The search stands at level 0 and calls `settle` before it goes on.
  uint32_t add(Literal holds, int64_t bound, std::vector<WeightedLiteral> terms, bool both);
  // A larger bound for a constraint that is not `both`.
  void raise_bound(uint32_t constraint, int64_t bound);
  void remove(uint32_t constraint);
  bool empty() const { return constraints_.empty(); }
  void need_variables(int32_t count);

  // False after a conflict, which the search then has.
  bool assigned(Literal literal);
  void unassigned(Literal literal);
  // Looks at a constraint again, after `add` or `raise_bound`.
  bool settle(uint32_t constraint);

  // The clause by which the constraint implied `literal`, that literal first.
  void explain(uint32_t constraint, Literal literal, std::vector<Literal>& clause) const;

 private:
  struct Constraint {
    Literal holds = 0;
    int64_t bound = 0;
    int64_t total = 0;      // of all terms
    int64_t reached = 0;    // of the true terms
    int64_t reachable = 0;  // of the terms that are not false
    uint32_t begin = 0;     // its terms, heaviest first
    uint32_t end = 0;
    bool both = true;
  };
  struct Occurrence {
    uint32_t constraint = 0;
    bool is_term = false;  // else it is the literal that says whether the constraint holds
    int64_t weight = 0;
  };

  // What follows from what the true terms weigh, and from what could be reached.
  bool look_up(uint32_t index);
  bool look_down(uint32_t index);

  Search& search_;
  std::vector<Constraint> constraints_;
  std::vector<WeightedLiteral> terms_;
  std::vector<std::vector<Occurrence>> occurrences_;  // by slot of the literal that became true
};

}  // namespace xlog::solve
