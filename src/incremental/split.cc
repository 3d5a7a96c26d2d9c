#include "incremental/split.h"

#include <fmt/format.h>

#include <algorithm>

#include "logic/components.h"
#include "oracle/instantiate.h"

namespace xlog::incremental {

Split split_program(const lang::Program& source, const logic::Analysis& analysis,
                    const KeptProgram& kept, const logic::AnswerOptions& options) {
  Split split;
  for (const lang::Query& query : source.queries) {
    const uint32_t component = kept.analysis.component_of[query.pred.index];
    const bool open = kept.worlds.kept ? kept.worlds.is_open(query.pred)
                                       : kept.kinds[component] == KeptKind::Open;
    split.query_kept.push_back(!open);
  }
  split.rest_reads.assign(source.predicates.size(), false);
  const auto reads = [&](const std::vector<lang::Literal>& body) {
    logic::for_each_predicate(body, [&](const lang::Literal& literal, const lang::Literal*) {
      split.rest_reads[literal.pred.index] = true;
    });
  };
  const auto rest_has = [&](const lang::Rule& rule) {
    split.asks_rest = true;
    split.rest_has_partial_arithmetic |= may_have_no_value(rule);
    reads(rule.body);
    for (const lang::HeadElement& head : rule.head) reads(head.condition);
  };
  for (const logic::Component& component : analysis.components) {
    split.settled.push_back(oracle::is_settled(component, options));
    if (split.settled.back()) continue;
    split.asks_rest = true;
    for (const lang::PredId pred : component.predicates) split.rest_reads[pred.index] = true;
    for (const uint32_t r : component.rules) rest_has(source.rules[r]);
  }
  for (const uint32_t r : analysis.constraints) {
    if (std::ranges::count(kept.constraints, r) == 0) rest_has(source.rules[r]);
  }
  // Who evaluates the rest evaluates all constraints.
  for (const uint32_t r : analysis.constraints) {
    split.rest_has_partial_arithmetic |= split.asks_rest && may_have_no_value(source.rules[r]);
  }
  split.rest_has_partial_arithmetic &= !kept.worlds.kept;
  // How often arithmetic without a value is met is known only where it is evaluated.
  for (uint32_t c = 0; c < kept.kinds.size(); ++c) {
    if (kept.kinds[c] != KeptKind::Recomputed) continue;
    for (const uint32_t r : kept.analysis.components[c].rules) {
      if (!may_have_no_value(kept.program.rules[r])) continue;
      split.fresh_reason =
          fmt::format("{}, with arithmetic that may have no value", kept.reasons[c]);
    }
  }
  return split;
}

}  // namespace xlog::incremental
