#include "incremental/table.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::incremental {

uint64_t Table::bytes() const {
  uint64_t total = words_.capacity() * sizeof(uint64_t) + slots_.bytes();
  for (const Index& index : indexes_) total += index.rows.bytes();
  return total;
}

bool Table::make_room(size_t rows) {
  expected_ = std::max(expected_, rows);
  words_.reserve(rows * stride_);
  for (Index& index : indexes_) index.rows.reserve(rows);
  return slots_.make_room(rows, kSlotsPerPart);
}

uint32_t Table::add_unlinked(const uint64_t* cells, uint64_t hash) {
  uint32_t r;
  if (!free_.empty()) {
    r = free_.back();
    free_.pop_back();
  } else {
    XLOG_CHECK(end_ < kNoRow, "a table has fewer than 2^32 rows");
    r = end_++;
    words_.resize(size_t{end_} * stride_);
  }
  write(r, cells);
  slots_.add(hash, r);
  return r;
}

void Table::look_up(const uint64_t* cells, size_t count, uint64_t* hashes, uint32_t* found) const {
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t end = std::min(count, begin + kBlock);
    for (size_t i = begin; i < end; ++i) {
      hashes[i] = hash_cells(cells + i * arity_, arity_);
      slots_.prefetch(hashes[i]);
    }
    for (size_t i = begin; i < end; ++i) {
      found[i] = slots_.likely(hashes[i]);
      if (found[i] != kNoRow) prefetch(found[i]);
    }
    for (size_t i = begin; i < end; ++i) {
      const uint64_t* wanted = cells + i * arity_;
      if (found[i] != kNoRow && !has_cells(found[i], wanted)) found[i] = find(wanted, hashes[i]);
    }
  }
}

void Table::remove(uint32_t r) {
  slots_.remove(hash_cells(row(r), arity_), r);
  remove_but_slot(r);
}

void Table::remove_but_slot(uint32_t r) {
  set_state(r, 0);
  for (Index& index : indexes_) index.rows.remove(hash_of(index, r), r);
  head(r)[kFlagsWord] = 0;
  free_.push_back(r);
}

void Table::remove_all(std::span<const uint32_t> rows) {
  // Where many go, a walk over all slots costs less than to find theirs.
  constexpr size_t kPartOfSlots = 8, kAhead = 16;
  const bool many = rows.size() * kPartOfSlots > slots_.size();
  std::vector<bool> gone(many ? end_ : 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + 2 * kAhead < rows.size()) prefetch(rows[i + 2 * kAhead]);
    if (many) {
      gone[rows[i]] = true;
      remove_but_slot(rows[i]);
    } else {
      if (i + kAhead < rows.size()) prefetch_removal(rows[i + kAhead]);
      remove(rows[i]);
    }
  }
  if (many) slots_.remove_if([&](uint32_t r) { return gone[r]; });
}

void Table::prefetch_removal(uint32_t r) const {
  slots_.prefetch(hash_cells(row(r), arity_));
  for (const Index& index : indexes_) index.rows.prefetch(hash_of(index, r), r);
}

// ---- indexes ----

uint32_t Table::index(const std::vector<uint32_t>& columns) {
  const auto found = std::ranges::find(indexes_, columns, &Index::columns);
  if (found != indexes_.end()) return static_cast<uint32_t>(found - indexes_.begin());
  const uint32_t made = add_index(columns);
  for (uint32_t r = 0; r < end_; ++r) {
    if (is_used(r)) link(made, r);
  }
  return made;
}

bool Table::has_index(const std::vector<uint32_t>& columns) const {
  return std::ranges::find(indexes_, columns, &Index::columns) != indexes_.end();
}

uint32_t Table::add_index(const std::vector<uint32_t>& columns) {
  indexes_.push_back({columns, {}});
  indexes_.back().rows.reserve(expected_);
  return static_cast<uint32_t>(indexes_.size() - 1);
}

uint64_t Table::hash_of(const Index& index, uint32_t r) const {
  uint64_t h = hashing::kSeed;
  const uint64_t* cells = row(r);
  for (const uint32_t column : index.columns) h = hashing::mix(h, cells[column]);
  return hashing::finish(h);
}

bool Table::same_key(const Index& index, uint32_t a, uint32_t b) const {
  return std::ranges::all_of(index.columns, [&](uint32_t c) { return row(a)[c] == row(b)[c]; });
}

void Table::link(Index& index, uint32_t r) {
  index.rows.add(hash_of(index, r), r, [&](uint32_t other) { return same_key(index, other, r); });
}

void Table::link_all(std::span<const uint32_t> rows) {
  uint64_t hashes[kBlock];
  for (Index& index : indexes_) {
    for (size_t i = 0; i < rows.size(); ++i) {
      hashes[i] = hash_of(index, rows[i]);
      index.rows.prefetch_slot(hashes[i]);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint32_t other = index.rows.prefetch_bucket(hashes[i]);
      if (other != kNoRow) prefetch(other);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      index.rows.add(hashes[i], rows[i],
                     [&](uint32_t other) { return same_key(index, other, rows[i]); });
    }
  }
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
