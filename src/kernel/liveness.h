// Which nodes of a kernel matter: effects that others can see (stores to parameters, atomics,
// checks, barriers, loops that may fail their bound), and all that those need. Of what a loop
// carries, only the values that somebody uses.
//
//   Liveness live(graph, kernel);
//   if (!live[load]) ...
#pragma once

#include <vector>

#include "kernel/graph.h"

namespace xlog::kernel {

class Liveness {
 public:
  Liveness(const Graph& graph, Id kernel);

  // For nodes that existed when the kernel was looked at.
  bool operator[](Id node) const { return node.index < live_.size() && live_[node.index]; }
  // Whether the carried value k of a loop matters, in the body or after it.
  bool carries(Id loop, uint32_t k) const;

 private:
  struct ArrayStore {
    Id array, effect;
  };
  struct Loop {
    Id node;
    Id yield;        // invalid where nothing is carried
    uint32_t first;  // carried values: their place in `carried_`
  };

  void collect(Id block, Id owner);
  void mark(Id node);
  void mark_carried(const Loop& loop, uint32_t k);
  void spread(Id node);

  const Graph& graph_;
  std::vector<bool> live_;
  std::vector<Id> owner_;  // the If, For, Loop or Kernel whose block holds the effect
  std::vector<Loop> loops_;
  std::vector<uint32_t> loop_of_tag_;  // place in `loops_`
  std::vector<bool> carried_;
  std::vector<ArrayStore> array_stores_;
  std::vector<Id> roots_, work_;
};

}  // namespace xlog::kernel
