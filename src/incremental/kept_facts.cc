// The facts of what is kept: how they come in, how a batch finds and changes them, how they go out
// to a run. Each row of a batch is looked for once, and from then on known by its number.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/check.h"
#include "incremental/fact_set.h"
#include "incremental/kept.h"

namespace xlog::incremental {

using lang::PredId;

namespace {

constexpr uint32_t kRowsTogether = 4'096;  // their cells stay in near memory
constexpr size_t kAhead = 16;              // rows that memory is fetched for

}  // namespace

// Calls visit(i, row) for each of `count` facts, in order; value_at(i, column) is what it says.
// Facts that are not there are added, in no state yet.
template <typename ValueAt, typename Visit>
void Kept::find_facts(PredId pred, size_t count, const ValueAt& value_at, const Visit& visit) {
  const lang::Predicate& predicate = program_.program[pred];
  const uint32_t arity = predicate.arity;
  std::vector<lang::TypeKind> kinds;
  for (const lang::PredicateColumn& column : predicate.columns) kinds.push_back(column.type.kind);
  LargeVector<uint64_t> cells(count * arity), hashes(count);
  LargeVector<uint32_t> found(count);
  const auto make_cells = [&](size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) {
      for (uint32_t c = 0; c < arity; ++c) {
        cells[i * arity + c] = cells_.cell(kinds[c], value_at(i, c));
      }
    }
  };
  const bool numbers_terms = std::ranges::find(kinds, lang::TypeKind::Term) != kinds.end();
  if (numbers_terms) make_cells(0, count);
  Table& table = tables_[fact_tables_[pred.index]];
  XLOG_CHECK(count < kNoRow, "a batch has fewer than 2^32 rows");
  const Parallel parallel = [&](uint32_t n, uint32_t grain, const Piece& piece) {
    pool_.parallel_for(n, grain, piece);
  };
  parallel(static_cast<uint32_t>(count), kRowsTogether, [&](uint32_t lo, uint32_t hi) {
    if (!numbers_terms) make_cells(lo, hi);
    table.look_up(cells.data() + size_t{lo} * arity, hi - lo, hashes.data() + lo,
                  found.data() + lo);
  });
  if (count >= Table::kManyRows) {
    table.add_missing(cells.data(), static_cast<uint32_t>(count), hashes.data(), found.data(),
                      parallel);
  }
  table.visit_each(cells.data(), count, hashes.data(), found.data(), true, visit);
}

void Kept::load_facts(const lang::Program& source) {
  for (uint32_t p = 0; p < source.predicates.size(); ++p) {
    const lang::FactTable* facts = source.predicates[p].facts.get();
    if (facts == nullptr) continue;
    Table& table = tables_[fact_tables_[p]];
    while (!table.make_room(facts->rows)) {
    }
    find_facts(
        PredId{p}, facts->rows, [&](size_t i, uint32_t c) { return facts->columns[c].at(i); },
        [&](size_t, uint32_t row) {
          table.set_state(row, kOld | kNew);
          table.set_weight(row, table.weight(row) + 1);
        });
  }
}

void Kept::copy_facts(const Kept& other) {
  cells_ = other.cells_;
  for (const uint32_t t : fact_tables_) tables_[t] = other.tables_[t];
}

// ---- batches ----

Result<NetChange> Kept::net_change(std::span<const FactChanges> batch) {
  NetChange change;
  Status possible = Done{};
  try {
    for (const FactChanges& facts : batch) {
      if (possible.ok()) possible = find_rows(facts, change);
    }
  } catch (const std::bad_alloc&) {
    drop_change(change);
    throw;
  }
  std::ranges::sort(change.parts, {}, &NetChange::Part::pred);
  for (NetChange::Part& part : change.parts) {
    if (possible.ok()) possible = check_weights(part);
    change.size += part.rows.size() - part.unchanged;
  }
  if (possible.ok()) return change;
  drop_change(change);
  return possible.error();
}

// The row's stamp, which only rows of recursions have otherwise, says where the change has it.
Status Kept::find_rows(const FactChanges& facts, NetChange& change) {
  const lang::Predicate& predicate = program_.program[facts.pred];
  if (predicate.helper) {
    return Error{fmt::format("{} is a helper of the program and has no facts of its own",
                             lang::predicate_signature(predicate, session_.names)),
                 "state facts of predicates that the program names"};
  }
  const uint32_t arity = predicate.arity;
  XLOG_CHECK(facts.values.size() == facts.weights.size() * arity, "rows are whole");
  auto part = std::ranges::find(change.parts, facts.pred.index, &NetChange::Part::pred);
  if (part == change.parts.end()) {
    part = change.parts.insert(part, {.pred = facts.pred.index, .rows = {}});
    part->rows.reserve(facts.weights.size());
  }
  LargeVector<NetChange::Row>& rows = part->rows;
  Table& table = tables_[fact_tables_[facts.pred.index]];
  const size_t expected = table.new_rows() + facts.weights.size();
  while (expected > 2 * table.new_rows() && !table.make_room(expected)) {
  }
  uint32_t too_heavy = kNoRow;
  find_facts(
      facts.pred, facts.weights.size(),
      [&](size_t i, uint32_t c) { return facts.values[i * arity + c]; },
      [&](size_t i, uint32_t row) {
        const int64_t weight = facts.weights[i];
        if (const uint32_t place = table.stamp(row); place == 0) {
          rows.push_back({row, table.weight(row), weight});
          table.set_stamp(row, static_cast<uint32_t>(rows.size()));
        } else if (int64_t& by = rows[place - 1].by; __builtin_add_overflow(by, weight, &by)) {
          if (too_heavy == kNoRow) too_heavy = row;
        }
      });
  if (too_heavy == kNoRow) return Done{};
  return weight_overflow(
      fact_text(facts.pred, fact_values(facts.pred, too_heavy), program_.program, session_.names));
}

