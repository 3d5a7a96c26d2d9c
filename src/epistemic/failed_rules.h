// Which rule instances might have given an atom that does not hold, and what each fails for.
#pragma once

#include <optional>
#include <vector>

#include "epistemic/rule_instances.h"
#include "epistemic/scope.h"
#include "epistemic/shown_worlds.h"
#include "epistemic/why.h"

namespace xlog::epistemic {

class FailedRules {
 public:
  FailedRules(Findings& findings, RuleInstances& instances, ShownWorlds& worlds)
      : findings_(findings), instances_(instances), worlds_(worlds) {}

  // Of an atom that does not hold in the scope.
  std::vector<FailedInstance> explain(oracle::AtomId atom, const Scope& scope);
  // Of a row, of which some values are known, that no instance has.
  std::vector<FailedInstance> explain_missing(lang::PredId pred,
                                              const std::vector<std::optional<lang::Value>>& row);

 private:
  FailedInstance named(uint32_t rule) const;
  FailedInstance without_instance(uint32_t rule, lang::PredId pred,
                                  const std::vector<std::optional<lang::Value>>& row);
  FailedInstance failed_instance(const RuleInstance& instance, const Scope& scope);
  void say_why(const InstanceLiteral& literal, const Scope& scope, FailedInstance& made);
  bool is_only_believed(const oracle::GroundLiteral& literal);
  void say_what_if(const oracle::GroundLiteral& literal, uint32_t view, FailedInstance& made);

  Findings& findings_;
  RuleInstances& instances_;
  ShownWorlds& worlds_;
  std::optional<oracle::Bounds> unfounded_;  // where nothing has to be founded
};

}  // namespace xlog::epistemic
