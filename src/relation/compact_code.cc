#include "relation/compact_code.h"

#include <algorithm>
#include <bit>

namespace xlog::relation {

using kernel::Buffer;
using kernel::Type;

namespace {

// Of a cell, at least so many bits say how far from its start a row lies; no row lies farther
// away, so that a search that rows were chosen to make long ends soon. With four fifths of
// the cells taken, the farthest of a billion rows lies some nine hundred cells away (Pittel,
// "Linear probing: the probable largest search time grows logarithmically with the number of
// records", 1987).
constexpr uint32_t kDistanceBits = 12;
constexpr uint32_t kMostCells = (1u << kDistanceBits) - 1;  // that a search looks at

// Odd, as they have to be multiplied away again. Those of another attempt have nothing to do with
// them: they are multiplied by powers of an odd number.
constexpr uint64_t kMix1 = 0x9e3779b97f4a7c15;
constexpr uint64_t kMix2 = 0xd1b54a32d192ed03;
constexpr uint64_t kNextMix = 0xbf58476d1ce4e5b9;

struct Place {
  Value start;  // cell
  Value code;   // what the row is there
  Value step;   // to its code one cell later
  Value mask;   // of cell numbers
};

Place place_of(Builder& k, const SetCode& set, const Values& row) {
  const Value half = set.mixing[0];
  const Value mask = set.mixing[1];
  const Value rest = set.mixing[2];
  const Value mix1 = set.mixing[3];
  const Value mix2 = set.mixing[4];
  // Each of these can be undone within n bits.
  Value x = number_of(k, set, row) & mask;
  x = x ^ (x >> half);
  x = (x * mix1) & mask;
  x = x ^ (x >> half);
  x = (x * mix2) & mask;
  x = x ^ (x >> half);
  const Value bits = k.cast(Type::U32, rest);
  const Value step = k.u32(1) << bits;
  const Value code = (k.cast(Type::U32, x) & (step - 1)) | step;
  return {k.cast(Type::U32, x >> rest), code, step, k.len(set.cells) - 2};
}

}  // namespace

std::optional<std::vector<uint64_t>> compact_mixing(const std::vector<uint64_t>& sizes,
                                                    uint64_t cells, uint64_t attempt) {
  const auto cell_bits = static_cast<uint32_t>(std::countr_zero(cells));
  uint64_t rows = 1;
  for (uint64_t size : sizes) {
    if (size == 0 || size > (uint64_t{1} << 63) / rows) return std::nullopt;
    rows *= size;
  }
  const uint32_t bits = std::max({static_cast<uint32_t>(std::bit_width(rows - 1)), cell_bits, 2u});
  const uint32_t rest = bits - cell_bits;
  if (rest > 32 - kDistanceBits || bits > 62) return std::nullopt;
  uint64_t mix1 = kMix1, mix2 = kMix2;
  for (uint64_t i = 0; i < attempt; ++i) {
    mix1 *= kNextMix;
    mix2 *= mix1;
  }
  return std::vector<uint64_t>{(bits + 1) / 2, (uint64_t{1} << bits) - 1, rest, mix1, mix2};
}

// Cells are looked at one after another until one is done, or no row can lie farther away.
Value find_compact(Builder& k, const SetCode& set, const Values& row) {
  const Place place = place_of(k, set, row);
  return k.loop(k.u32(kMostCells), k.boolean(true), {place.start, place.code, k.boolean(false)},
                [&](Value t, const Values& at) -> std::pair<Value, Values> {
                  const Value here = set.cells[at[0]];
                  const Value same = here == at[1];
                  const Value more = (!(same | (here == 0))) & (t + 1 < kMostCells);
                  return {more, {(at[0] + 1) & place.mask, at[1] + place.step, same}};
                })[2];
}

void prefetch_compact(Builder& k, const SetCode& set, const Values& row) {
  k.prefetch(set.cells, place_of(k, set, row).start);
}

Value claim_compact(Builder& k, const SetCode& set, const Values& row) {
  const Place place = place_of(k, set, row);
  const Value zero = k.u32(0);
  const Buffer held = k.private_array(Type::U32, 1);
  const Buffer claimed = k.private_array(Type::Bool, 1);
  k.store(claimed, zero, k.boolean(false));
  const Values end =
      k.loop(k.u32(kMostCells), k.boolean(true), {place.start, place.code, k.boolean(false)},
             [&](Value t, const Values& at) -> std::pair<Value, Values> {
               k.store(held, zero, set.cells[at[0]]);
               k.if_then(held[zero] == 0, [&] {
                 const Value old = k.cas(set.cells, at[0], zero, at[1]);
                 k.store(claimed, zero, old == 0);
                 k.store(held, zero, k.select(old == 0, at[1], old));
               });
               const Value there = held[zero] == at[1];
               const Value more = (!there) & (t + 1 < kMostCells);
               return {more, {(at[0] + 1) & place.mask, at[1] + place.step, there}};
             });
  k.if_then(!end[2], [&] { k.atomic(kernel::Fold::Or, set.cells, place.mask + 1, k.u32(1)); });
  return claimed[zero];
}

}  // namespace xlog::relation
