#include "oracle/aggregates.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"

namespace xlog::oracle {

namespace {

using lang::Names;

constexpr size_t kMaxSubsets = size_t{1} << 16;
constexpr size_t kMaxStates = 200'000;

// The result does not depend on the order of the values, so partial results can be merged.
bool order_free(const Fold& fold) {
  switch (fold.kind) {
    case Fold::Kind::Count:
    case Fold::Kind::Min:
    case Fold::Kind::Max:
      return true;
    case Fold::Kind::Sum:
      return lang::is_integer(fold.result.kind);
    default:
      return false;
  }
}

double log_sum_exp(const std::vector<Value>& values) {
  double largest = -INFINITY;
  for (const Value& v : values) {
    const double d = v.as_double();
    if (std::isnan(d)) return d;
    largest = std::max(largest, d);
  }
  if (std::isinf(largest)) return largest;
  double sum = 0;
  for (const Value& v : values) sum += std::exp(v.as_double() - largest);
  return largest + std::log(sum);
}

double float_sum(const std::vector<Value>& values) {
  double sum = 0;
  for (const Value& v : values) sum += v.as_double();
  return sum;
}

}  // namespace

Fold::Kind fold_kind(lang::AggregateFn fn) {
  switch (fn) {
    case lang::AggregateFn::Count:
      return Fold::Kind::Count;
    case lang::AggregateFn::Sum:
      return Fold::Kind::Sum;
    case lang::AggregateFn::Min:
      return Fold::Kind::Min;
    case lang::AggregateFn::Max:
      return Fold::Kind::Max;
    case lang::AggregateFn::Avg:
      return Fold::Kind::Avg;
    case lang::AggregateFn::LogSumExp:
      return Fold::Kind::LogSumExp;
    case lang::AggregateFn::Findall:
      return Fold::Kind::Findall;
  }
  XLOG_UNREACHABLE("all aggregates are covered");
}

std::optional<Value> fold_values(const Fold& fold, std::vector<Value> values, Names& names) {
  std::sort(values.begin(), values.end(),
            [&](const Value& a, const Value& b) { return lang::compare(a, b, names) < 0; });
  switch (fold.kind) {
    case Fold::Kind::Count:
      return Value::u64(values.size());
    case Fold::Kind::Findall:
      return names.terms.list(values);
    case Fold::Kind::Sum: {
      if (!lang::is_integer(fold.result.kind)) return Value::f64(float_sum(values));
      uint64_t sum = 0;  // wraps at 64 bits, the width of every integer sum
      for (const Value& v : values) sum += v.bits;
      return Value{fold.result.kind, sum};
    }
    default:
      break;
  }
  if (values.empty()) return std::nullopt;
  switch (fold.kind) {
    case Fold::Kind::Min:
      return values.front();
    case Fold::Kind::Max:
      return values.back();
    case Fold::Kind::Avg:
      return Value::f64(float_sum(values) / static_cast<double>(values.size()));
    case Fold::Kind::LogSumExp:
      return Value::f64(log_sum_exp(values));
    default:
      XLOG_UNREACHABLE("all folds are covered");
  }
}

std::optional<std::vector<Value>> fold_rows(const std::vector<Fold>& folds, bool nonempty,
                                            const std::vector<const std::vector<Value>*>& rows,
                                            Names& names) {
  if (nonempty && rows.empty()) return std::nullopt;
  std::vector<Value> result;
  for (size_t c = 0; c < folds.size(); ++c) {
    std::vector<Value> values;
    values.reserve(rows.size());
    for (const std::vector<Value>* row : rows) values.push_back((*row)[c]);
    const std::optional<Value> value = fold_values(folds[c], std::move(values), names);
    if (!value) return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

bool row_less(const std::vector<Value>& a, const std::vector<Value>& b, const Names& names) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [&](const Value& x, const Value& y) { return lang::compare(x, y, names) < 0; });
}

std::optional<std::vector<std::vector<Value>>> possible_results(
    const std::vector<Fold>& folds, bool nonempty,
    const std::vector<const std::vector<Value>*>& certain,
    const std::vector<const std::vector<Value>*>& open, Names& names) {
  const auto less = [&](const std::vector<Value>& a, const std::vector<Value>& b) {
    return row_less(a, b, names);
  };
  std::set<std::vector<Value>, decltype(less)> results(less);

  if (std::all_of(folds.begin(), folds.end(), order_free)) {
    // One row stands for all subsets with its partial result: folding a partial result with further
    // rows gives the result of the union, if a count is carried as a number.
    struct State {
      bool any = false;
      std::vector<std::pair<bool, Value>> columns;  // (has a value, value so far)
      bool operator<(const State& other) const {
        auto key = [](const State& s) {
          std::vector<uint64_t> k{s.any};
          for (const auto& [has, v] : s.columns) k.insert(k.end(), {has, uint64_t(v.kind), v.bits});
          return k;
        };
        return key(*this) < key(other);
      }
    };
    auto add = [&](State state, const std::vector<Value>& row) {
      state.any = true;
      for (size_t c = 0; c < folds.size(); ++c) {
        auto& [has, so_far] = state.columns[c];
        if (folds[c].kind == Fold::Kind::Count) {
          so_far.bits += 1;
        } else if (folds[c].kind == Fold::Kind::Sum) {
          so_far.bits += row[c].bits;
        } else {
          const auto order =
              has ? lang::compare(row[c], so_far, names) : std::strong_ordering::equal;
          if (!has || (folds[c].kind == Fold::Kind::Min ? order < 0 : order > 0)) so_far = row[c];
        }
        has = true;
      }
      return state;
    };
    State start;
    for (const Fold& f : folds) {
      const bool empty_has_value = f.kind == Fold::Kind::Count || f.kind == Fold::Kind::Sum;
      start.columns.push_back({empty_has_value, Value{f.result.kind, 0}});
    }
    for (const auto* row : certain) start = add(std::move(start), *row);
    std::set<State> states{start};
    for (const auto* row : open) {
      std::set<State> grown = states;
      for (const State& s : states) grown.insert(add(s, *row));
      states = std::move(grown);
      if (states.size() > kMaxStates) return std::nullopt;
    }
    for (const State& s : states) {
      if (nonempty && !s.any) continue;
      std::vector<Value> result;
      bool complete = true;
      for (const auto& [has, v] : s.columns) {
        complete &= has;
        result.push_back(v);
      }
      if (complete) results.insert(std::move(result));
    }
  } else {
    if (open.size() >= 63 || (size_t{1} << open.size()) > kMaxSubsets) return std::nullopt;
    for (size_t subset = 0; subset < (size_t{1} << open.size()); ++subset) {
      auto rows = certain;
      for (size_t i = 0; i < open.size(); ++i) {
        if (subset >> i & 1) rows.push_back(open[i]);
      }
      if (auto result = fold_rows(folds, nonempty, rows, names)) results.insert(std::move(*result));
    }
  }
  return std::vector<std::vector<Value>>(results.begin(), results.end());
}

}  // namespace xlog::oracle
