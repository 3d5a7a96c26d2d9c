// One fold for each run of rows. The first row always starts a run.
//
// Integers: the rows are divided evenly, whatever the lengths of the runs; an instance folds the
// runs inside its chunk and adds each into its cell with an atomic, which is order-free. Floats:
// each run in the order of D6, chunks of 256 rows counted from its start, so one fold is the same
// wherever the run lies; chunks of all runs are folded side by side.
#include <fmt/format.h>

#include "kernel/library.h"

namespace xlog::kernel {

namespace {

Id fold_kernel(Library& library, Fold fold, Type type) {
  return library.kernel(
      fmt::format("segment_{}_{}", spelling(fold), spelling(type)), [&](KernelBuilder& k) {
        const Value count = k.val(Type::U32, "count");
        const Value length = k.val(Type::U32, "length");
        const Value n = k.val(Type::U32, "n");
        const Buffer heads = k.in(Type::U32, "heads");
        const Buffer before = k.in(Type::U32, "before");
        const Buffer x = k.in(type, "x");
        const Buffer folds = k.acc(type, "folds");
        const Value i = k.grid(count);
        const Range rows = chunk_range(k, i, length, n);
        const Value identity = k.constant(fold_identity(fold, type));
        const Value run = before[rows.lo] + heads[rows.lo] - 1;
        Values last = k.for_range(rows.lo, rows.hi, {identity, run}, [&](Value r, const Values& c) {
          const Value starts = (heads[r] != 0) & (r != rows.lo);
          k.if_then(starts, [&] { k.atomic(fold, folds, c[1], c[0]); });
          return Values{fold_values(k, fold, k.select(starts, identity, c[0]), x[r]),
                        c[1] + k.cast(Type::U32, starts)};
        });
        k.atomic(fold, folds, last[1], last[0]);
      });
}

Library::Runs find_runs(Library& library, PlanBuilder& plan, Buffer heads) {
  if (auto known = library.runs.find(heads.id); known != library.runs.end()) return known->second;
  const Buffer flags = plan.map(plan.len(heads), [&](Value i) {
    const Value flag = heads[i];
    const Value is_head = is_bool(flag.type()) ? flag : flag != 0;
    return Values{plan.cast(Type::U32, is_head | (i == 0))};
  })[0];
  const ScanBuffers scanned = library_scan(library, plan, Fold::Add, flags);
  const Library::Runs runs = {flags, scanned.before, plan.read(scanned.total, plan.u32(0))};
  library.runs.emplace(heads.id, runs);
  return runs;
}

Buffer fold_integers(Library& library, PlanBuilder& plan, Fold fold, const Library::Runs& runs,
                     Buffer column) {
  const Type type = column.type();
  const Value n = plan.len(column);
  const Scalar identity = fold_identity(fold, type);
  const Buffer folds =
      identity.bits == 0
          ? plan.buf(type, runs.count)
          : plan.map(runs.count, [&](Value) { return Values{plan.constant(identity)}; })[0];
  const uint32_t tile = 32;  // rows of an instance where lanes are cheap
  const Library::Chunks chunks = library.target.groups
                                     ? Library::Chunks{plan.u32(tile), divide_up(n, tile)}
                                     : library.chunks(plan, n);
  plan.launch(fold_kernel(library, fold, type),
              {chunks.count.id, chunks.length.id, n.id, runs.heads.id, runs.before.id, column.id,
               folds.id});
  return folds;
}

Buffer fold_floats(PlanBuilder& plan, Fold fold, const Library::Runs& runs, Buffer column) {
  const Type type = column.type();
  const Value n = plan.len(column);
  const Buffer starts =
      plan.expand(n, [&](Value i) { plan.if_then(runs.heads[i] != 0, [&] { plan.emit({i}); }); })
          .columns[0];
  auto end_of = [&](Value s) {
    return plan.select(s + 1 == runs.count, n, starts[plan.select(s + 1 == runs.count, s, s + 1)]);
  };
  const Buffer parts = plan.map(runs.count, [&](Value s) {
    return Values{divide_up(end_of(s) - starts[s], kFloatChunk)};
  })[0];
  const Buffer first_part = plan.scan(Fold::Add, parts).before;
  const Rows ranges = plan.expand(runs.count, [&](Value s) {
    const Value end = end_of(s);
    const Value start = starts[s];
    plan.for_range(plan.u32(0), parts[s], [&](Value p) {
      const Value lo = start + p * kFloatChunk;
      plan.emit({lo, lo + plan.min(plan.u32(kFloatChunk), end - lo)});
    });
  });
  const Value identity = plan.constant(fold_identity(fold, type));
  const Buffer folded = plan.map(ranges.count, [&](Value p) {
    return plan.for_range(
        ranges.columns[0][p], ranges.columns[1][p], {identity},
        [&](Value r, const Values& c) { return Values{fold_values(plan, fold, c[0], column[r])}; });
  })[0];
  return plan.map(runs.count, [&](Value s) {
    const Value lo = first_part[s];
    return plan.for_range(lo, lo + parts[s], {identity}, [&](Value p, const Values& c) {
      return Values{fold_values(plan, fold, c[0], folded[p])};
    });
  })[0];
}

}  // namespace

Buffer library_segment(Library& library, PlanBuilder& plan, Fold fold, Buffer heads,
                       Buffer column) {
  const Library::Runs runs = find_runs(library, plan, heads);
  if (is_float(column.type())) return fold_floats(plan, fold, runs, column);
  if (column.type() != Type::U8) return fold_integers(library, plan, fold, runs, column);
  // There are no atomics on bytes. Identities of u8 fit u32, and results are cut back.
  const Buffer wide = plan.map(plan.len(column),
                               [&](Value i) { return Values{plan.cast(Type::U32, column[i])}; })[0];
  const Buffer folds = fold_integers(library, plan, fold, runs, wide);
  return plan.map(plan.len(folds),
                  [&](Value s) { return Values{plan.cast(Type::U8, folds[s])}; })[0];
}

}  // namespace xlog::kernel
