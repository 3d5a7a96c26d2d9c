// Puts the rows of a finished relation into the order of a key by counting, without sorting: how
// many rows each value has says where they start, and the rows are moved there a column at a time.
//
// Each instance has a range of values, for which it looks through all keys: no two of them count or
// write the same cell, so that rows always come to lie in the same order.
#include <fmt/format.h>

#include "relation/index.h"
#include "relation/row_set.h"

namespace xlog::relation {

using kernel::Buffer;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::PlanBuilder;
using kernel::Scalar;

namespace {

// Calls `visit` for the rows whose number of `cells` is this instance's.
void for_own_rows(KernelBuilder& k, Value parts, Value rows, Value cells,
                  const std::function<Value(Value row)>& cell_of,
                  const std::function<void(Value row, Value cell)>& visit) {
  const Value part = k.grid(parts);
  const auto border = [&](Value p) {
    const Value at = k.cast(Type::U64, cells) * k.cast(Type::U64, p) / k.cast(Type::U64, parts);
    return k.cast(Type::U32, at);
  };
  const Value lo = border(part);
  const Value size = border(part + 1) - lo;
  k.for_range(k.u32(0), rows, [&](Value row) {
    const Value cell = cell_of(row);
    k.if_then(cell - lo < size, [&] { visit(row, cell); });
  });
}

}  // namespace

// A table of ranks: the bits of each block of values, and how many values come before it.
Result<device::Column> Index::ranks_of_values(uint32_t rows, uint32_t last) {
  Result<device::PlanRunner*> plan = machine_.plan("index_ranks", [&] {
    PlanBuilder p(machine_.graph(), "index_ranks");
    const Buffer key = p.in(Type::U32, "key");
    const Value parts = p.val(Type::U32, "parts");
    const Value blocks = p.val(Type::U32, "blocks");
    const Buffer bits = p.buf(Type::U32, blocks);
    KernelBuilder k(machine_.graph(), "index_bits");
    {
      const Value n = k.val(Type::U32, "parts");
      const Value cells = k.val(Type::U32, "blocks");
      const Buffer keys = k.in(Type::U32, "key");
      const Buffer own = k.own(Type::U32, "bits");
      for_own_rows(
          k, n, k.len(keys), cells, [&](Value row) { return keys[row] / kWordBits; },
          [&](Value row, Value block) {
            k.store(own, block, own[block] | (k.u32(1) << (keys[row] & (kWordBits - 1))));
          });
    }
    p.launch(k.finish(), {parts.id, blocks.id, key.id, bits.id});
    const Buffer counts = p.map(blocks, [&](Value b) { return Values{p.popc(bits[b])}; })[0];
    const Buffer before = p.scan(kernel::Fold::Add, counts).before;
    return p.finish(p.map(blocks * kBlockWidth, [&](Value i) {
      const Value block = i / kBlockWidth;
      return Values{p.select(i % kBlockWidth == 0, bits[block], before[block])};
    }));
  });
  if (!plan.ok()) return plan.error();
  // One more than there are values in: what lies past them has no rows.
  const std::vector<device::PlanValue> arguments = {
      rows_.column(keys_[0], rows), Scalar::u32(machine_.device().info().compute_units),
      Scalar::u32(last / kWordBits + 2)};
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  return std::get<device::Column>((*results)[0]);
}

// Moves the rows of each value, or of each rank, together: where they start. There are so many
// cells; behind those that have rows, all start at the end.
Result<device::Column> Index::count_and_move(uint32_t rows, uint32_t cells,
                                             const std::optional<device::Column>& ranks) {
  const std::string name = ranks ? "index_places_by_rank" : "index_places";
  Result<device::PlanRunner*> plan = machine_.plan(name, [&] {
    PlanBuilder p(machine_.graph(), name);
    const Buffer key = p.in(Type::U32, "key");
    const Value parts = p.val(Type::U32, "parts");
    const Value count = p.val(Type::U32, "cells");
    std::optional<Buffer> table;
    if (ranks) table = p.in(Type::U32, "table");
    const auto launch = [&](const char* kernel_name, Buffer own, std::optional<Buffer> places) {
      KernelBuilder k(machine_.graph(), kernel_name);
      const Value n = k.val(Type::U32, "parts");
      const Value all = k.val(Type::U32, "cells");
      const Buffer keys = k.in(Type::U32, "key");
      std::optional<Buffer> by_rank;
      if (table) by_rank = k.in(Type::U32, "table");
      const Buffer numbers = k.own(Type::U32, "numbers");
      std::optional<Buffer> out;
      if (places) out = k.out(Type::U32, "places");
      for_own_rows(
          k, n, k.len(keys), all,
          [&](Value row) { return by_rank ? find_rank(k, *by_rank, keys[row]) - 1 : keys[row]; },
          [&](Value row, Value cell) {
            const Value number = numbers[cell];
            if (out) k.store(*out, row, number);
            k.store(numbers, cell, number + 1);
          });
      std::vector<Id> arguments = {parts.id, count.id, key.id};
      if (table) arguments.push_back(table->id);
      arguments.push_back(own.id);
      if (places) arguments.push_back(places->id);
      p.launch(k.finish(), arguments);
    };
    const Buffer counts = p.buf(Type::U32, count);
    launch("index_count", counts, {});
    const Buffer starts = p.scan(kernel::Fold::Add, counts).before;
    const Buffer next = p.map(count, [&](Value c) { return Values{starts[c]}; })[0];
    const Buffer places = p.unset_buf(Type::U32, p.len(key));
    launch("index_place", next, places);
    return p.finish({starts, places});
  });
  if (!plan.ok()) return plan.error();
  std::vector<device::PlanValue> arguments = {rows_.column(keys_[0], rows),
                                              Scalar::u32(machine_.device().info().compute_units),
                                              Scalar::u32(cells)};
  if (ranks) arguments.emplace_back(*ranks);
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  const device::Buffer places = std::get<device::Column>((*results)[1]).buffer;
  for (uint32_t c = 0; c < types_.size(); ++c) {
    if (Status s = scatter(c, rows, places); !s.ok()) return s.error();
  }
  covered_ = rows;
  return std::get<device::Column>((*results)[0]);
}

// Moves the values of a column to their places, where the index has that column.
Status Index::scatter(uint32_t c, uint32_t rows, const device::Buffer& places) {
  const bool in_place = kept_ == IndexColumns::Relation;
  if (!in_place && !copies(c)) return leave_out(c);
  const std::string name = fmt::format("index_scatter_{}", spelling(types_[c]));
  Result<device::KernelHandle> kernel = machine_.kernel(name, [&] {
    KernelBuilder k(machine_.graph(), name);
    const Value n = k.val(Type::U32, "rows");
    const Buffer where = k.in(Type::U32, "places");
    const Buffer from = k.in(types_[c], "from");
    const Buffer to = k.out(types_[c], "to");
    const Value row = k.grid(n);
    k.store(to, where[row], from[row]);
    return k.finish();
  });
  if (!kernel.ok()) return kernel.error();
  Result<device::Buffer> moved = make_buffer(machine_.device(), types_[c], rows);
  if (!moved.ok()) return moved.error();
  const std::vector<device::Argument> arguments = {Scalar::u32(rows), device::View{places},
                                                   device::View{rows_.columns()[c]},
                                                   device::View{*moved}};
  if (Status s = machine_.launch(*kernel, arguments); !s.ok()) return s;
  if (in_place) return put(c, 0, *moved, rows);
  columns_[c] = *moved;
  capacities_[c] = rows;
  return Done{};
}

}  // namespace xlog::relation
