#include "kernel/plan_lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <unordered_set>

#include "base/check.h"
#include "kernel/library.h"
#include "kernel/place.h"
#include "kernel/rebuild.h"

namespace xlog::kernel {

namespace {

bool is_plan_value(const Graph& graph, Id id) {
  switch (graph.op(id)) {
    case Op::Param:
    case Op::Buf:
    case Op::Copy:
    case Op::Read:
    case Op::Reduce:
      return true;
    case Op::Proj:
      return info(graph.op(graph.operand(id, 0))).tier == Tier::Plan;
    default:
      return false;
  }
}

// The buffers and host scalars of the plan that a body uses, in order of first use.
std::vector<Id> captured(const Graph& graph, Id body) {
  std::vector<Id> leaves;
  std::unordered_set<Id> seen;
  std::vector<Id> stack = {body};  // bodies may be deeper than the stack of a thread
  while (!stack.empty()) {
    const Id id = stack.back();
    stack.pop_back();
    if (!seen.insert(id).second) continue;
    if (is_plan_value(graph, id)) {
      leaves.push_back(id);
      continue;
    }
    for (Id operand : std::views::reverse(graph.operands(id))) stack.push_back(operand);
  }
  return leaves;
}

// A kernel around a body: what the body takes from the plan becomes parameters.
class BodyKernel {
 public:
  BodyKernel(Graph& graph, Id node, std::string_view name)
      : graph_(graph), node_(node), k(graph, name), rebuild_(graph) {
    const Value n = k.val(Type::U32, "n");
    arguments.push_back(graph.operand(node, 0));
    index = k.grid(n);
    rebuild_.set(graph.arg(graph.tag(node), 0, Type::U32), index.id);
    for (Id leaf : captured(graph, graph.body(node))) {
      const std::string param = fmt::format("x{}", arguments.size());
      const Type type = graph.type(leaf);
      rebuild_.set(leaf, is_buffer(graph, leaf) ? k.in(type, param).id : k.val(type, param).id);
      arguments.push_back(leaf);
    }
  }

  // A buffer that the kernel has besides.
  Buffer add(Type type, Mode mode, std::string_view name, Id argument) {
    arguments.push_back(argument);
    return k.buffer(type, mode, name);
  }

  // Puts the body in; `row` stands for each Emit, or for the Yield at the end.
  void body(const std::function<void(const Values&)>& row) {
    const auto effects = graph_.operands(graph_.body(node_));
    const Id last = effects.empty() ? Id{} : effects.back();
    rebuild_.before = [&](Id original, std::vector<Id>& out, Id&) {
      const bool is_row =
          graph_.op(original) == Op::Emit || (graph_.op(node_) == Op::Map && original == last);
      if (!is_row) return false;
      Values values;
      for (Id value : graph_.operands(original)) values.push_back(k.wrap(rebuild_(value)));
      for (Id effect : k.effects_of([&] { row(values); })) out.push_back(effect);
      return true;
    };
    std::vector<Id> made;
    rebuild_.effects(effects, made);
    for (Id effect : made) k.append(effect);
  }

 private:
  // A kernel builder that can set effects aside.
  struct Body : KernelBuilder {
    using KernelBuilder::KernelBuilder;
    std::vector<Id> effects_of(const std::function<void()>& body) {
      blocks_.emplace_back();
      body();
      std::vector<Id> effects = std::move(blocks_.back());
      blocks_.pop_back();
      return effects;
    }
  };

  Graph& graph_;
  Id node_;

 public:
  Body k;
  Value index;
  std::vector<Id> arguments;

