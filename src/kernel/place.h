// Where pure nodes are computed. Effects stand in their blocks in order; a pure node floats until
// it is placed: in the innermost block that holds all of its uses, then moved out of every loop it
// does not depend on. All arithmetic is total, so computing a value earlier than its user needs it
// is never wrong. Loads are effects and stay where they are: outside its guard an index may lie
// outside its buffer.
#pragma once

#include <span>
#include <vector>

#include "kernel/graph.h"

namespace xlog::kernel {

struct Placement {
  // The nodes of a block in the order of computation: effects and the pure nodes placed there, each
  // before its first use. Params, constants, Args and Projs are not listed: they are just there.
  std::span<const Id> in(Id block) const;
  // The blocks, outer before inner, as they occur.
  std::vector<Id> blocks;

  std::vector<std::vector<Id>> lists;  // by position in `blocks`
  std::vector<uint32_t> position;      // by Id of a block
};

Placement place(const Graph& graph, Id kernel);

// All nodes reachable from a root, operands before users.
std::vector<Id> reachable(const Graph& graph, Id root);

}  // namespace xlog::kernel
