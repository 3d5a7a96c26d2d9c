#include "relation/relation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "relation/best_code.h"

namespace xlog::relation {

using kernel::Columns;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::PlanBuilder;
using kernel::Scalar;

namespace {

constexpr uint64_t kDirectCells = 4;            // of a table of starts, for each row
constexpr uint64_t kMostTableCells = 1u << 22;  // of the table by value of a relation that grows

Values row_at(const Columns& columns, Value r) {
  Values row;
  for (const kernel::Buffer& column : columns) row.push_back(column[r]);
  return row;
}

template <typename K>
Columns column_params(K& k, const std::vector<Type>& types) {
  Columns columns;
  for (Type type : types) columns.push_back(k.in(type, "column"));
  return columns;
}

std::vector<lang::TypeKind> stored_kinds(const std::vector<lang::Type>& types) {
  std::vector<lang::TypeKind> kinds;
  for (const lang::Type& type : types) kinds.push_back(type.kind);
  if (kinds.empty()) kinds.push_back(lang::TypeKind::U32);
  return kinds;
}

std::vector<Type> stored_types(const std::vector<lang::TypeKind>& kinds) {
  std::vector<Type> types;
  for (lang::TypeKind kind : kinds) types.push_back(column_type(kind));
  return types;
}

}  // namespace

Relation::Relation(Machine& machine, std::string name, const std::vector<lang::Type>& types)
    : machine_(machine),
      name_(std::move(name)),
      kinds_(stored_kinds(types)),
      bag_(machine, stored_types(kinds_)),
      waiting_(machine, stored_types(kinds_)),
      set_kind_(row_bits(bag_.types()) <= 64 ? SetKind::Packed : SetKind::Wide),
      bit_order_(bag_.types().size()) {
  std::iota(bit_order_.begin(), bit_order_.end(), 0u);
}

uint64_t Relation::bytes() const {
  uint64_t bytes = bag_.bytes() + waiting_.bytes() + cells_ * size_of(cell_type(set_kind_));
  if (values_ != nullptr) bytes += cells_ * size_of(types()[best_.column]);
  for (const auto& index : indexes_) bytes += index->bytes();
  return bytes;
}

// ---- rows ----

// Puts the rows that are stored, which are distinct, into the set. Nothing waits beside a wide set.
Status Relation::insert_stored() {
  const std::string name = "set_insert" + set_name();
  Result<device::KernelHandle> kernel = machine_.kernel(name, [&] {
    KernelBuilder k(machine_.graph(), name);
    const Value n = k.val(Type::U32, "n");
    const SetCode set = declare_set(k, set_shape(), types(), kernel::Mode::Race);
    if (is_wide(set_kind_)) {
      claim_stored(k, set, k.grid(n));
    } else {
      constexpr uint32_t kAhead = 16;  // rows whose cells are on their way
      const Columns columns = column_params(k, types());
      const Value i = k.grid(n);
      prefetch_row(k, set, row_at(columns, k.min(i + kAhead, n - 1)));
      claim_row(k, set, row_at(columns, i));
    }
    return k.finish();
  });
  if (!kernel.ok()) return kernel.error();
  for (const Bag* bag : {&bag_, &waiting_}) {
    if (bag->rows() == 0) continue;
    std::vector<device::Argument> arguments = {Scalar::u32(bag->rows())};
    append_set_arguments(arguments);
    if (!is_wide(set_kind_)) {
      for (const device::Buffer& buffer : bag->columns()) {
        arguments.emplace_back(device::View{buffer});
      }
    }
    if (Status s = machine_.launch(*kernel, arguments); !s.ok()) return s;
  }
  return Done{};
}

// Flags candidates as they get into the set, and gives those that did. A wide set compares rows
// where they will be stored, so its candidates stand behind the relation's rows.
Id Relation::absorb_plan(const std::string& name) {
  const bool wide = is_wide(set_kind_);
  PlanBuilder p(machine_.graph(), name);
  const Columns columns = column_params(p, types());
  const kernel::Buffer cells = p.race(cell_type(set_kind_), "cells");
  std::optional<kernel::Buffer> values;
  if (keeps_best(set_kind_)) values = p.race(image_type(types()[best_.column]), "best");
  const Value first = p.val(Type::U32, "first");
  const Value n = p.val(Type::U32, "n");
  Values sizes;
  for (size_t i = 0; i < number_count(set_kind_, types().size()); ++i) {
    sizes.push_back(p.val(Type::U64, "size"));
  }
  const kernel::Buffer is_new = p.unset_buf(Type::U32, n);
  const kernel::Buffer cell = p.unset_buf(Type::U32, wide ? n : p.u32(1));

  KernelBuilder k(machine_.graph(), fmt::format("claim{}", type_names(types())));
  {
    const Value count = k.val(Type::U32, "n");
    const kernel::Buffer flags = k.out(Type::U32, "is_new");
    const kernel::Buffer places = k.out(Type::U32, "cell");
    const SetCode set = declare_set(k, set_shape(), types(), kernel::Mode::Race);
    const Value base = k.val(Type::U32, "first");
    const Value i = k.grid(count);
    if (wide) {
      const WideClaim claim = claim_stored(k, set, base + i);
      k.store(flags, i, k.cast(Type::U32, claim.is_new));
      k.store(places, i, claim.cell);
    } else {
      const Columns candidates = column_params(k, types());
      const Value claimed = claim_row(k, set, row_at(candidates, base + i));
      k.store(flags, i, k.cast(Type::U32, claimed));
    }
  }
  std::vector<Id> arguments = {n.id, is_new.id, cell.id, cells.id};
  if (values) arguments.push_back(values->id);
  if (wide) {
    for (const kernel::Buffer& column : columns) arguments.push_back(column.id);
  }
  for (const Value& size : sizes) arguments.push_back(size.id);
  arguments.push_back(first.id);
  if (!wide) {
    for (const kernel::Buffer& column : columns) arguments.push_back(column.id);
  }
  p.launch(k.finish(), arguments);
  const kernel::Rows kept = p.expand(n, [&](Value i) {
    p.if_then(is_new[i] != 0, [&] {
      Values row = row_at(columns, first + i);
      if (wide) row.push_back(cell[i]);
      p.emit(row);
    });
  });
  if (wide) {
    // The rows move together: the set learns where.
    KernelBuilder moved(machine_.graph(), "set_rows");
    const Value m = moved.val(Type::U32, "n");
    const Value base = moved.val(Type::U32, "first");
    const kernel::Buffer where = moved.in(Type::U32, "cell");
    const kernel::Buffer into = moved.race(Type::U32, "cells");
    const Value i = moved.grid(m);
    moved.store(into, where[i], base + i + 1);
    p.launch(moved.finish(), {kept.count.id, first.id, kept.columns.back().id, cells.id});
  }
  std::vector<Id> results;
  for (size_t c = 0; c < types().size(); ++c) results.push_back(kept.columns[c].id);
  results.push_back(kept.count.id);
  return p.finish_ids(results);
}

Result<uint32_t> Relation::absorb(const std::vector<device::Buffer>& from, uint32_t count) {
  if (count == 0) return 0u;
  if (Status s = reserve(count); !s.ok()) return s.error();
  const bool wide = is_wide(set_kind_);
  if (wide) {
    if (Status s = bag_.make_room(uint64_t{stored()} + count); !s.ok()) return s.error();
    for (size_t c = 0; c < types().size(); ++c) {
      const uint64_t size = size_of(types()[c]);
      if (Status s = machine_.device().copy({column(c), stored() * size, count * size},
                                            {from[c], 0, count * size});
          !s.ok()) {
        return s.error();
      }
    }
  }
  const std::string name = "absorb" + set_name();
  Result<device::PlanRunner*> plan = machine_.plan(name, [&] { return absorb_plan(name); });
  if (!plan.ok()) return plan.error();
  std::vector<device::PlanValue> arguments;
  for (size_t c = 0; c < types().size(); ++c) {
    arguments.emplace_back(wide ? device::Column{column(c), types()[c], stored() + count}
                                : device::Column{from[c], types()[c], count});
  }
  const uint32_t cells = static_cast<uint32_t>(cell_count());
  arguments.emplace_back(device::Column{set_, cell_type(set_kind_), cells});
  if (keeps_best(set_kind_)) {
    arguments.emplace_back(device::Column{values_, image_type(types()[best_.column]), cells});
  }
  arguments.emplace_back(Scalar::u32(wide ? stored() : 0));
  arguments.emplace_back(Scalar::u32(count));
  for (uint64_t number : set_numbers()) arguments.emplace_back(Scalar::u64(number));
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  const uint32_t added = std::get<Scalar>(results->back()).as_u32();
  std::vector<device::Buffer> kept;
  for (size_t c = 0; c < types().size(); ++c) {
    kept.push_back(std::get<device::Column>((*results)[c]).buffer);
  }
  if (Status s = bag_.append(kept, added); !s.ok()) return s.error();
  Result<bool> crowded = is_crowded();
  if (!crowded.ok()) return crowded.error();
  if (!*crowded) return added;
  if (Status s = spread_out(); !s.ok()) return s.error();
  Result<uint32_t> others = absorb(from, count);
  return others.ok() ? Result<uint32_t>(added + *others) : others;
}

// In parts, so that only a part is there three times. A GPU has memory, and wants large launches.
Result<uint32_t> Relation::load(const std::vector<std::span<const std::byte>>& columns,
                                uint32_t count) {
  constexpr uint32_t kPart = 1u << 17;
  const uint32_t most = machine_.form() == Form::Chunks ? kPart : UINT32_MAX;
  if (Status s = reserve(count); !s.ok()) return s.error();
  uint32_t added = 0;
  for (uint32_t first = 0; first < count;) {
    const uint32_t part = std::min(most, count - first);
    std::vector<device::Buffer> uploaded;
    for (size_t c = 0; c < types().size(); ++c) {
      const uint64_t size = size_of(types()[c]);
      Result<device::Column> column = device::upload(machine_.device(), types()[c],
                                                     columns[c].subspan(first * size, part * size));
      if (!column.ok()) return column.error();
      uploaded.push_back(column->buffer);
    }
    Result<uint32_t> absorbed = absorb(uploaded, part);
    if (!absorbed.ok()) return absorbed;
    added += *absorbed;
    first += part;
  }
  return added;
}

bool Relation::forgets() const {
  if (!may_forget_ || set_kind_ != SetKind::Bits) return false;
  uint64_t row_bytes = 0;
  for (Type type : types()) row_bytes += size_of(type);
  return grows_ || stored() * row_bytes > cells_ * size_of(cell_type(set_kind_));
}

Status Relation::add_forgotten(uint64_t count) {
  if (count > UINT32_MAX - stored()) return too_many_rows();
  skipped_ += static_cast<uint32_t>(count);
  handled_ += static_cast<uint32_t>(count);
  return Done{};
}

Status Relation::append(const std::vector<device::Buffer>& from, std::span<const Bag::Part> parts,
                        Next next) {
  if (!grows_ && forgets()) {
    uint64_t count = 0;
    for (const Bag::Part& part : parts) count += part.count;
    return add_forgotten(count);
  }
  if (next == Next::NewBesideHandled) return waiting_.append(from, parts);
  if (next == Next::Handled && has_only_new()) return Done{};
  const uint32_t before = bag_.rows();
  if (Status s = bag_.append(from, parts); !s.ok()) return s;
  if (next == Next::Handled) handled_ += bag_.rows() - before;
  return Done{};
}

Result<bool> Relation::next_round() {
  if (!grows_ && forgets()) {
    if (Status s = handle_all(); !s.ok()) return s.error();
  }
  XLOG_CHECK(handled_ == 0 || stored() - waiting_.rows() == rows_ + handled_,
             "beside rows that are handled, new ones wait");
  if (set_kind_ == SetKind::Best) return next_round_of_best();
  fresh_ = rows_ + handled_;
  rows_ = stored();
  if (Status s = bag_.append(waiting_.columns(), waiting_.rows()); !s.ok()) return s.error();
  waiting_.clear();
  if (forgets() && fresh_ > forgotten_) {
    // Rows that are not new go.
    if (Status s = bag_.drop(fresh_ - forgotten_ - skipped_); !s.ok()) return s.error();
    forgotten_ = fresh_;
  }
  XLOG_CHECK(forgets() || skipped_ == 0, "rows without columns are in bits");
  handled_ = skipped_ = 0;
  return fresh_ < rows_;
}

Status Relation::handle_all() {
  if (Status s = bag_.append(waiting_.columns(), waiting_.rows()); !s.ok()) return s;
  waiting_.clear();
  handled_ = stored() - rows_;
  return Done{};
}

Status Relation::finish() {
  Result<bool> more = next_round();
  if (!more.ok()) return more.error();
  XLOG_CHECK(!*more, "a finished relation has no new rows");
  finished_ = true;
  return keeps_best(set_kind_) ? finish_best() : Done{};
}

Status Relation::need_columns() {
  if (forgotten_ == 0) return Done{};
  const std::string name = fmt::format("rows_of_bits_{}", fmt::join(bit_order_, "_"));
  Result<device::PlanRunner*> plan = machine_.plan(name, [&] {
    PlanBuilder p(machine_.graph(), name);
    const kernel::Buffer cells = p.in(Type::U32, "cells");
    Values sizes;
    for (size_t c = 0; c < types().size(); ++c) sizes.push_back(p.val(Type::U64, "size"));
    const kernel::Rows rows = p.expand(p.len(cells), [&](Value word) {
      SetCode bits;
      bits.kind = SetKind::Bits;
      bits.cells = cells;
      bits.sizes = sizes;
      bits.order = bit_order_;
      for_each_bit(p, bits, word, cells[word], [&](const Values& row) { p.emit(row); });
    });
    return p.finish(rows.columns);
  });
  if (!plan.ok()) return plan.error();
  std::vector<device::PlanValue> arguments = {
      device::Column{set_, Type::U32, static_cast<uint32_t>(cells_)}};
  for (uint64_t size : domain_) arguments.emplace_back(Scalar::u64(size));
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  std::vector<device::Buffer> columns;
  for (const device::PlanValue& result : *results) {
    columns.push_back(std::get<device::Column>(result).buffer);
  }
  const uint32_t count = std::get<device::Column>((*results)[0]).count;
  XLOG_CHECK(count == rows_ && finished_, "the bits are the rows");
  bag_.clear();
  if (Status s = bag_.append(columns, count); !s.ok()) return s;
  forgotten_ = 0;
  may_forget_ = false;
  return Done{};
}

std::vector<uint32_t> Relation::sort_order(const std::vector<uint32_t>& keys,
                                           std::optional<uint32_t> then) const {
  std::vector<uint32_t> order = keys;
  if (then) order.push_back(*then);
  for (uint32_t c = 0; c < arity(); ++c) {
    if (std::ranges::find(order, c) == order.end()) order.push_back(c);
  }
  return order;
}

Index* Relation::find_index(const std::vector<uint32_t>& order, size_t keys) const {
  const auto found = std::ranges::find_if(indexes_, [&](const auto& index) {
    return index->order() == order && index->key_count() == keys;
  });
  return found == indexes_.end() ? nullptr : found->get();
}

// What a new index may do with the columns. Row numbers in a wide set forbid another order; who
// asks whether a row is the best reads all of it.
IndexColumns Relation::columns_for_index(bool all) const {
  const bool numbered = is_wide(set_kind_) && (!finished_ || set_ != nullptr);
  const bool taken = std::ranges::any_of(
      indexes_, [](const auto& index) { return index->columns() == IndexColumns::Relation; });
  if (!numbered && !taken && !keeps_best(set_kind_)) return IndexColumns::Relation;
  return keeps_best(set_kind_) || all ? IndexColumns::All : IndexColumns::Read;
}

// Before the relation's rows change their order: other indexes count how many rows they have seen.
Status Relation::update_others(const Index* index) {
  std::erase_if(indexes_, [&](const auto& other) {
    return finished_ && other.get() != index && other->covered() < rows_;
  });
  for (const auto& other : indexes_) {
    if (other.get() == index || other->covered() == rows_) continue;
    if (Status s = other->update(fresh_, rows_); !s.ok()) return s;
  }
  return Done{};
}

Result<Index*> Relation::index(const std::vector<uint32_t>& keys, std::optional<uint32_t> then) {
  return index(keys, then, false);
}

Result<Index*> Relation::sorted(const std::vector<uint32_t>& keys) {
  const Index* known = find_index(sort_order(keys, {}), keys.size());
  if (known != nullptr && known->columns() == IndexColumns::Read) {
    std::erase_if(indexes_, [&](const auto& index) { return index.get() == known; });
  }
  return index(keys, {}, true);
}

Result<Index*> Relation::index(const std::vector<uint32_t>& keys, std::optional<uint32_t> then,
                               bool all_columns) {
  const std::vector<uint32_t> order = sort_order(keys, then);
  const bool may_be_table = keys.size() == 1 && types()[keys[0]] == Type::U32;
  Index* index = find_index(order, keys.size());
  if (index == nullptr) {
    // Where no more rows will come, there are tables that take less memory than one by value.
    const bool by_value = may_be_table && !bounds_.empty() && !finished_;
    const uint64_t below = by_value ? bounds_[keys[0]] : UINT64_MAX;
    const uint32_t domain = below <= kMostTableCells ? static_cast<uint32_t>(below) : 0;
    indexes_.push_back(std::make_unique<Index>(machine_, bag_, order, keys.size(), domain,
                                               columns_for_index(all_columns)));
    index = indexes_.back().get();
  }
  if (then || all_columns) index->keep_sorted();
  if (index->is_done()) return index;
  if (index->columns() == IndexColumns::Relation) {
    if (Status s = update_others(index); !s.ok()) return s.error();
  }
  if (finished_ && may_be_table && rows_ > 0) {
    Result<std::optional<uint32_t>> last = greatest(keys[0]);
    if (!last.ok()) return last.error();
    // A table with a few cells for each row.
    const uint64_t most = kDirectCells * (uint64_t{rows_} + 256);
    if (**last < most && index->domain() <= most) {
      if (Status s = index->finish(rows_, **last + 1); !s.ok()) return s.error();
      return index;
    }
    // The same number of cells, where they are blocks of values.
    const bool may_rank = index->covered() == 0 || index->kind() == TableKind::Ranks;
    if (may_rank && **last < most * kWordBits / kBlockWidth) {
      if (Status s = index->rank(rows_, **last); !s.ok()) return s.error();
      return index;
    }
  }
  if (Status s = index->update(fresh_, rows_); !s.ok()) return s.error();
  if (finished_) {
    if (Status s = index->merge_all(); !s.ok()) return s.error();
  }
  return index;
}

TableKind Relation::index_kind(const std::vector<uint32_t>& keys,
                               std::optional<uint32_t> then) const {
  const Index* index = find_index(sort_order(keys, then), keys.size());
  return index == nullptr ? TableKind::Hash : index->kind();
}

}  // namespace xlog::relation
