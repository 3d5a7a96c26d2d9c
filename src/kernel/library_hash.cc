#include "kernel/library_hash.h"

#include "base/check.h"

namespace xlog::kernel {

namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood, 2014): every bit of the key moves every bit.
constexpr uint64_t kMix1 = 0xbf58476d1ce4e5b9;
constexpr uint64_t kMix2 = 0x94d049bb133111eb;

Value empty(Builder& k) { return k.number(Type::U64, 0); }

struct Probe {
  Value cell;   // where it ended
  Value found;  // the key is there, or was put there
};

Value start_of(Builder& k, Value key, Value cells) {
  return k.cast(Type::U32, hash_of(k, key)) & (cells - 1);
}

// Walks from the key's first cell until `visit` says that it is done: (done, found).
Probe probe(Builder& k, Value key, Value cells,
            const std::function<std::pair<Value, Value>(Value cell)>& visit) {
  const Value mask = cells - 1;
  const Value start = start_of(k, key, cells);
  Values last = k.loop(cells, key != empty(k), {start, k.boolean(false)},
                       [&](Value t, const Values& c) -> std::pair<Value, Values> {
                         auto [done, found] = visit(c[0]);
                         // The last cell ends the walk too: a full table is reported as such.
                         const Value more = (t + 1 < cells) & !done;
                         return {more, {k.select(done, c[0], (c[0] + 1) & mask), found}};
                       });
  return {last[0], last[1]};
}

Probe find_cell(Builder& k, Buffer cells, Value key) {
  const Value size = k.len(cells) - 1;
  const Probe end = probe(k, key, size, [&](Value cell) {
    const Value here = cells[cell];
    return std::pair((here == empty(k)) | (here == key), here == key);
  });
  const Value is_zero = key == empty(k);
  const Value has_zero = cells[size] != empty(k);
  return {k.select(is_zero, size, end.cell), k.select(is_zero, has_zero, end.found)};
}

Id insert_kernel(Graph& graph) {
  KernelBuilder k(graph, "hash_insert");
  const Value n = k.val(Type::U32, "n");
  const Buffer keys = k.in(Type::U64, "keys");
  const Buffer cells = k.race(Type::U64, "cells");
  const Buffer is_new = k.out(Type::U32, "is_new");
  const Value i = k.grid(n);
  k.store(is_new, i, k.cast(Type::U32, hash_claim(k, cells, keys[i]).is_new));
  return k.finish();
}

// The answers of the other kernels go through `acc`: they fold over the cells, wherever those lie.
Id contains_kernel(Graph& graph) {
  KernelBuilder k(graph, "hash_contains");
  const Value n = k.val(Type::U32, "n");
  const Buffer keys = k.in(Type::U64, "keys");
  const Buffer cells = k.in(Type::U64, "cells");
  const Buffer known = k.acc(Type::U32, "known");
  const Value i = k.grid(n);
  const Probe end = find_cell(k, cells, keys[i]);
  k.if_then(end.found, [&] { k.atomic(Fold::Or, known, i, k.u32(1)); });
  return k.finish();
}

// The first row of each key, at the key's cell.
Id owner_kernel(Graph& graph) {
  KernelBuilder k(graph, "hash_owner");
  const Value n = k.val(Type::U32, "n");
  const Buffer keys = k.in(Type::U64, "keys");
  const Buffer cells = k.in(Type::U64, "cells");
  const Buffer owner = k.acc(Type::U32, "owner");
  const Value i = k.grid(n);
  k.atomic(Fold::Min, owner, find_cell(k, cells, keys[i]).cell, i);
  return k.finish();
}

Id first_kernel(Graph& graph) {
  KernelBuilder k(graph, "hash_first");
  const Value n = k.val(Type::U32, "n");
  const Buffer keys = k.in(Type::U64, "keys");
  const Buffer cells = k.in(Type::U64, "cells");
  const Buffer known = k.in(Type::U32, "known");
  const Buffer owner = k.in(Type::U32, "owner");
  const Buffer is_new = k.acc(Type::U32, "is_new");
  const Value i = k.grid(n);
  k.if_then(known[i] == 0, [&] {
    const Value cell = find_cell(k, cells, keys[i]).cell;
    k.if_then(owner[cell] == i, [&] { k.atomic(Fold::Or, is_new, i, k.u32(1)); });
  });
  return k.finish();
}

}  // namespace

