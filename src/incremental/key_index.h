// Rows by the values of some columns. The rows of a key stand side by side in one array, so that
// they can be fetched ahead; a row knows its place there, so that it can leave in a moment.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "incremental/hash_slots.h"

namespace xlog::incremental {

class KeyIndex {
 public:
  // A key is given by its hash and a test whether a row has it.
  template <typename Same>
  std::span<const uint32_t> find(uint64_t hash, const Same& same) const {
    const uint32_t number = bucket_of(hash, same);
    if (number == HashSlots::kNone) return {};
    return rows_of(buckets_[number]);
  }

  template <typename Same>
  void add(uint64_t hash, uint32_t row, const Same& same) {
    if (places_.size() <= row) places_.resize(row + 1);
    const uint32_t number = bucket_of(hash, same);
    if (number != HashSlots::kNone) return append(buckets_[number], row);
    slots_.add(hash, new_bucket(row));
  }

  void remove(uint64_t hash, uint32_t row);

  // Room for so many rows, so that what is there is not copied on the way to them. Each time when
  // those of a key double they move, so that in all they may pass through four times the room.
  void reserve(size_t rows) {
    places_.reserve(rows);
    arena_.reserve(4 * rows);
  }

  // Soon a row is added: first its slot is fetched, then what else is read and written. Gives a row
  // that it will be compared with, or kNone.
  void prefetch_slot(uint64_t hash) const { slots_.prefetch(hash); }
  uint32_t prefetch_bucket(uint64_t hash) const {
    const uint32_t number = slots_.likely(hash);
    if (number == HashSlots::kNone) return number;
    const Bucket& bucket = buckets_[number];
    if (bucket.capacity > 1) __builtin_prefetch(arena_.data() + bucket.begin + bucket.size);
    return rows_of(bucket)[0];
  }

  // Soon a row is removed.
  void prefetch(uint64_t hash, uint32_t row) const {
    slots_.prefetch(hash);
    __builtin_prefetch(&places_[row]);
  }

  uint64_t bytes() const {
    return slots_.bytes() + buckets_.capacity() * sizeof(Bucket) +
           (arena_.capacity() + places_.capacity()) * sizeof(uint32_t);
  }

 private:
  struct Bucket {
    uint64_t begin = 0;  // in the arena; the row itself while there is room for one only
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
  template <typename Same>
  uint32_t bucket_of(uint64_t hash, const Same& same) const {
    return slots_.find(hash, [&](uint32_t number) { return same(rows_of(buckets_[number])[0]); });
  }

  uint32_t new_bucket(uint32_t row);
  void free_bucket(uint32_t number);
  void append(Bucket& bucket, uint32_t row);
  void take_out(Bucket& bucket, uint32_t row);

  HashSlots slots_;  // of buckets
  LargeVector<Bucket> buckets_;
  std::vector<uint32_t> free_buckets_;
  LargeVector<uint32_t> arena_;
  std::vector<std::vector<uint64_t>> free_ranges_;  // by logarithm of their size
  LargeVector<uint32_t> places_;                    // by row: where in its bucket
};

}  // namespace xlog::incremental
