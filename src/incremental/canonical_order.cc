#include "incremental/canonical_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "incremental/large_pages.h"

namespace xlog::incremental {
namespace {

using lang::TypeKind;
using lang::Value;

// The keys of a column: numbers below 2^bits, one for each value, in the order of the values.
struct ColumnKeys {
  size_t column = 0;
  // Integers are their own keys, from the least on: (bits ^ flip) - least.
  uint64_t flip = 0, least = 0;
  std::vector<uint64_t> ranks;  // by row, of other values: what the different ones are in order
  int bits = 0;
  int shift = 0;  // where it stands in the key of a row
};

ColumnKeys integer_keys(std::span<const Value> values, size_t column, size_t arity, size_t rows,
                        TypeKind kind) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  ColumnKeys keys{.column = column, .ranks = {}};
  keys.flip = lang::type_class(kind) == lang::TypeClass::Signed ? kSign : 0;
  uint64_t most = 0;
  keys.least = UINT64_MAX;
  for (size_t r = 0; r < rows; ++r) {
    const uint64_t key = values[r * arity + column].bits ^ keys.flip;
    keys.least = std::min(keys.least, key);
    most = std::max(most, key);
  }
  keys.bits = static_cast<int>(std::bit_width(most - keys.least));
  return keys;
}

ColumnKeys rank_keys(std::span<const Value> values, size_t column, size_t arity, size_t rows,
                     const lang::Names& names) {
  ColumnKeys keys{.column = column, .ranks = std::vector<uint64_t>(rows)};
  std::vector<Value> different;
  std::unordered_map<Value, uint64_t> numbers;
  for (size_t r = 0; r < rows; ++r) {
    const Value& value = values[r * arity + column];
    const auto [place, is_new] = numbers.try_emplace(value, different.size());
    if (is_new) different.push_back(value);
    keys.ranks[r] = place->second;
  }
  std::vector<uint64_t> order(different.size()), rank_of(different.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](uint64_t a, uint64_t b) {
    return lang::compare(different[a], different[b], names) < 0;
  });
  for (size_t i = 0; i < order.size(); ++i) rank_of[order[i]] = i;
  for (uint64_t& rank : keys.ranks) rank = rank_of[rank];
  keys.bits = static_cast<int>(std::bit_width(different.size() - 1));
  return keys;
}

struct Keyed {
  uint64_t key;
  uint32_t row;
};

constexpr uint32_t kRowsTogether = 1 << 16;  // that a thread makes keys for
constexpr int kDigitBits = 8;
constexpr size_t kDigits = size_t{1} << kDigitBits;

// Moves rows to where those with their digit stand, and returns where each digit ends.
std::array<size_t, kDigits> spread(std::span<const Keyed> rows, Keyed* to, int shift) {
  std::array<size_t, kDigits> places = {};
  const auto digit = [&](const Keyed& row) { return (row.key >> shift) & (kDigits - 1); };
  for (const Keyed& row : rows) ++places[digit(row)];
  size_t next = 0;
  for (size_t& place : places) next += std::exchange(place, next);
  for (const Keyed& row : rows) to[places[digit(row)]++] = row;
  return places;
}

// Rows whose bits above are the same, by the others from the lowest digit on. The result is in
// `to`.
void sort_by_low_bits(std::span<Keyed> from, std::span<Keyed> to, int bits) {
  constexpr size_t kFew = 128;
  const Keyed* const wanted = to.data();
  if (from.size() < kFew) {
    std::ranges::stable_sort(from, {}, &Keyed::key);
  } else {
    for (int shift = 0; shift < bits; shift += kDigitBits) {
      spread(from, to.data(), shift);
      std::swap(from, to);
    }
  }
  if (from.data() != wanted) std::ranges::copy(from, to.begin());
}

// Stable; keys are below 2^bits. By the highest digit first, so that the rows of each lie near each
// other and are sorted by one thread.
void sort_by_key(LargeVector<Keyed>& rows, int bits, const Parallel& parallel) {
  constexpr size_t kFew = 10'000;
  if (std::ranges::is_sorted(rows, {}, &Keyed::key)) return;
  if (rows.size() < kFew) {
    std::ranges::stable_sort(rows, {}, &Keyed::key);
    return;
  }
  LargeVector<Keyed> spare(rows.size());
  const int low_bits = std::max(0, bits - kDigitBits);
  const std::array<size_t, kDigits> ends = spread(rows, spare.data(), low_bits);
  parallel(kDigits, 1, [&](uint32_t lo, uint32_t hi) {
    for (uint32_t d = lo; d < hi; ++d) {
      const size_t first = d == 0 ? 0 : ends[d - 1], count = ends[d] - first;
      sort_by_low_bits({spare.data() + first, count}, {rows.data() + first, count}, low_bits);
    }
  });
}

}  // namespace

std::vector<uint32_t> canonical_order(std::span<const Value> values,
                                      std::span<const TypeKind> kinds, size_t rows,
                                      const lang::Names& names, const Parallel& parallel) {
  const size_t arity = kinds.size();
  LargeVector<Keyed> order(rows);
  for (uint32_t r = 0; r < rows; ++r) order[r] = {0, r};
  // From the last column to the first, as many at a time as 64 bits hold.
  std::vector<ColumnKeys> together;
  int bits = 0;
  const auto sort_by_columns = [&] {
    parallel(static_cast<uint32_t>(rows), kRowsTogether, [&](uint32_t lo, uint32_t hi) {
      for (Keyed& row : std::span(order).subspan(lo, hi - lo)) {
        row.key = 0;
        for (const ColumnKeys& column : together) {
          const uint64_t key =
              column.ranks.empty()
                  ? (values[row.row * arity + column.column].bits ^ column.flip) - column.least
                  : column.ranks[row.row];
          row.key |= key << column.shift;
        }
      }
    });
    sort_by_key(order, bits, parallel);
    together.clear();
    bits = 0;
  };
  for (size_t c = arity; c-- > 0 && rows > 1;) {
    const bool is_integer = lang::is_integer(kinds[c]) || kinds[c] == TypeKind::Bool;
    ColumnKeys column = is_integer ? integer_keys(values, c, arity, rows, kinds[c])
                                   : rank_keys(values, c, arity, rows, names);
    if (column.bits == 0) continue;
    if (bits + column.bits > 64) sort_by_columns();
    column.shift = bits;
    bits += column.bits;
    together.push_back(std::move(column));
  }
  sort_by_columns();
  std::vector<uint32_t> numbers(rows);
  for (size_t i = 0; i < rows; ++i) numbers[i] = order[i].row;
  return numbers;
}

}  // namespace xlog::incremental
