// Whether a set of atoms is a stable model, from the rules alone and without a search.
#pragma once

#include <cstdint>
#include <vector>

#include "solve/ground_program.h"

namespace xlog::solve {

// Made once for a program, which it refers to; each test takes time linear in the program.
class FoundedCheck {
 public:
  explicit FoundedCheck(const GroundProgram& program);

  // Whether the set satisfies every rule, and each of its atoms is derived from the reduct, where
  // a disjunction derives those of its heads that are in the set. Without disjunctions that is the
  // definition of a stable model; with them it is necessary, and minimality remains to be shown.
  // Both vectors go by atom; atoms marked in `given` need no rule.
  bool holds(const std::vector<bool>& in_set, const std::vector<bool>& given);

 private:
  struct Occurrence {
    uint32_t rule = 0;
    int64_t weight = 0;
  };

  void derive(std::span<const Atom> head, const std::vector<bool>& in_set);

  const GroundProgram& program_;
  std::vector<size_t> begin_;  // of each atom's positive occurrences in bodies
  std::vector<Occurrence> occurrences_;
  std::vector<int64_t> missing_;  // what each rule still waits for; 0: for nothing, or in vain
  std::vector<Atom> derived_;
  std::vector<bool> is_derived_;
};

}  // namespace xlog::solve
