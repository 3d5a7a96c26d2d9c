// Stable partition into any number of buckets: a sort by bucket, which takes as many passes as the
// ids have varying bytes, and a search for where each bucket starts.
#include "kernel/library.h"

namespace xlog::kernel {

Partitioned library_partition(PlanBuilder& plan, Buffer ids, Value buckets) {
  plan.require(kCheckOverflow, buckets != UINT32_MAX, "too many buckets in partition");
  const Sorted sorted = plan.sort({ids});
  const Buffer by_bucket = sorted.columns[0];
  const Value n = plan.len(ids);
  const Buffer starts = plan.map(buckets + 1, [&](Value b) {
    const Value bucket = plan.cast(Type::U64, b);
    const Value start = lower_bound(plan, plan.u32(0), n, [&](Value r) {
      return bucket <= plan.cast(Type::U64, by_bucket[r]);
    });
    // Behind the last bucket there is nothing left, or a row has an id past the buckets.
    plan.check(kCheckIndex, (b != buckets) | (start == n));
    return Values{start};
  })[0];
  return {starts, sorted.permutation};
}

}  // namespace xlog::kernel
