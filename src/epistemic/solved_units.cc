#include "epistemic/solved_units.h"

#include <algorithm>

namespace xlog::epistemic {

// Multiplies and folds, as in wyhash: a quick one will do, keys are compared in full.
uint64_t SolvedUnits::hash(Key key) {
  uint64_t hash = key.size();
  for (const uint64_t word : key) {
    const auto product =
        static_cast<unsigned __int128>(hash ^ word ^ 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  return hash;
}

SolvedUnits::Entry& SolvedUnits::entry(Key key, uint64_t hash) {
  if ((entries_.size() + 1) * 2 > cells_.size()) grow();
  const size_t mask = cells_.size() - 1;
  size_t at = hash & mask;
  for (; cells_[at] != kFree; at = (at + 1) & mask) {
    Entry& found = entries_[cells_[at]];
    if (found.hash == hash && std::ranges::equal(found.key, key)) return found;
  }
  cells_[at] = static_cast<uint32_t>(entries_.size());
  Entry& made = entries_.emplace_back();
  made.hash = hash;
  made.key = keep(key);
  return made;
}

SolvedUnits::Key SolvedUnits::keep(Key key) {
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < key.size()) {
    blocks_.emplace_back().reserve(std::max(kBlockWords, key.size()));
  }
  std::vector<uint64_t>& block = blocks_.back();
  const size_t at = block.size();
  block.insert(block.end(), key.begin(), key.end());
  return Key(block).subspan(at);
}

void SolvedUnits::grow() {
  cells_.assign(std::max<size_t>(64, cells_.size() * 2), kFree);
  const size_t mask = cells_.size() - 1;
  for (uint32_t e = 0; e < entries_.size(); ++e) {
    size_t at = entries_[e].hash & mask;
    while (cells_[at] != kFree) at = (at + 1) & mask;
    cells_[at] = e;
  }
}

}  // namespace xlog::epistemic
