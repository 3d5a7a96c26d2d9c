#include "relation/aggregate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "kernel/library.h"
#include "relation/row_code.h"

namespace xlog::relation {

using kernel::Columns;
using kernel::PlanBuilder;
using lang::AggregateFn;

namespace {

// Whether the fold needs its values in order: least and greatest by the order of values, and floats
// because their sums depend on it.
bool needs_order(const AggregateColumn& column, const std::vector<Type>& types) {
  switch (column.fn) {
    case AggregateFn::Count:
      return false;
    case AggregateFn::Sum:
      return is_float(types[*column.value]);
    default:
      return true;
  }
}

// The rows by group: sorted columns, and where each group starts.
struct Grouped {
  Columns groups;
  std::optional<kernel::Buffer> values;
  kernel::Buffer heads;   // 1 where a group starts
  kernel::Buffer starts;  // by group
  Value count;            // of groups
};

Grouped group_rows(PlanBuilder& p, Value n, const Columns& bag, uint32_t groups,
                   std::optional<uint32_t> value, bool ordered) {
  Columns sorted_by(bag.begin(), bag.begin() + groups);
  if (value && ordered) sorted_by.push_back(bag[*value]);
  Grouped made;
  if (sorted_by.empty()) {
    if (value) made.values = bag[*value];
  } else {
    const kernel::Sorted sorted = p.sort(sorted_by);
    made.groups.assign(sorted.columns.begin(), sorted.columns.begin() + groups);
    if (value) {
      made.values =
          ordered ? sorted.columns.back() : p.gather({bag[*value]}, sorted.permutation)[0];
    }
  }
  made.heads = p.map(n, [&](Value i) {
    const Value before = p.select(i == 0, i, i - 1);
    Value starts = i == 0;
    for (const kernel::Buffer& column : made.groups) {
      starts = starts | !same_words(p, column[i], column[before]);
    }
    return Values{p.cast(Type::U32, starts)};
  })[0];
  const kernel::Rows starts =
      p.expand(n, [&](Value i) { p.if_then(made.heads[i] != 0, [&] { p.emit({i}); }); });
  made.starts = starts.columns[0];
  made.count = starts.count;
  return made;
}

kernel::Buffer fold(PlanBuilder& p, Value n, const Grouped& rows, const AggregateColumn& column) {
  auto end_of = [&](Value g) {
    const Value is_last = g + 1 == rows.count;
    return p.select(is_last, n, rows.starts[p.select(is_last, g, g + 1)]);
  };
  if (column.fn == AggregateFn::Sum && !is_float(rows.values->type())) {
    const kernel::Buffer wide =
        p.map(n, [&](Value i) { return Values{p.cast(column.result, (*rows.values)[i])}; })[0];
    return p.segment(kernel::Fold::Add, rows.heads, wide);
  }
  return p.map(rows.count, [&](Value g) {
    const Value first = rows.starts[g];
    const Value end = end_of(g);
    switch (column.fn) {
      case AggregateFn::Count:
        return Values{p.cast(column.result, end - first)};
      case AggregateFn::Min:
        return Values{(*rows.values)[first]};
      case AggregateFn::Max:
        return Values{(*rows.values)[end - 1]};
      case AggregateFn::Sum:
      case AggregateFn::Avg: {
        const Value sum =
            p.for_range(first, end, {p.number(Type::F64, 0)}, [&](Value i, const Values& so_far) {
              const Value v = (*rows.values)[i];
              return Values{so_far[0] + p.cast(Type::F64, v)};
            })[0];
        if (column.fn == AggregateFn::Sum) return Values{sum};
        return Values{sum / p.cast(Type::F64, end - first)};
      }
      case AggregateFn::LogSumExp:
      case AggregateFn::Findall:
        break;
    }
    XLOG_UNREACHABLE("the planner lets no other aggregate through");
  })[0];
}

}  // namespace

Result<Aggregated> aggregate(Machine& machine, const Bag& bag, uint32_t groups,
                             const std::vector<AggregateColumn>& aggregates) {
  Aggregated result;
  if (bag.rows() == 0) return result;
  std::string name = fmt::format("aggregate{}_by_{}", type_names(bag.types()), groups);
  for (const AggregateColumn& a : aggregates) {
    name += fmt::format("_{}{}", lang::spelling(a.fn), a.value ? static_cast<int>(*a.value) : -1);
  }
  Result<device::PlanRunner*> plan = machine.plan(name, [&] {
    PlanBuilder p(machine.graph(), "aggregate");
    Columns columns;
    for (Type type : bag.types()) columns.push_back(p.in(type, "column"));
    const Value n = p.val(Type::U32, "n");
    std::vector<kernel::Id> results;
    Value count;
    for (const AggregateColumn& column : aggregates) {
      const Grouped rows =
          group_rows(p, n, columns, groups, column.value, needs_order(column, bag.types()));
      if (results.empty()) {
        count = rows.count;
        for (uint32_t c = 0; c < groups; ++c) {
          results.push_back(p.gather({rows.groups[c]}, rows.starts)[0].id);
        }
      }
      results.push_back(fold(p, n, rows, column).id);
    }
    results.push_back(count.id);
    return p.finish_ids(results);
  });
  if (!plan.ok()) return plan.error();
  std::vector<device::PlanValue> arguments;
  for (uint32_t c = 0; c < bag.types().size(); ++c) {
    arguments.emplace_back(bag.column(c, bag.rows()));
  }
  arguments.emplace_back(kernel::Scalar::u32(bag.rows()));
  Result<std::vector<device::PlanValue>> values = (*plan)->run(arguments);
  if (!values.ok()) return values.error();
  result.rows = std::get<kernel::Scalar>(values->back()).as_u32();
  for (size_t c = 0; c + 1 < values->size(); ++c) {
    result.columns.push_back(std::get<device::Column>((*values)[c]).buffer);
  }
  return result;
}

// ---- in parts ----

namespace {

constexpr uint32_t kPart = 1u << 20;  // rows: many for a launch, little memory for a sort

// A fold of floats depends on the order of all values, and an average of averages is none.
bool folds_in_parts(const AggregateColumn& column, const std::vector<Type>& types) {
  switch (column.fn) {
    case AggregateFn::Count:
    case AggregateFn::Min:
    case AggregateFn::Max:
      return true;
    case AggregateFn::Sum:
      return !is_float(types[*column.value]);
    default:
      return false;
  }
}

std::vector<Type> partial_types(const std::vector<Type>& types, uint32_t groups,
                                const std::vector<AggregateColumn>& aggregates) {
  std::vector<Type> partial(types.begin(), types.begin() + groups);
  for (const AggregateColumn& column : aggregates) partial.push_back(column.result);
  return partial;
}

}  // namespace

Aggregation::Aggregation(Machine& machine, const std::vector<Type>& types, uint32_t groups,
                         std::vector<AggregateColumn> aggregates)
    : machine_(machine),
      groups_(groups),
      aggregates_(std::move(aggregates)),
      in_parts_(std::ranges::all_of(
          aggregates_,
          [&](const AggregateColumn& column) { return folds_in_parts(column, types); })),
      bag_(machine, types),
      partial_(machine, partial_types(types, groups, aggregates_)) {
  for (uint32_t i = 0; i < aggregates_.size(); ++i) {
    AggregateColumn& column = of_partial_.emplace_back(aggregates_[i]);
    column.value = groups + i;
    if (column.fn == AggregateFn::Count) column.fn = AggregateFn::Sum;
  }
}

Status Aggregation::take() {
  if (!in_parts_ || bag_.rows() < std::max(kPart, partial_.rows())) return Done{};
  return fold_part();
}

Status Aggregation::fold_part() {
  Result<Aggregated> part = aggregate(machine_, bag_, groups_, aggregates_);
  if (!part.ok()) return part.error();
  in_parts_ = part->rows <= bag_.rows() / 2;  // else it takes time and saves no memory
  bag_.clear();
  return partial_.append(part->columns, part->rows);
}

Result<Aggregated> Aggregation::finish() {
  if (partial_.rows() == 0) return aggregate(machine_, bag_, groups_, aggregates_);
  if (bag_.rows() > 0) {
    if (Status s = fold_part(); !s.ok()) return s.error();
  }
  bag_ = Bag(machine_, bag_.types());  // its memory is for the last fold
  return aggregate(machine_, partial_, groups_, of_partial_);
}

}  // namespace xlog::relation
