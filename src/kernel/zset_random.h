// Random queries and updates over Z-sets, for tests. All sub-queries have two columns, a small u32
// key and a value, so that every operator fits everywhere.
#pragma once

#include <random>

#include "kernel/zset.h"
#include "kernel/zset_reference.h"

namespace xlog::kernel {

class RandomZSets {
 public:
  RandomZSets(Graph& graph, uint64_t seed, Type value_type)
      : zsets(graph), random_(seed), type_(value_type) {
    inputs = {zsets.input("r", {Type::U32, type_}), zsets.input("s", {Type::U32, type_})};
  }

  Id query(int depth) {
    if (depth == 0 || pick(8) == 0) return inputs[pick(2)];
    switch (pick(8)) {
      case 0:
      case 1:
        return mapped(query(depth - 1));
      case 2:
        return zsets.plus(query(depth - 1), query(depth - 1));
      case 3:
        return zsets.negate(query(depth - 1));
      case 4:
        return zsets.distinct(query(depth - 1));
      case 5:
        return joined(query(depth - 1), query(depth - 1));
      default:
        return aggregated(query(depth - 1));
    }
  }

  ZRow row() { return {Scalar::u32(static_cast<uint32_t>(pick(4))), value()}; }

  // A few rows with weights between -2 and 2.
  ZSet update(size_t rows) {
    ZSet set;
    for (size_t k = pick(rows + 1); k > 0; --k) {
      const int64_t weight = static_cast<int64_t>(pick(5)) - 2;
      if (weight != 0) set[row()] = weight;
    }
    return set;
  }

  uint64_t pick(uint64_t n) { return random_() % n; }

  ZSets zsets;
  std::vector<Id> inputs;

 private:
  Scalar value() {
    const auto small = static_cast<int64_t>(pick(7)) - 3;
    if (!is_float(type_)) return Scalar::of(type_, small);
    // Sums of these round, so that an order of addition shows.
    if (pick(8) == 0) return Scalar::f64(small < 0 ? -0.0 : 1e16);
    return Scalar::f64(static_cast<double>(small) / 3.0);
  }

  Id mapped(Id a) {
    switch (pick(4)) {
      case 0:  // filter
        return zsets.flat_map(a, [&](RowBuilder& b, const Values& row) {
          b.if_then(b.number(type_, 0) < row[1], [&] { b.emit(row); });
        });
      case 1:  // compute
        return zsets.flat_map(a, [&](RowBuilder& b, const Values& row) {
          b.emit({(row[0] + 1) & 3, row[1] + row[1]});
        });
      case 2:  // project
        return zsets.flat_map(a, [&](RowBuilder& b, const Values& row) {
          b.emit({row[0], b.number(type_, 1)});
        });
      default:  // several rows, or none
        return zsets.flat_map(a, [&](RowBuilder& b, const Values& row) {
          b.for_range(b.u32(0), row[0], [&](Value j) { b.emit({j, b.cast(type_, j) + row[1]}); });
        });
    }
  }

  Id joined(Id a, Id b) {
    const auto keys = static_cast<uint32_t>(pick(3));
    // Columns: the keys, the rest of a, the rest of b; the last one is always the value of a side.
    return zsets.flat_map(zsets.join(keys, a, b), [&](RowBuilder& k, const Values& row) {
      k.emit({row[0], row[1] + row.back()});
    });
  }

  Id aggregated(Id a) {
    constexpr Fold folds[] = {Fold::Add, Fold::Min, Fold::Max};
    const Fold fold = folds[pick(3)];
    if (pick(3) != 0) return zsets.aggregate(fold, 1, a);
    return zsets.flat_map(zsets.aggregate(fold, 0, a), [&](RowBuilder& b, const Values& row) {
      b.emit({b.u32(0), row[0]});
    });
  }

  std::mt19937_64 random_;
  Type type_;
};

}  // namespace xlog::kernel
