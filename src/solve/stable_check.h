// Whether a set of atoms is a stable model, from the rules alone and without a search.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "solve/ground_program.h"

namespace xlog::solve {

// Made once for a program, which it refers to. A test looks at rules that a true atom occurs in,
// and at those whose bodies may hold without any.
class FoundedCheck {
 public:
  explicit FoundedCheck(const GroundProgram& program) : program_(program) { take_new_rules(); }

  // Those that the program has got since.
  void take_new_rules();

  // Whether the set satisfies every rule, and each of its atoms is derived from the reduct, where
  // a disjunction derives those of its heads that are in the set. Without disjunctions that is the
  // definition of a stable model; with them it is necessary, and minimality remains to be shown.
  // Both vectors go by atom; atoms marked in `given` need no rule.
  bool holds(const std::vector<bool>& in_set, const std::vector<bool>& given);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // A positive one in a body.
  struct Occurrence {
    uint32_t rule = 0;
    uint32_t place = 0;     // in its body
    uint32_t next = kNone;  // of the same atom
  };

  // What the body of a rule whose positive literals hold still waits for, by its weight in the
  // reduct; nothing where the body does not hold.
  static std::optional<int64_t> open_weight(const Rule& rule, const std::vector<bool>& in_set);
  bool take(uint32_t rule, const std::vector<bool>& in_set);
  void derive(std::span<const Atom> head, const std::vector<bool>& in_set);
  void forget();

  template <typename Visit>
  void for_each_occurrence(size_t atom, const Visit& visit) const;

  const GroundProgram& program_;
  std::vector<uint32_t> first_;  // occurrence, by atom
  std::vector<Occurrence> occurrences_;
  std::vector<uint32_t> positive_;  // literals of each body
  std::vector<uint32_t> always_;    // rules whose bodies need no true atom
  std::vector<uint32_t> seen_;      // positive literals of each body that hold
  std::vector<int64_t> missing_;    // what each rule still waits for; 0: for nothing, or in vain
  std::vector<uint32_t> touched_;   // rules with one of these
  std::vector<Atom> derived_;
  std::vector<bool> is_derived_;
};

}  // namespace xlog::solve
