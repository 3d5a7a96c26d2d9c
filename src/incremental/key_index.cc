#include "incremental/key_index.h"

#include <algorithm>
#include <bit>

namespace xlog::incremental {

static_assert(std::endian::native == std::endian::little);

uint32_t KeyIndex::new_bucket(uint64_t hash, uint32_t row) {
  uint32_t number = static_cast<uint32_t>(buckets_.size());
  if (free_buckets_.empty()) {
    buckets_.emplace_back();
  } else {
    number = free_buckets_.back();
    free_buckets_.pop_back();
  }
  buckets_[number] = {row, hash, 1, 1};
  places_[row] = 0;
  return number;
}

void KeyIndex::free_bucket(uint32_t number) {
  const Bucket& bucket = buckets_[number];
  if (bucket.capacity > 1) {
    free_ranges_[std::bit_width(bucket.capacity)].push_back(bucket.begin);
  }
  free_buckets_.push_back(number);
}

void KeyIndex::append(Bucket& bucket, uint32_t row) {
  if (bucket.size == bucket.capacity) {
    const uint32_t capacity = bucket.capacity * 2;
    const auto width = static_cast<size_t>(std::bit_width(capacity));
    if (free_ranges_.size() <= width) free_ranges_.resize(width + 1);
    uint64_t begin = arena_.size();
    if (free_ranges_[width].empty()) {
      arena_.resize(arena_.size() + capacity);
    } else {
      begin = free_ranges_[width].back();
      free_ranges_[width].pop_back();
    }
    const std::span<const uint32_t> rows = rows_of(bucket);
    std::copy(rows.begin(), rows.end(), arena_.begin() + static_cast<ptrdiff_t>(begin));
    if (bucket.capacity > 1) free_ranges_[width - 1].push_back(bucket.begin);
    bucket.begin = begin;
    bucket.capacity = capacity;
  }
  arena_[bucket.begin + bucket.size] = row;
  places_[row] = bucket.size++;
}

// The last row takes its place.
void KeyIndex::take_out(Bucket& bucket, uint32_t row) {
  const uint32_t last = arena_[bucket.begin + bucket.size - 1];
  arena_[bucket.begin + places_[row]] = last;
  places_[last] = places_[row];
  --bucket.size;
}

void KeyIndex::grow() {
  slots_.assign(std::max<size_t>(slots_.size() * 2, 16), kFree);
  const size_t mask = slots_.size() - 1;
  std::vector<bool> is_free(buckets_.size(), false);
  for (const uint32_t number : free_buckets_) is_free[number] = true;
  for (uint32_t number = 0; number < buckets_.size(); ++number) {
    if (is_free[number]) continue;
    const uint64_t hash = buckets_[number].hash;
    size_t at = hash & mask;
    while (slots_[at] != kFree) at = (at + 1) & mask;
    slots_[at] = (hash & ~uint64_t{UINT32_MAX}) | number;
  }
}

// Entries behind the hole that would no longer be found move up.
void KeyIndex::close_hole(size_t hole) {
  const size_t mask = slots_.size() - 1;
  for (size_t at = (hole + 1) & mask; slots_[at] != kFree; at = (at + 1) & mask) {
    const size_t wanted = buckets_[static_cast<uint32_t>(slots_[at])].hash & mask;
    if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = kFree;
}

}  // namespace xlog::incremental
