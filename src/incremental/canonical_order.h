// The canonical order of many rows at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "lang/types.h"
#include "lang/value.h"

namespace xlog::incremental {

// The numbers of rows in canonical order (lang/value.h), equal rows next to each other in the order
// in which they stand. `values` row after row, a column of each of `kinds`; fewer than 2^32 rows.
std::vector<uint32_t> canonical_order(std::span<const lang::Value> values,
                                      std::span<const lang::TypeKind> kinds, size_t rows,
                                      const lang::Names& names, const Parallel& parallel = in_turn);

}  // namespace xlog::incremental
