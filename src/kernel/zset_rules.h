// The change of a query, by rewrite rules: `(delta Q)` becomes a query over the changes of the
// inputs and the inputs as they were. After Budiu and others, "DBSP: automatic incremental view
// maintenance", 2023.
//
// A rule is named text, as those of kernel/rule.h: `?a` stands for any Z-set, and `join@j` names
// the attributes of the op (key columns, fold, body), which an op on the right takes over.
#pragma once

#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "kernel/zset.h"

namespace xlog::kernel {

struct ZSetRule {
  std::string_view name, left, right;
};

std::span<const ZSetRule> zset_rules();

// One firing, for logs.
struct ZSetRewrite {
  std::string_view rule;
  Id before, after;
};

// The query that gives how `query` changes in a step. It has delta and prev only on inputs and,
// prev only, on the sub-queries in `kept`, whose value before the step the caller keeps.
Id incremental(const ZSets& zsets, Id query, const std::set<Id>& kept = {},
               std::vector<ZSetRewrite>* log = nullptr);

// Sub-queries that are worth keeping: what joins, distincts and aggregates of `query` work on,
// where that is not an input.
std::set<Id> worth_keeping(const ZSets& zsets, Id query);

}  // namespace xlog::kernel
