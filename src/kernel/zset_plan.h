// Queries over Z-sets as plans. A Z-set on a device is its columns and a column of i64 weights; it
// is consolidated when its rows are sorted, each occurs once, and no weight is zero.
//
//   ZSetPlan p = zset_plan(zsets, "change", {incremental(zsets, query)});
//
// The plan takes, for each leaf in `leaves`, its columns and then its weights, consolidated; it
// gives the same for each root. Weights go from -kGreatestWeight to kGreatestWeight, so that each
// has a negative; one that does not fit fails kCheckOverflow. The weights of the leaves are the
// caller's: they are not looked at before they are used.
#pragma once

#include <string_view>
#include <vector>

#include "kernel/zset.h"

namespace xlog::kernel {

struct ZSetPlan {
  Id plan;
  std::vector<Id> leaves;  // Input, (delta Input), (prev ...), in the order of the parameters
};

// delta stands on inputs only; prev on inputs, or on sub-queries that the caller keeps.
ZSetPlan zset_plan(const ZSets& zsets, std::string_view name, const std::vector<Id>& roots);

// The pieces, for plans that are put together by hand.
struct ZColumns {
  Columns columns;
  Buffer weights;
  bool consolidated = false;
};

ZColumns consolidate(PlanBuilder& plan, const ZColumns& a);
ZColumns zset_plus(PlanBuilder& plan, const ZColumns& a, const ZColumns& b);
ZColumns zset_negate(PlanBuilder& plan, const ZColumns& a);
ZColumns zset_join(PlanBuilder& plan, uint32_t keys, const ZColumns& a, const ZColumns& b);
ZColumns zset_distinct(PlanBuilder& plan, const ZColumns& a);
ZColumns zset_aggregate(PlanBuilder& plan, Fold fold, uint32_t keys, const ZColumns& a);
ZColumns zset_distinct_delta(PlanBuilder& plan, const ZColumns& before, const ZColumns& change);
ZColumns zset_aggregate_delta(PlanBuilder& plan, Fold fold, uint32_t keys, const ZColumns& before,
                              const ZColumns& change);

}  // namespace xlog::kernel
