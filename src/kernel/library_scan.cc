// Exclusive scans and reductions in three steps: fold each chunk, scan the results of the chunks,
// and walk each chunk again from there. No step waits for another instance, so it runs where
// nothing is promised about their progress.
//
// Integers may be divided anyhow. Floats have one association on every device (D6): chunks of 256
// folded left to right, then the chunk results left to right; before[i] is the fold of the chunks
// before it with the fold of its own chunk up to it.
#include <fmt/format.h>

#include "base/check.h"
#include "kernel/library.h"

namespace xlog::kernel {

namespace {

// One scan's kernels: what they fold, in which type they add up.
struct Shape {
  Fold fold;
  Type column;
  Type work;  // u8 is folded in u32, and a checked sum of u32 in u64
  bool checked = false;
  bool from_first = false;  // folded is how each row differs from the first one, in bits

  std::string name(std::string_view step) const {
    return fmt::format("scan_{}_{}_{}{}{}", step, spelling(fold), spelling(column),
                       checked ? "_checked" : "", from_first ? "_from_first" : "");
  }
  Value identity(Builder& k) const { return k.cast(work, k.constant(fold_identity(fold, column))); }
  Value load(Builder& k, Buffer b, Value i) const { return k.cast(work, b[i]); }
  // What a fold takes of row i. Where there is a chunk there is a first row.
  std::function<Value(Value i)> reader(Builder& k, Buffer b) const {
    if (!from_first) return [this, &k, b](Value i) { return load(k, b, i); };
    return [b, first = b[0u]](Value i) { return b[i] ^ first; };
  }
};

struct FoldParams {
  FoldParams(KernelBuilder& k, const Shape& s)
      : chunks(k), x(k.in(s.column, "x")), sums(k.out(s.work, "sums")) {}

  ChunkParams chunks;
  Buffer x, sums;
};

struct TopsParams {
  TopsParams(KernelBuilder& k, const Shape& s)
      : once(k.val(Type::U32, "once")),
        count(k.val(Type::U32, "count")),
        sums(k.in(s.work, "sums")),
        offsets(k.out(s.work, "offsets")),
        total(k.out(s.column, "total")) {}

  Value once, count;  // the size of the launch; how many chunks
  Buffer sums, offsets, total;
};

struct ApplyParams {
  ApplyParams(KernelBuilder& k, const Shape& s)
      : chunks(k),
        x(k.in(s.column, "x")),
        offsets(k.in(s.work, "offsets")),
        before(k.out(s.column, "before")) {}

