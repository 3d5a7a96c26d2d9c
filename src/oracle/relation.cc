#include "oracle/relation.h"

#include <utility>

namespace xlog::oracle {

uint64_t hash_values(std::span<const Value> values) {
  uint64_t h = 0x243F6A8885A308D3u ^ values.size();
  for (const Value& v : values) {
    h ^= std::hash<Value>{}(v);
    h *= 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  return h;
}

uint64_t Relation::bytes() const {
  if (rows_.empty()) return 0;
  // A row is a block of its own, and so are its cell in the hash table and the list in that.
  constexpr uint64_t kBlock = 16;
  const uint64_t row = sizeof(Tuple) + rows_.front().size() * sizeof(Value) + kBlock;
  const uint64_t cell = sizeof(uint64_t) + sizeof(std::vector<uint32_t>) + 4 * kBlock;
  return rows_.size() * (row + cell * (1 + indexes_.size()));
}

bool Relation::insert(Tuple tuple) {
  std::vector<uint32_t>& bucket = by_hash_[hash_values(tuple)];
  for (uint32_t i : bucket) {
    if (rows_[i] == tuple) return false;
  }
  bucket.push_back(static_cast<uint32_t>(rows_.size()));
  rows_.push_back(std::move(tuple));
  return true;
}

std::optional<size_t> Relation::find(const Tuple& tuple) const {
  auto it = by_hash_.find(hash_values(tuple));
  if (it == by_hash_.end()) return std::nullopt;
  for (uint32_t i : it->second) {
    if (rows_[i] == tuple) return i;
  }
  return std::nullopt;
}

const std::vector<uint32_t>& Relation::candidates(const std::vector<uint32_t>& columns,
                                                  std::span<const Value> key) {
  static const std::vector<uint32_t> kNone;
  Index& index = indexes_[columns];
  std::vector<Value> part(columns.size());
  for (; index.covered < rows_.size(); ++index.covered) {
    for (size_t c = 0; c < columns.size(); ++c) part[c] = rows_[index.covered][columns[c]];
    index.buckets[hash_values(part)].push_back(static_cast<uint32_t>(index.covered));
  }
  auto it = index.buckets.find(hash_values(key));
  return it == index.buckets.end() ? kNone : it->second;
}

}  // namespace xlog::oracle
