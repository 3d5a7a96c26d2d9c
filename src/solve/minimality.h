// Components of positive recursion in which a disjunction has two of its atoms: whether a total
// assignment has an unfounded set there is itself a hard question, asked to a second search.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "solve/search.h"

namespace xlog::solve {

// A rule with heads in the component. Literals are those of the search outside; heads and needs
// are atoms of the component, counted from 0.
struct HeadCycleRule {
  std::vector<uint32_t> heads;
  std::vector<uint32_t> needs;
  std::vector<Literal> conditions;  // the rest of the body, and no head outside holds
  bool choice = false;
};

struct HeadCycle {
  std::vector<Literal> atoms;
  std::vector<HeadCycleRule> rules;
};

// For each component one search that looks for a set X of true atoms such that the rules of the
// reduct hold without X. Its problem is the same for all assignments: they come as assumptions.
class MinimalityCheck final : public Propagator {
 public:
  explicit MinimalityCheck(std::vector<HeadCycle> components);

  Learned propagate(Search&) override { return Learned::Quiet; }
  Learned check(Search& search) override;
  void undo(const Search&, uint32_t, size_t) override {}

 private:
  struct Tester {
    HeadCycle component;
    std::unique_ptr<Search> search;
    std::vector<int32_t> outside;  // variables of the search outside, in the order of `inside`
    std::vector<int32_t> inside;   // their copies
    std::vector<int32_t> stays;    // of each atom: it is in the smaller set
  };

  static Tester make_tester(HeadCycle component);
  static Learned reject(Search& search, const Tester& tester);

  std::vector<Tester> testers_;
};

}  // namespace xlog::solve
