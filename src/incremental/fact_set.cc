#include "incremental/fact_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "device/pool.h"
#include "incremental/canonical_order.h"

namespace xlog::incremental {
namespace {

using lang::PredId;
using lang::Value;
using Row = std::span<const Value>;

Row row_of(const FactChanges& changes, size_t row, uint32_t arity) {
  return Row(changes.values).subspan(row * arity, arity);
}

bool same_row(Row a, Row b) { return std::ranges::equal(a, b); }

std::vector<uint32_t> sorted_rows(const FactChanges& changes, const lang::Predicate& predicate,
                                  const lang::Names& names) {
  std::vector<lang::TypeKind> kinds;
  for (const lang::PredicateColumn& column : predicate.columns) kinds.push_back(column.type.kind);
  constexpr size_t kFew = 10'000;  // to ask how many threads there may be takes longer
  const size_t rows = changes.weights.size();
  if (rows < kFew) return canonical_order(changes.values, kinds, rows, names);
  device::Pool pool(0);
  return canonical_order(
      changes.values, kinds, rows, names,
      [&](uint32_t n, uint32_t grain, const Piece& piece) { pool.parallel_for(n, grain, piece); });
}

// Each row once with the sum of its weights.
Result<FactChanges> net_change(const FactChanges& changes, const lang::Program& program,
                               const lang::Names& names) {
  const uint32_t arity = program[changes.pred].arity;
  const std::vector<uint32_t> order = sorted_rows(changes, program[changes.pred], names);
  FactChanges sum{changes.pred, {}, {}};
  sum.values.reserve(changes.values.size());
  sum.weights.reserve(changes.weights.size());
  constexpr size_t kAhead = 32;
  for (size_t i = 0; i < order.size();) {
    if (i + kAhead < order.size()) {
      __builtin_prefetch(row_of(changes, order[i + kAhead], arity).data());
      __builtin_prefetch(&changes.weights[order[i + kAhead]]);
    }
    const Row row = row_of(changes, order[i], arity);
    int64_t weight = 0;
    for (; i < order.size() && same_row(row, row_of(changes, order[i], arity)); ++i) {
      if (__builtin_add_overflow(weight, changes.weights[order[i]], &weight)) {
        return weight_overflow(fact_text(changes.pred, row, program, names));
      }
    }
    if (weight == 0) continue;
    sum.values.insert(sum.values.end(), row.begin(), row.end());
    sum.weights.push_back(weight);
  }
  return sum;
}

}  // namespace

std::string fact_text(PredId pred, Row row, const lang::Program& program,
                      const lang::Names& names) {
  std::string text = lang::predicate_name(program[pred], names);
  for (size_t i = 0; i < row.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + lang::to_source(row[i], names);
  }
  return row.empty() ? text : text + ")";
}

Error weight_overflow(const std::string& fact) {
  return {fmt::format("the weight of `{}` would leave 64 bits", fact),
          "retract it as often as it was inserted"};
}

Error cannot_retract(PredId pred, Row row, int64_t weight, int64_t change,
                     const lang::Program& program, const lang::Names& names) {
  const std::string fact = fact_text(pred, row, program, names);
  if (weight > 0) {
    return Error{fmt::format("`{}` is there {} and cannot be retracted {} times", fact,
                             weight == 1 ? "once" : fmt::format("{} times", weight), -change),
                 ""};
  }
  const bool derived = !program[pred].rules.empty();
  return Error{fmt::format("`{}` is not there, so it cannot be retracted", fact),
               derived ? "only stated facts can be retracted; if rules derive it, retract what "
                         "they derive it from"
                       : ""};
}

Result<std::vector<FactChanges>> net_changes(std::span<const FactChanges> batch,
                                             const lang::Program& program,
                                             const lang::Names& names) {
  // Parts of one predicate are put together; most batches have one.
  std::vector<std::vector<const FactChanges*>> by_predicate(program.predicates.size());
  for (const FactChanges& part : batch) by_predicate[part.pred.index].push_back(&part);
  std::vector<FactChanges> net;
  for (const std::vector<const FactChanges*>& parts : by_predicate) {
    if (parts.empty()) continue;
    FactChanges all{parts[0]->pred, {}, {}};
    for (const FactChanges* part : parts) {
      if (parts.size() == 1) break;
      all.values.insert(all.values.end(), part->values.begin(), part->values.end());
      all.weights.insert(all.weights.end(), part->weights.begin(), part->weights.end());
    }
    Result<FactChanges> sum = net_change(parts.size() == 1 ? *parts[0] : all, program, names);
    if (!sum.ok()) return sum.error();
    if (!sum->weights.empty()) net.push_back(std::move(*sum));
  }
  return net;
}

FactChanges in_canonical_order(const FactChanges& changes, const lang::Predicate& predicate,
                               const lang::Names& names) {
  FactChanges sorted{changes.pred, {}, {}};
  sorted.values.reserve(changes.values.size());
  sorted.weights.reserve(changes.weights.size());
  for (const uint32_t i : sorted_rows(changes, predicate, names)) {
    const Row row = row_of(changes, i, predicate.arity);
    sorted.values.insert(sorted.values.end(), row.begin(), row.end());
    sorted.weights.push_back(changes.weights[i]);
  }
  return sorted;
}

std::vector<FactChanges> negated(std::span<const FactChanges> batch) {
  std::vector<FactChanges> out(batch.begin(), batch.end());
  for (FactChanges& part : out) {
    for (int64_t& weight : part.weights) weight = -weight;
  }
  return out;
}

FactSet::FactSet(const lang::Program& program, const lang::Names& names)
    : program_(program), names_(names) {
  for (const lang::Predicate& predicate : program.predicates) tables_.emplace_back(predicate.arity);
}

template <typename Visit>
void FactSet::find_each(const FactChanges& changes, bool adds, const Visit& visit) {
  const lang::Predicate& predicate = program_[changes.pred];
  const uint32_t arity = predicate.arity;
  std::vector<uint64_t> cells(changes.values.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] = cells_.cell(predicate.columns[i % arity].type.kind, changes.values[i]);
  }
  tables_[changes.pred.index].find_each(cells.data(), changes.weights.size(), adds, visit);
}

