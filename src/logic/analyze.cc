// The analysis as a recipe: edges, components, classes, orders.
#include "logic/analysis.h"
#include "logic/classify.h"
#include "logic/components.h"
#include "logic/monotone.h"
#include "logic/order.h"

namespace xlog::logic {

namespace {

bool uses_modal(const std::vector<lang::Literal>& body) {
  bool found = false;
  for_each_predicate(body, [&](const lang::Literal& literal, const lang::Literal*) {
    found = found || literal.modal != lang::Modal::None;
  });
  return found;
}

bool uses_modal(const lang::Rule& rule) {
  if (uses_modal(rule.body)) return true;
  for (const lang::HeadElement& element : rule.head) {
    if (uses_modal(element.condition)) return true;
  }
  return false;
}

}  // namespace

std::optional<Analysis> analyze(const lang::Program& program, lang::Session& session) {
  const size_t errors_before = session.diagnostics.error_count();
  Analysis analysis;
  analysis.edges = dependency_edges(program);
  find_components(program, analysis);
  find_best_columns(program, analysis);
  report_aggregate_cycles(program, analysis, session);
  classify_components(program, session, analysis);
  report_uses_not_monotone(program, analysis, session);
  analysis.orders.reserve(program.rules.size());
  for (uint32_t rule = 0; rule < program.rules.size(); ++rule) {
    analysis.orders.push_back(order_rule(program, rule, analysis.component_of, session));
    analysis.has_modal = analysis.has_modal || uses_modal(program.rules[rule]);
  }
  if (session.diagnostics.error_count() > errors_before) return std::nullopt;
  return analysis;
}

}  // namespace xlog::logic
