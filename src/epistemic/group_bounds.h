// Constraints that allow one row for each group (logic/one_per_group.h) as bounds, one for each
// group that has several rows, instead of a rule for each pair of rows.
#pragma once

#include <map>
#include <optional>

#include "logic/one_per_group.h"
#include "oracle/context.h"
#include "oracle/matcher.h"

namespace xlog::epistemic {

class GroupBounds {
 public:
  explicit GroupBounds(oracle::Context& context) : context_(context) {}

  // As a Shortcut has it (oracle/matcher.h). Not done where rules are no such constraints.
  oracle::Shortcut::Grounding ground(const oracle::RuleTask& task, oracle::GroundProgram& ground);

 private:
  oracle::Context& context_;
  std::map<uint32_t, std::optional<logic::OnePerGroup>> found_;  // by rule; joins keep their bodies
};

}  // namespace xlog::epistemic
