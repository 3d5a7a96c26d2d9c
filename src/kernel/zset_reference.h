// Z-sets as maps from rows to weights, evaluated in the obvious way: what the rules and the plans
// are tested against.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "kernel/zset.h"

namespace xlog::kernel {

using ZRow = std::vector<Scalar>;

// The order of plan sorts: by column, floats by value with -0 < +0 and NaN last.
struct ZRowLess {
  bool operator()(const ZRow& a, const ZRow& b) const;
};

// No row has weight zero.
using ZSet = std::map<ZRow, int64_t, ZRowLess>;

// What the leaves stand for: the value of each input, or of a kept sub-query, before the step, and
// how it changes.
struct ZState {
  std::map<Id, ZSet> before;
  std::map<Id, ZSet> change;  // of inputs; none means empty
};

// An input alone is its value after the step. A weight that does not fit is an error where a plan
// consolidates: on the right side of a join, in what distinct and aggregate work on, in the result.
Result<ZSet> evaluate_zset(const ZSets& zsets, Id node, const ZState& state);

Result<ZSet> add_zsets(const ZSet& a, const ZSet& b);

}  // namespace xlog::kernel
