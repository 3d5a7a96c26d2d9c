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

// The same of rows that come bit by bit. Where partial results can be folded to the whole one and
// are much fewer than rows, only some of the rows are in memory at a time:
//
//   Aggregation aggregation(machine, types, groups, aggregates);
//   derivation.run(relation_of, aggregation.bag(), [&] { return aggregation.take(); });
//   Result<Aggregated> result = aggregation.finish();
class Aggregation {
 public:
  Aggregation(Machine& machine, const std::vector<Type>& types, uint32_t groups,
              std::vector<AggregateColumn> aggregates);

  Bag& bag() { return bag_; }
  // More rows have come into the bag, which may be empty afterwards.
  Status take();
  Result<Aggregated> finish();

 private:
  Status fold_part();

  Machine& machine_;
  uint32_t groups_;
  std::vector<AggregateColumn> aggregates_;
  std::vector<AggregateColumn> of_partial_;  // what makes the whole of partial results
  bool in_parts_;
  Bag bag_, partial_;
};

}  // namespace xlog::relation
