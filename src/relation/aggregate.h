// Folds the rows of a bag by group.
#pragma once

#include <vector>

#include "lang/program.h"
#include "relation/bag.h"

namespace xlog::relation {

// One aggregate: of the bag's column `value`, or a plain count of rows.
struct AggregateColumn {
  lang::AggregateFn fn;
  std::optional<uint32_t> value;
  Type result;
};

// The first `groups` columns of `bag` say which group a row is in. Gives the columns of the groups
// and then the aggregates, one row for each group that has a row; their number is in `rows`.
struct Aggregated {
  std::vector<device::Buffer> columns;
  uint32_t rows = 0;
};
Result<Aggregated> aggregate(Machine& machine, const Bag& bag, uint32_t groups,
                             const std::vector<AggregateColumn>& aggregates);

}  // namespace xlog::relation