  ChunkParams chunks;
  Buffer x, offsets, before;
};

Id serial_fold(Library& library, const Shape& s) {
  return library.kernel(s.name("fold"), [&](KernelBuilder& k) {
    const FoldParams p(k, s);
    const Value i = k.grid(p.chunks.count);
    const Range rows = p.chunks.range(k, i);
    const auto row = s.reader(k, p.x);
    Values sum = k.for_range(rows.lo, rows.hi, {s.identity(k)}, [&](Value r, const Values& c) {
      return Values{fold_values(k, s.fold, c[0], row(r))};
    });
    k.store(p.sums, i, sum[0]);
  });
}

// `instance` is the only one there is: 0.
void store_total(KernelBuilder& k, const Shape& s, Buffer total, Value instance, Value sum) {
  if (s.checked) k.check(kCheckOverflow, sum <= k.number(s.work, UINT32_MAX));
  k.store(total, instance, k.cast(s.column, sum));
}

Id serial_tops(Library& library, const Shape& s) {
  return library.kernel(s.name("tops"), [&](KernelBuilder& k) {
    const TopsParams p(k, s);
    Values sum = k.for_range(k.u32(0), p.count, {s.identity(k)}, [&](Value j, const Values& c) {
      k.store(p.offsets, j, c[0]);
      return Values{fold_values(k, s.fold, c[0], p.sums[j])};
    });
    store_total(k, s, p.total, k.grid(p.once), sum[0]);
  });
}

Id serial_apply(Library& library, const Shape& s) {
  return library.kernel(s.name("apply"), [&](KernelBuilder& k) {
    const ApplyParams p(k, s);
    const Value i = k.grid(p.chunks.count);
    const Range rows = p.chunks.range(k, i);
    const Value start = p.offsets[i];
    const bool keep_apart = is_float(s.column);
    k.for_range(rows.lo, rows.hi, {keep_apart ? s.identity(k) : start},
                [&](Value r, const Values& c) {
                  const Value here = keep_apart ? fold_values(k, s.fold, start, c[0]) : c[0];
                  k.store(p.before, r, k.cast(s.column, here));
                  return Values{fold_values(k, s.fold, c[0], s.load(k, p.x, r))};
                });
  });
}

// A group folds a chunk of whole tiles.
Id group_fold(Library& library, const Shape& s) {
  return library.kernel(
      s.name("tile_fold"),
      [&](KernelBuilder& k) {
        const FoldParams p(k, s);
        const Value g = k.group(p.chunks.count);
        const Value lane = k.lane();
        const Range rows = p.chunks.range(k, g);
        const auto row = s.reader(k, p.x);
        // Whole tiles first: their loads need no guard and can all be on their way at once.
        const Value tiles = (rows.hi - rows.lo) / kTile;
        Values sum = k.for_range(k.u32(0), tiles, {s.identity(k)}, [&](Value t, const Values& c) {
          Value folded = c[0];
          const Value first = rows.lo + t * kTile + lane;
          for (uint32_t j = 0; j < kTileItems; ++j) {
            folded = fold_values(k, s.fold, folded, row(first + j * kTileLanes));
          }
          return Values{folded};
        });
        const Value from = k.min(rows.hi, rows.lo + tiles * kTile + lane);
        sum = k.for_range(k.u32(0), divide_up(rows.hi - from, kTileLanes), sum,
                          [&](Value j, const Values& c) {
                            return Values{fold_values(k, s.fold, c[0], row(from + j * kTileLanes))};
                          });
        const Value all = k.greduce(s.fold, sum[0]);
        k.if_then(lane == 0, [&] { k.store(p.sums, g, all); });
      },
      kTileLanes);
}

Id group_tops(Library& library, const Shape& s) {
  return library.kernel(
      s.name("tile_tops"),
      [&](KernelBuilder& k) {
        const TopsParams p(k, s);
        const Value lane = k.lane();
        const Buffer cell = k.private_array(s.work, 1);
        Values sum = k.for_range(
            k.u32(0), divide_up(p.count, kTileLanes), {s.identity(k)},
            [&](Value j, const Values& c) {
              const Value r = j * kTileLanes + lane;
              k.store(cell, k.u32(0), s.identity(k));
              k.if_then(r < p.count, [&] { k.store(cell, k.u32(0), p.sums[r]); });
              const Value v = cell[0u];
              const Value before = k.gscan(s.fold, v);
              const Value slice = k.greduce(s.fold, v);
              k.if_then(r < p.count,
                        [&] { k.store(p.offsets, r, fold_values(k, s.fold, c[0], before)); });
              return Values{fold_values(k, s.fold, c[0], slice)};
            });
        const Value g = k.group(p.once);
        k.if_then(lane == 0, [&] { store_total(k, s, p.total, g, sum[0]); });
      },
      kTileLanes);
}

// A group walks its chunk tile by tile. Rows come and go side by side through local memory;
// between, each lane folds consecutive rows, so that one collective serves the whole tile.
Id group_apply(Library& library, const Shape& s) {
  return library.kernel(
      s.name("tile_apply"),
      [&](KernelBuilder& k) {
        const ApplyParams p(k, s);
        const Buffer tile = k.local(s.work, kPaddedTile);
        const Value g = k.group(p.chunks.count);
        const Value lane = k.lane();
        const Range rows = p.chunks.range(k, g);
        const Value tiles = divide_up(rows.hi - rows.lo, kTile);
        k.for_range(k.u32(0), tiles, {p.offsets[g]}, [&](Value t, const Values& c) {
          const Value base = rows.lo + t * kTile;
          const Value size = rows.hi - base;  // of this tile, or more
          for (uint32_t j = 0; j < kTileItems; ++j) {
            const Value r = lane + k.u32(j * kTileLanes);
            k.if_then(
                r < size, [&] { k.store(tile, padded(r), s.load(k, p.x, base + r)); },
                [&] { k.store(tile, padded(r), s.identity(k)); });
          }
          k.barrier();
          Values items;
          Value own = s.identity(k);
          for (uint32_t j = 0; j < kTileItems; ++j) {
            items.push_back(tile[padded(lane * kTileItems + j)]);
            own = fold_values(k, s.fold, own, items.back());
          }
          const Value left = k.gscan(s.fold, own);
          const Value all = k.greduce(s.fold, own);
          Value running = fold_values(k, s.fold, c[0], left);
          for (uint32_t j = 0; j < kTileItems; ++j) {
            k.store(tile, padded(lane * kTileItems + j), running);
            running = fold_values(k, s.fold, running, items[j]);
          }
          k.barrier();
          for (uint32_t j = 0; j < kTileItems; ++j) {
            const Value r = lane + k.u32(j * kTileLanes);
            k.if_then(r < size,
                      [&] { k.store(p.before, base + r, k.cast(s.column, tile[padded(r)])); });
          }
          return Values{fold_values(k, s.fold, c[0], all)};
        });
      },
      kTileLanes);
}

struct Folded {
  Library::Chunks chunks;
  Buffer offsets, total;
};

Library::Chunks chunks_of(const Library& library, PlanBuilder& plan, const Shape& s, Value n,
                          bool tiles) {
  if (tiles) return tile_chunks(plan, n);
  if (is_float(s.column)) return {plan.u32(kFloatChunk), divide_up(n, kFloatChunk)};
  return library.chunks(plan, n);
}

Folded fold_chunks(Library& library, PlanBuilder& plan, const Shape& s, Buffer x, bool tiles,
                   Value once) {
  const Value n = plan.len(x);
  const Library::Chunks chunks = chunks_of(library, plan, s, n, tiles);
  const auto [length, count] = chunks;
  const Buffer sums = plan.unset_buf(s.work, count);
  const Buffer offsets = plan.unset_buf(s.work, count);
  const Buffer total = plan.unset_buf(s.column, plan.u32(1));
  plan.launch(tiles ? group_fold(library, s) : serial_fold(library, s),
              {count.id, length.id, n.id, x.id, sums.id});
  plan.launch(tiles ? group_tops(library, s) : serial_tops(library, s),
              {once.id, count.id, sums.id, offsets.id, total.id});
  return {chunks, offsets, total};
}

Shape shape_of(Fold fold, Buffer column, bool checked) {
  Shape s{.fold = fold, .column = column.type(), .work = column.type(), .checked = checked};
  if (s.column == Type::U8) s.work = Type::U32;
  if (checked) {
    XLOG_CHECK(s.column == Type::U32 && fold == Fold::Add, "only sums of u32 are checked");
    s.work = Type::U64;
  }
  return s;
}

bool use_tiles(const Library& library, Buffer column) {
  return library.target.groups && !is_float(column.type());
}

}  // namespace

ScanBuffers library_scan(Library& library, PlanBuilder& plan, Fold fold, Buffer column,
                         const ScanOptions& options) {
  const Shape s = shape_of(fold, column, options.checked);
  const bool tiles = use_tiles(library, column);
  const Folded f =
      fold_chunks(library, plan, s, column, tiles,
                  options.only_if_rows ? plan.min(plan.len(column), plan.u32(1)) : plan.u32(1));
  const Value n = plan.len(column);
  const Buffer before = plan.unset_buf(s.column, n);
  plan.launch(tiles ? group_apply(library, s) : serial_apply(library, s),
              {f.chunks.count.id, f.chunks.length.id, n.id, column.id, f.offsets.id, before.id});
  return {before, f.total};
}

Buffer library_reduce(Library& library, PlanBuilder& plan, Fold fold, Buffer column) {
  const Shape s = shape_of(fold, column, false);
  return fold_chunks(library, plan, s, column, use_tiles(library, column), plan.u32(1)).total;
}

Buffer library_varying_bits(Library& library, PlanBuilder& plan, Buffer words) {
  Shape s = shape_of(Fold::Or, words, false);
  s.from_first = true;
  return fold_chunks(library, plan, s, words, use_tiles(library, words), plan.u32(1)).total;
}

}  // namespace xlog::kernel
