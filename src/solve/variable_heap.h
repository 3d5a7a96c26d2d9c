// Variables by activity, the most active first. A variable that is taken out comes back by
// `insert`; `raised` restores the order after its activity grew.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace xlog::solve {

class VariableHeap {
 public:
  // Ties go to the smaller variable, so that the order never depends on the past of the heap.
  explicit VariableHeap(const std::vector<double>& activity) : activity_(activity) {}

  bool empty() const { return heap_.empty(); }
  bool has(uint32_t variable) const {
    return variable < place_.size() && place_[variable] != kNowhere;
  }
  void insert(uint32_t variable) {
    if (variable >= place_.size()) place_.resize(variable + 1, kNowhere);
    if (place_[variable] != kNowhere) return;
    place_[variable] = static_cast<uint32_t>(heap_.size());
    heap_.push_back(variable);
    up(place_[variable]);
  }
  uint32_t take_first() {
    const uint32_t first = heap_[0];
    place_[first] = kNowhere;
    const uint32_t last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
      heap_[0] = last;
      place_[last] = 0;
      down(0);
    }
    return first;
  }
  // After activities changed in any way.
  void rebuild() {
    for (size_t i = heap_.size() / 2; i-- > 0;) down(static_cast<uint32_t>(i));
  }
  void raised(uint32_t variable) {
    if (has(variable)) up(place_[variable]);
  }

 private:
  static constexpr uint32_t kNowhere = UINT32_MAX;

  bool before(uint32_t a, uint32_t b) const {
    return activity_[a] != activity_[b] ? activity_[a] > activity_[b] : a < b;
  }
  void put(uint32_t at, uint32_t variable) {
    heap_[at] = variable;
    place_[variable] = at;
  }
  void up(uint32_t at) {
    const uint32_t variable = heap_[at];
    while (at > 0) {
      const uint32_t parent = (at - 1) / 2;
      if (!before(variable, heap_[parent])) break;
      put(at, heap_[parent]);
      at = parent;
    }
    put(at, variable);
  }
  void down(uint32_t at) {
    const uint32_t variable = heap_[at];
    const auto size = static_cast<uint32_t>(heap_.size());
    for (;;) {
      uint32_t child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], variable)) break;
      put(at, heap_[child]);
      at = child;
    }
    put(at, variable);
  }

  const std::vector<double>& activity_;
  std::vector<uint32_t> heap_;
  std::vector<uint32_t> place_;  // of each variable in heap_
};

}  // namespace xlog::solve