Status FactSet::apply(std::span<const FactChanges> batch) {
  Result<std::vector<FactChanges>> net = net_changes(batch, program_, names_);
  if (!net.ok()) return net.error();
  for (const FactChanges& part : *net) {
    const Table& table = tables_[part.pred.index];
    Status possible = Done{};
    find_each(part, false, [&](size_t i, uint32_t row) {
      if (!possible.ok()) return;
      const int64_t weight = row == kNoRow ? 0 : table.weight(row), change = part.weights[i];
      const Row values = row_of(part, i, program_[part.pred].arity);
      int64_t sum = 0;
      if (__builtin_add_overflow(weight, change, &sum)) {
        possible = weight_overflow(fact_text(part.pred, values, program_, names_));
      } else if (sum < 0) {
        possible = cannot_retract(part.pred, values, weight, change, program_, names_);
      }
    });
    if (!possible.ok()) return possible;
  }
  for (const FactChanges& part : *net) {
    Table& table = tables_[part.pred.index];
    std::vector<uint32_t> gone;
    find_each(part, true, [&](size_t i, uint32_t row) {
      table.set_weight(row, table.weight(row) + part.weights[i]);
      if (table.weight(row) == 0) gone.push_back(row);
    });
    table.remove_all(gone);
  }
  return Done{};
}

