#include "kernel/verify.h"

#include <fmt/format.h>

#include "base/check.h"
#include "kernel/place.h"
#include "kernel/text.h"
#include "kernel/verify_rules.h"

namespace xlog::kernel {

namespace {

// For kernels too broken to print as text: every node as it is.
std::string dump(const Graph& graph, Id root) {
  std::string text;
  for (Id id : reachable(graph, root)) {
    text += fmt::format("  %{} = {}", id.index, spelling(graph.op(id)));
    if (graph.type(id) != Type::Void) text += fmt::format(":{}", spelling(graph.type(id)));
    if (graph.is_const(id)) text += " " + to_text(graph.value(id));
    for (Id operand : graph.operands(id)) text += fmt::format(" %{}", operand.index);
    text += fmt::format("  (flags {}, imm {})\n", graph[id].flags, graph[id].imm);
  }
  return text;
}

std::vector<Problem> check(const Graph& graph, Id root, Spec spec, bool& sound) {
  std::vector<Problem> problems;
  const Walked walked = verify_structure(graph, root, spec, problems);
  sound = problems.empty();
  if (!sound) return problems;
  verify_modes(graph, root, spec, walked, problems);
  if (graph.op(root) == Op::Kernel) verify_uniform(graph, root, walked, problems);
  if (graph.op(root) == Op::Plan) verify_plan(graph, root, spec, walked, problems);
  return problems;
}

}  // namespace

std::string called(const Graph& graph, Id root, Id node) {
  if (graph.op(node) == Op::Param) {
    const std::string_view name = graph.param_name(root, node);
    return name.empty() ? fmt::format("parameter {}", graph.position(node))
                        : fmt::format("`{}`", name);
  }
  if (!graph.name(node).empty()) return fmt::format("`{}`", graph.name(node));
  return fmt::format("this {}", spelling(graph.op(node)));
}

std::vector<Problem> verify(const Graph& graph, Id root, Spec spec) {
  bool sound = true;
  return check(graph, root, spec, sound);
}

void verify_or_die(const Graph& graph, Id root, Spec spec, std::string_view after_what) {
  bool sound = true;
  const std::vector<Problem> problems = check(graph, root, spec, sound);
  if (problems.empty()) return;
  std::string text = fmt::format("the kernel is broken after {}:\n", after_what);
  for (const Problem& problem : problems) {
    text += fmt::format("  %{}: {}\n", problem.node.index, problem.message);
  }
  text += sound ? print(graph, root) : dump(graph, root);
  XLOG_UNREACHABLE(text);
}

}  // namespace xlog::kernel
