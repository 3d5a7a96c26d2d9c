#include "engine/proof_search.h"

#include <algorithm>
#include <deque>

#include "base/check.h"
#include "oracle/aggregates.h"

namespace xlog::engine {

using lang::PredId;
using lang::Value;

uint32_t ProofSearch::run(PredId pred, uint32_t row) {
  std::vector<uint32_t> level;
  const uint32_t goal = intern(pred, row, level);
  for (uint32_t depth = 0; facts_[goal].rank > depth; ++depth) {
    std::vector<uint32_t> next;
    for (uint32_t fact : level) {
      expand(fact, next);
      if (budget_.stopped()) return kNone;
    }
    XLOG_CHECK(!next.empty() || facts_[goal].rank != kNone, "a row that holds has no proof");
    level = std::move(next);
  }
  return budget_.stopped() ? kNone : goal;
}

// New facts that are not stated go to `level`: they have to be derived.
uint32_t ProofSearch::intern(PredId pred, uint32_t row, std::vector<uint32_t>& level) {
  const uint64_t key = uint64_t{pred.index} << 32 | row;
  const auto [it, is_new] = ids_.try_emplace(key, static_cast<uint32_t>(facts_.size()));
  if (!is_new) return it->second;
  budget_.take_row();
  const bool stated = tables_.facts(pred).find(tables_.rows(pred).row(row)).has_value();
  facts_.push_back({pred, row, stated ? 0 : kNone, kNone, kNone});
  if (!stated) level.push_back(it->second);
  return it->second;
}

void ProofSearch::expand(uint32_t fact, std::vector<uint32_t>& level) {
  const PredId pred = facts_[fact].pred;
  const std::vector<Value> row = tables_.rows(pred).row(facts_[fact].row);
  const std::vector<std::optional<Value>> known(row.begin(), row.end());
  std::vector<uint32_t> children;
  for (uint32_t r : program_[pred].rules) {
    const lang::Rule& rule = program_.rules[r];
    if (!rule.aggregates.empty()) {
      if (derives_by_aggregate(r, row)) add_instance(fact, r, {});
      continue;
    }
    Bindings bindings(rule.variables.size());
    if (!instances_.match_head(r, known, bindings)) continue;
    instances_.solve(r, bindings, [&](const Bindings&, const Instances::RowNumbers& rows) {
      children.clear();
      for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] == Instances::kNoRow) continue;
        children.push_back(intern(rule.body[i].pred, rows[i], level));
      }
      add_instance(fact, r, children);
    });
  }
}

bool ProofSearch::derives_by_aggregate(uint32_t r, const std::vector<Value>& row) {
  const lang::Rule& rule = program_.rules[r];
  Bindings bindings(rule.variables.size());
  const std::vector<std::optional<Value>> known(row.begin(), row.end());
  if (!instances_.match_head(r, known, bindings)) return false;
  const HeadFold fold = fold_head(program_, r, instances_, bindings, names_,
                                  [](const Bindings&, const Instances::RowNumbers&) {});
  if (!fold.result) return false;
  for (size_t i = 0; i < rule.aggregates.size(); ++i) {
    if ((*fold.result)[i] != row[rule.aggregates[i].column]) return false;
  }
  return true;
}

void ProofSearch::add_instance(uint32_t fact, uint32_t rule,
                               const std::vector<uint32_t>& children) {
  budget_.take_row();
  const auto id = static_cast<uint32_t>(found_.size());
  found_.push_back({fact, rule, static_cast<uint32_t>(children_.size()),
                    static_cast<uint32_t>(children.size()), facts_[fact].first_instance});
  facts_[fact].first_instance = id;
  for (uint32_t child : children) {
    children_.push_back({child, id, facts_[child].first_use});
    facts_[child].first_use = static_cast<uint32_t>(children_.size() - 1);
  }
  rank(id);
}

// ---- ranks ----

uint32_t ProofSearch::rank_of(const Instance& instance) const {
  uint32_t greatest = 0;
  for (uint32_t c = 0; c < instance.child_count; ++c) {
    const uint32_t below = facts_[children_[instance.first_child + c].fact].rank;
    if (below == kNone) return kNone;
    greatest = std::max(greatest, below);
  }
  return greatest + 1;
}

// Ranks only fall. One that falls may lower those of the facts that its uses derive.
void ProofSearch::rank(uint32_t instance) {
  std::deque<uint32_t> waiting{instance};
  while (!waiting.empty()) {
    const Instance& here = found_[waiting.front()];
    waiting.pop_front();
    const uint32_t rank = rank_of(here);
    Fact& fact = facts_[here.fact];
    if (rank >= fact.rank) continue;
    fact.rank = rank;
    for (uint32_t use = fact.first_use; use != kNone; use = children_[use].next_use) {
      waiting.push_back(children_[use].instance);
    }
  }
}

// ---- choice ----

bool ProofSearch::is_before(const Instance& a, const Instance& b) const {
  if (a.rule != b.rule) return a.rule < b.rule;
  for (uint32_t c = 0; c < a.child_count; ++c) {
    const Fact& x = facts_[children_[a.first_child + c].fact];
    const Fact& y = facts_[children_[b.first_child + c].fact];
    if (x.row == y.row) continue;
    const Table& table = tables_.rows(x.pred);
    return compare_rows(table.row(x.row), table.row(y.row), names_) < 0;
  }
  return false;
}

ProofSearch::Choice ProofSearch::choose(uint32_t fact) const {
  const Instance* best = nullptr;
  for (uint32_t i = facts_[fact].first_instance; i != kNone; i = found_[i].next) {
    const Instance& instance = found_[i];
    if (rank_of(instance) != facts_[fact].rank) continue;
    if (best == nullptr || is_before(instance, *best)) best = &instance;
  }
  XLOG_CHECK(best != nullptr, "a ranked fact has an instance of its rank");
  const lang::Rule& rule = program_.rules[best->rule];
  Choice choice{best->rule, std::vector<uint32_t>(rule.body.size(), kNone)};
  if (!rule.aggregates.empty()) return choice;
  uint32_t child = best->first_child;
  for (size_t i = 0; i < rule.body.size(); ++i) {
    if (wants_row(rule.body[i])) choice.facts[i] = children_[child++].fact;
  }
  return choice;
}

HeadFold fold_head(const lang::Program& program, uint32_t r, Instances& instances,
                   Bindings& bindings, lang::Names& names, const Instances::Visit& each) {
  const lang::Rule& rule = program.rules[r];
  std::vector<std::vector<Value>> solutions;
  instances.solve(r, bindings, [&](const Bindings& found, const Instances::RowNumbers& rows) {
    std::vector<Value> values;
    for (const lang::HeadAggregate& aggregate : rule.aggregates) {
      std::optional<Value> value = Value::u64(0);
      if (aggregate.has_value) value = instances.value_of(aggregate.value, found);
      if (!value) return;
      values.push_back(*value);
    }
    solutions.push_back(std::move(values));
    each(found, rows);
  });
  std::vector<oracle::Fold> folds;
  for (const lang::HeadAggregate& aggregate : rule.aggregates) {
    folds.push_back({oracle::fold_kind(aggregate.fn),
                     program[rule.head[0].pred].columns[aggregate.column].type});
  }
  std::vector<const std::vector<Value>*> pointers;
  for (const std::vector<Value>& values : solutions) pointers.push_back(&values);
  return {oracle::fold_rows(folds, true, pointers, names), solutions.size()};
}

}  // namespace xlog::engine