Value hash_of(Builder& k, Value key) {
  Value h = key ^ (key >> 30);
  h = h * k.constant(Scalar::u64(kMix1));
  h = h ^ (h >> 27);
  h = h * k.constant(Scalar::u64(kMix2));
  return h ^ (h >> 31);
}

void hash_prefetch(Builder& k, Buffer cells, Value key) {
  k.prefetch(cells, start_of(k, key, k.len(cells) - 1));
}

HashFound hash_find(Builder& k, Buffer cells, Value key) {
  const Probe end = find_cell(k, cells, key);
  return {end.cell, end.found};
}

HashClaim hash_claim(Builder& k, Buffer cells, Value key) {
  const Value size = k.len(cells) - 1;
  // What the last cell held that was looked at, and whether this instance put the key there. Most
  // keys of a fixpoint are there already: a cell is read before it is claimed.
  const Buffer held = k.private_array(Type::U64, 1);
  const Buffer claimed = k.private_array(Type::Bool, 1);
  const Value first = k.u32(0);
  k.store(claimed, first, k.boolean(false));
  auto claim = [&](Value cell, Value mark) {
    k.store(held, first, cells[cell]);
    k.if_then(held[first] == empty(k), [&] {
      const Value old = k.cas(cells, cell, empty(k), mark);
      k.store(claimed, first, old == empty(k));
      k.store(held, first, k.select(old == empty(k), mark, old));
    });
  };
  const Probe end = probe(k, key, size, [&](Value cell) {
    claim(cell, key);
    const Value here = held[first] == key;
    return std::pair(here, here);
  });
  const Value is_zero = key == empty(k);
  k.check(kCheckFull, end.found | is_zero);
  k.if_then(is_zero, [&] { claim(size, k.number(Type::U64, 1)); });
  return {k.select(is_zero, size, end.cell), claimed[first]};
}

HashSet hash_set(PlanBuilder& plan, Value keys) {
  // The least power of two that is not below 2 * keys, and at least 16. Past 2^30 keys the cells
  // would need more than 32 bits to count; such a table is as large as one can be.
  const Value wanted = plan.max(plan.min(keys, plan.u32(1u << 30)), plan.u32(8)) * 2 - 1;
  const Value cells = plan.u32(1) << (plan.u32(32) - plan.clz(wanted));
  return {plan.buf(Type::U64, cells + 1)};
}

HashSet hash_set_of(PlanBuilder& plan, Buffer cells) {
  XLOG_CHECK(cells.type() == Type::U64, "hash sets hold u64 keys");
  plan.require(kCheckLength, plan.popc(plan.len(cells) - 1) == 1,
               "a hash set has a power of two of cells and one more, this buffer has not");
  return {cells};
}

Buffer hash_insert(PlanBuilder& plan, HashSet set, Buffer keys) {
  XLOG_CHECK(keys.type() == Type::U64, "hash sets hold u64 keys");
  const Value n = plan.len(keys);
  const Buffer flags = plan.unset_buf(Type::U32, n);
  plan.launch(insert_kernel(plan.graph()), {n.id, keys.id, set.cells.id, flags.id});
  return flags;
}

Buffer hash_insert_first(PlanBuilder& plan, HashSet set, Buffer keys) {
  const Value n = plan.len(keys);
  const Buffer known = hash_contains(plan, set, keys);
  hash_insert(plan, set, keys);
  const Buffer owner =
      plan.map(plan.len(set.cells), [&](Value) { return Values{plan.u32(UINT32_MAX)}; })[0];
  plan.launch(owner_kernel(plan.graph()), {n.id, keys.id, set.cells.id, owner.id});
  const Buffer flags = plan.buf(Type::U32, n);
  plan.launch(first_kernel(plan.graph()),
              {n.id, keys.id, set.cells.id, known.id, owner.id, flags.id});
  return flags;
}

Buffer hash_contains(PlanBuilder& plan, HashSet set, Buffer keys) {
  XLOG_CHECK(keys.type() == Type::U64, "hash sets hold u64 keys");
  const Value n = plan.len(keys);
  const Buffer flags = plan.buf(Type::U32, n);
  plan.launch(contains_kernel(plan.graph()), {n.id, keys.id, set.cells.id, flags.id});
  return flags;
}

}  // namespace xlog::kernel
