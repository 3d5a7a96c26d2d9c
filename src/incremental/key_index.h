// Rows by the values of some columns. The rows of a key stand side by side in one array, so that
// they can be fetched ahead; a row knows its place there, so that it can leave in a moment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace xlog::incremental {

class KeyIndex {
 public:
  // A key is given by its hash and a test whether a row has it.
  template <typename Same>
  std::span<const uint32_t> find(uint64_t hash, const Same& same) const {
    if (slots_.empty()) return {};
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask; slots_[at] != kFree; at = (at + 1) & mask) {
      if ((slots_[at] ^ hash) >> 32 != 0) continue;
      const Bucket& bucket = buckets_[static_cast<uint32_t>(slots_[at])];
      const std::span<const uint32_t> rows = rows_of(bucket);
      if (same(rows[0])) return rows;
    }
    return {};
  }

  template <typename Same>
  void add(uint64_t hash, uint32_t row, const Same& same) {
    if (places_.size() <= row) places_.resize(row + 1);
    if ((keys_ + 1) * 4 > slots_.size() * 3) grow();
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    for (; slots_[at] != kFree; at = (at + 1) & mask) {
      if ((slots_[at] ^ hash) >> 32 != 0) continue;
      Bucket& bucket = buckets_[static_cast<uint32_t>(slots_[at])];
      if (same(rows_of(bucket)[0])) return append(bucket, row);
    }
    slots_[at] = (hash & ~uint64_t{UINT32_MAX}) | new_bucket(hash, row);
    ++keys_;
  }

  template <typename Same>
  void remove(uint64_t hash, uint32_t row, const Same& same) {
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      if ((slots_[at] ^ hash) >> 32 != 0 || slots_[at] == kFree) continue;
      const auto number = static_cast<uint32_t>(slots_[at]);
      if (!same(rows_of(buckets_[number])[0])) continue;
      if (buckets_[number].size > 1) return take_out(buckets_[number], row);
      free_bucket(number);
      close_hole(at);
      --keys_;
      return;
    }
  }

  uint64_t bytes() const {
    return slots_.capacity() * 8 + buckets_.capacity() * sizeof(Bucket) +
           (arena_.capacity() + places_.capacity()) * 4;
  }

 private:
  static constexpr uint64_t kFree = UINT64_MAX;

  struct Bucket {
    uint64_t begin = 0;  // in the arena; the row itself while there is only one
    uint64_t hash = 0;
    uint32_t size = 0;
    uint32_t capacity = 1;  // a power of two
  };

  std::span<const uint32_t> rows_of(const Bucket& bucket) const {
    if (bucket.capacity == 1) {
      // The low half comes first in memory.
      return {reinterpret_cast<const uint32_t*>(&bucket.begin), 1};
    }
    return {arena_.data() + bucket.begin, bucket.size};
  }

  uint32_t new_bucket(uint64_t hash, uint32_t row);
  void free_bucket(uint32_t number);
  void append(Bucket& bucket, uint32_t row);
  void take_out(Bucket& bucket, uint32_t row);
  void grow();
  void close_hole(size_t hole);

  std::vector<uint64_t> slots_;  // bucket numbers by hash, with more of the hash in the high half
  std::vector<Bucket> buckets_;
  std::vector<uint32_t> free_buckets_;
  std::vector<uint32_t> arena_;
  std::vector<std::vector<uint64_t>> free_ranges_;  // by logarithm of their size
  std::vector<uint32_t> places_;                    // by row: where in its bucket
  size_t keys_ = 0;
};

}  // namespace xlog::incremental
