#include "oracle/given.h"

#include <algorithm>

#include "logic/components.h"
#include "oracle/matcher.h"

namespace xlog::oracle {

using lang::PredId;

bool Given::is_shown(PredId pred) const {
  const std::vector<lang::Query>& queries = context_.program.queries;
  return context_.options.max_worlds > 0 ||
         std::ranges::find(queries, pred, &lang::Query::pred) != queries.end();
}

// Whether the instances of a rule are found here, over the rows of what it reads.
bool Given::is_walked(uint32_t rule) const {
  const bool takes_instances = context_.shortcut != nullptr && context_.shortcut->ground;
  return !takes_instances || preset_->has_instances.empty() || !preset_->has_instances[rule];
}

bool Given::is_read(PredId pred) const {
  if (is_shown(pred)) return true;
  const logic::Analysis& analysis = context_.analysis;
  const auto is_read_by = [&](const logic::Edge& edge) {
    return edge.from == pred && !is_done(analysis.component_of[edge.to.index]) &&
           is_walked(edge.rule);
  };
  // A constraint that is violated is looked at again, to say where.
  return std::ranges::any_of(analysis.edges, is_read_by) ||
         std::ranges::any_of(analysis.constraints, [&](uint32_t r) {
           bool reads = false;
           logic::for_each_predicate(
               context_.program.rules[r].body,
               [&](const lang::Literal& literal, const auto*) { reads |= literal.pred == pred; });
           return reads;
         });
}

bool Given::are_certain_rows_read(PredId pred) const {
  if (is_read(pred)) return true;
  const std::vector<uint32_t>& rules = context_.program[pred].rules;
  return std::ranges::any_of(rules, [&](uint32_t r) {
    // Beside an open atom of a disjunction others may be certain.
    return is_walked(r) || context_.program.rules[r].head_kind == lang::HeadKind::Disjunction;
  });
}

}  // namespace xlog::oracle
