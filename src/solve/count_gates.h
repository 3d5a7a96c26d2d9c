// Clauses that define a variable: an output that is the conjunction of some inputs. Definitions do
// not go round in a circle, so the other variables decide all outputs.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "solve/count_trail.h"

namespace xlog::solve {

// Lists of numbers in one vector.
struct CountLists {
  std::vector<uint32_t> begin{0};
  std::vector<uint32_t> items;

  size_t size() const { return begin.size() - 1; }
  std::span<const uint32_t> operator[](size_t i) const {
    return std::span(items).subspan(begin[i], begin[i + 1] - begin[i]);
  }
  void close() { begin.push_back(static_cast<uint32_t>(items.size())); }
};

// What a formula is made of under what is assigned at the start: literals are slots.
struct CountGates {
  CountLists gates;                                  // the output, then the inputs
  CountLists clauses;                                // of three and more that are part of no gate
  std::vector<std::pair<uint32_t, uint32_t>> pairs;  // clauses of two that are part of none
  std::vector<bool> is_output;                       // by variable; those of sums too
};

// Variables that are `kept`, where it is long enough to say so, are no outputs.
CountGates find_gates(const CountFormula& formula, const CountTrail& trail,
                      const std::vector<bool>& kept);

}  // namespace xlog::solve
