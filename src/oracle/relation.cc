#include "oracle/relation.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <utility>

#include "base/check.h"

namespace xlog::oracle {

namespace {

constexpr uint32_t kEmpty = UINT32_MAX;
constexpr uint64_t kSlotsForRow = 16;  // where slots are direct
constexpr uint64_t kFewSlots = 64;

// At most two of three slots are taken.
bool is_full(size_t taken, size_t slots) { return taken * 3 >= slots * 2; }

}  // namespace

uint64_t hash_values(std::span<const Value> values) {
  uint64_t h = 0x243F6A8885A308D3u ^ values.size();
  for (const Value& v : values) {
    h ^= std::hash<Value>{}(v);
    h *= 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  return h;
}

// ---- rows ----

uint64_t Relation::bytes() const {
  uint64_t bytes = values_.bytes() + slots_.capacity() * sizeof(uint32_t);
  for (const auto& [columns, index] : indexes_) {
    bytes +=
        index.slots_.capacity() * sizeof(Index::Slot) + index.next_.capacity() * sizeof(uint32_t);
  }
  return bytes;
}

// Where the tuple is, or would be put: there must be room for it.
size_t Relation::slot_of(std::span<const Value> tuple) const {
  if (is_direct_) return tuple[0].bits;
  const size_t mask = slots_.size() - 1;
  size_t slot = hash_values(tuple) & mask;
  while (slots_[slot] != kEmpty && !std::ranges::equal(row(slots_[slot]), tuple)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

// Makes slots for so many rows, those that are there and the one that comes next, if any.
void Relation::choose_slots(size_t rows, const Value* next) const {
  const uint64_t most = kSlotsForRow * rows + kFewSlots;
  is_direct_ = arity_ == 1 && rows > 0;
  uint64_t largest = 0;
  if (is_direct_) {
    direct_kind_ = next != nullptr ? next->kind : values_[0].kind;
    const auto take = [&](const Value& value) {
      is_direct_ &= value.kind == direct_kind_ && value.bits < most;
      largest = std::max(largest, value.bits);
    };
    if (next != nullptr) take(*next);
    for (size_t r = 0; is_direct_ && r < count_; ++r) take(values_[r]);
  }
  const size_t slots = std::max<size_t>(8, 2 * rows);
  slots_.assign(std::bit_ceil(is_direct_ ? std::max<size_t>(slots, largest + 1) : slots), kEmpty);
  covered_ = 0;
}

// Puts all rows into slots that have room for so many.
void Relation::cover(size_t rows, const Value* next) const {
  if (is_direct_ && !slots_.empty()) {
    bool fits = next == nullptr || has_direct_slot(*next);
    for (size_t r = covered_; fits && r < count_; ++r) fits = has_direct_slot(values_[r]);
    if (!fits) choose_slots(rows, next);
  } else if (is_full(rows, slots_.size())) {
    choose_slots(rows, next);
  }
  const size_t mask = slots_.size() - 1;
  for (; covered_ < count_; ++covered_) {
    size_t slot = is_direct_ ? values_[covered_].bits : hash_values(row(covered_)) & mask;
    while (slots_[slot] != kEmpty) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<uint32_t>(covered_);
  }
}

bool Relation::insert(std::span<const Value> tuple) {
  arity_ = tuple.size();
  cover(count_ + 1, tuple.data());
  uint32_t& slot = slots_[slot_of(tuple)];
  if (slot != kEmpty) return false;
  slot = static_cast<uint32_t>(count_);
  append(tuple);
  covered_ = count_;
  return true;
}

void Relation::append(std::span<const Value> tuple) {
  arity_ = tuple.size();
  for (const Value& value : tuple) values_.push_back(value);
  ++count_;
}

// Tuples are often looked for in the order of the rows.
std::optional<size_t> Relation::find_behind(size_t row_in, std::span<const Value> tuple) const {
  constexpr size_t kLookAhead = 4;
  const size_t behind = std::min(count_, row_in + kLookAhead);
  for (size_t r = row_in; r < behind; ++r) {
    if (std::ranges::equal(row(r), tuple)) return r;
  }
  return std::nullopt;
}

std::optional<size_t> Relation::find_in_slots(std::span<const Value> tuple) const {
  if (count_ == 0 || (is_direct_ && !has_direct_slot(tuple[0]))) return std::nullopt;
  const uint32_t found = slots_[slot_of(tuple)];
  if (found == kEmpty) return std::nullopt;
  return found;
}

std::optional<size_t> Relation::find(std::span<const Value> tuple) const {
  std::optional<size_t> found = find_behind(next_found_, tuple);
  if (!found && count_ > 0) {
    cover(count_, nullptr);
    found = find_in_slots(tuple);
  }
  if (found) next_found_ = *found + 1;
  return found;
}

// ---- many rows at once ----

Value* Relation::extend(size_t arity, size_t count) {
  arity_ = arity;
  count_ += count;
  return values_.extend(arity * count);
}

// Makes slots for all rows; if they are new ones, no row is in them.
void Relation::make_slots_fit() const {
  bool fits = !slots_.empty() && (is_direct_ || !is_full(count_, slots_.size()));
  for (size_t r = covered_; is_direct_ && fits && r < count_; ++r) {
    fits = has_direct_slot(values_[r]);
  }
  if (!fits) choose_slots(count_, nullptr);
}

// Where the row is put, or an equal one is. Of equal rows the first one stays, whoever comes first:
// a slot once taken is never free again, and keeps the values of its row.
uint32_t Relation::put_row(uint32_t at, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (true) {
    const std::atomic_ref<uint32_t> taken(slots_[slot]);
    uint32_t other = taken.load(std::memory_order_relaxed);
    while (other == kEmpty) {
      if (taken.compare_exchange_weak(other, at, std::memory_order_relaxed)) {
        return static_cast<uint32_t>(slot);
      }
    }
    if (is_direct_ || std::ranges::equal(row(other), row(at))) {
      while (at < other && !taken.compare_exchange_weak(other, at, std::memory_order_relaxed)) {
      }
      return static_cast<uint32_t>(slot);
    }
    slot = (slot + 1) & mask;
  }
}

// Puts rows into the slots that are not in them yet, and notes the slots of those from `first_new`
// on.
void Relation::put_rows(const Parallel& parallel, uint32_t* slot_of_new, size_t first_new) const {
  constexpr uint32_t kGrain = 1 << 14;
  constexpr size_t kAhead = 8;
  XLOG_CHECK(count_ < kEmpty && slots_.size() <= uint64_t{1} << 32, "rows have 32-bit numbers");
  const size_t from = covered_;
  const auto hash_of = [&](size_t r) { return is_direct_ ? values_[r].bits : hash_values(row(r)); };
  parallel(static_cast<uint32_t>(count_ - from), kGrain, [&](uint32_t lo, uint32_t hi) {
    std::array<uint64_t, kAhead> hashes;
    size_t ahead = from + lo;
    for (size_t r = from + lo; r < from + hi; ++r) {
      for (; ahead < std::min(r + kAhead, from + hi); ++ahead) {
        hashes[ahead % kAhead] = hash_of(ahead);
        __builtin_prefetch(&slots_[hashes[ahead % kAhead] & (slots_.size() - 1)], 1);
      }
      const uint32_t slot = put_row(static_cast<uint32_t>(r), hashes[r % kAhead]);
      if (r >= first_new) slot_of_new[r - first_new] = slot;
    }
  });
  covered_ = count_;
}

void Relation::prepare_finders(const Parallel& parallel) const {
  if (covered_ == count_) return;
  make_slots_fit();
  put_rows(parallel, nullptr, count_);
}

size_t Relation::insert_all(std::span<const Value> tuples, size_t arity, size_t count,
                            const Parallel& parallel) {
  constexpr uint32_t kGrain = 1 << 16;
  if (count == 0) return 0;
  const size_t first_new = count_;
  Value* to = extend(arity, count);
  if (arity > 0) {
    parallel(static_cast<uint32_t>(count), kGrain, [&](uint32_t lo, uint32_t hi) {
      std::copy(tuples.data() + lo * arity, tuples.data() + hi * arity, to + lo * arity);
    });
  }
  make_slots_fit();
  std::vector<uint32_t> slot_of_new(count);
  put_rows(parallel, slot_of_new.data(), first_new);
  drop_repeated(slot_of_new, first_new);
  return count_ - first_new;
}

// Rows whose slots are those of others go, and those behind move up.
void Relation::drop_repeated(std::span<const uint32_t> slot_of_new, size_t first_new) {
  size_t kept = first_new;
  for (size_t i = 0; i < slot_of_new.size(); ++i) {
    const size_t from = first_new + i;
    uint32_t& slot = slots_[slot_of_new[i]];
    if (slot != from) continue;
    if (kept != from) {
      slot = static_cast<uint32_t>(kept);
      std::copy_n(values_.data() + from * arity_, arity_, values_.data() + kept * arity_);
    }
    ++kept;
  }
  values_.truncate(kept * arity_);
  count_ = covered_ = kept;
}

// ---- rows by some columns ----

const Relation::Index& Relation::index(const std::vector<uint32_t>& columns) {
  auto found = indexes_.find(columns);
  if (found == indexes_.end()) {
    found = indexes_.emplace(columns, Index(*this, columns)).first;
  }
  Index& index = found->second;
  index.relation_ = this;  // it may have moved
  if (index.next_.size() < count_) index.cover();
  return index;
}

void Relation::Index::key_of(uint32_t row, std::vector<Value>& key) const {
  const std::span<const Value> values = relation_->row(row);
  for (size_t c = 0; c < columns_.size(); ++c) key[c] = values[columns_[c]];
}

size_t Relation::Index::slot_of(std::span<const Value> key) const {
  const size_t mask = slots_.size() - 1;
  const auto fits = [&](uint32_t row) {
    const std::span<const Value> values = relation_->row(row);
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (values[columns_[c]] != key[c]) return false;
    }
    return true;
  };
  size_t slot = hash_values(key) & mask;
  while (slots_[slot].first != kNone && !fits(slots_[slot].first)) slot = (slot + 1) & mask;
  return slot;
}

void Relation::Index::rehash(size_t slots) {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
  std::vector<Value> key(columns_.size());
  for (const Slot& slot : before) {
    if (slot.first == kNone) continue;
    key_of(slot.first, key);
    slots_[slot_of(key)] = slot;
  }
}

void Relation::Index::cover() {
  std::vector<Value> key(columns_.size());
  auto row = static_cast<uint32_t>(next_.size());
  next_.resize(relation_->size(), kNone);
  for (; row < next_.size(); ++row) {
    if (is_full(keys_ + 1, slots_.size())) rehash(std::max<size_t>(8, 2 * slots_.size()));
    key_of(row, key);
    Slot& slot = slots_[slot_of(key)];
    if (slot.first == kNone) {
      slot.first = row;
      ++keys_;
    } else {
      next_[slot.last] = row;
    }
    slot.last = row;
  }
}

uint32_t Relation::Index::first(std::span<const Value> key) const {
  return slots_.empty() ? kNone : slots_[slot_of(key)].first;
}

}  // namespace xlog::oracle
