// Rows of one predicate in 64-bit cells, for changes that are small beside it: every row keeps its
// number while it is there, and to find, add or take away one costs the same however many there
// are.
//
// While a batch is worked in, a row may be part of the state before a step, of the state after it,
// or of both; what a step sees is chosen by these flags, so nothing is copied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "incremental/key_index.h"

namespace xlog::incremental {

inline constexpr uint32_t kNoRow = UINT32_MAX;

// Flags of a row.
inline constexpr uint8_t kOld = 1;        // was there before the step
inline constexpr uint8_t kNew = 2;        // is there after it
inline constexpr uint8_t kUsed = 4;       // the number is taken
inline constexpr uint8_t kTouched = 8;    // its weight has changed in this batch
inline constexpr uint8_t kWasThere = 16;  // when it was touched first
inline constexpr uint8_t kPending = 32;   // derived in this round: there from the next one on

namespace hashing {

inline constexpr uint64_t kSeed = 0x9E3779B97F4A7C15u;

inline uint64_t mix(uint64_t h, uint64_t cell) {
  h = (h ^ cell) * 0xD6E8FEB86659FD93u;
  return h ^ (h >> 32);
}

inline uint64_t finish(uint64_t h) {
  h *= 0x9FB21C651E98DF25u;
  return h ^ (h >> 32);
}

}  // namespace hashing

inline uint64_t hash_cells(const uint64_t* cells, size_t count) {
  uint64_t h = hashing::kSeed;
  for (size_t i = 0; i < count; ++i) h = hashing::mix(h, cells[i]);
  return hashing::finish(h);
}

class Table {
 public:
  explicit Table(uint32_t arity, bool supported = false)
      : arity_(arity), supported_(supported), stride_(arity + kHeadWords) {}

  uint32_t arity() const { return arity_; }
  uint32_t end() const { return end_; }  // of row numbers
  uint64_t old_rows() const { return old_rows_; }
  uint64_t new_rows() const { return new_rows_; }
  uint64_t bytes() const;

  const uint64_t* row(uint32_t r) const { return head(r) + kHeadWords; }
  uint8_t flags(uint32_t r) const { return static_cast<uint8_t>(head(r)[kFlagsWord]); }
  bool is_used(uint32_t r) const { return (flags(r) & kUsed) != 0; }
  // The two bits for states; the others stay.
  void set_state(uint32_t r, uint8_t state) {
    uint64_t& word = head(r)[kFlagsWord];
    old_rows_ += (state & kOld) - (word & kOld);
    new_rows_ += (state & kNew) / kNew - (word & kNew) / kNew;
    word = (word & ~uint64_t{kOld | kNew}) | state;
  }
  void set_flag(uint32_t r, uint8_t flag) { head(r)[kFlagsWord] |= flag; }
  void clear_flag(uint32_t r, uint8_t flag) { head(r)[kFlagsWord] &= ~uint64_t{flag}; }

  // Below 2^32 in tables with support.
  int64_t weight(uint32_t r) const {
    const uint64_t word = head(r)[kWeightWord];
    return supported_ ? static_cast<uint32_t>(word) : static_cast<int64_t>(word);
  }
  void set_weight(uint32_t r, int64_t weight) {
    uint64_t& word = head(r)[kWeightWord];
    word = supported_ ? (word & kHighHalf) | static_cast<uint32_t>(weight)
                      : static_cast<uint64_t>(weight);
  }
  // Of tables with support: how many of the instances that weight counts have bodies born before
  // the row, and when it was born.
  uint32_t support(uint32_t r) const { return static_cast<uint32_t>(head(r)[kWeightWord] >> 32); }
  void set_support(uint32_t r, uint32_t support) { set_high(head(r)[kWeightWord], support); }
  uint32_t stamp(uint32_t r) const { return static_cast<uint32_t>(head(r)[kFlagsWord] >> 32); }
  void set_stamp(uint32_t r, uint32_t stamp) { set_high(head(r)[kFlagsWord], stamp); }
  bool supported() const { return supported_; }

