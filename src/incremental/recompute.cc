// A component evaluated afresh from the rows below it, and the difference to what was there.
#include <fmt/format.h>

#include "base/check.h"
#include "engine/evaluate.h"
#include "incremental/fact_set.h"
#include "incremental/kept.h"
#include "incremental/quiet.h"
#include "logic/analysis.h"

namespace xlog::incremental {

using lang::PredId;

Status Kept::recompute(Part& part) {
  // A program of the component alone, in which what it reads are facts.
  lang::Program alone = copy_without_facts(program_.program);
  alone.queries.clear();
  alone.rules.clear();
  for (lang::Predicate& predicate : alone.predicates) predicate.rules.clear();
  const uint32_t component = program_.analysis.component_of[part.predicates.front().index];
  for (const uint32_t r : program_.analysis.components[component].rules) {
    const lang::Rule& rule = program_.program.rules[r];
    for (const lang::HeadElement& head : rule.head) {
      alone[head.pred].rules.push_back(static_cast<uint32_t>(alone.rules.size()));
    }
    alone.rules.push_back(rule);
  }
  for (const uint32_t p : part.reads) alone.predicates[p].facts = rows(PredId{p});
  for (const PredId pred : part.predicates) alone[pred].facts = fact_table(pred);

  const Quiet quiet(session_);
  const std::optional<logic::Analysis> analysis = logic::analyze(alone, session_);
  XLOG_CHECK(analysis.has_value(), "a part of a program is as safe as the whole");
  engine::Statistics statistics;
  const std::optional<engine::Settled> settled =
      engine::settle(alone, *analysis, session_, options_, device_, statistics);
  if (!settled) return quiet.error();

  for (const PredId pred : part.predicates) {
    Result<engine::Rows> found = settled->rows(pred);
    if (!found.ok()) return found.error();
    Table& table = tables_[pred.index];
    // What is found again has weight 1 once more; the rest goes.
    for (uint32_t r = 0; r < table.end(); ++r) {
      if (table.is_used(r)) add_weight(pred.index, r, -1);
    }
    std::vector<uint64_t> cells(table.arity());
    for (uint32_t r = 0; r < found->count; ++r) {
      for (uint32_t c = 0; c < table.arity(); ++c) {
        cells[c] =
            cells_.cell(program_.program[pred].columns[c].type.kind, found->columns[c].at(r));
      }
      uint32_t row = table.find(cells.data());
      if (row == kNoRow) row = table.add(cells.data());
      if (table.weight(row) == 0) add_weight(pred.index, row, 1);
    }
    settle(pred.index);
  }
  return Done{};
}

}  // namespace xlog::incremental
