// The tiled kernels of the radix pass, for GPUs: a group counts the digits of its chunk with local
// atomics, then walks the chunk tile by tile. Before it writes a tile it finds in local memory how
// the rows stand sorted by the digit, so that equal digits leave as one run of neighbouring
// addresses. What is sorted are items of 32 bits, the digit above the place in the tile: four
// stable splits by two bits, where one scan of a u64 with four 16-bit counters places the items of
// all four values at once.
#include "kernel/library_radix.h"

namespace xlog::kernel {

namespace {

constexpr uint32_t kLanes = 256;

// How a group walks its rows. Rows that carry their numbers along take larger tiles: the longer the
// runs, the fewer lines of memory are open for writing at a time, and those have to fit the cache.
// The words of a small tile fit local memory; those of a large one are read again.
struct TileShape {
  uint32_t items;  // of a lane
  bool keeps_words;

  uint32_t rows() const { return kLanes * items; }
  // Items have a gap after those of each lane: lanes that walk consecutive ones meet different
  // memory banks.
  uint32_t cells() const { return rows() + kLanes; }
  Value cell(Value r) const { return r + r / items; }
};
constexpr TileShape kAlone = {8, true}, kWithRows = {16, false};

// Four counters of 16 bits: each lane adds one where its rows' two bits say.
constexpr uint32_t kCounterBits = 16;
static_assert(kLanes * kWithRows.items < (1u << kCounterBits));
// t * kPrefix adds up the counters below each counter of t.
constexpr uint64_t kPrefix = 0x0001000100010000;

// The lanes of a group share the digits.
void for_each_digit(KernelBuilder& k, const std::function<void(Value d)>& body) {
  static_assert(kDigits % kLanes == 0);
  for (uint32_t d = 0; d < kDigits; d += kLanes) body(k.lane() + d);
}

Id count_kernel(Library& library, Type type) {
  return library.kernel(
      radix_name("tile_count", type),
      [&](KernelBuilder& k) {
        const CountParams p(k, type);
        const Value g = k.group(p.chunks.count);
        const Value lane = k.lane();
        const Range rows = p.chunks.range(k, g);
        const Buffer counters = k.local(Type::U32, kDigits);
        for_each_digit(k, [&](Value d) { k.store(counters, d, k.u32(0)); });
        k.barrier();
        k.for_range(k.u32(0), divide_up(rows.hi - rows.lo, kAlone.rows()), [&](Value t) {
          const Value base = rows.lo + t * kAlone.rows();
          for (uint32_t j = 0; j < kAlone.items; ++j) {
            const Value r = lane + k.u32(j * kLanes);
            k.if_then(r < rows.hi - base, [&] {
              k.atomic(Fold::Add, counters, digit_of(k, p.words[base + r], p.shift), k.u32(1));
            });
          }
        });
        k.barrier();
        for_each_digit(k, [&](Value d) { k.store(p.counts, d * p.chunks.count + g, counters[d]); });
      },
      kLanes);
}

constexpr uint32_t kDigitShift = 16;  // of an item; below stands the place in the tile
static_assert(kLanes * kWithRows.items <= (1u << kDigitShift));

// Sorts the items by the two bits at `shift`.
void split(KernelBuilder& k, const TileShape& shape, Buffer items, uint32_t shift) {
  const Value first = k.lane() * shape.items;
  Values item, at;
  Value mine = k.number(Type::U64, 0);
  const Value one = k.number(Type::U64, 1);
  for (uint32_t j = 0; j < shape.items; ++j) {
    item.push_back(items[shape.cell(first + j)]);
    at.push_back(k.cast(Type::U64, ((item[j] >> shift) & 3) * kCounterBits));
    mine = mine + (one << at[j]);
  }
  // The collectives are a barrier too: everybody has read the items before anybody writes them.
  const Value before = k.gscan(Fold::Add, mine);
  const Value all = k.greduce(Fold::Add, mine);
  Value place = before + all * k.constant(Scalar::u64(kPrefix));
  for (uint32_t j = 0; j < shape.items; ++j) {
    const Value to = k.cast(Type::U32, place >> at[j]) & ((1u << kCounterBits) - 1);
    place = place + (one << at[j]);
    k.store(items, shape.cell(to), item[j]);
  }
  k.barrier();
}

Id scatter_kernel(Library& library, Type type, const TileShape& shape, RowNumbers numbers) {
  return library.kernel(
      radix_name("tile_scatter", type, numbers),
      [&](KernelBuilder& k) {
        const ScatterParams p(k, type, numbers);
        const Value g = k.group(p.chunks.count);
        const Value lane = k.lane();
        const Range range = p.chunks.range(k, g);
        std::optional<Buffer> tile;
        if (shape.keeps_words) tile = k.local(type, shape.rows());
        const Buffer items = k.local(Type::U32, shape.cells());
        // For each digit: where its next row goes; where its run begins and ends in the tile.
        const Buffer next = k.local(Type::U32, kDigits);
        const Buffer begin = k.local(Type::U32, kDigits), end = k.local(Type::U32, kDigits);
        for_each_digit(k, [&](Value d) {
          k.store(next, d, p.starts[d * p.chunks.count + g]);
          k.store(begin, d, k.u32(0));
          k.store(end, d, k.u32(0));
        });
        k.for_range(k.u32(0), divide_up(range.hi - range.lo, shape.rows()), [&](Value t) {
          const Value base = range.lo + t * shape.rows();
          const Value size = k.min(k.u32(shape.rows()), range.hi - base);
          for (uint32_t j = 0; j < shape.items; ++j) {
            const Value r = lane + k.u32(j * kLanes);
            k.if_then(
                r < size,
                [&] {
                  const Value word = p.words[base + r];
                  if (tile) k.store(*tile, r, word);
                  k.store(items, shape.cell(r), digit_of(k, word, p.shift) << kDigitShift | r);
                },
                // Past the end: the greatest digit, and behind all real rows of that digit.
                [&] { k.store(items, shape.cell(r), k.u32((kDigits - 1) << kDigitShift) | r); });
          }
          k.barrier();
          for (uint32_t bits = 0; bits < 8; bits += 2) split(k, shape, items, kDigitShift + bits);
          Values item;
          auto digit_at = [&](Value r) { return items[shape.cell(r)] >> kDigitShift; };
          for (uint32_t j = 0; j < shape.items; ++j) {
            const Value r = lane + k.u32(j * kLanes);
            item.push_back(items[shape.cell(r)]);
            const Value d = item[j] >> kDigitShift;
            const Value first = (r == 0) | (d != digit_at(k.select(r == 0, r, r - 1)));
            const Value last =
                (r + 1 == size) | (d != digit_at(k.min(r + 1, k.u32(shape.rows() - 1))));
            k.if_then((r < size) & first, [&] { k.store(begin, d, r); });
            k.if_then((r < size) & last, [&] { k.store(end, d, r + 1); });
          }
          k.barrier();
          for (uint32_t j = 0; j < shape.items; ++j) {
            const Value r = lane + k.u32(j * kLanes);
            k.if_then(r < size, [&] {
              const Value d = item[j] >> kDigitShift;
              const Value from = item[j] & ((1u << kDigitShift) - 1);
              const Value to = next[d] + (r - begin[d]);
              p.move(k, base + from, tile ? (*tile)[from] : p.words[base + from], to);
            });
          }
          k.barrier();
          for_each_digit(k, [&](Value d) {
            k.store(next, d, next[d] + (end[d] - begin[d]));
            k.store(begin, d, k.u32(0));
            k.store(end, d, k.u32(0));
          });
        });
      },
      kLanes);
}

}  // namespace

RadixKernels radix_tiled(Library& library, PlanBuilder& plan, Type type, RowNumbers rows, Value n) {
  constexpr uint32_t kMostTiles = 16;  // of a chunk: enough to make the counts a small part
  const TileShape shape = rows == RowNumbers::None ? kAlone : kWithRows;
  return {tile_chunks(plan, n, shape.rows(), kMostTiles), count_kernel(library, type),
          scatter_kernel(library, type, shape, rows)};
}

}  // namespace xlog::kernel
