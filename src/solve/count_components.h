// Which open variables of a formula hang together under an assignment.
//
//   CountComponents parts(formula, trail);   // after what is sure was propagated
//   parts.split(parts.whole());
//   for each part that was found: parts.key(part)
//
// Two variables hang together by a clause that nothing satisfies yet, by a gate, or by a sum that
// is not decided. A gate is a set of clauses by which its output is the conjunction of its inputs.
// As long as nothing else asks for the output of a gate or a sum, it is asleep: whatever the inputs
// are, the output has one value, and neither counts. That is what lets a rule with many bodies fall
// apart once one of them holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/count_gates.h"
#include "solve/count_trail.h"

namespace xlog::solve {

// Ranges in one stack that all components share.
struct CountComponent {
  uint32_t begin = 0;  // variables, ascending
  uint32_t items = 0;  // clauses, then gates
  uint32_t sums = 0;
  uint32_t end = 0;
};

// Tells residual formulas apart: a digest of 128 bits. Two of 2^32 are the same with a probability
// below 2^-64.
struct CountKey {
  uint64_t low = 0;
  uint64_t high = 0;

  bool operator==(const CountKey&) const = default;
};

class CountComponents {
 public:
  // What is assigned now stays so. Variables that are `kept` are outputs of nothing.
  CountComponents(const CountFormula& formula, const CountTrail& trail,
                  const std::vector<bool>& kept);

  CountComponent whole() const { return whole_; }

  // Pushes the parts of a component that still hang together. Of its other variables `assigned`
  // are the literals that hold now, and `free` may have any value. False when a derived variable
  // is left that no clause can derive: nothing counts.
  bool split(const CountComponent& component);
  std::span<const CountComponent> found() const { return found_; }
  std::span<const Literal> assigned() const { return assigned_; }
  std::span<const int32_t> free() const { return free_; }
  // Takes everything away that was pushed since.
  size_t top() const { return stack_.size(); }
  void drop_to(size_t top) { stack_.resize(top); }

  std::span<const uint32_t> variables(const CountComponent& c) const {
    return std::span(stack_).subspan(c.begin, c.items - c.begin);
  }
  CountKey key(const CountComponent& component);
  // How much the variable was part of what is not decided, when last looked at.
  uint32_t occurrences(uint32_t variable) const { return states_[variable].degree; }
  bool is_derived(uint32_t variable) const { return states_[variable].derived; }
  bool is_output(uint32_t variable) const { return states_[variable].output; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct State {
    uint64_t needed = 0;  // the time when it last was
    uint32_t up = 0;      // another variable of the same part, or itself
    uint32_t degree = 0;
    uint32_t part = kNone;  // of those that stand for their part
    uint32_t gate = kNone;  // it is the output of
    uint32_t sum = kNone;   // it is an output of
    bool output = false;
    bool derived = false;
  };
  // A clause or gate, or a sum.
  struct Mark {
    uint64_t time = 0;      // when it last was awake
    uint32_t variable = 0;  // one of its open ones
  };

  void add_clauses(const CountGates& gates);
  bool is_open(uint32_t variable) const { return trail_.is_open(static_cast<int32_t>(variable)); }
  void need(uint32_t variable, uint32_t importance);
  uint32_t find(uint32_t variable);
  void unite(uint32_t a, uint32_t b);
  void wake_pairs(uint32_t variable);
  void wake_item(uint32_t item);
  void wake_sum(uint32_t sum);
  bool is_undecided(uint32_t sum) const;
  void tie_together(Mark& mark, uint32_t importance);
  bool collect(const CountComponent& component);

  const CountFormula& formula_;
  const CountTrail& trail_;
  CountLists
      items_;  // slots of literals: clauses of three and more, then gates with the output first
  uint32_t first_gate_ = 0;
  CountLists pairs_;  // by variable: the others in clauses of two, those with larger numbers
  CountComponent whole_;

  std::vector<uint32_t> stack_;
  std::vector<CountComponent> found_;
  std::vector<Literal> assigned_;
  std::vector<int32_t> free_;
  uint64_t time_ = 0;
  std::vector<State> states_;  // by variable
  std::vector<Mark> item_marks_;
  std::vector<Mark> sum_marks_;
  std::vector<uint32_t> woken_;     // variables whose gates or sums are to be looked at
  std::vector<uint32_t> together_;  // open variables of what is looked at
  std::vector<uint32_t> sizes_;     // of the parts: variables, items, sums
  std::vector<bool> has_plain_;     // by part: something else than derived variables
  std::vector<int64_t> text_;       // of a key
};

}  // namespace xlog::solve
