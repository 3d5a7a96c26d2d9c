// What `--stats` prints: where the time, the rows and the memory of a run went. docs/observing.md
// says what each figure means.
#pragma once

#include <string>

#include "base/line_index.h"
#include "cli/pipeline.h"

namespace xlog::cli {

// A short table, with the relations and rules that took the most.
std::string stats_text(const Outcome& outcome);
// One JSON object on one line, with all of them.
std::string stats_json(const Outcome& outcome);

// A rule as it is named in statistics and profiles.
struct RuleName {
  std::string text;   // "reach(X, Z) :- reach(X, Y), edge(Y, Z)."
  std::string place;  // "a.xlog:3"
};
// Finds names without going through the sources for each.
class RuleNames {
 public:
  explicit RuleNames(const Outcome& outcome) : outcome_(outcome), lines_(outcome.session.sources) {}
  RuleName rule(uint32_t rule);
  // The text of a literal of the rule's body.
  std::string literal(uint32_t rule, uint32_t literal) const;

 private:
  const Outcome& outcome_;
  LineIndex lines_;
};

}  // namespace xlog::cli
