// The operators on Z-sets as plan skeletons. Rows that are looked up are sorted, so that a search
// finds them; nothing depends on the number of threads or lanes.
#include <algorithm>

#include "base/check.h"
#include "kernel/library.h"
#include "kernel/zset_plan.h"

namespace xlog::kernel {

namespace {

Values row_of(const Columns& columns, Value r) {
  Values row;
  for (Buffer column : columns) row.push_back(column[r]);
  return row;
}

Columns first_columns(const Columns& columns, uint32_t k) {
  return Columns(columns.begin(), columns.begin() + k);
}

// Rows lo <= r < hi of sorted columns that are equal to `key`.
Range equal_range(PlanBuilder& p, const Columns& columns, const Values& key) {
  const Value n = p.len(columns[0]);
  const Columns keys = first_columns(columns, static_cast<uint32_t>(key.size()));
  const Value lo =
      lower_bound(p, p.u32(0), n, [&](Value r) { return !rows_less(p, row_of(keys, r), key); });
  const Value hi =
      lower_bound(p, lo, n, [&](Value r) { return rows_less(p, key, row_of(keys, r)); });
  return {lo, hi};
}

// 1 where a row differs from the one before it in these columns.
Buffer run_heads(PlanBuilder& p, const Columns& columns, Value n) {
  return p.map(n, [&](Value i) {
    const Value left = p.select(i == 0, i, i - 1);
    const Value same = rows_equal(p, row_of(columns, i), row_of(columns, left));
    return Values{p.cast(Type::U32, (i == 0) | !same)};
  })[0];
}

// Of what fits 64 bits, the one number that has no negative is no weight.
Value is_weight(PlanBuilder& p, Value w) { return w != p.number(Type::I64, -kGreatestWeight - 1); }

Value checked_add(PlanBuilder& p, Value a, Value b) {
  const Value sum = a + b;
  // Overflow: both have the sign that the sum has not.
  const Value fits = p.number(Type::I64, -1) < ((a ^ sum) & (b ^ sum));
  p.check(kCheckOverflow, fits & is_weight(p, sum));
  return sum;
}

Value checked_multiply(PlanBuilder& p, Value a, Value b) {
  const Value product = a * b;
  p.check(kCheckOverflow, (p.mulhi(a, b) == product >> 63) & is_weight(p, product));
  return product;
}

ZColumns from_rows(const Rows& rows, bool consolidated) {
  ZColumns result{rows.columns, rows.columns.back(), consolidated};
  result.columns.pop_back();
  return result;
}

// A row and its weight, as an emit takes them.
Values with_weight(Values row, Value weight) {
  row.push_back(weight);
  return row;
}

}  // namespace

ZColumns consolidate(PlanBuilder& p, const ZColumns& a) {
  if (a.consolidated) return a;
  const Sorted sorted = p.sort(a.columns);
  const Value n = p.len(sorted.permutation);
  const Buffer heads = run_heads(p, sorted.columns, n);
  // Weights are added in two halves, which cannot overflow below 2^32 rows: whether the sum fits
  // does not depend on the order of addition.
  const Columns halves = p.map(n, [&](Value i) {
    const Value w = a.weights[sorted.permutation[i]];
    return Values{w >> 32, w & 0xffffffff};
  });
  const Buffer high = p.segment(Fold::Add, heads, halves[0]);
  const Buffer low = p.segment(Fold::Add, heads, halves[1]);
  const Buffer weights = p.map(p.len(high), [&](Value s) {
    const Value carried = p.cast(Type::I64, p.cast(Type::U64, low[s]) >> 32);
    const Value top = high[s] + carried;
    const Value limit = p.number(Type::I64, int64_t{1} << 31);
    const Value weight = top << 32 | (low[s] & 0xffffffff);
    const Value fits = (top < limit) & (p.number(Type::I64, -(int64_t{1} << 31)) <= top);
    p.check(kCheckOverflow, fits & is_weight(p, weight));
    return Values{weight};
  })[0];
  const Buffer run = p.scan(Fold::Add, heads).before;
  const Rows rows = p.expand(n, [&](Value i) {
    p.if_then(heads[i] != 0, [&] {
      const Value weight = weights[run[i]];
      p.if_then(weight != 0, [&] { p.emit(with_weight(row_of(sorted.columns, i), weight)); });
    });
  });
  return from_rows(rows, true);
}

ZColumns zset_plus(PlanBuilder& p, const ZColumns& a, const ZColumns& b) {
  ZColumns result;
  for (size_t c = 0; c < a.columns.size(); ++c) {
    result.columns.push_back(p.copy({a.columns[c], b.columns[c]}));
  }
  result.weights = p.copy({a.weights, b.weights});
  return result;
}

ZColumns zset_negate(PlanBuilder& p, const ZColumns& a) {
  ZColumns result = a;
  result.weights = p.map(p.len(a.weights), [&](Value i) {
    const Value w = a.weights[i];
    p.check(kCheckOverflow, is_weight(p, w));  // one that the caller gave may be none
    return Values{p.number(Type::I64, 0) - w};
  })[0];
  return result;
}

ZColumns zset_join(PlanBuilder& p, uint32_t keys, const ZColumns& a, const ZColumns& b) {
  XLOG_CHECK(b.consolidated, "a join looks rows up in its right side, which is sorted");
  const Rows rows = p.expand(p.len(a.weights), [&](Value i) {
    const Values left = row_of(a.columns, i);
    const Value weight = a.weights[i];
    const Range range = equal_range(p, b.columns, Values(left.begin(), left.begin() + keys));
    p.for_range(range.lo, range.hi, [&](Value r) {
      Values row = left;
      for (size_t c = keys; c < b.columns.size(); ++c) row.push_back(b.columns[c][r]);
      p.emit(with_weight(row, checked_multiply(p, weight, b.weights[r])));
    });
  });
  return from_rows(rows, false);
}

ZColumns zset_distinct(PlanBuilder& p, const ZColumns& a) {
  XLOG_CHECK(a.consolidated, "distinct looks at the whole weight of a row");
  const Rows rows = p.expand(p.len(a.weights), [&](Value i) {
    p.if_then(p.number(Type::I64, 0) < a.weights[i],
              [&] { p.emit(with_weight(row_of(a.columns, i), p.number(Type::I64, 1))); });
  });
  return from_rows(rows, true);
}

ZColumns zset_aggregate(PlanBuilder& p, Fold fold, uint32_t keys, const ZColumns& a) {
  const ZColumns present = zset_distinct(p, a);
  const Value n = p.len(present.weights);
  const Columns key_columns = first_columns(present.columns, keys);
  const Buffer heads = run_heads(p, key_columns, n);
  const Buffer folds = p.segment(fold, heads, present.columns.back());
  const Buffer run = p.scan(Fold::Add, heads).before;
  const Rows rows = p.expand(n, [&](Value i) {
    p.if_then(heads[i] != 0, [&] {
      Values row = row_of(key_columns, i);
      row.push_back(folds[run[i]]);
      p.emit(with_weight(row, p.number(Type::I64, 1)));
    });
  });
  return from_rows(rows, true);
}

ZColumns zset_distinct_delta(PlanBuilder& p, const ZColumns& before, const ZColumns& change) {
  XLOG_CHECK(before.consolidated && change.consolidated, "distinct_delta looks rows up");
  const Buffer old_weights = p.map(p.len(change.weights), [&](Value i) {
    const Range range = equal_range(p, before.columns, row_of(change.columns, i));
    // At most one row is there; the loop is a load under a guard.
    return p.for_range(range.lo, range.hi, {p.number(Type::I64, 0)},
                       [&](Value r, const Values&) { return Values{before.weights[r]}; });
  })[0];
  const Rows rows = p.expand(p.len(change.weights), [&](Value i) {
    const Value zero = p.number(Type::I64, 0);
    const Value was = old_weights[i];
    const Value is = checked_add(p, was, change.weights[i]);
    const Value was_there = zero < was;
    const Value is_there = zero < is;
    p.if_then(was_there != is_there, [&] {
      const Value weight = p.select(is_there, p.number(Type::I64, 1), p.number(Type::I64, -1));
      p.emit(with_weight(row_of(change.columns, i), weight));
    });
  });
  return from_rows(rows, true);
}

ZColumns zset_aggregate_delta(PlanBuilder& p, Fold fold, uint32_t keys, const ZColumns& before,
                              const ZColumns& change) {
  XLOG_CHECK(before.consolidated && change.consolidated, "aggregate_delta looks keys up");
  // The rows that were there for every key that changes. No fold is undone: what is left folds
  // again, in its order, which is the only way that is right for min, max and float sums.
  const Columns changed_keys = first_columns(change.columns, keys);
  const Value n = p.len(change.weights);
  const Buffer heads = run_heads(p, changed_keys, n);
  const Rows touched = p.expand(n, [&](Value i) {
    p.if_then(heads[i] != 0, [&] {
      const Range range = equal_range(p, before.columns, row_of(changed_keys, i));
      p.for_range(range.lo, range.hi, [&](Value r) {
        p.emit(with_weight(row_of(before.columns, r), before.weights[r]));
      });
    });
  });
  const ZColumns old_rows = from_rows(touched, true);
  const ZColumns new_rows = consolidate(p, zset_plus(p, old_rows, change));
  const ZColumns was = zset_aggregate(p, fold, keys, old_rows);
  const ZColumns is = zset_aggregate(p, fold, keys, new_rows);
  return consolidate(p, zset_plus(p, is, zset_negate(p, was)));
}

}  // namespace xlog::kernel
