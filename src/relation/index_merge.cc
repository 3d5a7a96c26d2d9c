// Puts the segments of each key together without sorting: the cells of the table say in which order
// keys come, so that rows are counted by cell and copied once, a column at a time.
#include <fmt/format.h>

#include "relation/index.h"

namespace xlog::relation {

using kernel::KernelBuilder;
using kernel::PlanBuilder;
using kernel::Scalar;

// One instance copies all rows of a key, which suits a processor's threads; and rows of a key come
// in no particular order.
bool Index::can_gather() const { return machine_.form() == Form::Chunks && !sorted_; }

// How many rows the cells before each have; one number more than there are cells.
Result<device::Column> Index::starts_of_cells() {
  Result<device::PlanRunner*> plan = machine_.plan("index_starts", [&] {
    PlanBuilder p(machine_.graph(), "index_starts");
    const kernel::Buffer table = p.in(Type::U32, "table");
    const kernel::Buffer segments = p.in(Type::U32, "segments");
    const Value cells = p.len(table);
    const kernel::Buffer counts = p.map(cells, [&](Value cell) {
      const Value first = table[cell];
      const Values end = p.loop(p.len(segments), first != 0, {first, p.u32(0)},
                                [&](Value, const Values& at) -> std::pair<Value, Values> {
                                  const Value segment = (at[0] - 1) * kSegmentWidth;
                                  const Value next = segments[segment + 2];
                                  return {next != 0, {next, at[1] + segments[segment + 1]}};
                                });
      return Values{end[1]};
    })[0];
    const kernel::Scanned before = p.scan(kernel::Fold::Add, counts);
    return p.finish(p.map(cells + 1, [&](Value cell) {
      const Value is_end = cell == cells;
      const Value here = before.before[p.select(is_end, p.u32(0), cell)];
      return Values{p.select(is_end, before.total, here)};
    }));
  });
  if (!plan.ok()) return plan.error();
  const std::vector<device::PlanValue> arguments = {
      device::Column{table_, Type::U32, static_cast<uint32_t>(table_cells_)},
      device::Column{segments_, Type::U32, segment_count_ * kSegmentWidth}};
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  return std::get<device::Column>((*results)[0]);
}

// Moves the rows of each cell to where they start.
Status Index::gather(const device::Column& starts) {
  for (uint32_t c = 0; c < types_.size(); ++c) {
    if (kept_ != IndexColumns::Relation && !copies(c)) continue;
    const Type type = types_[c];
    const std::string name = fmt::format("index_gather_{}", spelling(type));
    Result<device::KernelHandle> kernel = machine_.kernel(name, [&] {
      KernelBuilder k(machine_.graph(), name);
      const Value n = k.val(Type::U32, "cells");
      const kernel::Buffer table = k.in(Type::U32, "table");
      const kernel::Buffer segments = k.in(Type::U32, "segments");
      const kernel::Buffer begins = k.in(Type::U32, "starts");
      const kernel::Buffer from = k.in(type, "from");
      const kernel::Buffer to = k.out(type, "to");
      const Value cell = k.grid(n);
      const Value first = table[cell];
      k.loop(k.len(segments), first != 0, {first, begins[cell]},
             [&](Value, const Values& at) -> std::pair<Value, Values> {
               const Value segment = (at[0] - 1) * kSegmentWidth;
               const Value row = segments[segment];
               const Value count = segments[segment + 1];
               k.for_range(k.u32(0), count,
                           [&](Value i) { k.store(to, at[1] + i, from[row + i]); });
               const Value next = segments[segment + 2];
               return {next != 0, {next, at[1] + count}};
             });
      return k.finish();
    });
    if (!kernel.ok()) return kernel.error();
    Result<device::Buffer> moved = make_buffer(machine_.device(), type, covered_);
    if (!moved.ok()) return moved.error();
    const std::vector<device::Argument> arguments = {
        Scalar::u32(static_cast<uint32_t>(table_cells_)),
        device::View{table_},
        device::View{segments_},
        device::View{starts.buffer},
        device::View{column(c)},
        device::View{*moved}};
    if (Status s = machine_.launch(*kernel, arguments); !s.ok()) return s;
    if (Status s = put(c, 0, *moved, covered_); !s.ok()) return s;
  }
  return Done{};
}

// One segment for each cell that has rows; its number stays where it was found.
Status Index::name_segments(const device::Column& starts) {
  Result<device::PlanRunner*> plan = machine_.plan("index_segments", [&] {
    PlanBuilder p(machine_.graph(), "index_segments");
    const kernel::Buffer begins = p.in(Type::U32, "starts");
    const kernel::Buffer table = p.race(Type::U32, "table");
    const kernel::Rows used = p.expand(p.len(table), [&](Value cell) {
      p.if_then(begins[cell] != begins[cell + 1], [&] { p.emit({cell}); });
    });
    KernelBuilder k(machine_.graph(), "index_names");
    {
      const Value n = k.val(Type::U32, "n");
      const kernel::Buffer cells = k.in(Type::U32, "cells");
      const kernel::Buffer into = k.race(Type::U32, "table");
      const Value i = k.grid(n);
      k.store(into, cells[i], i + 1);
    }
    p.launch(k.finish(), {used.count.id, used.columns[0].id, table.id});
    const kernel::Buffer segments = p.map(used.count * kSegmentWidth, [&](Value i) {
      const Value cell = used.columns[0][i / kSegmentWidth];
      const Value part = i % kSegmentWidth;
      const Value length = begins[cell + 1] - begins[cell];
      return Values{p.select(part == 0, begins[cell], p.select(part == 1, length, p.u32(0)))};
    })[0];
    return p.finish({segments});
  });
  if (!plan.ok()) return plan.error();
  const std::vector<device::PlanValue> arguments = {
      starts, device::Column{table_, Type::U32, static_cast<uint32_t>(table_cells_)}};
  segments_ = nullptr;  // before there are others
  Result<std::vector<device::PlanValue>> results = (*plan)->run(arguments);
  if (!results.ok()) return results.error();
  const auto& segments = std::get<device::Column>((*results)[0]);
  segments_ = segments.buffer;
  segment_capacity_ = segments.count;
  segment_count_ = merged_segments_ = segments.count / kSegmentWidth;
  return Done{};
}

}  // namespace xlog::relation
