#include "relation/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "relation/bag.h"

namespace xlog::relation {

using kernel::Columns;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::PlanBuilder;

namespace {

constexpr uint32_t kMaxRuns = 64;
constexpr uint32_t kTableWidth = 3;  // of a run: its first row, its first cell, mask of its cells
// A run is merged with the one before it unless that is this many times as long.
constexpr uint32_t kRunRatio = 4;

// Puts the groups of a sorted run into the cells of its directory. Keys are distinct.
Id directory_kernel(kernel::Graph& graph, const std::vector<Type>& key_types) {
  KernelBuilder k(graph, "directory" + type_names(key_types));
  const Value groups = k.val(Type::U32, "groups");
  const Value rows = k.val(Type::U32, "rows");
  const Value base = k.val(Type::U32, "base");
  const kernel::Buffer starts = k.in(Type::U32, "starts");
  std::vector<kernel::Buffer> columns;
  for (Type type : key_types) columns.push_back(k.in(type, "key"));
  const kernel::Buffer cells = k.race(Type::U64, "cells");
  const Value g = k.grid(groups);
  const Value start = starts[g];
  const Value is_last = g + 1 == groups;
  const Value next = starts[k.select(is_last, g, g + 1)];
  const Value count = k.select(is_last, rows, next) - start;
  Values key;
  for (const kernel::Buffer& column : columns) key.push_back(column[start]);
  const Value entry = k.cast(Type::U64, start + base) << 32 | k.cast(Type::U64, count);
  const Value mask = k.len(cells) - 1;
  const Value empty = k.number(Type::U64, 0);
  k.loop(k.len(cells), k.boolean(true), {k.cast(Type::U32, hash_row(k, key)) & mask},
         [&](Value, const Values& at) -> std::pair<Value, Values> {
           const Value old = k.cas(cells, at[0], empty, entry);
           return {old != empty, {(at[0] + 1) & mask}};
         });
  return k.finish();
}

}  // namespace

Index::Index(Machine& machine, std::vector<Type> types, std::vector<uint32_t> order, size_t keys)
    : machine_(machine),
      types_(std::move(types)),
      order_(std::move(order)),
      keys_(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(keys)),
      columns_(types_.size()),
      capacities_(types_.size(), 0) {}

uint64_t Index::bytes() const {
  uint64_t bytes = cell_capacity_ * 8;
  for (size_t c = 0; c < types_.size(); ++c) bytes += capacities_[c] * size_of(types_[c]);
  return bytes;
}

uint64_t Index::groups() const {
  return std::accumulate(runs_.begin(), runs_.end(), uint64_t{0},
                         [](uint64_t sum, const Run& run) { return sum + run.groups; });
}

Status Index::update(const std::vector<device::Buffer>& columns, uint32_t fresh, uint32_t rows) {
  if (columns_[0] == nullptr) {
    for (size_t c = 0; c < types_.size(); ++c) {
      if (Status s = grow(columns_[c], capacities_[c], types_[c], 0, 1); !s.ok()) return s;
    }
    if (Status s = grow(cells_, cell_capacity_, Type::U64, 0, 1); !s.ok()) return s;
    Result<device::Buffer> table =
        make_buffer(machine_.device(), Type::U32, kMaxRuns * kTableWidth);
    if (!table.ok()) return table.error();
    table_ = *table;
  }
  if (covered_ == rows && (fresh_run_ || fresh >= rows)) {
    // The rows that were new are old now, and there are no others.
    if (fresh >= rows) fresh_run_ = false;
    return Done{};
  }
  if (covered_ < fresh) {
    if (Status s = add_run(columns, covered_, fresh); !s.ok()) return s;
  }
  size_t first = runs_.size();
  while (first >= 2) {
    const uint32_t tail = runs_.back().end - runs_[first - 1].begin;
    const uint32_t before = runs_[first - 2].end - runs_[first - 2].begin;
    if (uint64_t{tail} * kRunRatio < before) break;
    --first;
  }
  if (first + 1 <= runs_.size() && first >= 1 && first < runs_.size()) {
    if (Status s = merge_tail(first - 1); !s.ok()) return s;
  }
  fresh_run_ = covered_ < rows;
  if (fresh_run_) {
    if (Status s = add_run(columns, covered_, rows); !s.ok()) return s;
  }
  return write_table();
}

Status Index::grow(device::Buffer& buffer, uint64_t& capacity, Type type, uint64_t used,
                   uint64_t wanted) {
  if (wanted <= capacity) return Done{};
  const uint64_t larger = std::max(wanted, std::min(capacity * 2, wanted + (uint64_t{1} << 26)));
  Result<device::Buffer> made = make_buffer(machine_.device(), type, larger);
  if (!made.ok()) return made.error();
  if (used > 0) {
    const uint64_t bytes = used * size_of(type);
    if (Status s = machine_.device().copy({*made, 0, bytes}, {buffer, 0, bytes}); !s.ok()) return s;
  }
  buffer = *made;
  capacity = larger;
  return Done{};
}

Status Index::add_run(const std::vector<device::Buffer>& columns, uint32_t first, uint32_t last) {
  std::vector<device::PlanValue> source;
  for (size_t c = 0; c < types_.size(); ++c) {
    source.emplace_back(device::Column{columns[c], types_[c], last});
  }
  source.emplace_back(kernel::Scalar::u32(first));
  if (Status s = build(source, covered_, last - first); !s.ok()) return s;
  covered_ = last;
  return Done{};
}

Status Index::merge_all() {
  fresh_run_ = false;
  if (runs_.size() < 2) return Done{};
  if (Status s = merge_tail(0); !s.ok()) return s;
  return write_table();
}

// Sorts the rows of the runs from `first_run` on again, in place, as one run.
Status Index::merge_tail(size_t first_run) {
  const uint32_t begin = runs_[first_run].begin;
  const uint32_t end = runs_.back().end;
  runs_.resize(first_run);
  std::vector<device::PlanValue> source;
  for (size_t c = 0; c < types_.size(); ++c) {
    source.emplace_back(device::Column{columns_[c], types_[c], end});
  }
  source.emplace_back(kernel::Scalar::u32(begin));
  return build(source, begin, end - begin);
}

Status Index::build(const std::vector<device::PlanValue>& source, uint32_t begin, uint32_t count) {
  XLOG_CHECK(runs_.size() < kMaxRuns, "runs are merged before there are so many");
  const std::string name =
      fmt::format("index{}_by_{}_of_{}", type_names(types_), keys_.size(), fmt::join(order_, "_"));
  Result<device::PlanRunner*> plan = machine_.plan(name, [&] { return build_plan(); });
  if (!plan.ok()) return plan.error();
  std::vector<device::PlanValue> arguments = source;
  arguments.emplace_back(kernel::Scalar::u32(count));
  arguments.emplace_back(kernel::Scalar::u32(begin));
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();

  for (size_t c = 0; c < types_.size(); ++c) {
    const auto& sorted = std::get<device::Column>((*results)[c]);
    if (Status s = grow(columns_[c], capacities_[c], types_[c], begin, uint64_t{begin} + count);
        !s.ok()) {
      return s;
    }
    const uint64_t size = size_of(types_[c]);
    if (Status s = machine_.device().copy({columns_[c], begin * size, count * size},
                                          {sorted.buffer, 0, count * size});
        !s.ok()) {
      return s;
    }
  }
  const auto& cells = std::get<device::Column>((*results)[types_.size()]);
  const uint32_t groups = std::get<kernel::Scalar>((*results)[types_.size() + 1]).as_u32();
  const uint32_t first_cell = runs_.empty() ? 0 : runs_.back().first_cell + runs_.back().cells;
  if (Status s =
          grow(cells_, cell_capacity_, Type::U64, first_cell, uint64_t{first_cell} + cells.count);
      !s.ok()) {
    return s;
  }
  if (Status s =
          machine_.device().copy({cells_, uint64_t{first_cell} * 8, uint64_t{cells.count} * 8},
                                 {cells.buffer, 0, uint64_t{cells.count} * 8});
      !s.ok()) {
    return s;
  }
  runs_.push_back({begin, begin + count, first_cell, cells.count, groups});
  return Done{};
}

Status Index::write_table() {
  std::vector<uint32_t> table;
  for (const Run& run : runs_) {
    table.insert(table.end(), {run.begin, run.first_cell, run.cells - 1});
  }
  if (table.empty()) return Done{};
  return machine_.device().write({table_}, std::as_bytes(std::span(table)));
}

// `count` rows from `first` on, sorted, their columns in that order.
Columns Index::sort_plan(PlanBuilder& p, Value first, Value count, const Columns& source) const {
  const Columns slice = p.map(count, [&](Value i) {
    Values row;
    for (uint32_t c : order_) row.push_back(source[c][first + i]);
    return row;
  });
  return p.sort(slice).columns;
}

Status Index::finish(const std::vector<device::Buffer>& columns, uint32_t rows, uint32_t domain) {
  const std::string name =
      fmt::format("direct_index{}_by_{}", type_names(types_), fmt::join(order_, "_"));
  Result<device::PlanRunner*> plan = machine_.plan(name, [&] {
    PlanBuilder p(machine_.graph(), name);
    Columns source;
    for (Type type : types_) source.push_back(p.in(type, "column"));
    const Value n = p.val(Type::U32, "n");
    const Value values = p.val(Type::U32, "values");
    const Columns sorted = sort_plan(p, p.u32(0), n, source);
    // Two more than there are values: what lies past them starts and ends at the end.
    const kernel::Buffer starts = p.map(values + 2, [&](Value v) {
      return Values{
          kernel::lower_bound(p, p.u32(0), n, [&](Value r) { return v <= sorted[0][r]; })};
    })[0];
    std::vector<Id> results(types_.size());
    for (size_t j = 0; j < order_.size(); ++j) results[order_[j]] = sorted[j].id;
    results.push_back(starts.id);
    return p.finish_ids(results);
  });
  if (!plan.ok()) return plan.error();
  std::vector<device::PlanValue> arguments;
  for (size_t c = 0; c < types_.size(); ++c) {
    arguments.emplace_back(device::Column{columns[c], types_[c], rows});
  }
  arguments.emplace_back(kernel::Scalar::u32(rows));
  arguments.emplace_back(kernel::Scalar::u32(domain));
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  for (size_t c = 0; c < types_.size(); ++c) {
    columns_[c] = std::get<device::Column>((*results)[c]).buffer;
    capacities_[c] = rows;
  }
  table_ = std::get<device::Column>(results->back()).buffer;
  cells_ = nullptr;
  runs_.clear();
  covered_ = rows;
  direct_ = true;
  return Done{};
}

// Sorts `count` rows from `first` on, and makes the directory; rows are numbered from `base` in it.
Id Index::build_plan() {
  PlanBuilder p(machine_.graph(), "index");
  Columns source;
  for (Type type : types_) source.push_back(p.in(type, "column"));
  const Value first = p.val(Type::U32, "first");
  const Value count = p.val(Type::U32, "count");
  const Value base = p.val(Type::U32, "base");
  const Columns sorted = sort_plan(p, first, count, source);
  const kernel::Rows heads = p.expand(count, [&](Value i) {
    const Value before = p.select(i == 0, i, i - 1);
    Value differs = i == 0;
    for (size_t j = 0; j < keys_.size(); ++j) {
      differs = differs | !same_words(p, sorted[j][i], sorted[j][before]);
    }
    p.if_then(differs, [&] { p.emit({i}); });
  });
  // The least power of two of cells of which at most half are taken.
  const Value wanted = p.max(heads.count, p.u32(4)) * 2 - 1;
  const Value size = p.u32(1) << (p.u32(32) - p.clz(wanted));
  const kernel::Buffer cells = p.buf(Type::U64, size);
  std::vector<Type> key_types;
  std::vector<Id> arguments = {heads.count.id, count.id, base.id, heads.columns[0].id};
  for (size_t j = 0; j < keys_.size(); ++j) {
    key_types.push_back(types_[keys_[j]]);
    arguments.push_back(sorted[j].id);
  }
  arguments.push_back(cells.id);
  p.launch(directory_kernel(machine_.graph(), key_types), arguments);
  std::vector<Id> results(types_.size());
  for (size_t j = 0; j < order_.size(); ++j) results[order_[j]] = sorted[j].id;
  results.push_back(cells.id);
  results.push_back(heads.count.id);
  return p.finish_ids(results);
}

kernel::Range find_rows_directly(Builder& k, const IndexParams& index, Value key) {
  const Value place = k.min(key, k.len(index.table) - 2);
  return {index.table[place], index.table[place + 1]};
}

kernel::Range find_rows(Builder& k, const IndexParams& index, const std::vector<uint32_t>& keys,
                        Value run, const Values& key) {
  const Value at = run * kTableWidth;
  const Value begin = index.table[at];
  const Value first_cell = index.table[at + 1];
  const Value mask = index.table[at + 2];
  const Value zero = k.u32(0);
  const Values found =
      k.loop(mask + 1, k.boolean(true), {k.cast(Type::U32, hash_row(k, key)) & mask, zero, zero},
             [&](Value, const Values& carried) -> std::pair<Value, Values> {
               const Value cell = index.cells[first_cell + carried[0]];
               const Value empty = cell == 0;
               // An empty cell is compared with a row that is there, for nothing.
               const Value row = k.select(empty, begin, k.cast(Type::U32, cell >> 32));
               Value same = !empty;
               for (size_t j = 0; j < keys.size(); ++j) {
                 same = same & same_words(k, key[j], index.columns[keys[j]][row]);
               }
               const Value count = k.cast(Type::U32, cell);
               return {!(empty | same),
                       {(carried[0] + 1) & mask, k.select(same, row, zero),
                        k.select(same, row + count, zero)}};
             });
  return {found[1], found[2]};
}

}  // namespace xlog::relation
