#include "oracle/aggregates.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace xlog::oracle {

namespace {

using lang::Names;

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

}  // namespace xlog::oracle