  uint32_t find(const uint64_t* cells) const {  // kNoRow when it is not there
    return find(cells, hash_cells(cells, arity_));
  }
  // Finds `count` rows whose cells stand one after another, with memory fetched ahead: visit(i,
  // row) for each, which is added, in no state yet, where `adds` and it was not there. Visits do
  // not remove rows, nor look for them in indexes.
  template <typename Visit>
  void find_each(const uint64_t* cells, size_t count, bool adds, const Visit& visit) {
    uint64_t hashes[kBlock];
    uint32_t found[kBlock];
    for (size_t begin = 0; begin < count; begin += kBlock) {
      const size_t size = std::min(kBlock, count - begin);
      const uint64_t* block = cells + begin * arity_;
      look_up(block, size, hashes, found);
      visit_each(block, size, hashes, found, adds,
                 [&](size_t i, uint32_t r) { visit(begin + i, r); });
    }
  }
  // The two halves of that: what several threads may do at once, each for rows of its own, and the
  // rest.
  void look_up(const uint64_t* cells, size_t count, uint64_t* hashes, uint32_t* found) const;
  template <typename Visit>
  void visit_each(const uint64_t* cells, size_t count, const uint64_t* hashes,
                  const uint32_t* found, bool adds, const Visit& visit) {
    constexpr size_t kAhead = 32;
    uint32_t added[kBlock];
    size_t count_added = 0;
    for (size_t i = 0; i < count; ++i) {
      if (i + kAhead < count) {
        const uint32_t next = found[i + kAhead];
        if (next != kNoRow) prefetch(next);
        if (next == kNoRow) slots_.prefetch_to_write(hashes[i + kAhead]);
      }
      const uint64_t* wanted = cells + i * arity_;
      uint32_t r = found[i];
      if (r == kNoRow && adds) {
        r = find(wanted, hashes[i]);  // it may have been added just now
        if (r == kNoRow) added[count_added++] = r = add_unlinked(wanted, hashes[i]);
      }
      visit(i, r);
      if (count_added == kBlock) link_all({added, std::exchange(count_added, 0)});
    }
    link_all({added, count_added});
  }
  // Adds those of many rows that were not found, in no state yet, and says in `found` which they
  // became; shared among threads. For so many that it pays.
  static constexpr uint32_t kManyRows = 1 << 13;
  void add_missing(const uint64_t* cells, uint32_t count, const uint64_t* hashes, uint32_t* found,
                   const Parallel& parallel);
  // A row that was not there; in no state yet, of weight 0.
  uint32_t add(const uint64_t* cells) {
    const uint32_t r = add_unlinked(cells, hash_cells(cells, arity_));
    for (Index& index : indexes_) link(index, r);
    return r;
  }
  void remove(uint32_t r);
  void remove_all(std::span<const uint32_t> rows);
  // Makes room for so many rows, in parts. True: it is made.
  bool make_room(size_t rows);

  // ---- indexes, by columns in ascending order, kept up to date from the first request on ----

  uint32_t index(const std::vector<uint32_t>& columns);
  // The same one row at a time.
  bool has_index(const std::vector<uint32_t>& columns) const;
  uint32_t add_index(const std::vector<uint32_t>& columns);
  void link(uint32_t index, uint32_t r) { link(indexes_[index], r); }
  // The rows with these values in the columns of an index, of every state. Valid until a row is
  // added or removed.
  std::span<const uint32_t> rows_with(uint32_t index, const uint64_t* key) const;
  void prefetch(uint32_t r) const { __builtin_prefetch(head(r)); }

 private:
  // Before the cells of a row stand its weight, with its support, and its flags, with its stamp:
  // what is asked of a row together lies together.
  static constexpr uint32_t kWeightWord = 0, kFlagsWord = 1, kHeadWords = 2;
  static constexpr uint64_t kHighHalf = ~uint64_t{UINT32_MAX};
  static constexpr size_t kBlock = 128;
  static constexpr size_t kSlotsPerPart = 1 << 16;

  struct Index {
    std::vector<uint32_t> columns;
    KeyIndex rows;
  };

  const uint64_t* head(uint32_t r) const { return words_.data() + size_t{r} * stride_; }
  uint64_t* head(uint32_t r) { return words_.data() + size_t{r} * stride_; }
  static void set_high(uint64_t& word, uint32_t half) {
    word = (word & UINT32_MAX) | uint64_t{half} << 32;
  }
  bool has_cells(uint32_t r, const uint64_t* cells) const {
    const uint64_t* own = row(r);
    uint64_t differs = 0;
    for (uint32_t c = 0; c < arity_; ++c) differs |= own[c] ^ cells[c];
    return differs == 0;
  }
  uint32_t find(const uint64_t* cells, uint64_t hash) const {
    return slots_.find(hash, [&](uint32_t r) { return has_cells(r, cells); });
  }
  uint32_t add_unlinked(const uint64_t* cells, uint64_t hash);
  void write(uint32_t r, const uint64_t* cells) {
    uint64_t* words = head(r);
    words[kWeightWord] = 0;
    words[kFlagsWord] = kUsed;
    std::copy(cells, cells + arity_, words + kHeadWords);
  }
  void link_all(std::span<const uint32_t> rows);  // at most kBlock
  void remove_but_slot(uint32_t r);
  void prefetch_removal(uint32_t r) const;
  uint64_t hash_of(const Index& index, uint32_t r) const;
  bool same_key(const Index& index, uint32_t a, uint32_t b) const;
  void link(Index& index, uint32_t r);

  uint32_t arity_;
  bool supported_;
  uint32_t stride_;
  uint32_t end_ = 0;
  LargeVector<uint64_t> words_;
  HashSlots slots_;  // of rows
  std::vector<uint32_t> free_;
  uint64_t old_rows_ = 0, new_rows_ = 0;
  std::vector<Index> indexes_;
  size_t expected_ = 0;  // rows that there is room for
};

}  // namespace xlog::incremental
