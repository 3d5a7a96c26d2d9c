#include "base/symbol.h"

#include <xxhash.h>

#include "base/check.h"

namespace xlog {

namespace {
constexpr size_t kBlockBytes = size_t{1} << 16;
}

Interner::Interner() : slots_(64, 0) { intern(""); }

Symbol Interner::intern(std::string_view text) {
  const uint64_t hash = XXH3_64bits(text.data(), text.size());
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const uint32_t id = slots_[slot] - 1;
    if (hashes_[id] == hash && texts_[id] == text) return Symbol{id};
    slot = (slot + 1) & mask;
  }
  XLOG_CHECK(texts_.size() < UINT32_MAX - 1, "symbol ids are 32 bits wide");
  const auto id = static_cast<uint32_t>(texts_.size());
  texts_.push_back(store(text));
  hashes_.push_back(hash);
  slots_[slot] = id + 1;
  if (texts_.size() * 2 > slots_.size()) grow();
  return Symbol{id};
}

void Interner::grow() {
  std::vector<uint32_t> slots(slots_.size() * 2, 0);
  const size_t mask = slots.size() - 1;
  for (uint32_t id = 0; id < texts_.size(); ++id) {
    size_t slot = hashes_[id] & mask;
    while (slots[slot] != 0) slot = (slot + 1) & mask;
    slots[slot] = id + 1;
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
  size_t total =
      texts_.capacity() * sizeof(std::string_view) + hashes_.capacity() * 8 + slots_.capacity() * 4;
  for (const std::string& block : blocks_) total += block.capacity();
  return total;
}

}  // namespace xlog
