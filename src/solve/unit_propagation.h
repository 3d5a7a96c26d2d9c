// What follows from a literal by unit propagation alone, over clauses that stay.
//
//   UnitPropagation propagation(variables);
//   propagation.add(clause);
//   if (propagation.probe(literal)) use(propagation.implied()); else ...  // literal must be false
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solve/cnf.h"

namespace xlog::solve {

class UnitPropagation {
 public:
  explicit UnitPropagation(int32_t variables) { need_variables(variables); }

  void need_variables(int32_t count);
  // Also propagates at once what the clause leaves no choice about.
  void add(std::span<const Literal> clause);

  // Some clause can no longer hold.
  bool contradiction() const { return contradiction_; }

  // False: the literal leads to a contradiction. Otherwise implied() is what follows, the literal
  // first; valid until the next call. Changes nothing.
  bool probe(Literal literal);
  std::span<const Literal> implied() const { return implied_; }

  // Watches looked at so far: how much work was done.
  uint64_t steps() const { return steps_; }

 private:
  static size_t index(Literal literal) {
    return 2 * static_cast<size_t>(variable_of(literal)) + (literal < 0 ? 1 : 0);
  }
  int8_t value(Literal literal) const { return values_[index(literal)]; }
  void assign(Literal literal);
  bool propagate();  // false on a contradiction

  struct Watch {
    uint32_t clause;
    Literal other;  // some other literal of the clause: where it holds the clause need not be read
  };

  bool contradiction_ = false;
  uint64_t steps_ = 0;
  std::vector<int8_t> values_;  // by literal: 1 true, -1 false, 0 open
  std::vector<std::vector<Watch>> watches_;
  std::vector<Literal> literals_;
  std::vector<std::pair<size_t, size_t>> clauses_;  // begin and end in literals_
  std::vector<Literal> trail_;
  size_t propagated_ = 0;
  std::vector<Literal> implied_;
};

}  // namespace xlog::solve
