// Many new rows at once, written by all who take part. Slots stand in the order of hashes, so rows
// whose hashes begin alike have slots beside each other: each range of them is written by one, and
// only what would run over its end waits until all are done. Rows get the numbers that they would
// have got one after another.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "incremental/table.h"

namespace xlog::incremental {

namespace {

constexpr uint32_t kRanges = 64;
constexpr uint32_t kPiece = 4'096;  // rows, by one thread

uint32_t range_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 58); }

// The rows that are not there, by the range of their hashes, and in order in each.
struct Missing {
  LargeVector<uint32_t> rows;
  uint32_t starts[kRanges + 1];

  std::span<const uint32_t> of(uint32_t range) const {
    return std::span(rows).subspan(starts[range], starts[range + 1] - starts[range]);
  }
};

Missing find_missing(uint32_t count, const uint64_t* hashes, const uint32_t* found,
                     const Parallel& parallel) {
  const uint32_t pieces = (count + kPiece - 1) / kPiece;
  std::vector<uint32_t> counts(size_t{pieces} * kRanges, 0);
  const auto each = [&](const auto& visit) {
    parallel(count, kPiece, [&](uint32_t lo, uint32_t hi) {
      uint32_t* of_piece = counts.data() + size_t{lo / kPiece} * kRanges;
      for (uint32_t i = lo; i < hi; ++i) {
        if (found[i] == kNoRow) visit(i, of_piece[range_of(hashes[i])]);
      }
    });
  };
  each([](uint32_t, uint32_t& so_far) { ++so_far; });
  Missing missing;
  uint32_t sum = 0;
  for (uint32_t range = 0; range < kRanges; ++range) {
    missing.starts[range] = sum;
    for (uint32_t piece = 0; piece < pieces; ++piece) {
      uint32_t& at = counts[size_t{piece} * kRanges + range];
      sum += std::exchange(at, sum);
    }
  }
  missing.starts[kRanges] = sum;
  missing.rows = LargeVector<uint32_t>(sum);
  each([&](uint32_t i, uint32_t& at) { missing.rows[at++] = i; });
  return missing;
}

}  // namespace

void Table::add_missing(const uint64_t* cells, uint32_t count, const uint64_t* hashes,
                        uint32_t* found, const Parallel& parallel) {
  const Missing missing = find_missing(count, hashes, found, parallel);
  if (missing.rows.empty()) return;
  const auto each_range = [&](const auto& visit) {
    parallel(kRanges, 1, [&](uint32_t lo, uint32_t hi) {
      for (uint32_t range = lo; range < hi; ++range) visit(range);
    });
  };

  // Of equal rows, the first one is added.
  LargeVector<uint32_t> first(count);
  each_range([&](uint32_t range) {
    const std::span<const uint32_t> rows = missing.of(range);
    size_t size = 1;
    while (size < 2 * rows.size()) size *= 2;
    std::vector<uint32_t> met(size, kNoRow);
    for (const uint32_t i : rows) {
      const uint64_t* own = cells + size_t{i} * arity_;
      size_t at = hashes[i] & (size - 1);
      for (; met[at] != kNoRow; at = (at + 1) & (size - 1)) {
        if (hashes[met[at]] != hashes[i]) continue;
        if (std::equal(own, own + arity_, cells + size_t{met[at]} * arity_)) break;
      }
      if (met[at] == kNoRow) met[at] = i;
      first[i] = met[at];
    }
  });
  const auto is_added = [&](uint32_t i) { return found[i] == kNoRow && first[i] == i; };
  std::vector<uint32_t> starts((count + kPiece - 1) / kPiece);
  parallel(count, kPiece, [&](uint32_t lo, uint32_t hi) {
    uint32_t here = 0;
    for (uint32_t i = lo; i < hi; ++i) here += is_added(i) ? 1 : 0;
    starts[lo / kPiece] = here;
  });
  uint32_t added = 0;
  for (uint32_t& start : starts) added += std::exchange(start, added);

  // Numbers that are free come first, from behind.
  const auto reused = static_cast<uint32_t>(std::min<size_t>(free_.size(), added));
  XLOG_CHECK(added - reused < kNoRow - end_, "a table has fewer than 2^32 rows");
  LargeVector<uint32_t> numbers(added), number_of(count);
  while (!slots_.make_room(slots_.size() + added, kSlotsPerPart)) {
  }
  words_.resize(size_t{end_ + added - reused} * stride_);
  const uint32_t end_before = std::exchange(end_, end_ + added - reused);
  parallel(count, kPiece, [&](uint32_t lo, uint32_t hi) {
    uint32_t at = starts[lo / kPiece];
    for (uint32_t i = lo; i < hi; ++i) {
      if (!is_added(i)) continue;
      const uint32_t r = at < reused ? free_[free_.size() - 1 - at] : end_before + (at - reused);
      write(r, cells + size_t{i} * arity_);
      numbers[at++] = number_of[i] = r;
    }
  });
  free_.resize(free_.size() - reused);

  std::vector<std::vector<uint32_t>> late(kRanges);
  each_range([&](uint32_t range) {
    for (const uint32_t i : missing.of(range)) {
      found[i] = number_of[first[i]];
      if (first[i] == i && !slots_.put_in_range(hashes[i], found[i], range, kRanges)) {
        late[range].push_back(i);
      }
    }
  });
  for (const std::vector<uint32_t>& rows : late) {
    for (const uint32_t i : rows) slots_.put_late(hashes[i], found[i]);
  }
  slots_.note_added(added);
  for (size_t begin = 0; begin < added && !indexes_.empty(); begin += kBlock) {
    link_all(std::span(numbers).subspan(begin, std::min<size_t>(kBlock, added - begin)));
  }
}

}  // namespace xlog::incremental
