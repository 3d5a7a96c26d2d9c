// Tables of relations that are finished: where the rows of each value start.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "relation/index.h"
#include "relation/row_set.h"

namespace xlog::relation {

using kernel::Columns;
using kernel::Id;
using kernel::PlanBuilder;
using kernel::Scalar;

Status Index::finish(uint32_t rows, uint32_t domain) {
  if (kind_ == TableKind::Value && covered_ == rows && can_gather()) {
    Result<device::Column> starts = starts_of_cells();
    if (!starts.ok()) return starts.error();
    if (Status s = gather(*starts); !s.ok()) return s;
    // A cell for each value, and one past them.
    return have_starts(*starts);
  }
  if (!can_count()) return sort_for_starts(rows, domain);
  Result<device::Column> starts = count_and_move(rows, domain + 2, {});
  return starts.ok() ? have_starts(*starts) : starts.error();
}

Status Index::sort_for_starts(uint32_t rows, uint32_t domain) {
  const std::string name =
      fmt::format("starts{}_by_{}", type_names(types_), fmt::join(order_, "_"));
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
  for (uint32_t c = 0; c < types_.size(); ++c) arguments.emplace_back(rows_.column(c, rows));
  arguments.emplace_back(Scalar::u32(rows));
  arguments.emplace_back(Scalar::u32(domain));
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  if (Status s = take_sorted(*results, rows); !s.ok()) return s;
  return have_starts(std::get<device::Column>(results->back()));
}

// Where the index has columns, they become those that a plan has sorted.
Status Index::take_sorted(std::span<const device::PlanValue> sorted, uint32_t rows) {
  in_order_ = true;
  for (uint32_t c = 0; c < types_.size(); ++c) {
    const device::Buffer& column = std::get<device::Column>(sorted[c]).buffer;
    if (kept_ == IndexColumns::Relation) {
      if (Status s = put(c, 0, column, rows); !s.ok()) return s;
    } else if (copies(c)) {
      columns_[c] = column;
      capacities_[c] = rows;
    } else if (Status s = leave_out(c); !s.ok()) {
      return s;
    }
  }
  covered_ = rows;
  return Done{};
}

// A column that lookups do not read: kernels are given one that is not empty.
Status Index::leave_out(uint32_t c) {
  columns_[c] = nullptr;
  capacities_[c] = 0;
  return grow(columns_[c], capacities_[c], types_[c], 0, 1);
}

Status Index::have_starts(const device::Column& starts) {
  kind_ = TableKind::Starts;
  table_ = starts.buffer;
  table_cells_ = starts.count;
  segments_ = nullptr;
  segment_capacity_ = segment_count_ = 0;
  return Done{};
}

// After Jacobson, "Space-efficient static trees and graphs", 1989.
Status Index::rank(uint32_t rows, uint32_t last) {
  if (!can_count()) return sort_for_ranks(rows, last);
  Result<device::Column> ranks = ranks_of_values(rows, last);
  if (!ranks.ok()) return ranks.error();
  // The last block has no values, and all before it.
  uint32_t values = 0;
  const device::View last_number{ranks->buffer, uint64_t{ranks->count - 1} * sizeof(values),
                                 sizeof(values)};
  Status read = machine_.device().read(last_number, std::as_writable_bytes(std::span(&values, 1)));
  if (!read.ok()) return read;
  Result<device::Column> starts = count_and_move(rows, values + 1, *ranks);
  return starts.ok() ? have_ranks(*ranks, *starts) : starts.error();
}

Status Index::sort_for_ranks(uint32_t rows, uint32_t last) {
  const std::string name = fmt::format("ranks{}_by_{}", type_names(types_), fmt::join(order_, "_"));
  Result<device::PlanRunner*> plan = machine_.plan(name, [&] {
    PlanBuilder p(machine_.graph(), name);
    Columns source;
    for (Type type : types_) source.push_back(p.in(type, "column"));
    const Value n = p.val(Type::U32, "n");
    const Value blocks = p.val(Type::U32, "blocks");
    const Columns sorted = sort_plan(p, p.u32(0), n, source);
    const kernel::Rows heads = p.expand(n, [&](Value i) {
      const Value before = p.select(i == 0, i, i - 1);
      p.if_then((i == 0) | (sorted[0][i] != sorted[0][before]), [&] { p.emit({i, sorted[0][i]}); });
    });
    const kernel::Buffer starts = p.map(heads.count + 1, [&](Value i) {
      const Value is_end = i == heads.count;
      const Value start = heads.columns[0][p.select(is_end, p.u32(0), i)];
      return Values{p.select(is_end, n, start)};
    })[0];
    const kernel::Buffer values = heads.columns[1];
    const auto rank_of = [&](Value block) {
      return kernel::lower_bound(p, p.u32(0), heads.count,
                                 [&](Value h) { return block <= values[h] / kWordBits; });
    };
    const Columns parts = p.map(blocks, [&](Value block) {
      const Value before = rank_of(block);
      const Values bits =
          p.for_range(before, rank_of(block + 1), {p.u32(0)}, [&](Value h, const Values& so_far) {
            const Value bit = values[h] & (kWordBits - 1);
            return Values{so_far[0] | (p.u32(1) << bit)};
          });
      return Values{bits[0], before};
    });
    const kernel::Buffer table = p.map(blocks * kBlockWidth, [&](Value i) {
      const Value block = i / kBlockWidth;
      return Values{p.select(i % kBlockWidth == 0, parts[0][block], parts[1][block])};
    })[0];
    std::vector<Id> results(types_.size());
    for (size_t j = 0; j < order_.size(); ++j) results[order_[j]] = sorted[j].id;
    results.push_back(table.id);
    results.push_back(starts.id);
    return p.finish_ids(results);
  });
  if (!plan.ok()) return plan.error();
  std::vector<device::PlanValue> arguments;
  for (uint32_t c = 0; c < types_.size(); ++c) arguments.emplace_back(rows_.column(c, rows));
  arguments.emplace_back(Scalar::u32(rows));
  // One more than there are values in: what lies past them has no rows.
  arguments.emplace_back(Scalar::u32(last / kWordBits + 2));
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  if (Status s = take_sorted(*results, rows); !s.ok()) return s;
  return have_ranks(std::get<device::Column>((*results)[types_.size()]),
                    std::get<device::Column>((*results)[types_.size() + 1]));
}

Status Index::have_ranks(const device::Column& table, const device::Column& starts) {
  kind_ = TableKind::Ranks;
  table_ = table.buffer;
  table_cells_ = table.count;
  segments_ = starts.buffer;
  segment_capacity_ = starts.count;
  segment_count_ = merged_segments_ = starts.count - 1;
  return Done{};
}

}  // namespace xlog::relation
