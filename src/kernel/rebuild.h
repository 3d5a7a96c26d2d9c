// Walks a kernel in order and makes it anew. What both hooks leave alone comes out as the same
// nodes, so a pass that changes nothing gives back the Id it was given.
//
//   Rebuild again(graph);
//   again.pure = [&](Id node, Id) { return is_zero_sum(node) ? other(node) : node; };
//   again.effect = [&](Id node, Id, std::vector<Id>& out) {      // out: the block being made
//     if (is_dead(node)) return Id{};
//     out.push_back(node);
//     return node;                                               // what its users see
//   };
//   kernel = again.run(kernel);
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernel/graph.h"

namespace xlog::kernel {

class Rebuild {
 public:
  explicit Rebuild(Graph& graph) : graph_(graph) {}

  // `node` has its new operands already; `original` is the node it comes from.
  std::function<Id(Id node, Id original)> pure;
  std::function<Id(Id node, Id original, std::vector<Id>& out)> effect;
  // Before an effect and its blocks are walked: gives true if it appended its own replacement to
  // `out`, and the walk skips the effect. `replacement` is what users see.
  std::function<bool(Id original, std::vector<Id>& out, Id& replacement)> before;

  // The kernel or plan with every node rebuilt; `params` replaces its parameter list when given.
  Id run(Id root, const std::vector<Id>* params = nullptr);

  Id operator()(Id node);  // the new form of a node of the original kernel
  Id block(Id original);   // the new form of a block, its effects in order
  void effects(std::span<const Id> originals, std::vector<Id>& out);
  void set(Id original, Id replacement);

 private:
  Graph& graph_;
  std::vector<Id> made_;  // by original Id
};

}  // namespace xlog::kernel
