#include "incremental/table.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::incremental {

namespace {

constexpr size_t kLeastSlots = 16;

constexpr uint64_t kSeed = 0x9E3779B97F4A7C15u;

uint64_t mix(uint64_t h, uint64_t cell) {
  h = (h ^ cell) * 0xD6E8FEB86659FD93u;
  return h ^ (h >> 32);
}

uint64_t finish(uint64_t h) {
  h *= 0x9FB21C651E98DF25u;
  return h ^ (h >> 32);
}

uint64_t slot_for(uint64_t hash, uint32_t row) { return (hash & ~uint64_t{UINT32_MAX}) | row; }

constexpr uint64_t kFreeSlot = UINT64_MAX;

}  // namespace

uint64_t hash_cells(const uint64_t* cells, size_t count) {
  uint64_t h = kSeed;
  for (size_t i = 0; i < count; ++i) h = mix(h, cells[i]);
  return finish(h);
}

uint64_t Table::bytes() const {
  uint64_t total = (words_.capacity() + slots_.capacity()) * 8;
  for (const Index& index : indexes_) total += index.rows.bytes();
  return total;
}

void Table::set_state(uint32_t r, uint8_t state) {
  uint64_t& word = head(r)[kFlagsWord];
  old_rows_ += (state & kOld) - (word & kOld);
  new_rows_ += (state & kNew) / kNew - (word & kNew) / kNew;
  word = (word & ~uint64_t{kOld | kNew}) | state;
}

uint32_t Table::find(const uint64_t* cells) const {
  if (slots_.empty()) return kNoRow;
  const size_t mask = slots_.size() - 1;
  const uint64_t hash = hash_cells(cells, arity_);
  for (size_t at = hash & mask; slots_[at] != kFreeSlot; at = (at + 1) & mask) {
    if ((slots_[at] ^ hash) >> 32 != 0) continue;
    const auto r = static_cast<uint32_t>(slots_[at]);
    if (std::equal(cells, cells + arity_, row(r))) return r;
  }
  return kNoRow;
}

void Table::prefetch_slot(const uint64_t* cells) const {
  if (slots_.empty()) return;
  __builtin_prefetch(&slots_[hash_cells(cells, arity_) & (slots_.size() - 1)]);
}

void Table::prefetch_row(const uint64_t* cells) const {
  if (slots_.empty()) return;
  const uint64_t slot = slots_[hash_cells(cells, arity_) & (slots_.size() - 1)];
  if (slot != kFreeSlot) __builtin_prefetch(head(static_cast<uint32_t>(slot)));
}

void Table::reserve(size_t rows) {
  words_.reserve(rows * stride_);
  size_t slots = kLeastSlots;
  while (slots * 3 < rows * 4) slots *= 2;
  if (slots > slots_.size()) grow_slots(slots);
}

void Table::grow_slots(size_t count) {
  slots_.assign(count, kFreeSlot);
  for (uint32_t r = 0; r < end_; ++r) {
    if (!is_used(r)) continue;
    const uint64_t hash = hash_cells(row(r), arity_);
    size_t at = hash & (count - 1);
    while (slots_[at] != kFreeSlot) at = (at + 1) & (count - 1);
    slots_[at] = slot_for(hash, r);
  }
}

uint32_t Table::add(const uint64_t* cells) {
  uint32_t r;
  if (!free_.empty()) {
    r = free_.back();
    free_.pop_back();
  } else {
    XLOG_CHECK(end_ < kNoRow, "a table has fewer than 2^32 rows");
    r = end_++;
    words_.resize(size_t{end_} * stride_);
  }
  if ((used_ + 1) * 4 > slots_.size() * 3) grow_slots(std::max(slots_.size() * 2, kLeastSlots));
  uint64_t* words = head(r);
  words[kWeightWord] = 0;
  words[kFlagsWord] = kUsed;
  std::copy(cells, cells + arity_, words + kHeadWords);
  ++used_;
  const uint64_t hash = hash_cells(cells, arity_);
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at] != kFreeSlot) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = slot_for(hash, r);
  for (Index& index : indexes_) link(index, r);
  return r;
}

void Table::remove(uint32_t r) {
  set_state(r, 0);
  for (Index& index : indexes_) {
    index.rows.remove(hash_of(index, r), r,
                      [&](uint32_t other) { return same_key(index, other, r); });
  }
  const size_t mask = slots_.size() - 1;
  size_t at = hash_cells(row(r), arity_) & mask;
  while (slots_[at] == kFreeSlot || static_cast<uint32_t>(slots_[at]) != r) at = (at + 1) & mask;
  // Entries behind the hole that would no longer be found move up.
  size_t hole = at;
  for (at = (hole + 1) & mask; slots_[at] != kFreeSlot; at = (at + 1) & mask) {
    const size_t wanted = hash_cells(row(static_cast<uint32_t>(slots_[at])), arity_) & mask;
    if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = kFreeSlot;
  head(r)[kFlagsWord] = 0;
  --used_;
  free_.push_back(r);
}

// ---- indexes ----

uint32_t Table::index(const std::vector<uint32_t>& columns) {
  for (uint32_t i = 0; i < indexes_.size(); ++i) {
    if (indexes_[i].columns == columns) return i;
  }
  Index& made = indexes_.emplace_back();
  made.columns = columns;
  for (uint32_t r = 0; r < end_; ++r) {
    if (is_used(r)) link(made, r);
  }
  return static_cast<uint32_t>(indexes_.size() - 1);
}

uint64_t Table::hash_of(const Index& index, uint32_t r) const {
  uint64_t h = kSeed;
  const uint64_t* cells = row(r);
  for (const uint32_t column : index.columns) h = mix(h, cells[column]);
  return finish(h);
}

bool Table::same_key(const Index& index, uint32_t a, uint32_t b) const {
  return std::ranges::all_of(index.columns, [&](uint32_t c) { return row(a)[c] == row(b)[c]; });
}

void Table::link(Index& index, uint32_t r) {
  index.rows.add(hash_of(index, r), r, [&](uint32_t other) { return same_key(index, other, r); });
}

std::span<const uint32_t> Table::rows_with(uint32_t i, const uint64_t* key) const {
  const Index& index = indexes_[i];
  const size_t width = index.columns.size();
  return index.rows.find(hash_cells(key, width), [&](uint32_t r) {
    const uint64_t* cells = row(r);
    for (size_t c = 0; c < width; ++c) {
      if (cells[index.columns[c]] != key[c]) return false;
    }
    return true;
  });
}

}  // namespace xlog::incremental