 private:
  Rebuild rebuild_;
};

std::string kernel_name(const Graph& graph, Id node, std::string_view step) {
  const std::string_view name = graph.name(node);
  return name.empty() ? std::string(step) : fmt::format("{}_{}", step, name);
}

Columns lower_map(PlanBuilder& plan, Id node) {
  Graph& graph = plan.graph();
  BodyKernel map(graph, node, kernel_name(graph, node, "map"));
  const Value n = plan.wrap(graph.operand(node, 0));
  Columns results, outs;
  for (Type type : body_columns(graph, node)) {
    results.push_back(plan.unset_buf(type, n));
    outs.push_back(map.add(type, Mode::Out, fmt::format("y{}", outs.size()), results.back().id));
  }
  map.body([&](const Values& row) {
    for (size_t c = 0; c < row.size(); ++c) map.k.store(outs[c], map.index, row[c]);
  });
  plan.launch(map.k.finish(), map.arguments);
  return results;
}

// One body, two kernels: the first counts the rows that each index emits, the second stores them
// where the scan of the counts says.
Rows lower_expand(Library& library, PlanBuilder& plan, Id node) {
  Graph& graph = plan.graph();
  const Value n = plan.wrap(graph.operand(node, 0));
  const Buffer counts = plan.unset_buf(Type::U32, n);
  {
    BodyKernel count(graph, node, kernel_name(graph, node, "expand_count"));
    const Buffer out = count.add(Type::U32, Mode::Out, "counts", counts.id);
    // Counted in 64 bits: one index can emit more rows than 32 bits count.
    const Buffer emitted = count.k.private_array(Type::U64, 1);
    const Value zero = count.k.u32(0);
    count.k.store(emitted, zero, count.k.number(Type::U64, 0));
    count.body([&](const Values&) { count.k.store(emitted, zero, emitted[0u] + 1); });
    const Value rows = emitted[0u];
    count.k.check(kCheckOverflow, rows <= count.k.constant(Scalar::u64(UINT32_MAX)));
    count.k.store(out, count.index, count.k.cast(Type::U32, rows));
    plan.launch(count.k.finish(), count.arguments);
  }
  const ScanBuffers places = library_scan(library, plan, Fold::Add, counts, {.checked = true});
  Rows rows;
  rows.count = plan.read(places.total, plan.u32(0));
  if (body_columns(graph, node).empty()) return rows;
  BodyKernel emit(graph, node, kernel_name(graph, node, "expand_emit"));
  const Buffer starts = emit.add(Type::U32, Mode::In, "starts", places.before.id);
  Columns outs;
  for (Type type : body_columns(graph, node)) {
    rows.columns.push_back(plan.unset_buf(type, rows.count));
    outs.push_back(
        emit.add(type, Mode::Out, fmt::format("y{}", outs.size()), rows.columns.back().id));
  }
  const Buffer next = emit.k.private_array(Type::U32, 1);
  const Value zero = emit.k.u32(0);
  emit.k.store(next, zero, starts[emit.index]);
  emit.body([&](const Values& row) {
    const Value place = next[0u];
    for (size_t c = 0; c < row.size(); ++c) emit.k.store(outs[c], place, row[c]);
    emit.k.store(next, zero, place + 1);
  });
  plan.launch(emit.k.finish(), emit.arguments);
  return rows;
}

// Lowers one op. Gives its results by Proj number, or the one value of a Reduce; results that
// nobody uses may be invalid.
std::vector<Id> lower_op(Library& library, PlanBuilder& plan, Id node,
                         const std::function<bool(uint32_t)>& is_used) {
  Graph& graph = plan.graph();
  Columns operands;
  for (Id operand : graph.operands(node)) operands.push_back(plan.wrap_buffer(operand));
  std::vector<Id> results;
  auto give = [&](const Columns& columns) {
    for (Buffer column : columns) results.push_back(column.id);
  };
  switch (graph.op(node)) {
    case Op::Map:
      give(lower_map(plan, node));
      break;
    case Op::Expand: {
      const Rows rows = lower_expand(library, plan, node);
      give(rows.columns);
      results.push_back(rows.count.id);
      break;
    }
    case Op::Scan: {
      const ScanBuffers scanned = library_scan(library, plan, graph.fold(node), operands[0]);
      results.push_back(scanned.before.id);
      if (is_used(1)) results.push_back(plan.read(scanned.total, plan.u32(0)).id);
      break;
    }
    case Op::Reduce:
      give({library_reduce(library, plan, graph.fold(node), operands[0])});
      break;
    case Op::Sort: {
      plan.require_equal_lengths(operands, "sort");
      const Sorted sorted = library_sort(library, plan, operands, is_used(0));
      give({sorted.permutation});
      give(sorted.columns);
      break;
    }
    case Op::Segment: {
      plan.require_equal_lengths(operands, "segment");
      const Buffer folds =
          library_segment(library, plan, graph.fold(node), operands[0], operands[1]);
      give({folds});
      results.push_back(plan.len(folds).id);
      break;
    }
    case Op::Partition: {
      const Partitioned parts = library_partition(plan, operands[0], plan.wrap(operands[1].id));
      give({parts.starts, parts.rows});
      break;
    }
    case Op::Merge: {
      const uint32_t columns = graph[node].imm;
      const Columns first(operands.begin(), operands.begin() + columns);
      const Columns second(operands.begin() + columns, operands.end());
      plan.require_equal_lengths(first, "the first run of merge");
      plan.require_equal_lengths(second, "the second run of merge");
      give({library_merge(library, plan, first, second)});
      break;
    }
    default:
      XLOG_UNREACHABLE("this op is no skeleton");
  }
  return results;
}

// What a launch writes into is not what it was: runs that were found in it are no longer there.
void forget_written(Library& library, Id launch) {
  const Graph& graph = library.graph;
  const auto arguments = graph.operands(launch).subspan(1);
  const auto params = graph.params(graph.operand(launch, 0));
  for (size_t k = 0; k < params.size(); ++k) {
    const Mode mode = graph.mode(params[k]);
    if (mode != Mode::Val && mode != Mode::In) library.runs.erase(arguments[k]);
  }
}

Id lower_round(Graph& graph, Id plan, Library& library) {
  library.runs.clear();
  const std::vector<Id> nodes = reachable(graph, plan);
  const std::unordered_set<Id> used(nodes.begin(), nodes.end());
  PlanBuilder builder(graph, graph.kernel_info(plan).name);
  Rebuild again(graph);
  again.before = [&](Id original, std::vector<Id>&, Id&) {
    if (graph.op(original) == Op::Launch) {
      const Id kernel = graph.operand(original, 0);
      again.set(kernel, kernel);
    }
    return false;
  };
  again.effect = [&](Id node, Id original, std::vector<Id>& out) {
    if (!is_skeleton(graph.op(node))) {
      if (graph.op(node) == Op::Launch) forget_written(library, node);
      out.push_back(node);
      return node;
    }
    std::vector<Id> results;
    auto is_used = [&](uint32_t k) {
      return std::ranges::any_of(nodes, [&](Id id) {
        return graph.op(id) == Op::Proj && graph.operand(id, 0) == original &&
               graph.result_index(id) == k;
      });
    };
    for (Id effect :
         builder.effects_of([&] { results = lower_op(library, builder, node, is_used); })) {
      out.push_back(effect);
    }
    if (graph.op(node) == Op::Reduce) return results[0];
    for (uint32_t k = 0; k < results.size(); ++k) {
      if (!results[k].valid()) continue;  // left out, since nobody uses it
      again.set(graph.proj(original, k, graph.type(results[k])), results[k]);
    }
    return node;
  };
  return again.run(plan);
}

}  // namespace

Id lower_plan(Graph& graph, Id plan, const PlanTarget& target) {
  Library library(graph, target);
  auto has_skeleton = [&] {
    return std::ranges::any_of(graph.operands(graph.body(plan)),
                               [&](Id effect) { return is_skeleton(graph.op(effect)); });
  };
  // A skeleton is written in simpler ones, so the rounds end; four are enough today.
  for (int round = 0; has_skeleton(); ++round) {
    XLOG_CHECK(round < 16, "the lowering of a plan goes round in circles");
    plan = lower_round(graph, plan, library);
  }
  return plan;
}

}  // namespace xlog::kernel
