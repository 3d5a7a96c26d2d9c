// Rows of one predicate in 64-bit cells, for changes that are small beside it: every row keeps its
// number while it is there, and to find, add or take away one costs the same however many there
// are.
//
// While a batch is worked in, a row may be part of the state before a step, of the state after it,
// or of both; what a step sees is chosen by these flags, so nothing is copied.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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
  void set_state(uint32_t r, uint8_t state);
  void set_flag(uint32_t r, uint8_t flag) { head(r)[kFlagsWord] |= flag; }
  void clear_flag(uint32_t r, uint8_t flag) { head(r)[kFlagsWord] &= ~uint64_t{flag}; }

  int64_t weight(uint32_t r) const { return static_cast<int64_t>(head(r)[kWeightWord]); }
  void set_weight(uint32_t r, int64_t weight) {
    head(r)[kWeightWord] = static_cast<uint64_t>(weight);
  }
  // Of tables with support: how many of the instances that weight counts have bodies born before
  // the row, and when it was born.
  uint32_t support(uint32_t r) const { return static_cast<uint32_t>(head(r)[kFlagsWord] >> 32); }
  void set_support(uint32_t r, uint32_t support) {
    uint64_t& word = head(r)[kFlagsWord];
    word = (word & UINT32_MAX) | uint64_t{support} << 32;
  }
  uint32_t stamp(uint32_t r) const { return static_cast<uint32_t>(head(r)[kFlagsWord + 1]); }
  void set_stamp(uint32_t r, uint32_t stamp) { head(r)[kFlagsWord + 1] = stamp; }
  bool supported() const { return supported_; }

  uint32_t find(const uint64_t* cells) const;  // kNoRow when it is not there
  // A row that was not there; in no state yet, of weight 0.
  uint32_t add(const uint64_t* cells);
  void remove(uint32_t r);
  void reserve(size_t rows);
  // Soon these cells are looked for: memory is fetched, first where rows are noted, then the row.
  void prefetch_slot(const uint64_t* cells) const;
  void prefetch_row(const uint64_t* cells) const;

  // ---- indexes, by columns in ascending order, kept up to date from the first request on ----

  uint32_t index(const std::vector<uint32_t>& columns);
  // The rows with these values in the columns of an index, of every state. Valid until a row is
  // added or removed.
  std::span<const uint32_t> rows_with(uint32_t index, const uint64_t* key) const;
  void prefetch(uint32_t r) const { __builtin_prefetch(head(r)); }

 private:
  // Before the cells of a row stand its weight, its support and flags, and its stamp: what is asked
  // of a row together lies together.
  static constexpr uint32_t kWeightWord = 0, kFlagsWord = 1, kHeadWords = 3;

  struct Index {
    std::vector<uint32_t> columns;
    KeyIndex rows;
  };

  const uint64_t* head(uint32_t r) const { return words_.data() + size_t{r} * stride_; }
  uint64_t* head(uint32_t r) { return words_.data() + size_t{r} * stride_; }
  uint64_t hash_of(const Index& index, uint32_t r) const;
  bool same_key(const Index& index, uint32_t a, uint32_t b) const;
  void link(Index& index, uint32_t r);
  void grow_slots(size_t slots);

  uint32_t arity_;
  bool supported_;
  uint32_t stride_;
  uint32_t end_ = 0;
  std::vector<uint64_t> words_;
  // Rows by hash, then the next free one: the row in the low half, more of its hash in the high
  // one, so that other rows are seldom looked at.
  std::vector<uint64_t> slots_;
  std::vector<uint32_t> free_;
  size_t used_ = 0;
  uint64_t old_rows_ = 0, new_rows_ = 0;
  std::vector<Index> indexes_;
};

uint64_t hash_cells(const uint64_t* cells, size_t count);

}  // namespace xlog::incremental
