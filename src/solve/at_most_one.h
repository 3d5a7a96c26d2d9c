// Which of some literals exclude each other, as unit propagation sees it, and groups of them of
// which at most one can hold. Weighted soft literals in such a group are paid for at once, without
// a core for each pair.
//
//   Exclusions exclusions(literals, propagation, steps);
//   for (const auto& group : exclusions.groups(candidates)) ...
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "solve/cnf.h"
#include "solve/unit_propagation.h"

namespace xlog::solve {

class Exclusions {
 public:
  Exclusions() = default;
  // Probes the literals in their order until about `steps` of propagation are spent; pairs that it
  // does not get to count as compatible.
  Exclusions(std::span<const Literal> literals, UnitPropagation& propagation, uint64_t steps);

  // Those that propagation alone refutes.
  const std::vector<Literal>& impossible() const { return impossible_; }

  bool exclude(Literal a, Literal b) const;

  // Disjoint groups of two or more candidates that exclude each other pairwise. Greedy: a group
  // starts at the first candidate that is left and takes every one that fits.
  std::vector<std::vector<Literal>> groups(std::span<const Literal> candidates) const;

 private:
  std::vector<Literal> impossible_;
  std::unordered_map<Literal, std::vector<Literal>> excluded_;  // sorted
};

}  // namespace xlog::solve
