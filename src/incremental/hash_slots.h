// Numbers by hash, for who can tell whether a number is the one that is looked for. A slot holds a
// number and the upper half of its hash, from which alone its place follows: to grow, or to close
// the hole that one leaves, nothing but slots is read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "incremental/large_pages.h"

namespace xlog::incremental {

class HashSlots {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  template <typename Same>
  uint32_t find(uint64_t hash, const Same& same) const {
    if (slots_.empty()) return kNone;
    for (size_t at = place(hash); slots_[at] != kFree; at = next(at)) {
      if ((slots_[at] ^ hash) >> 32 != 0) continue;
      const auto number = static_cast<uint32_t>(slots_[at]);
      if (same(number)) return number;
    }
    return kNone;
  }
  // What find() will look at first.
  uint32_t likely(uint64_t hash) const {
    return find(hash, [](uint32_t) { return true; });
  }
  void prefetch(uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[place(hash)]);
  }
  void prefetch_to_write(uint64_t hash) const {  // others may have read it
    if (!slots_.empty()) __builtin_prefetch(&slots_[place(hash)], 1);
  }

  void add(uint64_t hash, uint32_t number) {
    if ((used_ + 1) * 4 > slots_.size() * 3) {
      move_to(LargeVector<uint64_t>(std::max(slots_.size() * 2, kLeast), kFree));
    }
    put((hash & ~uint64_t{UINT32_MAX}) | number);
    ++used_;
  }

  // Many at once, in room that is made: several threads, each for one of `ranges` equal ranges of
  // hashes. False where it would run over the end of its range; put_late() has those, once all
  // threads are done, and note_added() counts all of them.
  bool put_in_range(uint64_t hash, uint32_t number, uint32_t range, uint32_t ranges) {
    const size_t end = slots_.size() / ranges * (range + 1);
    size_t at = place(hash);
    while (at < end && slots_[at] != kFree) ++at;
    if (at >= end) return false;
    slots_[at] = (hash & ~uint64_t{UINT32_MAX}) | number;
    return true;
  }
  void put_late(uint64_t hash, uint32_t number) { put((hash & ~uint64_t{UINT32_MAX}) | number); }
  void note_added(size_t count) { used_ += count; }

  // One that is there.
  void remove(uint64_t hash, uint32_t number) {
    size_t hole = place(hash);
    while (slots_[hole] == kFree || static_cast<uint32_t>(slots_[hole]) != number) {
      hole = next(hole);
    }
    // Entries behind the hole that would no longer be found move up.
    const size_t mask = slots_.size() - 1;
    for (size_t at = next(hole); slots_[at] != kFree; at = next(at)) {
      if (((at - place(slots_[at])) & mask) < ((at - hole) & mask)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = kFree;
    --used_;
  }

  // Removes all numbers that are gone: costs a look at each slot, one after another.
  template <typename Gone>
  void remove_if(const Gone& gone) {
    LargeVector<uint64_t> before(slots_.size(), kFree);
    before.swap(slots_);
    used_ = 0;
    for (const uint64_t slot : before) {
      if (slot == kFree || gone(static_cast<uint32_t>(slot))) continue;
      put(slot);
      ++used_;
    }
  }

  // Makes room for `count` numbers, `part` slots each time. True: it is made.
  bool make_room(size_t count, size_t part) {
    size_t slots = kLeast;
    while (slots * 3 < count * 4) slots *= 2;
    if (slots <= slots_.size()) return true;
    if (room_.size() != slots) {
      room_ = LargeVector<uint64_t>(slots);
      made_ = 0;
    }
    const size_t end = std::min(slots, made_ + part);
    std::fill(room_.begin() + static_cast<ptrdiff_t>(made_),
              room_.begin() + static_cast<ptrdiff_t>(end), kFree);
    made_ = end;
    if (made_ < slots) return false;
    move_to(std::exchange(room_, {}));
    return true;
  }

  size_t size() const { return used_; }
  uint64_t bytes() const { return slots_.capacity() * sizeof(uint64_t); }

 private:
  static constexpr uint64_t kFree = UINT64_MAX;
  static constexpr size_t kLeast = 16;

  size_t place(uint64_t hash) const { return ((hash >> 32) * slots_.size()) >> 32; }
  size_t next(size_t at) const { return (at + 1) & (slots_.size() - 1); }

  void put(uint64_t slot) {
    size_t at = place(slot);
    while (slots_[at] != kFree) at = next(at);
    slots_[at] = slot;
  }

  // Slots stand in the order of their hashes, nearly: they are read and written one after another.
  void move_to(LargeVector<uint64_t> larger) {
    larger.swap(slots_);
    for (const uint64_t slot : larger) {
      if (slot != kFree) put(slot);
    }
  }

  LargeVector<uint64_t> slots_;
  size_t used_ = 0;
  LargeVector<uint64_t> room_;  // that is made, to take the place of `slots_`
  size_t made_ = 0;
};

}  // namespace xlog::incremental
