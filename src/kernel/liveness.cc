#include "kernel/liveness.h"

#include <algorithm>

namespace xlog::kernel {

Liveness::Liveness(const Graph& graph, Id kernel)
    : graph_(graph), live_(graph.size(), false), owner_(graph.size()) {
  collect(graph.body(kernel), kernel);
  std::ranges::stable_sort(array_stores_, {}, &ArrayStore::array);
  for (Id id : roots_) mark(id);
  while (!work_.empty()) {
    const Id id = work_.back();
    work_.pop_back();
    spread(id);
  }
}

bool Liveness::carries(Id loop, uint32_t k) const {
  return carried_[loops_[loop_of_tag_[graph_.tag(loop)]].first + k];
}

void Liveness::collect(Id block, Id owner) {
  for (Id effect : graph_.operands(block)) {
    owner_[effect.index] = owner;
    const Op op = graph_.op(effect);
    switch (op) {
      case Op::Load:
      case Op::Alloc:
      case Op::If:
      case Op::For:
      case Op::Yield:
        break;  // matters only where something else needs it
      case Op::Store:
        if (Id buffer = graph_.operand(effect, 0); graph_.op(buffer) == Op::Alloc) {
          array_stores_.push_back({buffer, effect});
        } else {
          roots_.push_back(effect);
        }
        break;
      default:
        // A Loop may fail its bound: others see that.
        roots_.push_back(effect);
    }
    if (is_loop(op)) {
      const uint32_t tag = graph_.tag(effect);
      if (tag >= loop_of_tag_.size()) loop_of_tag_.resize(tag + 1);
      loop_of_tag_[tag] = static_cast<uint32_t>(loops_.size());
      auto body = graph_.operands(graph_.body(effect));
      const bool yields = !body.empty() && graph_.op(body.back()) == Op::Yield;
      loops_.push_back(
          {effect, yields ? body.back() : Id{}, static_cast<uint32_t>(carried_.size())});
      carried_.resize(carried_.size() + graph_.inits(effect).size());
    }
    for (Id operand : graph_.operands(effect)) {
      if (graph_.op(operand) == Op::Block) collect(operand, effect);
    }
  }
}

void Liveness::mark(Id node) {
  if (live_[node.index]) return;
  live_[node.index] = true;
  work_.push_back(node);
}

void Liveness::mark_carried(const Loop& loop, uint32_t k) {
  if (carried_[loop.first + k]) return;
  carried_[loop.first + k] = true;
  mark(graph_.inits(loop.node)[k]);
  const uint32_t flag = graph_.op(loop.node) == Op::Loop ? 1 : 0;
  mark(graph_.operand(loop.yield, k + flag));
}

void Liveness::spread(Id node) {
  const Op op = graph_.op(node);
  switch (op) {
    case Op::For:
    case Op::Loop: {
      mark(graph_.operand(node, 0));
      mark(graph_.operand(node, 1));
      const Loop& loop = loops_[loop_of_tag_[graph_.tag(node)]];
      if (loop.yield.valid()) mark(loop.yield);
      break;
    }
    case Op::Yield:
      if (graph_.op(owner_[node.index]) == Op::Loop) mark(graph_.operand(node, 0));
      break;
    case Op::Arg: {
      const Loop& loop = loops_[loop_of_tag_[graph_.tag(node)]];
      mark(loop.node);
      if (graph_.arg_index(node) > 0) mark_carried(loop, graph_.arg_index(node) - 1);
      break;
    }
    case Op::Proj: {
      const Id of = graph_.operand(node, 0);
      mark(of);
      // The result after the carried ones is a Loop's flag.
      if (graph_.result_index(node) < graph_.inits(of).size()) {
        mark_carried(loops_[loop_of_tag_[graph_.tag(of)]], graph_.result_index(node));
      }
      break;
    }
    case Op::Alloc:
      // An array that somebody looks at needs its stores.
      for (const ArrayStore& store :
           std::ranges::equal_range(array_stores_, node, {}, &ArrayStore::array)) {
        mark(store.effect);
      }
      break;
    default:
      for (Id operand : graph_.operands(node)) {
        if (graph_.op(operand) != Op::Block) mark(operand);
      }
  }
  if (is_effect(op) && owner_[node.index].valid() && graph_.op(owner_[node.index]) != Op::Kernel) {
    mark(owner_[node.index]);
  }
}

}  // namespace xlog::kernel