void FactSet::add_tables(const lang::Program& program) {
  for (uint32_t p = 0; p < program.predicates.size(); ++p) {
    const lang::FactTable* facts = program.predicates[p].facts.get();
    if (facts == nullptr) continue;
    FactChanges rows{{p}, {}, std::vector<int64_t>(facts->rows, 1)};
    rows.values.reserve(facts->rows * facts->arity);
    for (size_t r = 0; r < facts->rows; ++r) {
      for (const lang::FactColumn& column : facts->columns) rows.values.push_back(column.at(r));
    }
    Table& table = tables_[p];
    find_each(rows, true,
              [&](size_t, uint32_t row) { table.set_weight(row, table.weight(row) + 1); });
  }
}

FactChanges FactSet::of(PredId pred, int64_t least_weight) const {
  const lang::Predicate& predicate = program_[pred];
  const Table& table = tables_[pred.index];
  FactChanges unsorted{pred, {}, {}};
  for (uint32_t r = 0; r < table.end(); ++r) {
    if (!table.is_used(r) || table.weight(r) < least_weight) continue;
    for (uint32_t c = 0; c < predicate.arity; ++c) {
      unsorted.values.push_back(cells_.value(predicate.columns[c].type.kind, table.row(r)[c]));
    }
    unsorted.weights.push_back(table.weight(r));
  }
  return in_canonical_order(unsorted, predicate, names_);
}

FactChanges FactSet::of(PredId pred) const { return of(pred, 1); }

std::vector<FactChanges> FactSet::all() const {
  std::vector<FactChanges> out;
  for (uint32_t p = 0; p < tables_.size(); ++p) {
    FactChanges rows = of({p});
    if (!rows.weights.empty()) out.push_back(std::move(rows));
  }
  return out;
}

std::vector<FactChanges> FactSet::repeated() const {
  std::vector<FactChanges> out;
  for (uint32_t p = 0; p < tables_.size(); ++p) {
    FactChanges more = of({p}, 2);
    for (int64_t& weight : more.weights) --weight;
    if (!more.weights.empty()) out.push_back(std::move(more));
  }
  return out;
}

void FactSet::write_tables(lang::Program& to, lang::Names& to_names) const {
  for (uint32_t p = 0; p < tables_.size(); ++p) {
    lang::Predicate& predicate = to.predicates[p];
    predicate.facts.reset();
    const FactChanges rows = of({p});
    if (rows.weights.empty()) continue;
    predicate.facts = std::make_unique<lang::FactTable>();
    lang::FactTable& table = *predicate.facts;
    table.name = predicate.name;
    table.strong_negation = predicate.strong_negation;
    table.arity = predicate.arity;
    table.columns.resize(predicate.arity);
    for (size_t c = 0; c < predicate.arity; ++c) {
      table.columns[c].convert(predicate.columns[c].type, to_names);
      for (size_t r = 0; r < rows.weights.size(); ++r) {
        table.columns[c].append_typed(rows.values[r * predicate.arity + c]);
      }
    }
    table.rows = rows.weights.size();
    table.runs.push_back({0, 0});
  }
}

lang::Program copy_without_facts(const lang::Program& program) {
  lang::Program copy;
  copy.predicates.reserve(program.predicates.size());
  for (const lang::Predicate& from : program.predicates) {
    lang::Predicate& to = copy.predicates.emplace_back();
    to.name = from.name;
    to.strong_negation = from.strong_negation;
    to.opposite = from.opposite;
    to.arity = from.arity;
    to.columns = from.columns;
    to.declared = from.declared;
    to.is_private = from.is_private;
    to.helper = from.helper;
    to.is_input = from.is_input;
    to.data = from.data;
    to.neural = from.neural;
    to.module = from.module;
    to.span = from.span;
    to.rules = from.rules;
  }
  copy.rules = program.rules;
  copy.queries = program.queries;
  copy.prob_queries = program.prob_queries;
  copy.evidence = program.evidence;
  copy.neural = program.neural;
  copy.goal = program.goal;
  copy.modules = program.modules;
  copy.pragmas = program.pragmas;
  return copy;
}

}  // namespace xlog::incremental
