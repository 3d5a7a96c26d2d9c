// All instances of a rule at once, found by several threads: for rounds of rows that may hold, and
// for ground rules. The result is what oracle/instantiate.h makes of one instance after another, to
// the last number. Where somebody has found the instances before (oracle/evaluate.h), they become
// ground rules in the order of their values, by the numbers that these have: each once, and those
// of a choice one element after another.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/parallel.h"
#include "epistemic/bulk_plan.h"
#include "epistemic/bulk_walk.h"
#include "oracle/context.h"
#include "oracle/evaluate.h"
#include "oracle/matcher.h"

namespace xlog::epistemic {

struct BulkSizes {
  size_t few_rows = 64;  // of the first literal: these are not worth it
  // About how many instances one walk finds, and all that go on at once.
  double instances_of_walk = 1 << 13;
  double instances_at_once = 1 << 22;
  // Of instances that are known, so many have their values on hand.
  size_t known_at_once = 1 << 18;
};

class BulkGrounding {
 public:
  BulkGrounding(oracle::Context& context, const Parallel& parallel, const BulkSizes& sizes = {})
      : context_(context), parallel_(parallel), sizes_(sizes) {}

  // As a Shortcut has them (oracle/matcher.h).
  bool derive(const oracle::RuleTask& task, oracle::Derived& derived);
  oracle::Shortcut::Grounding ground(const oracle::RuleTask& task, oracle::GroundProgram& ground);

 private:
  const BulkPlan* plan_of(const oracle::RuleTask& task);
  BulkWalk::Places places_of(const BulkPlan& plan, const oracle::RuleTask& task);
  std::vector<BulkWalk::Place> places_of(const BulkPlan::Track& track, const oracle::RuleTask& task,
                                         bool is_body);
  // Walks over all rows of the first literal, some at a time, and calls `take` with what each walk
  // found, in order.
  template <typename Take>
  void walk(const BulkPlan& plan, const oracle::RuleTask& task, const Take& take);
  template <typename Take>
  void walk(const BulkPlan& plan, const BulkWalk::Places& places, const oracle::RuleTask& task,
            const Take& take);
  // Whether some rule has an empty body.
  bool add_found(const BulkPlan& plan, const oracle::RuleTask& task,
                 const std::vector<BulkFound>& found, oracle::GroundProgram& ground);
  std::optional<oracle::Shortcut::Grounding> ground_known(const oracle::RuleTask& task,
                                                          oracle::GroundProgram& ground);
  bool ground_known(uint32_t element, const oracle::Preset::Instances& instances,
                    const oracle::RuleTask& task, oracle::GroundProgram& ground);
  void note_valueless(uint32_t rule, const std::vector<BulkFound>& found);
  void add_rules(const BulkPlan& plan, const oracle::RuleTask& task,
                 const std::vector<BulkFound>& found, oracle::GroundProgram& ground);

  oracle::Context& context_;
  const Parallel& parallel_;
  const BulkSizes sizes_;
  // By rule, the literal that sees new rows, and whether rows are derived.
  std::map<std::tuple<uint32_t, uint32_t, bool>, std::optional<BulkPlan>> plans_;
};

}  // namespace xlog::epistemic
