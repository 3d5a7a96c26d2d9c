#include "relation/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "relation/bag.h"
#include "relation/row_set.h"

namespace xlog::relation {

using kernel::Columns;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::PlanBuilder;
using kernel::Range;
using kernel::Scalar;

namespace {

constexpr uint64_t kLeastCells = 16;
constexpr uint32_t kFewSegments = 1u << 12;  // are not worth sorting all rows again

}  // namespace

Index::Index(Machine& machine, Bag& rows, std::vector<uint32_t> order, size_t keys, uint32_t domain,
             IndexColumns columns)
    : machine_(machine),
      rows_(rows),
      types_(rows.types()),
      kept_(columns),
      order_(std::move(order)),
      keys_(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(keys)),
      kind_(domain > 0 ? TableKind::Value : TableKind::Hash),
      domain_(domain),
      columns_(types_.size()),
      capacities_(types_.size(), 0) {
  XLOG_CHECK(domain == 0 || (keys == 1 && types_[keys_[0]] == Type::U32), "values are numbers");
}

// Whether this column is one of its own. A hash table compares keys.
bool Index::copies(uint32_t c) const {
  if (kept_ != IndexColumns::Read) return kept_ == IndexColumns::All;
  const bool is_key = std::ranges::find(keys_, c) != keys_.end();
  return !is_key || kind_ == TableKind::Hash || types_.size() == keys_.size();
}

void Index::keep_sorted() {
  if (sorted_ || types_.size() <= keys_.size() + 1) return;
  sorted_ = true;
  if (covered_ > 0) merged_segments_ = 0;  // which may have been put together unsorted
}

uint64_t Index::bytes() const {
  uint64_t bytes = table_cells_ * 4 + segment_capacity_ * 4;
  for (size_t c = 0; c < types_.size(); ++c) bytes += capacities_[c] * size_of(types_[c]);
  return bytes;
}

// "_u32_u32_by_1_of_0_1": what kernels and plans depend on.
std::string Index::suffix() const {
  return fmt::format("{}_by_{}_of_{}", type_names(types_), keys_.size(), fmt::join(order_, "_"));
}

Status Index::begin() {
  if (table_ != nullptr) return Done{};
  if (Status s = rows_.make_room(1); !s.ok()) return s;
  for (size_t c = 0; c < types_.size() && kept_ != IndexColumns::Relation; ++c) {
    if (Status s = grow(columns_[c], capacities_[c], types_[c], 0, 1); !s.ok()) return s;
  }
  if (Status s = grow(segments_, segment_capacity_, Type::U32, 0, kSegmentWidth); !s.ok()) return s;
  // A table by value has one cell more: what lies past the domain has no rows.
  return make_table(kind_ == TableKind::Value ? uint64_t{domain_} + 1 : kLeastCells);
}

Status Index::update(uint32_t fresh, uint32_t rows) {
  if (Status s = begin(); !s.ok()) return s;
  if (covered_ < fresh) {
    if (Status s = add_run(covered_, fresh); !s.ok()) return s;
  }
  if (covered_ == rows) return Done{};
  if (covered_ == fresh && segment_count_ > kFewSegments && segment_count_ / 2 > merged_segments_) {
    if (Status s = merge(fresh); !s.ok()) return s;
  }
  return add_run(covered_, rows);
}

Status Index::merge_all() {
  return segment_count_ > merged_segments_ ? merge(covered_) : Status(Done{});
}

Status Index::grow(device::Buffer& buffer, uint64_t& capacity, Type type, uint64_t used,
                   uint64_t wanted) {
  if (wanted <= capacity) return Done{};
  const uint64_t larger =
      std::max(wanted, std::min(larger_capacity(capacity), wanted + (uint64_t{1} << 26)));
  if (Status s = resize_buffer(machine_.device(), buffer, type, used, larger); !s.ok()) return s;
  capacity = larger;
  return Done{};
}

Status Index::add_run(uint32_t first, uint32_t last) {
  if (Status s = build(first, last - first); !s.ok()) return s;
  covered_ = last;
  if (first == 0) merged_segments_ = segment_count_;
  return Done{};
}

// One segment a key for the first `rows` rows, which are all that is there.
Status Index::merge(uint32_t rows) {
  XLOG_CHECK(rows == covered_, "all rows are put together");
  if (!can_gather()) return sort_again(rows);
  Result<device::Column> starts = starts_of_cells();
  if (!starts.ok()) return starts.error();
  if (Status s = gather(*starts); !s.ok()) return s;
  return name_segments(*starts);
}

Status Index::sort_again(uint32_t rows) {
  segment_count_ = 0;
  if (Status s = machine_.device().fill({table_, 0, table_cells_ * 4}, std::byte{0}); !s.ok()) {
    return s;
  }
  if (Status s = build(0, rows); !s.ok()) return s;
  merged_segments_ = segment_count_;
  return Done{};
}

// Puts sorted values of a column at row `at`, where the index has that column.
Status Index::put(uint32_t c, uint32_t at, const device::Buffer& from, uint32_t count) {
  const bool in_place = kept_ == IndexColumns::Relation;
  if (count == 0 || (!in_place && !copies(c))) return Done{};
  if (!in_place) {
    Status s = grow(columns_[c], capacities_[c], types_[c], at, uint64_t{at} + count);
    if (!s.ok()) return s;
  }
  const uint64_t size = size_of(types_[c]);
  return machine_.device().copy({column(c), at * size, count * size}, {from, 0, count * size});
}

// Sorts `count` rows of the relation from `first` on: they become new segments.
Status Index::build(uint32_t first, uint32_t count) {
  Result<device::PlanRunner*> plan =
      machine_.plan("index" + suffix(), [&] { return build_plan(); });
  if (!plan.ok()) return plan.error();
  std::vector<device::PlanValue> arguments;
  for (uint32_t c = 0; c < types_.size(); ++c) {
    arguments.emplace_back(rows_.column(c, first + count));
  }
  arguments.emplace_back(Scalar::u32(first));
  arguments.emplace_back(Scalar::u32(count));
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  std::vector<device::Buffer> sorted;
  for (uint32_t c = 0; c < types_.size(); ++c) {
    sorted.push_back(std::get<device::Column>((*results)[c]).buffer);
    if (Status s = put(c, first, sorted[c], count); !s.ok()) return s;
  }
  const auto segments = std::get<device::Column>(results->back());
  results->clear();
  const uint32_t before = segment_count_;
  const uint64_t numbers = uint64_t{before} * kSegmentWidth;
  if (Status s = grow(segments_, segment_capacity_, Type::U32, numbers, numbers + segments.count);
      !s.ok()) {
    return s;
  }
  const uint64_t bytes = uint64_t{segments.count} * 4;
  if (Status s =
          machine_.device().copy({segments_, numbers * 4, bytes}, {segments.buffer, 0, bytes});
      !s.ok()) {
    return s;
  }
  segment_count_ += segments.count / kSegmentWidth;
  if (kind_ == TableKind::Hash && table_cells_ < uint64_t{segment_count_} * 2) return grow_table();
  if (kind_ == TableKind::Hash) return link(before, segment_count_ - before, key_columns(), 0);
  return link(before, segment_count_ - before, {sorted[keys_[0]]}, first);
}

// Sorts `count` rows from `first` on, and finds where each key begins.
Id Index::build_plan() {
  PlanBuilder p(machine_.graph(), "index" + suffix());
  Columns source;
  for (Type type : types_) source.push_back(p.in(type, "column"));
  const Value first = p.val(Type::U32, "first");
  const Value count = p.val(Type::U32, "count");
  const Columns sorted = sort_plan(p, first, count, source);
  const kernel::Rows heads = p.expand(count, [&](Value i) {
    const Value before = p.select(i == 0, i, i - 1);
    Value differs = i == 0;
    for (size_t j = 0; j < keys_.size(); ++j) {
      differs = differs | !same_words(p, sorted[j][i], sorted[j][before]);
    }
    p.if_then(differs, [&] { p.emit({i}); });
  });
  const kernel::Buffer segments = p.map(heads.count * kSegmentWidth, [&](Value i) {
    const Value g = i / kSegmentWidth;
    const Value part = i % kSegmentWidth;
    const Value is_last = g + 1 == heads.count;
    const Value start = heads.columns[0][g];
    const Value next = heads.columns[0][p.select(is_last, g, g + 1)];
    const Value length = p.select(is_last, count, next) - start;
    return Values{p.select(part == 0, first + start, p.select(part == 1, length, p.u32(0)))};
  })[0];
  std::vector<Id> results(types_.size());
  for (size_t j = 0; j < order_.size(); ++j) results[order_[j]] = sorted[j].id;
  results.push_back(segments.id);
  return p.finish_ids(results);
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

// ---- the table ----

Status Index::make_table(uint64_t cells) {
  Result<device::Buffer> made = make_buffer(machine_.device(), Type::U32, cells);
  if (!made.ok()) return made.error();
  table_ = *made;
  table_cells_ = cells;
  return machine_.device().fill({table_, 0, cells * 4}, std::byte{0});
}

Status Index::grow_table() {
  if (Status s = make_table(std::bit_ceil(uint64_t{segment_count_} * 4)); !s.ok()) return s;
  return link(0, segment_count_, key_columns(), 0);
}

std::vector<device::Buffer> Index::key_columns() const {
  std::vector<device::Buffer> columns;
  for (uint32_t key : keys_) columns.push_back(column(key));
  return columns;
}

// Puts segments into the table. The keys of row r are at r - base.
Status Index::link(uint32_t first_segment, uint32_t count, const std::vector<device::Buffer>& keys,
                   uint32_t base) {
  if (count == 0) return Done{};
  const std::string name = fmt::format("link{}_{}", suffix(), static_cast<int>(kind_));
  Result<device::KernelHandle> kernel = machine_.kernel(name, [&] { return link_kernel(name); });
  if (!kernel.ok()) return kernel.error();
  std::vector<device::Argument> arguments = {Scalar::u32(count), Scalar::u32(first_segment),
                                             Scalar::u32(base), device::View{segments_},
                                             device::View{table_}};
  for (const device::Buffer& key : keys) arguments.emplace_back(device::View{key});
  return machine_.launch(*kernel, arguments);
}

// Keys of a segment are those of its first row. Who comes first to a cell does not matter: the
// segments of a key are chained in any order.
Id Index::link_kernel(const std::string& name) {
  KernelBuilder k(machine_.graph(), name);
  const Value n = k.val(Type::U32, "segments");
  const Value first = k.val(Type::U32, "first");
  const Value base = k.val(Type::U32, "base");
  const kernel::Buffer segments = k.race(Type::U32, "segment");
  const kernel::Buffer table = k.race(Type::U32, "table");
  std::vector<kernel::Buffer> columns;
  for (uint32_t key : keys_) columns.push_back(k.in(types_[key], "key"));
  const Value segment = first + k.grid(n);
  auto key_of = [&](Value which) {
    const Value row = segments[which * kSegmentWidth] - base;
    Values key;
    for (const kernel::Buffer& column : columns) key.push_back(column[row]);
    return key;
  };
  const Values key = key_of(segment);
  const Value name_of_it = segment + 1;
  auto push = [&](Value cell) {
    const Value before = k.atomic(kernel::Fold::Exch, table, cell, name_of_it);
    k.store(segments, segment * kSegmentWidth + 2, before);
  };
  if (kind_ == TableKind::Value) {
    push(key[0]);
    return k.finish();
  }
  const Value mask = k.len(table) - 1;
  const Value zero = k.u32(0);
  const kernel::Buffer taken = k.private_array(Type::U32, 1);
  const Values end =
      k.loop(k.len(table), k.boolean(true), {k.cast(Type::U32, hash_row(k, key)) & mask, zero},
             [&](Value, const Values& at) -> std::pair<Value, Values> {
               k.store(taken, zero, table[at[0]]);
               k.if_then(taken[zero] == 0,
                         [&] { k.store(taken, zero, k.cas(table, at[0], zero, name_of_it)); });
               // Nobody was there, or one with the same key.
               const Value other = taken[zero];
               const kernel::Buffer same = k.private_array(Type::Bool, 1);
               k.store(same, zero, k.boolean(true));
               k.if_then(other != 0, [&] {
                 const Values theirs = key_of(other - 1);
                 Value equal = k.boolean(true);
                 for (size_t j = 0; j < key.size(); ++j) {
                   equal = equal & same_words(k, key[j], theirs[j]);
                 }
                 k.store(same, zero, equal);
               });
               return {!same[zero], {(at[0] + 1) & mask, at[0]}};
             });
  k.if_then(
      taken[zero] == 0, [&] { k.store(segments, segment * kSegmentWidth + 2, zero); },
      [&] { push(end[1]); });
  return k.finish();
}

void Index::append_arguments(uint32_t limit, std::vector<device::Argument>& arguments) const {
  for (uint32_t c = 0; c < types_.size(); ++c) arguments.emplace_back(device::View{column(c)});
  arguments.emplace_back(device::View{table_});
  if (kind_ == TableKind::Starts) return;
  arguments.emplace_back(device::View{segments_});
  if (kind_ == TableKind::Ranks) return;
  arguments.emplace_back(Scalar::u32(limit));
}

// ---- inside kernels ----

IndexCode declare_index(KernelBuilder& k, TableKind kind, const std::vector<Type>& types,
                        std::vector<uint32_t> keys) {
  IndexCode index;
  index.kind = kind;
  index.keys = std::move(keys);
  for (Type type : types) index.columns.push_back(k.in(type, "column"));
  index.table = k.in(Type::U32, "table");
  if (kind == TableKind::Starts) return index;
  index.segments = k.in(Type::U32, "segments");
  if (kind == TableKind::Ranks) return index;
  index.limit = k.val(Type::U32, "limit");
  return index;
}

const kernel::Buffer& IndexCode::longest() const {
  for (uint32_t c = 0; c < columns.size(); ++c) {
    if (std::ranges::find(keys, c) == keys.end()) return columns[c];
  }
  return columns[0];
}

namespace {

// Where the table has starts.
Range find_rows(Builder& k, const IndexCode& index, Value key) {
  const Value place = k.min(key, k.len(index.table) - 2);
  return {index.table[place], index.table[place + 1]};
}

}  // namespace

Value find_rank(Builder& k, const kernel::Buffer& table, Value key) {
  const Value at = k.min(key / kWordBits, k.len(table) / kBlockWidth - 1) * kBlockWidth;
  const Value bits = table[at];
  const Value bit = k.u32(1) << (key & (kWordBits - 1));
  const Value before = table[at + 1] + k.popc(bits & (bit - 1));
  return k.select((bits & bit) != 0, before + 1, k.u32(0));
}

Value first_part(Builder& k, const IndexCode& index, const Values& key) {
  switch (index.kind) {
    case TableKind::Starts:
      return k.u32(1);
    case TableKind::Value:
      return index.table[k.min(key[0], k.len(index.table) - 1)];
    case TableKind::Ranks:
      return find_rank(k, index.table, key[0]);
    case TableKind::Hash:
      break;
  }
  const Value mask = k.len(index.table) - 1;
  const Value zero = k.u32(0);
  const Values end = k.loop(
      k.len(index.table), k.boolean(true), {k.cast(Type::U32, hash_row(k, key)) & mask, zero},
      [&](Value, const Values& at) -> std::pair<Value, Values> {
        const Value segment = index.table[at[0]];
        const kernel::Buffer same = k.private_array(Type::Bool, 1);
        k.store(same, zero, k.boolean(true));
        k.if_then(segment != 0, [&] {
          const Value row = index.segments[(segment - 1) * kSegmentWidth];
          Value equal = k.boolean(true);
          for (size_t j = 0; j < index.keys.size(); ++j) {
            equal = equal & same_words(k, key[j], index.columns[index.keys[j]][row]);
          }
          k.store(same, zero, equal);
        });
        return {!same[zero], {(at[0] + 1) & mask, segment}};
      });
  return end[1];
}

IndexPart read_part(Builder& k, const IndexCode& index, const Values& key, Value part) {
  if (index.kind == TableKind::Starts) return {find_rows(k, index, key[0]), k.u32(0)};
  if (index.kind == TableKind::Ranks) {
    return {{index.segments[part - 1], index.segments[part]}, k.u32(0)};
  }
  const Value at = (part - 1) * kSegmentWidth;
  const Value first = index.segments[at];
  const Value length = index.segments[at + 1];
  // A segment lies before the limit or behind it.
  return {{first, k.select(first < index.limit, first + length, first)}, index.segments[at + 2]};
}

void for_each_range(Builder& k, const IndexCode& index, const Values& key,
                    const std::function<void(Range)>& body) {
  if (index.kind == TableKind::Starts) return body(find_rows(k, index, key[0]));
  const Value first = first_part(k, index, key);
  k.loop(k.len(index.segments), first != 0, {first},
         [&](Value, const Values& at) -> std::pair<Value, Values> {
           const IndexPart part = read_part(k, index, key, at[0]);
           body(part.rows);
           return {part.next != 0, {part.next}};
         });
}

Value count_rows(Builder& k, const IndexCode& index, const Values& key) {
  if (index.kind == TableKind::Starts) {
    const Range rows = find_rows(k, index, key[0]);
    return rows.hi - rows.lo;
  }
  const Value first = first_part(k, index, key);
  return k.loop(k.len(index.segments), first != 0, {first, k.u32(0)},
                [&](Value, const Values& at) -> std::pair<Value, Values> {
                  const IndexPart part = read_part(k, index, key, at[0]);
                  return {part.next != 0, {part.next, at[1] + (part.rows.hi - part.rows.lo)}};
                })[1];
}

Value has_rows(Builder& k, const IndexCode& index, const Values& key) {
  if (index.kind == TableKind::Starts) {
    const Range rows = find_rows(k, index, key[0]);
    return rows.lo < rows.hi;
  }
  const Value first = first_part(k, index, key);
  return k.loop(k.len(index.segments), first != 0, {first, k.boolean(false)},
                [&](Value, const Values& at) -> std::pair<Value, Values> {
                  const IndexPart part = read_part(k, index, key, at[0]);
                  const Value found = part.rows.lo < part.rows.hi;
                  return {(!found) & (part.next != 0), {part.next, found}};
                })[1];
}

}  // namespace xlog::relation
