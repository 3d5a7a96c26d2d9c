// What is known of the values of a relation's columns.
#include <fmt/format.h>

#include <algorithm>

#include "relation/relation.h"

namespace xlog::relation {

using kernel::KernelBuilder;
using kernel::PlanBuilder;
using kernel::Scalar;

Result<std::optional<uint32_t>> Relation::greatest(uint32_t column) {
  if (types()[column] != Type::U32 || rows_ == 0) return std::optional<uint32_t>();
  if (auto known = greatest_.find(column); known != greatest_.end()) {
    return std::optional<uint32_t>(known->second);
  }
  if (Status s = need_columns(); !s.ok()) return s.error();
  Result<device::PlanRunner*> plan = machine_.plan("greatest", [&] {
    PlanBuilder p(machine_.graph(), "greatest");
    const kernel::Buffer x = p.in(Type::U32, "x");
    return p.finish({p.reduce(kernel::Fold::Max, x)});
  });
  if (!plan.ok()) return plan.error();
  Result<std::vector<device::PlanValue>> result = (*plan)->run(
      std::vector<device::PlanValue>{device::Column{bag_.columns()[column], Type::U32, rows_}});
  if (!result.ok()) return result.error();
  Result<std::vector<uint32_t>> value =
      read_numbers<uint32_t>(machine_.device(), std::get<device::Column>((*result)[0]).buffer, 1);
  if (!value.ok()) return value.error();
  if (finished_) greatest_[column] = (*value)[0];
  return std::optional<uint32_t>((*value)[0]);
}

// Sorts a column, and finds where each value begins; behind these stands the number of rows.
Result<device::PlanRunner*> Relation::distinct_plan(Type type) {
  const std::string name = "distinct" + type_names({type});
  return machine_.plan(name, [&] {
    PlanBuilder p(machine_.graph(), name);
    const kernel::Buffer x = p.in(type, "x");
    const kernel::Buffer words =
        p.map(p.len(x), [&](Value i) { return Values{word_of(p, x[i])}; })[0];
    const kernel::Buffer sorted = p.sort({words}).columns[0];
    const kernel::Rows heads = p.expand(p.len(sorted), [&](Value i) {
      const Value before = p.select(i == 0, i, i - 1);
      p.if_then((i == 0) | (sorted[i] != sorted[before]), [&] { p.emit({i}); });
    });
    return p.finish(p.map(heads.count + 1, [&](Value i) {
      const Value is_end = i == heads.count;
      const Value start = heads.columns[0][p.select(is_end, p.u32(0), i)];
      return Values{p.select(is_end, p.len(x), start)};
    }));
  });
}

Result<uint32_t> Relation::distinct(uint32_t column, uint32_t first_rows) {
  const uint32_t sampled = std::min(first_rows, rows_);
  if (sampled == 0) return 0u;
  if (Status s = need_columns(); !s.ok()) return s.error();
  const Type type = types()[column];
  Result<device::PlanRunner*> plan = distinct_plan(type);
  if (!plan.ok()) return plan.error();
  Result<std::vector<device::PlanValue>> result = (*plan)->run(
      std::vector<device::PlanValue>{device::Column{bag_.columns()[column], type, sampled}});
  if (!result.ok()) return result.error();
  return std::get<device::Column>((*result)[0]).count - 1;
}

// ---- degrees ----

namespace {

constexpr uint32_t kDegreeChunks = 256;     // that instances count apart
constexpr uint32_t kMostSorted = 1u << 16;  // rows
constexpr uint64_t kCellsForRow = 4;        // of a table by value
enum DegreeNumber : uint32_t { kSquares = plan::kDegreePowers, kDegreeNumbers };

}  // namespace

const Index* Relation::index_with_starts(uint32_t column) const {
  for (const auto& index : indexes_) {
    const bool fits = index->kind() == TableKind::Starts && index->order()[0] == column;
    if (fits && index->covered() == rows_) return index.get();
  }
  return nullptr;
}

// `numbers`: how often each value occurs, or where its rows start, with one more at the end.
Result<plan::Degrees> Relation::degrees_of(const device::Buffer& numbers, uint32_t count,
                                           bool starts) {
  const std::string name = fmt::format("degrees_{}", starts);
  Result<device::KernelHandle> kernel = machine_.kernel(name, [&] {
    KernelBuilder k(machine_.graph(), name);
    const Value chunks = k.val(Type::U32, "chunks");
    const Value n = k.val(Type::U32, "n");
    const kernel::Buffer from = k.in(Type::U32, "numbers");
    const kernel::Buffer sums = k.acc(Type::U64, "sums");
    const kernel::Buffer mine = k.private_array(Type::U64, kDegreeNumbers);
    const Value zero = k.number(Type::U64, 0);
    k.for_range(k.u32(0), k.u32(kDegreeNumbers), [&](Value j) { k.store(mine, j, zero); });
    const Value length = (n + chunks - 1) / chunks;
    const Value first = k.grid(chunks) * length;
    k.for_range(k.min(first, n), k.min(first + length, n), [&](Value j) {
      const Value times = starts ? from[j + 1] - from[j] : from[j];
      k.if_then(times != 0, [&] {
        const Value power = k.u32(31) - k.clz(times);
        k.store(mine, power, mine[power] + k.number(Type::U64, 1));
        const Value wide = k.cast(Type::U64, times);
        k.store(mine, k.u32(kSquares), mine[k.u32(kSquares)] + wide * wide);
      });
    });
    k.for_range(k.u32(0), k.u32(kDegreeNumbers), [&](Value j) {
      k.if_then(mine[j] != zero, [&] { k.atomic(kernel::Fold::Add, sums, j, mine[j]); });
    });
    return k.finish();
  });
  if (!kernel.ok()) return kernel.error();
  Result<device::Buffer> sums = make_buffer(machine_.device(), Type::U64, kDegreeNumbers);
  if (!sums.ok()) return sums.error();
  if (Status s = machine_.device().fill({*sums}, std::byte{0}); !s.ok()) return s.error();
  const std::vector<device::Argument> arguments = {Scalar::u32(kDegreeChunks), Scalar::u32(count),
                                                   device::View{numbers}, device::View{*sums}};
  if (Status s = machine_.launch(*kernel, arguments); !s.ok()) return s.error();
  Result<std::vector<uint64_t>> read =
      read_numbers<uint64_t>(machine_.device(), *sums, kDegreeNumbers);
  if (!read.ok()) return read.error();
  plan::Degrees degrees;
  for (uint32_t p = 0; p < plan::kDegreePowers; ++p) {
    degrees.counts[p] = (*read)[p];
    degrees.values += (*read)[p];
  }
  degrees.rows = rows_;
  degrees.squares = static_cast<double>((*read)[kSquares]);
  return degrees;
}

Result<std::optional<plan::Degrees>> Relation::degrees(uint32_t column) {
  using Known = std::optional<plan::Degrees>;
  if (!finished_ || rows_ == 0 || (grows_ && is_only_bits())) return Known();
  if (const Index* index = index_with_starts(column)) {
    const device::Column starts = index->starts();
    Result<plan::Degrees> counted = degrees_of(starts.buffer, starts.count - 1, true);
    return counted.ok() ? Result<Known>(*counted) : counted.error();
  }
  if (Status s = need_columns(); !s.ok()) return s.error();
  Result<std::optional<uint32_t>> last = greatest(column);
  if (!last.ok()) return last.error();
  if (*last && **last < kCellsForRow * (uint64_t{rows_} + 256)) {
    Result<device::KernelHandle> kernel = machine_.kernel("count_values", [&] {
      KernelBuilder k(machine_.graph(), "count_values");
      const Value n = k.val(Type::U32, "n");
      const kernel::Buffer values = k.in(Type::U32, "column");
      const kernel::Buffer counts = k.acc(Type::U32, "counts");
      k.atomic(kernel::Fold::Add, counts, values[k.grid(n)], k.u32(1));
      return k.finish();
    });
    if (!kernel.ok()) return kernel.error();
    const uint32_t cells = **last + 1;
    Result<device::Buffer> counts = make_buffer(machine_.device(), Type::U32, cells);
    if (!counts.ok()) return counts.error();
    if (Status s = machine_.device().fill({*counts}, std::byte{0}); !s.ok()) return s.error();
    const std::vector<device::Argument> arguments = {
        Scalar::u32(rows_), device::View{bag_.columns()[column]}, device::View{*counts}};
    if (Status s = machine_.launch(*kernel, arguments); !s.ok()) return s.error();
    Result<plan::Degrees> counted = degrees_of(*counts, cells, false);
    return counted.ok() ? Result<Known>(*counted) : counted.error();
  }
  if (rows_ > kMostSorted) return Known();
  const Type type = types()[column];
  Result<device::PlanRunner*> plan = distinct_plan(type);
  if (!plan.ok()) return plan.error();
  Result<std::vector<device::PlanValue>> result = (*plan)->run(
      std::vector<device::PlanValue>{device::Column{bag_.columns()[column], type, rows_}});
  if (!result.ok()) return result.error();
  const auto& starts = std::get<device::Column>((*result)[0]);
  Result<plan::Degrees> counted = degrees_of(starts.buffer, starts.count - 1, true);
  return counted.ok() ? Result<Known>(*counted) : counted.error();
}

std::optional<uint64_t> Relation::groups(uint32_t column) const {
  for (const auto& index : indexes_) {
    if (index->key_count() == 1 && index->order()[0] == column) return index->groups();
  }
  return std::nullopt;
}

Result<std::optional<uint64_t>> Relation::bound(uint32_t column) {
  if (!finished_ || is_only_bits()) {
    const bool known = !bounds_.empty() && bounds_[column] != UINT64_MAX;
    return known ? std::optional<uint64_t>(bounds_[column]) : std::optional<uint64_t>();
  }
  if (types()[column] != Type::U32) return std::optional<uint64_t>();
  Result<std::optional<uint32_t>> last = greatest(column);
  if (!last.ok()) return last.error();
  return std::optional<uint64_t>(*last ? uint64_t{**last} + 1 : 0);
}

}  // namespace xlog::relation