Status Kept::check_weights(NetChange::Part& part) const {
  const PredId pred{part.pred};
  for (const auto& [row, before, by] : part.rows) {
    int64_t after = 0;
    if (__builtin_add_overflow(before, by, &after)) {
      return weight_overflow(
          fact_text(pred, fact_values(pred, row), program_.program, session_.names));
    }
    if (after < 0) {
      return cannot_retract(pred, fact_values(pred, row), before, by, program_.program,
                            session_.names);
    }
    part.unchanged += by == 0 ? 1 : 0;
  }
  return Done{};
}

void Kept::drop_change(const NetChange& change) {
  for (const NetChange::Part& part : change.parts) {
    Table& table = tables_[fact_tables_[part.pred]];
    for (const auto& [row, before, by] : part.rows) {
      table.set_stamp(row, 0);
      if (before == 0) table.remove(row);
    }
  }
}

void Kept::change_facts(const NetChange& change) {
  for (const NetChange::Part& part : change.parts) {
    const uint32_t t = fact_tables_[part.pred];
    Table& table = tables_[t];
    changed_tables_.push_back(t);
    changed_[t].reserve(part.rows.size());
    for (size_t i = 0; i < part.rows.size(); ++i) {
      if (i + kAhead < part.rows.size()) table.prefetch(part.rows[i + kAhead].row);
      const auto& [row, before, by] = part.rows[i];
      table.set_stamp(row, 0);
      table.set_weight(row, before + by);
      const bool was = before > 0, is = before + by > 0;
      if (was != is) {
        table.set_state(row, is ? kNew : kOld);
        changed_[t].push_back(row);
      } else if (!is) {
        table.remove(row);  // it came and went
      }
    }
    if (t != part.pred) fact_events_[part.pred] = changed_[t];
  }
}

void Kept::restore_facts(const NetChange& change) {
  for (const NetChange::Part& part : change.parts) {
    Table& table = tables_[fact_tables_[part.pred]];
    for (const auto& [row, before, by] : part.rows) {
      if (by == 0) continue;
      table.set_weight(row, before);
      table.set_state(row, before > 0 ? kOld | kNew : kOld);  // finish() removes it
    }
  }
}

// ---- what a run reads ----

uint64_t Kept::fact_rows() const {
  uint64_t rows = 0;
  for (const uint32_t t : fact_tables_) rows += tables_[t].new_rows();
  return rows;
}

std::unique_ptr<lang::FactTable> Kept::to_facts(const Table& table, PredId pred) const {
  const lang::Predicate& predicate = program_.program[pred];
  auto facts = std::make_unique<lang::FactTable>();
  facts->name = predicate.name;
  facts->strong_negation = predicate.strong_negation;
  facts->arity = predicate.arity;
  facts->rows = table.new_rows();
  facts->runs.push_back({0, 0});
  for (const lang::PredicateColumn& column : predicate.columns) {
    facts->columns.emplace_back().convert(column.type, session_.names);
  }
  // A column of some rows at a time: the table is read once, and each column written in a row.
  std::vector<uint32_t> rows;
  std::vector<uint64_t> bits;
  for (uint32_t first = 0; first < table.end();) {
    rows.clear();
    for (; first < table.end() && rows.size() < kRowsTogether; ++first) {
      if ((table.flags(first) & kNew) != 0) rows.push_back(first);
    }
    for (uint32_t c = 0; c < predicate.arity; ++c) {
      const lang::TypeKind kind = predicate.columns[c].type.kind;
      if (kind == lang::TypeKind::Term) {
        for (const uint32_t r : rows) {
          facts->columns[c].append_typed(cells_.value(kind, table.row(r)[c]));
        }
        continue;
      }
      bits.clear();
      for (const uint32_t r : rows) bits.push_back(table.row(r)[c]);
      facts->columns[c].append_typed(bits);
    }
  }
  return facts;
}

FactChanges Kept::facts_and_weights(PredId pred) const {
  const Table& table = facts(pred);
  FactChanges found{pred, {}, {}};
  for (uint32_t r = 0; r < table.end(); ++r) {
    if (!table.is_used(r)) continue;
    const std::vector<lang::Value> values = fact_values(pred, r);
    found.values.insert(found.values.end(), values.begin(), values.end());
    found.weights.push_back(table.weight(r));
  }
  return in_canonical_order(found, program_.program[pred], session_.names);
}

std::unique_ptr<lang::FactTable> Kept::fact_table(PredId pred) const {
  const Table& table = facts(pred);
  return table.new_rows() == 0 ? nullptr : to_facts(table, pred);
}

std::unique_ptr<lang::FactTable> Kept::rows(PredId pred) const {
  return to_facts(tables_[pred.index], pred);
}

}  // namespace xlog::incremental
