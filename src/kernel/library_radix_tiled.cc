// The tiled radix pass, for GPUs: a group of lanes counts its tile with local atomics, and before
// it writes sorts the tile by the digit in local memory, so that equal digits leave as one run of
// neighbouring addresses. The local sort is four stable splits by two bits; one scan of a u64 with
// four 16-bit counters places the rows of all four values at once.
#include <fmt/format.h>

#include "kernel/library_radix.h"

namespace xlog::kernel {

namespace {

// Four counters of 16 bits: each lane adds one where its rows' two bits say.
constexpr uint32_t kCounterBits = 16;
static_assert(kTile < (1u << kCounterBits));
// t * kPrefix adds up the counters below each counter of t.
constexpr uint64_t kPrefix = 0x0001000100010000;

Id count_kernel(Library& library, Type type) {
  return library.kernel(
      fmt::format("radix_tile_count_{}", spelling(type)),
      [&](KernelBuilder& k) {
        const Value tiles = k.val(Type::U32, "tiles");
        const Value n = k.val(Type::U32, "n");
        const Value shift = k.val(Type::U32, "shift");
        const Buffer words = k.in(type, "words");
        const Buffer counts = k.out(Type::U32, "counts");
        const Value g = k.group(tiles);
        const Value lane = k.lane();
        const Buffer counters = k.local(Type::U32, kDigits);
        k.store(counters, lane, k.u32(0));
        k.barrier();
        for (uint32_t j = 0; j < kTileItems; ++j) {
          const Value r = g * kTile + lane + k.u32(j * kTileLanes);
          k.if_then(r < n,
                    [&] { k.atomic(Fold::Add, counters, digit_of(k, words[r], shift), k.u32(1)); });
        }
        k.barrier();
        k.store(counts, lane * tiles + g, counters[lane]);
      },
      kTileLanes);
}

// Sorts the tile in `words` and `rows` (local) by the two bits at `shift` of the digit.
void split(KernelBuilder& k, Buffer words, Buffer rows, Value shift) {
  const Value first = k.lane() * kTileItems;
  Values word, row, at;
  Value mine = k.number(Type::U64, 0);
  const Value one = k.number(Type::U64, 1);
  for (uint32_t j = 0; j < kTileItems; ++j) {
    word.push_back(words[first + j]);
    row.push_back(rows[first + j]);
    const Value bits = k.cast(Type::U64, word[j] >> k.cast(word[j].type(), shift)) & 3;
    at.push_back(bits * kCounterBits);
    mine = mine + (one << at[j]);
  }
  const Value before = k.gscan(Fold::Add, mine);
  const Value all = k.greduce(Fold::Add, mine);
  Value place = before + all * k.constant(Scalar::u64(kPrefix));
  k.barrier();  // everybody has read the tile before anybody writes it
  for (uint32_t j = 0; j < kTileItems; ++j) {
    const Value to = k.cast(Type::U32, place >> at[j]) & ((1u << kCounterBits) - 1);
    place = place + (one << at[j]);
    k.store(words, to, word[j]);
    k.store(rows, to, row[j]);
  }
  k.barrier();
}

Id scatter_kernel(Library& library, Type type) {
  return library.kernel(
      fmt::format("radix_tile_scatter_{}", spelling(type)),
      [&](KernelBuilder& k) {
        const Value tiles = k.val(Type::U32, "tiles");
        const Value n = k.val(Type::U32, "n");
        const Value shift = k.val(Type::U32, "shift");
        const Buffer words = k.in(type, "words");
        const Buffer rows = k.in(Type::U32, "rows");
        const Buffer starts = k.in(Type::U32, "starts");
        const Buffer to_words = k.out(type, "to_words");
        const Buffer to_rows = k.out(Type::U32, "to_rows");
        const Value g = k.group(tiles);
        const Value lane = k.lane();
        const Value base = g * kTile;
        const Value size = k.min(k.u32(kTile), n - base);
        const Buffer tile_words = k.local(type, kTile);
        const Buffer tile_rows = k.local(Type::U32, kTile);
        // Past the end: the greatest digit, and behind all real rows of that digit.
        const Value greatest = k.constant({type, mask_of(type)});
        for (uint32_t j = 0; j < kTileItems; ++j) {
          const Value r = lane + k.u32(j * kTileLanes);
          k.if_then(
              r < size,
              [&] {
                k.store(tile_words, r, words[base + r]);
                k.store(tile_rows, r, rows[base + r]);
              },
              [&] {
                k.store(tile_words, r, greatest);
                k.store(tile_rows, r, k.u32(0));
              });
        }
        k.barrier();
        for (uint32_t bits = 0; bits < 8; bits += 2) split(k, tile_words, tile_rows, shift + bits);
        // Where the run of each digit starts in the tile: one writer for each digit.
        const Buffer run = k.local(Type::U32, kDigits);
        for (uint32_t j = 0; j < kTileItems; ++j) {
          const Value r = lane + k.u32(j * kTileLanes);
          const Value d = digit_of(k, tile_words[r], shift);
          const Value left = digit_of(k, tile_words[k.select(r == 0, r, r - 1)], shift);
          k.if_then((r == 0) | (d != left), [&] { k.store(run, d, r); });
        }
        k.barrier();
        for (uint32_t j = 0; j < kTileItems; ++j) {
          const Value r = lane + k.u32(j * kTileLanes);
          k.if_then(r < size, [&] {
            const Value word = tile_words[r];
            const Value d = digit_of(k, word, shift);
            const Value to = starts[d * tiles + g] + (r - run[d]);
            k.store(to_words, to, word);
            k.store(to_rows, to, tile_rows[r]);
          });
        }
      },
      kTileLanes);
}

}  // namespace

void radix_pass_tiled(Library& library, PlanBuilder& plan, const RadixPass& pass) {
  const Type type = pass.words.type();
  const Value tiles = divide_up(pass.n, kTile);
  const Buffer counts = plan.unset_buf(Type::U32, tiles * kDigits);
  plan.launch(count_kernel(library, type),
              {tiles.id, pass.n.id, pass.shift.id, pass.words.id, counts.id});
  const Buffer starts =
      library_scan(library, plan, Fold::Add, counts, {.only_if_rows = true}).before;
  plan.launch(scatter_kernel(library, type),
              {tiles.id, pass.n.id, pass.shift.id, pass.words.id, pass.rows.id, starts.id,
               pass.to_words.id, pass.to_rows.id});
}

}  // namespace xlog::kernel
