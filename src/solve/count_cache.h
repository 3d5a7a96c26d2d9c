// What is known of components that were counted, by their keys. Takes a bounded amount of memory:
// when that is full, the half that was asked for longest ago goes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "solve/count_components.h"

namespace xlog::solve {

template <typename Value>
class CountCache {
 public:
  explicit CountCache(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  const Value* find(const CountKey& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    found->second.used = ++time_;
    return &found->second.value;
  }

  // `extra`: bytes that the value takes outside of itself.
  void add(const CountKey& key, const Value& value, size_t extra) {
    const auto [place, added] = entries_.try_emplace(key, Entry{value, ++time_, extra});
    if (!added) return;
    bytes_ += kEntryBytes + extra;
    added_.push_back({key, time_});
    if (bytes_ > most_bytes_) shrink();
  }

  // For `forget_since`.
  uint64_t now() const { return time_; }
  // Takes away what was added since.
  void forget_since(uint64_t time) {
    while (!added_.empty() && added_.back().time > time) {
      remove(entries_.find(added_.back().key));
      added_.pop_back();
    }
  }

 private:
  struct Entry {
    Value value;
    uint64_t used = 0;
    size_t extra = 0;
  };
  struct Added {
    CountKey key;
    uint64_t time = 0;
  };
  struct Hash {
    size_t operator()(const CountKey& key) const { return key.low; }
  };
  using Entries = std::unordered_map<CountKey, Entry, Hash>;
  // With what the table and the allocator take for one.
  static constexpr size_t kEntryBytes = sizeof(CountKey) * 3 + sizeof(Entry) + 6 * sizeof(void*);

  void remove(typename Entries::iterator entry) {
    if (entry == entries_.end()) return;
    bytes_ -= kEntryBytes + entry->second.extra;
    entries_.erase(entry);
  }

  void shrink() {
    std::vector<uint64_t> times;
    times.reserve(entries_.size());
    for (const auto& [key, entry] : entries_) times.push_back(entry.used);
    std::ranges::nth_element(times, times.begin() + static_cast<ptrdiff_t>(times.size() / 2));
    const uint64_t middle = times[times.size() / 2];
    std::erase_if(added_, [&](const Added& added) {
      const auto entry = entries_.find(added.key);
      if (entry->second.used > middle) return false;
      remove(entry);
      return true;
    });
  }

  const uint64_t most_bytes_;
  uint64_t bytes_ = 0;
  uint64_t time_ = 0;
  Entries entries_;
  std::vector<Added> added_;  // what is there, in the order in which it came
};

}  // namespace xlog::solve
