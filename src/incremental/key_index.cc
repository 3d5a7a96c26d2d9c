#include "incremental/key_index.h"

#include <algorithm>
#include <bit>

namespace xlog::incremental {

static_assert(std::endian::native == std::endian::little);

void KeyIndex::remove(uint64_t hash, uint32_t row) {
  // Its place tells its bucket from others, without a look at their rows.
  const uint32_t place = places_[row];
  const uint32_t number = slots_.find(hash, [&](uint32_t n) {
    return place < buckets_[n].size && rows_of(buckets_[n])[place] == row;
  });
  if (buckets_[number].size > 1) return take_out(buckets_[number], row);
  free_bucket(number);
  slots_.remove(hash, number);
}

uint32_t KeyIndex::new_bucket(uint32_t row) {
  uint32_t number = static_cast<uint32_t>(buckets_.size());
  if (free_buckets_.empty()) {
    buckets_.emplace_back();
  } else {
    number = free_buckets_.back();
    free_buckets_.pop_back();
  }
  buckets_[number] = {row, 1, 1};
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

}  // namespace xlog::incremental
