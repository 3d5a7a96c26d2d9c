// What a kernel says beside its buffers: failures go out through a hidden status parameter, lengths
// of buffers come in as hidden numbers.
#include <optional>
#include <string>

#include "base/check.h"
#include "kernel/pass.h"
#include "kernel/place.h"
#include "kernel/rebuild.h"

namespace xlog::kernel {

namespace {

// The parameter for `wanted`: the one an earlier run appended, or a new one at the end of `params`.
Id hidden_param(PassContext& context, std::vector<Id>& params, HiddenParam wanted, Type type,
                Mode mode, std::string_view name) {
  const size_t own = params.size() - context.hidden.size();
  for (size_t k = 0; k < context.hidden.size(); ++k) {
    const HiddenParam& there = context.hidden[k];
    if (there.kind == wanted.kind && there.of == wanted.of) return params[own + k];
  }
  const Id param = context.graph.parameter(static_cast<uint32_t>(params.size()), type, mode);
  context.graph.set_name(param, name);
  params.push_back(param);
  context.hidden.push_back(wanted);
  return param;
}

bool is_false(const Graph& graph, Id id) {
  return graph.is_const(id) && !graph.value(id).as_bool();
}

// Whether a Loop can end with its flag still set: not when it never starts, and not when its body
// never asks for another round and may run once.
bool may_hit_bound(const Graph& graph, Id loop) {
  const Id bound = graph.operand(loop, 0), go = graph.operand(loop, 1);
  if (is_false(graph, go)) return false;
  const Id yield = graph.operands(graph.body(loop)).back();
  const bool runs_once = graph.is_const(bound) && graph.value(bound).as_u32() > 0;
  return !(runs_once && is_false(graph, graph.operand(yield, 0)));
}

// The number that a failure reports: the grid index, or group * lanes + lane. A kernel that never
// asks for its index has one instance.
Id instance_number(Graph& graph, Id kernel, const std::vector<Id>& nodes) {
  const uint32_t lanes = graph.kernel_info(kernel).group;
  std::optional<Id> index;
  for (Id id : nodes) {
    const Op op = graph.op(id);
    if (op == Op::Grid || op == Op::Group) index = id;
  }
  if (lanes == 0) return index ? *index : graph.constant(Scalar::u32(0));
  const Id lane = graph.make(Op::Lane, {});
  if (!index) return lane;
  const Id first = graph.make(Op::Mul, {*index, graph.constant(Scalar::u32(lanes))});
  return graph.make(Op::Add, {first, lane});
}

}  // namespace

Id checks_to_status(PassContext& context, Id kernel) {
  Graph& graph = context.graph;
  const std::vector<Id> nodes = reachable(graph, kernel);
  bool may_fail = false;
  for (Id id : nodes) {
    may_fail |= graph.op(id) == Op::Check;
    may_fail |= graph.op(id) == Op::Loop && may_hit_bound(graph, id);
  }
  if (!may_fail) return kernel;

  auto old = graph.params(kernel);
  std::vector<Id> params(old.begin(), old.end());
  const Id status =
      hidden_param(context, params, {HiddenParam::Kind::Status, 0}, Type::U32, Mode::Acc, "status");
  const Id instance = instance_number(graph, kernel, nodes);
  auto report_if = [&](Id condition, uint32_t code) {
    const Id operands[] = {status, graph.constant(Scalar::u32(code)), instance};
    const Id report[] = {graph.fold_node(Op::Atomic, Fold::Min, operands)};
    return graph.make(Op::If, {condition, graph.block(report)});
  };

  Rebuild again(graph);
  again.effect = [&](Id node, Id original, std::vector<Id>& out) {
    if (graph.op(node) == Op::Check) {
      const Id holds = graph.operand(node, 0);
      const Id fails = graph.make(Op::Xor, {holds, graph.constant(Scalar::boolean(true))});
      const Id report = report_if(fails, graph.code(node));
      context.note("check as status", original, report);
      out.push_back(report);
      return Id{};
    }
    out.push_back(node);
    if (graph.op(node) == Op::Loop && may_hit_bound(graph, node)) {
      const auto flag = static_cast<uint32_t>(graph.inits(node).size());
      const Id report = report_if(graph.proj(node, flag, Type::Bool), kCheckBound);
      context.note("loop bound as status", original, report);
      out.push_back(report);
    }
    return node;
  };
  return again.run(kernel, &params);
}

Id lengths_to_params(PassContext& context, Id kernel) {
  Graph& graph = context.graph;
  std::vector<bool> asked(graph.params(kernel).size(), false);
  bool any = false;
  for (Id id : reachable(graph, kernel)) {
    if (graph.op(id) != Op::Len) continue;
    const Id of = graph.operand(id, 0);
    XLOG_CHECK(graph.op(of) == Op::Param, "len of a buffer that is no parameter");
    asked[graph.position(of)] = true;
    any = true;
  }
  if (!any) return kernel;

  auto old = graph.params(kernel);
  std::vector<Id> params(old.begin(), old.end());
  std::vector<Id> length(asked.size());
  for (uint32_t p = 0; p < asked.size(); ++p) {
    if (!asked[p]) continue;
    const std::string name = "length_" + std::string(graph.param_name(kernel, params[p]));
    length[p] =
        hidden_param(context, params, {HiddenParam::Kind::Length, p}, Type::U32, Mode::Val, name);
  }
  Rebuild again(graph);
  again.pure = [&](Id node, Id original) {
    if (graph.op(node) != Op::Len) return node;
    const Id param = length[graph.position(graph.operand(node, 0))];
    context.note("length as parameter", original, param);
    return param;
  };
  return again.run(kernel, &params);
}

}  // namespace xlog::kernel
