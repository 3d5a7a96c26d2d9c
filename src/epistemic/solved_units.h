// Solutions of units, by what the units look like.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "epistemic/views.h"

namespace xlog::epistemic {

class SolvedUnits {
 public:
  using Key = std::span<const uint64_t>;
  struct Entry {
    uint64_t hash = 0;
    Key key;
    Solution solution;
    bool solved = false;
    bool used = false;    // by the search for views, once or more
    uint32_t unit = 0;    // the first that used it
    SearchCounts counts;  // what the solver did for it
  };

  // The entry of a key; a new one is not solved. Entries stay where they are.
  Entry& entry(Key key) { return entry(key, hash(key)); }
  Entry& entry(Key key, uint64_t hash);
  static uint64_t hash(Key key);

  size_t size() const { return entries_.size(); }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  static constexpr size_t kBlockWords = size_t{1} << 16;

  Key keep(Key key);
  void grow();

  std::deque<Entry> entries_;
  std::vector<uint32_t> cells_;  // entries, with open addressing; the size is a power of two
  std::vector<std::vector<uint64_t>> blocks_;  // of keys; the last one has room
};

}  // namespace xlog::epistemic
