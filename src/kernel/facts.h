// What is known of an integer or bool before it is computed: an interval of numbers and bits that
// are always zero or always one. Holds for every instance; for the counter of a loop inside its
// body, where alone it can be used.
//
//   Facts facts(graph, kernel);
//   if (facts.of(index).max < 32) ...
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/graph.h"

namespace xlog::kernel {

using Wide = __int128;  // holds the numbers of all integer types, and their sums and products

struct Fact {
  Wide min = 0, max = 0;  // as numbers: -1 for an i32 of all ones
  uint64_t zeros = 0;     // bits of the Scalar known to be 0; above the width all are
  uint64_t ones = 0;

  // All that the type says.
  static Fact any(Type type);
  static Fact exactly(Scalar value);
  static Fact between(Type type, Wide min, Wide max);
};

// The number that a scalar of an integer type or bool stands for.
Wide number_of(Scalar value);

class Facts {
 public:
  // Without a kernel nothing is known of loop counters and lanes.
  explicit Facts(const Graph& graph, Id kernel = {});

  const Fact& of(Id node);

  // A rewrite knows more of the limits of a loop by the time it comes to its body; `low` is invalid
  // for a Loop.
  void set_limits(Id loop, Id low, Id high);

 private:
  struct Limits {
    Id low, high;  // of the counter: low <= j < high; without low from 0
  };

  Fact compute(Id node);
  Fact loop_counter(Id arg);
  const Fact& operand(Id node, size_t k) { return known_[graph_.operand(node, k).index]; }
  void collect_loops(Id block);

  const Graph& graph_;
  uint32_t group_ = 0;
  std::vector<Fact> known_;
  std::vector<bool> done_;
  std::vector<Limits> loops_;  // by tag
  std::vector<Id> stack_;      // of the walk in of()
};

}  // namespace xlog::kernel
