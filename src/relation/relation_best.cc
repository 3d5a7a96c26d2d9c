// Relations that keep the best value of a column while they grow: their set, rounds, and end.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "kernel/library_hash.h"
#include "relation/best_code.h"
#include "relation/relation.h"

namespace xlog::relation {

using kernel::KernelBuilder;
using kernel::PlanBuilder;
using kernel::Scalar;

namespace {

constexpr uint64_t kLeastCells = 16;

Status append_results(const std::vector<device::PlanValue>& results, Bag& to) {
  std::vector<device::Buffer> columns;
  for (const device::PlanValue& result : results) {
    columns.push_back(std::get<device::Column>(result).buffer);
  }
  return to.append(columns, std::get<device::Column>(results[0]).count);
}

}  // namespace

void Relation::keep_best(const BestColumn& best) {
  XLOG_CHECK(set_ == nullptr && stored() == 0, "a relation keeps the best from its first row on");
  best_ = best;
  set_kind_ =
      row_bits(types()) - bits_of(types()[best.column]) <= 64 ? SetKind::Best : SetKind::WideBest;
}

// ---- the set ----

// How many groups there are is known on the device alone; the host has a bound, and asks before it
// makes the set larger.
Status Relation::reserve_best(uint64_t more) {
  const uint64_t added = bag_.rows() - std::min(rows_, bag_.rows()) + waiting_.rows();
  auto wanted = [&] { return std::bit_ceil(std::max((groups_ + added + more) * 2, kLeastCells)); };
  if (set_ != nullptr && wanted() <= cells_) return Done{};
  if (set_ != nullptr) {
    if (Status s = count_groups(); !s.ok()) return s;
    if (wanted() <= cells_) return Done{};
  }
  return rebuild_set(SetKind::Best, wanted());
}

Status Relation::count_groups() {
  Result<device::PlanRunner*> plan = machine_.plan("count_groups", [&] {
    PlanBuilder p(machine_.graph(), "count_groups");
    const kernel::Buffer cells = p.in(Type::U64, "cells");
    const kernel::Buffer used =
        p.map(p.len(cells), [&](Value i) { return Values{p.cast(Type::U32, cells[i] != 0)}; })[0];
    return p.finish({p.reduce(kernel::Fold::Add, used)});
  });
  if (!plan.ok()) return plan.error();
  Result<std::vector<device::PlanValue>> result = (*plan)->run(std::vector<device::PlanValue>{
      device::Column{set_, Type::U64, static_cast<uint32_t>(cell_count())}});
  if (!result.ok()) return result.error();
  Result<std::vector<uint32_t>> count =
      read_numbers<uint32_t>(machine_.device(), std::get<device::Column>((*result)[0]).buffer, 1);
  if (!count.ok()) return count.error();
  groups_ = (*count)[0];
  return Done{};
}

// Puts the groups of a smaller set, and their values, into the present one.
Status Relation::move_best(const device::Buffer& cells, uint64_t count,
                           const device::Buffer& values) {
  if (count == 0) return Done{};
  const Type image = image_type(types()[best_.column]);
  const std::string name = fmt::format("move_best_{}", spelling(image));
  Result<device::KernelHandle> kernel = machine_.kernel(name, [&] {
    KernelBuilder k(machine_.graph(), name);
    const Value n = k.val(Type::U32, "n");
    const kernel::Buffer old_cells = k.in(Type::U64, "old_cells");
    const kernel::Buffer old_values = k.in(image, "old_values");
    const kernel::Buffer new_cells = k.race(Type::U64, "cells");
    const kernel::Buffer new_values = k.race(image, "values");
    const Value i = k.grid(n);
    const Value held = old_cells[i];
    k.if_then(held != 0, [&] {
      const Value key = k.select(i + 1 == n, k.number(Type::U64, 0), held);
      k.store(new_values, kernel::hash_claim(k, new_cells, key).cell, old_values[i]);
    });
    return k.finish();
  });
  if (!kernel.ok()) return kernel.error();
  const uint64_t size = size_of(image);
  const std::vector<device::Argument> arguments = {
      Scalar::u32(static_cast<uint32_t>(count)), device::View{cells, 0, count * 8},
      device::View{values, 0, count * size}, device::View{set_, 0, cell_count() * 8},
      device::View{values_, 0, cell_count() * size}};
  return machine_.launch(*kernel, arguments);
}

// ---- rows ----

// Adds those rows of `from` that are still the best.
Status Relation::append_best(const Bag& from, Bag& to) {
  if (from.rows() == 0) return Done{};
  const std::string name = "best_rows" + set_name();
  Result<device::PlanRunner*> plan = machine_.plan(name, [&] {
    PlanBuilder p(machine_.graph(), name);
    kernel::Columns rows;
    for (Type type : types()) rows.push_back(p.in(type, "column"));
    SetCode set;
    set.kind = set_kind_;
    set.best = best_;
    set.cells = p.in(cell_type(set_kind_), "cells");
    set.values = p.in(image_type(types()[best_.column]), "best");
    if (is_wide(set_kind_)) {
      for (Type type : types()) set.columns.push_back(p.in(type, "stored"));
    }
    const Value n = p.val(Type::U32, "n");
    const kernel::Rows kept = p.expand(n, [&](Value i) {
      Values row;
      for (const kernel::Buffer& column : rows) row.push_back(column[i]);
      p.if_then(is_best(p, set, row), [&] { p.emit(row); });
    });
    return p.finish(kept.columns);
  });
  if (!plan.ok()) return plan.error();
  std::vector<device::PlanValue> arguments;
  for (uint32_t c = 0; c < arity(); ++c) arguments.emplace_back(from.column(c, from.rows()));
  const uint32_t cells = static_cast<uint32_t>(cell_count());
  arguments.emplace_back(device::Column{set_, cell_type(set_kind_), cells});
  arguments.emplace_back(device::Column{values_, image_type(types()[best_.column]), cells});
  if (is_wide(set_kind_)) {
    for (uint32_t c = 0; c < arity(); ++c) arguments.emplace_back(bag_.column(c, bag_.rows()));
  }
  arguments.emplace_back(Scalar::u32(from.rows()));
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  return append_results(*results, to);
}

// Adds a row for each group of the set, with its best value.
Status Relation::append_groups(Bag& to) {
  const std::string name = "rows_of_groups" + set_name();
  Result<device::PlanRunner*> plan = machine_.plan(name, [&] {
    PlanBuilder p(machine_.graph(), name);
    const kernel::Buffer cells = p.in(Type::U64, "cells");
    const kernel::Buffer values = p.in(image_type(types()[best_.column]), "best");
    const Value n = p.len(cells);
    const kernel::Rows rows = p.expand(n, [&](Value i) {
      p.if_then(cells[i] != 0, [&] {
        // The last cell stands for the key 0.
        Value key = p.select(i + 1 == n, p.number(Type::U64, 0), cells[i]);
        Values row(arity());
        for (uint32_t c = arity(); c-- > 0;) {
          const Type type = types()[c];
          if (c == best_.column) {
            row[c] = value_of_image(p, values[i], type, best_.least);
            continue;
          }
          row[c] = value_of_word(p, key, type);
          if (bits_of(type) < 64) key = key >> bits_of(type);
        }
        p.emit(row);
      });
    });
    return p.finish(rows.columns);
  });
  if (!plan.ok()) return plan.error();
  const uint32_t cells = static_cast<uint32_t>(cell_count());
  const std::vector<device::PlanValue> arguments = {
      device::Column{set_, Type::U64, cells},
      device::Column{values_, image_type(types()[best_.column]), cells}};
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  return append_results(*results, to);
}

// The rows that this round added and nothing has overtaken are new: at most one for each group.
Result<bool> Relation::next_round_of_best() {
  Bag added(machine_, types());
  const Bag::Part since{rows_ + handled_, bag_.rows() - rows_ - handled_};
  if (Status s = added.append(bag_.columns(), std::span(&since, 1)); !s.ok()) return s.error();
  if (Status s = added.append(waiting_.columns(), waiting_.rows()); !s.ok()) return s.error();
  waiting_.clear();
  fresh_ = has_only_new() ? 0 : rows_ + handled_;
  bag_.shorten(fresh_);
  if (Status s = append_best(added, bag_); !s.ok()) return s.error();
  rows_ = bag_.rows();
  handled_ = 0;
  groups_ += rows_ - fresh_;
  return fresh_ < rows_;
}

// From here on it is a relation like others, with one row for each group.
Status Relation::finish_best() {
  Bag all(machine_, types());
  if (set_ != nullptr) {
    Status s = set_kind_ == SetKind::Best ? append_groups(all) : append_best(bag_, all);
    if (!s.ok()) return s;
  }
  bag_ = std::move(all);
  rows_ = fresh_ = bag_.rows();
  set_kind_ = row_bits(types()) <= 64 ? SetKind::Packed : SetKind::Wide;
  set_ = values_ = nullptr;
  cells_ = 0;
  may_forget_ = false;
  indexes_.clear();
  return Done{};
}

}  // namespace xlog::relation
