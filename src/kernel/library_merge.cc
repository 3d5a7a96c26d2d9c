// Merge of two sorted runs by merge paths: each instance finds by binary search which rows of both
// runs its part of the output takes, then merges them one by one (after Green, McColl, Bader, "GPU
// merge path", 2012). Equal rows keep the first run first.
#include <fmt/format.h>

#include "kernel/library.h"

namespace xlog::kernel {

namespace {

Values row_of(const Columns& columns, Value r) {
  Values row;
  for (Buffer column : columns) row.push_back(column[r]);
  return row;
}

Id merge_kernel(Library& library, const std::vector<Type>& types) {
  std::string name = "merge";
  for (Type type : types) name += fmt::format("_{}", spelling(type));
  return library.kernel(name, [&](KernelBuilder& k) {
    const Value count = k.val(Type::U32, "count");
    const Value length = k.val(Type::U32, "length");
    const Value na = k.val(Type::U32, "na");
    const Value nb = k.val(Type::U32, "nb");
    Columns a, b;
    for (size_t c = 0; c < types.size(); ++c) a.push_back(k.in(types[c], fmt::format("a{}", c)));
    for (size_t c = 0; c < types.size(); ++c) b.push_back(k.in(types[c], fmt::format("b{}", c)));
    const Buffer source = k.out(Type::U32, "source");
    const Value i = k.grid(count);
    const Range part = chunk_range(k, i, length, na + nb);
    // Of the first `lo` rows of the output, how many come from a: the first split at which the
    // next row of a does not go before the last row taken from b.
    const Value least = k.select(nb < part.lo, part.lo - nb, k.u32(0));
    const Value from_a = lower_bound(k, least, k.min(part.lo, na), [&](Value x) {
      return rows_less(k, row_of(b, part.lo - 1 - x), row_of(a, x));
    });
    const Buffer take_a = k.private_array(Type::Bool, 1);
    k.for_range(part.lo, part.hi, {from_a, part.lo - from_a}, [&](Value r, const Values& c) {
      k.store(take_a, k.u32(0), nb <= c[1]);
      k.if_then((c[0] < na) & (c[1] < nb), [&] {
        k.store(take_a, k.u32(0), !rows_less(k, row_of(b, c[1]), row_of(a, c[0])));
      });
      const Value first = take_a[0u];
      k.store(source, r, k.select(first, c[0], na + c[1]));
      const Value step = k.cast(Type::U32, first);
      return Values{c[0] + step, c[1] + (k.u32(1) - step)};
    });
  });
}

}  // namespace

Buffer library_merge(Library& library, PlanBuilder& plan, const Columns& first,
                     const Columns& second) {
  std::vector<Type> types;
  for (Buffer column : first) types.push_back(column.type());
  const Value na = plan.len(first[0]);
  const Value nb = plan.len(second[0]);
  plan.require(kCheckOverflow, na <= plan.u32(UINT32_MAX) - nb,
               "more rows than 32 bits count in merge");
  const Value n = na + nb;
  const uint32_t piece = 64;  // rows of an instance where lanes are cheap
  const Library::Chunks chunks = library.target.groups
                                     ? Library::Chunks{plan.u32(piece), divide_up(n, piece)}
                                     : library.chunks(plan, n);
  const Buffer source = plan.unset_buf(Type::U32, n);
  std::vector<Id> arguments = {chunks.count.id, chunks.length.id, na.id, nb.id};
  for (Buffer column : first) arguments.push_back(column.id);
  for (Buffer column : second) arguments.push_back(column.id);
  arguments.push_back(source.id);
  plan.launch(merge_kernel(library, types), arguments);
  return source;
}

}  // namespace xlog::kernel
