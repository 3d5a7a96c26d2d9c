// Folding the values of an aggregate.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lang/program.h"
#include "lang/value.h"

namespace xlog::oracle {

using lang::Value;

// One column of an aggregate. Findall collects the values into a list.
struct Fold {
  enum class Kind : uint8_t { Count, Sum, Min, Max, Avg, LogSumExp, Findall };
  Kind kind = Kind::Count;
  lang::Type result;
};

Fold::Kind fold_kind(lang::AggregateFn fn);

// Folds `values` in canonical order, so that float sums do not depend on the order of rows. nullopt
// where the aggregate of nothing has no value (min, max, avg, logsumexp).
std::optional<Value> fold_values(const Fold& fold, std::vector<Value> values, lang::Names& names);

// All columns of an aggregate over rows of values (one value a fold, in order). nullopt when some
// column has no value, or when `nonempty` and there is no row.
std::optional<std::vector<Value>> fold_rows(const std::vector<Fold>& folds, bool nonempty,
                                            const std::vector<const std::vector<Value>*>& rows,
                                            lang::Names& names);

// The order in which results are given.
bool row_less(const std::vector<Value>& a, const std::vector<Value>& b, const lang::Names& names);

}  // namespace xlog::oracle
