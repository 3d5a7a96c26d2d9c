// What a model counter counts: assignments that satisfy clauses and sums, in which all derived
// variables follow from the others.
//
//   CountFormula formula;
//   const int32_t a = formula.new_variable(), b = formula.new_variable();
//   formula.clauses.add({a, b});
//   formula.add_sum(c, 2, {{a, 1}, {b, 1}, {d, 1}});   // c <-> two or more of them hold
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "solve/ground_program.h"

namespace xlog::solve {

// One sum and what it is compared with: `holds <-> weight of the true terms >= bound`, for each
// threshold. Conditions on the same terms share a sum, so that what is left of them is one number.
struct CountSum {
  struct Threshold {
    Literal holds = 0;
    int64_t bound = 0;
  };
  std::vector<WeightedLiteral> terms;  // each variable once, by variable; weights are positive
  std::vector<Threshold> thresholds;   // no variable of a term
};

struct CountFormula {
  Cnf clauses;
  std::vector<CountSum> sums;
  // By variable, shorter when there are no more: the literal that a derived variable is a copy of,
  // 0 for others. An assignment to the others counts when with it the clauses imply the copies of
  // all literals that hold. At most one derived variable of a clause occurs positively.
  std::vector<Literal> copy_of;

  int32_t variables() const { return clauses.variables(); }
  int32_t new_variable() { return clauses.new_variable(); }
  Literal original(int32_t derived) const { return copy_of[static_cast<size_t>(derived)]; }
  bool is_derived(int32_t variable) const {
    return static_cast<size_t>(variable) < copy_of.size() && original(variable) != 0;
  }
  // With the clause that it holds only where the literal does.
  int32_t new_derived_variable(Literal of);

  // `holds <-> weight of the true terms >= bound`, for any literals and positive weights.
  void add_sum(Literal holds, int64_t bound, std::vector<WeightedLiteral> terms);

 private:
  using Terms = std::vector<std::pair<Literal, int64_t>>;
  std::map<Terms, size_t> sum_of_;
};

}  // namespace xlog::solve
