#include "kernel/library.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace xlog::kernel {

Id Library::kernel(const std::string& name, const std::function<void(KernelBuilder&)>& build,
                   uint32_t group) {
  auto [entry, is_new] = kernels_.try_emplace(name);
  if (is_new) {
    KernelBuilder k(graph, name, group);
    build(k);
    entry->second = k.finish();
  }
  return entry->second;
}

Library::Chunks Library::chunks(PlanBuilder& plan, Value n) const {
  // Four chunks for each thread even out threads of different speed.
  const Value length = plan.max(plan.u32(std::max(1u, target.min_chunk)),
                                divide_up(n, std::max(1u, target.threads) * 4));
  return {length, divide_up(n, length)};
}

Value padded(Value r) { return r + r / kTileItems; }

Library::Chunks tile_chunks(PlanBuilder& plan, Value n, uint32_t tile, uint32_t most_tiles) {
  constexpr uint32_t kGroups = 2048;  // about two rounds of all groups that a large GPU can hold
  const Value tiles = plan.min(divide_up(divide_up(n, tile), kGroups), plan.u32(most_tiles));
  const Value length = plan.max(tiles, plan.u32(1)) * tile;
  return {length, divide_up(n, length)};
}

Value divide_up(Value n, Value size) {
  Builder& k = *n.builder;
  return n / size + k.cast(Type::U32, n % size != 0);
}

Value divide_up(Value n, uint32_t size) { return divide_up(n, n.builder->u32(size)); }

Range chunk_range(Builder& k, Value i, Value length, Value n) {
  const Value lo = i * length;
  return {lo, lo + k.min(length, n - lo)};
}

ChunkParams::ChunkParams(KernelBuilder& k)
    : count(k.val(Type::U32, "count")),
      length(k.val(Type::U32, "length")),
      n(k.val(Type::U32, "n")) {}

Value lower_bound(Builder& k, Value lo, Value hi, const std::function<Value(Value)>& reached) {
  Values found =
      k.loop(k.u32(33), lo < hi, {lo, hi}, [&](Value, const Values& c) -> std::pair<Value, Values> {
        const Value middle = c[0] + ((c[1] - c[0]) >> 1);
        const Value here = reached(middle);
        const Value low = k.select(here, c[0], middle + 1);
        const Value high = k.select(here, middle, c[1]);
        return {low < high, {low, high}};
      });
  return found[0];
}

Value order_key(Builder& k, Value value) {
  const Type type = value.type();
  if (is_bool(type) || type == Type::U8) return k.cast(Type::U32, value);
  if (!is_signed(type) && !is_float(type)) return value;
  const Type unsigned_type = bits_type(type);
  const Value sign = k.constant({unsigned_type, uint64_t{1} << (bits_of(type) - 1)});
  const Value bits = k.bitcast(unsigned_type, value);
  if (is_signed(type)) return bits ^ sign;
  const Value all = k.constant({unsigned_type, mask_of(unsigned_type)});
  return bits ^ k.select((bits & sign) != 0, all, sign);
}

Value from_order_key(Builder& k, Value key, Type type) {
  if (is_bool(type) || type == Type::U8) return k.cast(type, key);
  if (!is_signed(type) && !is_float(type)) return key;
  const Type unsigned_type = bits_type(type);
  const Value sign = k.constant({unsigned_type, uint64_t{1} << (bits_of(type) - 1)});
  if (is_signed(type)) return k.bitcast(type, key ^ sign);
  const Value all = k.constant({unsigned_type, mask_of(unsigned_type)});
  return k.bitcast(type, key ^ k.select((key & sign) != 0, sign, all));
}

Value rows_less(Builder& k, const Values& a, const Values& b) {
  Value less = k.boolean(false);
  for (size_t c = a.size(); c-- > 0;) {
    const Value x = order_key(k, a[c]);
    const Value y = order_key(k, b[c]);
    less = c + 1 == a.size() ? x < y : (x < y) | ((x == y) & less);
  }
  return less;
}

Value rows_equal(Builder& k, const Values& a, const Values& b) {
  Value equal = k.boolean(true);
  for (size_t c = 0; c < a.size(); ++c) {
    const Value same = order_key(k, a[c]) == order_key(k, b[c]);
    equal = c == 0 ? same : equal & same;
  }
  return equal;
}

Value fold_values(Builder& k, Fold fold, Value a, Value b) {
  const auto op = step_of(fold);
  XLOG_CHECK(op.has_value(), "this fold has no step");
  return k.make(*op, {a, b});
}

}  // namespace xlog::kernel
