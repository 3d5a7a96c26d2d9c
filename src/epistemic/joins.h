// The solutions of bodies that need no more than joins: atoms over variables and constants, and
// comparisons. They are enumerated as oracle/matcher.h says, in the same order but for a literal
// that sees only new rows, which comes first. What a literal looks up, binds and compares is worked
// out once for each body.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "epistemic/body_plan.h"
#include "epistemic/bulk_grounding.h"
#include "oracle/instantiate.h"
#include "oracle/matcher.h"

namespace xlog::epistemic {

class Joins {
 public:
  explicit Joins(oracle::Context& context) : context_(context) {}

  // False where the body needs more than joins; then nothing was visited.
  bool solve(const oracle::BodyTask& task);

 private:
  class Run;

  const std::optional<BodyPlan>& plan_of(const oracle::BodyTask& task);

  oracle::Context& context_;
  // By body and the literal that sees new rows. The variables that are bound before are the same
  // for all tasks with a body.
  std::map<std::pair<const void*, uint32_t>, std::optional<BodyPlan>> plans_;
};

// oracle::instantiate with joins for the bodies that need no more, those of a rule with many
// instances all at once (bulk_grounding.h), and with one bound for each group of rows of which a
// constraint forbids all pairs (group_bounds.h).
oracle::Instantiation instantiate_by_joins(oracle::Context& context,
                                           const Parallel& parallel = in_turn,
                                           const BulkSizes& sizes = {});

}  // namespace xlog::epistemic
