// The instances of rules that may give an atom, with their literals as text: a ground program keeps
// only what is open of a rule.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "epistemic/findings.h"

namespace xlog::epistemic {

struct InstanceLiteral {
  std::string text;
  const lang::Literal* literal = nullptr;
  // What it asks of open atoms; nothing where rows decide it, or where it folds over several.
  std::optional<oracle::GroundLiteral> open;
  // Of a plain atom over settled rows: the row.
  std::vector<lang::Value> row;
};

struct RuleInstance {
  uint32_t rule = 0;
  std::vector<InstanceLiteral> body;                // of a choice with the condition of the element
  std::string remaining;                            // compares with remaining_key()
  std::vector<oracle::GroundAggregate> aggregates;  // over open rows, with their results
};

// Of an instance: its open literals, aggregates by their results, as a text that compares.
std::string remaining_key(oracle::GroundBody body, const oracle::GroundProgram& program);

// Where the rules come before they give a row that they do not give.
struct FailedRule {
  uint32_t rule = 0;
  bool head_fits = false;
  std::vector<std::string> holds;  // over rows that may hold
  std::string fails;
};

class RuleInstances {
 public:
  explicit RuleInstances(Findings& findings) : findings_(findings) {}

  // Calls `visit` for the instances of one rule whose head is this row until it returns false.
  using Visit = std::function<bool(const RuleInstance&)>;
  void for_each(uint32_t rule, lang::PredId pred, std::span<const lang::Value> row,
                const Visit& visit);

  // How far a rule comes for a row of which some values are known.
  FailedRule furthest(uint32_t rule, lang::PredId pred,
                      const std::vector<std::optional<lang::Value>>& row);

 private:
  void come_far(size_t element, oracle::Bindings& bindings, FailedRule& failed);
  InstanceLiteral literal_of(const lang::Literal& literal, const lang::Rule& rule,
                             oracle::Bindings& bindings);
  std::vector<oracle::AtomId> atoms_fitting(const lang::Literal& literal,
                                            oracle::Bindings& bindings);

  Findings& findings_;
  oracle::GroundProgram scratch_;  // takes what a matcher makes of aggregates
};

}  // namespace xlog::epistemic
