// Comparison of a backend with the oracle, and the way from a large difference to a small one.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/place.h"
#include "kernel/random_kernel.h"
#include "kernel/rebuild.h"
#include "kernel/text.h"

namespace xlog::kernel {

namespace {

std::string failure_text(const std::optional<CheckFailure>& failure) {
  if (!failure) return "no check failed";
  return fmt::format("check {} failed at instance {}", failure->code, failure->instance);
}

std::string first_difference(const Graph& graph, Id kernel, const RandomArguments& expected,
                             const RandomArguments& got) {
  const auto params = graph.params(kernel);
  for (size_t k = 0; k < params.size(); ++k) {
    const Type type = graph.type(params[k]);
    const size_t size = size_of(type);
    for (size_t at = 0; at < expected.memory[k].size(); at += size) {
      const Scalar a = load_scalar(type, expected.memory[k].data() + at);
      const Scalar b = load_scalar(type, got.memory[k].data() + at);
      if (a == b) continue;
      return fmt::format("{} {} at index {}: the oracle has {} (0x{:x}), the backend {} (0x{:x})",
                         spelling(graph.mode(params[k])), graph.param_name(kernel, params[k]),
                         at / size, to_text(a), a.bits, to_text(b), b.bits);
    }
  }
  return "";
}

std::string differs_how(Graph& graph, Id kernel, const RandomArguments& arguments,
                        const Runner& runner) {
  RandomArguments expected = arguments, got = arguments;
  auto truth = run_oracle(graph, kernel, expected.list);
  if (!truth.ok()) return "the oracle refuses: " + truth.error().text();
  auto result = runner(graph, kernel, got.list);
  if (!result.ok()) return "the backend refuses: " + result.error().text();
  if (auto text = first_difference(graph, kernel, expected, got); !text.empty()) return text;
  const std::string a = failure_text(truth->failure), b = failure_text(*result);
  return a == b ? "" : fmt::format("oracle: {}; backend: {}", a, b);
}

// The kernel without one effect; its value, if it has one, becomes a constant or what the loop
// began with.
Id without(Graph& graph, Id kernel, Id victim) {
  Rebuild again(graph);
  again.before = [&](Id original, std::vector<Id>&, Id& replacement) {
    if (original != victim) return false;
    if (is_loop(graph.op(victim))) {
      const auto inits = graph.inits(victim);
      for (Id id : reachable(graph, kernel)) {
        if (graph.op(id) != Op::Proj || graph.operand(id, 0) != victim) continue;
        const uint32_t k = graph.result_index(id);
        again.set(id, k < inits.size() ? again(inits[k]) : graph.constant(Scalar::boolean(false)));
      }
    } else if (graph.type(victim) != Type::Void) {
      replacement = graph.constant(Scalar::of(graph.type(victim), 1));
    }
    return true;
  };
  return again.run(kernel);
}

// The kernel with another value in place of a pure node.
Id with_value(Graph& graph, Id kernel, Id victim, Id value) {
  Rebuild again(graph);
  again.pure = [&](Id node, Id original) { return original == victim ? again(value) : node; };
  return again.run(kernel);
}

bool is_removable(Op op) {
  return is_effect(op) && op != Op::Kernel && op != Op::Block && op != Op::Yield && op != Op::Alloc;
}

// Tries to make the kernel smaller at each node of a kind. Later nodes first: what they used
// becomes free to go. A success changes the ids of what stands around it, so nodes are listed anew;
// `tried` counts from the back.
Id shrink_by(const Graph& graph, Id kernel, const std::function<bool(Id)>& differs,
             const std::function<bool(Op)>& is_kind,
             const std::function<std::vector<Id>(Id victim, Id from)>& smaller_ones) {
  size_t tried = 0;
  while (true) {
    std::vector<Id> nodes;
    for (Id id : reachable(graph, kernel)) {
      if (is_kind(graph.op(id))) nodes.push_back(id);
    }
    if (tried >= nodes.size()) return kernel;
    const auto candidates = smaller_ones(nodes[nodes.size() - 1 - tried], kernel);
    const auto found = std::ranges::find_if(candidates, differs);
    if (found == candidates.end()) {
      ++tried;
    } else {
      kernel = *found;
    }
  }
}

}  // namespace

std::string compare(Graph& graph, Id kernel, const RandomArguments& arguments,
                    const Runner& runner) {
  const std::string text = differs_how(graph, kernel, arguments, runner);
  if (text.empty()) return "";
  auto differs = [&](Id smaller) {
    RandomArguments copy = arguments;
    return run_oracle(graph, smaller, copy.list).ok() &&
           !differs_how(graph, smaller, arguments, runner).empty();
  };
  const Id small = shrink(graph, kernel, differs);
  return fmt::format("{}\nshrunk: {}\n{}", text, differs_how(graph, small, arguments, runner),
                     print(graph, small));
}

Id shrink(Graph& graph, Id kernel, const std::function<bool(Id kernel)>& differs) {
  kernel = shrink_by(graph, kernel, differs, is_removable, [&](Id victim, Id from) {
    return std::vector<Id>{without(graph, from, victim)};
  });
  auto is_expression = [](Op op) { return is_arithmetic(op); };
  return shrink_by(graph, kernel, differs, is_expression, [&](Id victim, Id from) {
    std::vector<Id> smaller;
    for (Id operand : graph.operands(victim)) {
      if (graph.type(operand) != graph.type(victim)) continue;
      smaller.push_back(with_value(graph, from, victim, operand));
    }
    const Id one = graph.constant(Scalar::of(graph.type(victim), 1));
    smaller.push_back(with_value(graph, from, victim, one));
    return smaller;
  });
}

}  // namespace xlog::kernel
