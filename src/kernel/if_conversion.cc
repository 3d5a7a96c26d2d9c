#include "kernel/effects.h"
#include "kernel/rebuild.h"

namespace xlog::kernel {

namespace {

// The only effect of a block, if it is of this op.
Id only_effect(const Graph& graph, Id block, Op op) {
  auto list = graph.operands(block);
  return list.size() == 1 && graph.op(list[0]) == op ? list[0] : Id{};
}

// if c { store b i x } else { store b i y }  ->  store b i (select c x y)
Id one_store(Graph& graph, std::span<const Id> branches) {
  if (branches.size() != 3) return {};
  const Id yes = only_effect(graph, branches[1], Op::Store);
  const Id no = only_effect(graph, branches[2], Op::Store);
  if (!yes.valid() || !no.valid()) return {};
  auto a = graph.operands(yes), b = graph.operands(no);
  if (a[0] != b[0] || a[1] != b[1]) return {};
  const Id value = graph.make(Op::Select, {branches[0], a[2], b[2]});
  return graph.make(Op::Store, {a[0], a[1], value});
}

// if c { if d { ... } }  ->  if c and d { ... }
Id one_condition(Graph& graph, std::span<const Id> branches) {
  if (branches.size() != 2) return {};
  const Id inner = only_effect(graph, branches[1], Op::If);
  if (!inner.valid() || graph.operands(inner).size() != 2) return {};
  auto list = graph.operands(inner);
  return graph.make(Op::If, {graph.make(Op::And, {branches[0], list[0]}), list[1]});
}

// if c { A } if c { B }  ->  if c { A B }
Id one_branch(Graph& graph, Id before, Id after) {
  if (graph.op(before) != Op::If || graph.op(after) != Op::If) return {};
  auto a = graph.operands(before), b = graph.operands(after);
  if (a[0] != b[0] || a.size() != 2 || b.size() != 2) return {};
  auto first = graph.operands(a[1]), second = graph.operands(b[1]);
  std::vector<Id> effects(first.begin(), first.end());
  effects.insert(effects.end(), second.begin(), second.end());
  return graph.make(Op::If, {a[0], graph.block(effects)});
}

}  // namespace

Id convert_ifs(PassContext& context, Id kernel) {
  Graph& graph = context.graph;
  Rebuild again(graph);
  again.effect = [&](Id node, Id original, std::vector<Id>& out) {
    if (graph.op(node) != Op::If) {
      out.push_back(node);
      return node;
    }
    Id made = node;
    if (Id store = one_store(graph, graph.operands(node)); store.valid()) {
      context.note("if-to-select", original, store);
      made = store;
    } else if (Id merged = one_condition(graph, graph.operands(node)); merged.valid()) {
      context.note("if-in-if", original, merged);
      made = merged;
    }
    if (!out.empty()) {
      if (Id joined = one_branch(graph, out.back(), made); joined.valid()) {
        context.note("if-after-if", original, joined);
        out.back() = joined;
        return joined;
      }
    }
    out.push_back(made);
    return made;
  };
  return again.run(kernel);
}

}  // namespace xlog::kernel
