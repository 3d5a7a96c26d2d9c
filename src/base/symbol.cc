#include "base/symbol.h"

#define XXH_INLINE_ALL  // for short texts the call would cost as much as the hash
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace xlog {

namespace {
constexpr size_t kBlockBytes = size_t{1} << 16;
constexpr size_t kTogether = 64;          // lookups whose memory is asked for at once
constexpr size_t kCachedSlots = 1 << 14;  // up to here asking ahead costs more than it saves

uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }
uint32_t part_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
}  // namespace

Interner::Interner() : slots_(64) { intern(""); }

Symbol Interner::intern(std::string_view text) { return intern_hashed(text, hash_of(text)); }

Symbol Interner::intern_hashed(std::string_view text, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot].id_plus_1 != 0) {
    const uint32_t id = slots_[slot].id_plus_1 - 1;
    if (slots_[slot].hash_part == part_of(hash) && texts_[id] == text) return Symbol{id};
    slot = (slot + 1) & mask;
  }
  XLOG_CHECK(texts_.size() < UINT32_MAX - 1, "symbol ids are 32 bits wide");
  const auto id = static_cast<uint32_t>(texts_.size());
  texts_.push_back(store(text));
  hashes_.push_back(hash);
  slots_[slot] = {id + 1, part_of(hash)};
  if (texts_.size() * 2 > slots_.size()) grow();
  return Symbol{id};
}

// With many names: one step of all lookups, then the next step of all, so that they wait for memory
// together. (As a function of its own the asking ahead would be removed: to g++ 12 it has no
// effect.)
void Interner::intern_all(std::span<const std::string_view> texts, std::span<Symbol> symbols) {
  XLOG_CHECK(texts.size() == symbols.size(), "one symbol a text");
  std::array<uint64_t, kTogether> hashes;
  std::array<const std::string_view*, kTogether> found;
  for (size_t begin = 0; begin < texts.size(); begin += kTogether) {
    const size_t n = std::min(kTogether, texts.size() - begin);
    for (size_t i = 0; i < n; ++i) hashes[i] = hash_of(texts[begin + i]);
    if (slots_.size() > kCachedSlots) {
      const size_t mask = slots_.size() - 1;
      for (size_t i = 0; i < n; ++i) __builtin_prefetch(&slots_[hashes[i] & mask]);
      size_t candidates = 0;
      for (size_t i = 0; i < n; ++i) {
        size_t slot = hashes[i] & mask;
        while (slots_[slot].id_plus_1 != 0 && slots_[slot].hash_part != part_of(hashes[i])) {
          slot = (slot + 1) & mask;
        }
        if (slots_[slot].id_plus_1 == 0) continue;
        found[candidates] = &texts_[slots_[slot].id_plus_1 - 1];
        __builtin_prefetch(found[candidates++]);
      }
      for (size_t i = 0; i < candidates; ++i) __builtin_prefetch(found[i]->data());
    }
    for (size_t i = 0; i < n; ++i) {
      symbols[begin + i] = intern_hashed(texts[begin + i], hashes[i]);
    }
  }
}

void Interner::grow() {
  std::vector<Slot> slots(slots_.size() * 2);
  const size_t mask = slots.size() - 1;
  for (uint32_t id = 0; id < texts_.size(); ++id) {
    size_t slot = hashes_[id] & mask;
    while (slots[slot].id_plus_1 != 0) slot = (slot + 1) & mask;
    slots[slot] = {id + 1, part_of(hashes_[id])};
  }
  slots_ = std::move(slots);
}

std::string_view Interner::store(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > kBlockBytes / 4) {  // long texts get a block of their own, behind the open one
    blocks_.push_front(std::string(text));
    return blocks_.front();
  }
  if (text.size() > block_free_) {
    blocks_.emplace_back();
    blocks_.back().reserve(kBlockBytes);
    block_free_ = kBlockBytes;
  }
  std::string& block = blocks_.back();
  const size_t at = block.size();
  block.append(text);  // within the reserved capacity: earlier views stay valid
  block_free_ -= text.size();
  return std::string_view(block).substr(at);
}

size_t Interner::bytes() const {
  size_t total = texts_.capacity() * sizeof(std::string_view) + hashes_.capacity() * 8 +
                 slots_.capacity() * sizeof(Slot);
  for (const std::string& block : blocks_) total += block.capacity();
  return total;
}

}  // namespace xlog
