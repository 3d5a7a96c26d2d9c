#include "kernel/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "kernel/effects.h"
#include "kernel/pass.h"
#include "kernel/rules.h"
#include "kernel/verify.h"

namespace xlog::kernel {

namespace {

struct Pass {
  std::string_view name;
  Id (*run)(PassContext& context, Id kernel);
  Spec spec = Spec::Kernel;  // what holds after it
  bool (*wanted)(const Graph& graph, Id kernel, const Target& target) = nullptr;  // null: always
};

bool lacks_collectives(const Graph& graph, Id kernel, const Target& target) {
  return target.groups && !target.collectives && graph.kernel_info(kernel).group != 0;
}

bool lacks_groups(const Graph& graph, Id kernel, const Target& target) {
  return !target.groups && graph.kernel_info(kernel).group != 0;
}

// The whole lowering, in order. Whatever may make an expression go away comes before what makes it
// larger; code motion is the placement's.
constexpr Pass kPasses[] = {
    {"simplify", simplify},
    {"memory", simplify_effects},
    {"facts", use_facts},
    {"memory-again", simplify_effects},
    {"if-conversion", convert_ifs},
    {"strength", reduce_strength},
    {"lengths-to-params", lengths_to_params},
    {"checks-to-status", checks_to_status},
    {"collectives-to-local", collectives_to_local, Spec::Kernel, lacks_collectives},
    {"lanes-to-loops", lanes_to_loops, Spec::Kernel, lacks_groups},
    {"floats-to-basic", floats_to_basic, Spec::Ready},
    {"final-simplify", reduce_strength, Spec::Ready},
    {"final-memory", simplify_effects, Spec::Ready},
};

std::string problems_text(const Graph& graph, Id kernel, const std::vector<Problem>& problems) {
  constexpr size_t kMost = 5;
  std::string text = fmt::format("kernel {} is not well formed:", graph.kernel_info(kernel).name);
  for (size_t k = 0; k < problems.size() && k < kMost; ++k) text += "\n  " + problems[k].message;
  if (problems.size() > kMost) text += fmt::format("\n  and {} more", problems.size() - kMost);
  return text;
}

// How many instances a launch has; the passes may drop the node that says so.
void find_size(const Graph& graph, Id kernel, Lowered& lowered) {
  for (Id id : reachable(graph, kernel)) {
    if (graph.op(id) != Op::Grid && graph.op(id) != Op::Group) continue;
    const Id size = graph.operand(id, 0);
    if (graph.is_const(size)) {
      lowered.size_constant = graph.value(size).as_u32();
    } else {
      lowered.size_param = graph.position(size);
    }
    return;
  }
}

}  // namespace

Result<Lowered> lower(Graph& graph, Id kernel, const Target& target, RewriteLog* log) {
  if (auto problems = verify(graph, kernel, Spec::Kernel); !problems.empty()) {
    return Error{problems_text(graph, kernel, problems), ""};
  }
  Lowered lowered;
  find_size(graph, kernel, lowered);
  lowered.per_thread = instances_per_thread(graph, kernel);
  PassContext context{graph, target, log, {}, 0, {}};
  for (const Pass& pass : kPasses) {
    if (pass.wanted != nullptr && !pass.wanted(graph, kernel, target)) continue;
    context.pass = pass.name;
    context.rewrites = 0;
    const auto start = std::chrono::steady_clock::now();
    kernel = pass.run(context, kernel);
    if (log != nullptr) {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      log->passes.push_back({pass.name, took.count(), kernel, context.rewrites});
    }
#ifndef NDEBUG
    verify_or_die(graph, kernel, pass.spec, pass.name);
#endif
  }
  if (std::string reason = decline_reason(graph, kernel, target); !reason.empty()) {
    return Error{fmt::format("{} cannot run kernel {}: {}", target.name,
                             graph.kernel_info(kernel).name, reason),
                 ""};
  }
  lowered.kernel = kernel;
  lowered.hidden = std::move(context.hidden);
  lowered.group = graph.kernel_info(kernel).group;
  lowered.placement = place(graph, kernel);
  return lowered;
}

uint32_t instances_per_thread(const Graph& graph, Id kernel) {
  constexpr size_t kShort = 100;         // nodes
  constexpr uint32_t kBytesWanted = 32;  // of the narrowest column, by each thread
  if (graph.kernel_info(kernel).group != 0) return 1;
  const std::vector<Id> nodes = reachable(graph, kernel);
  if (nodes.size() > kShort) return 1;
  uint32_t narrowest = kBytesWanted;
  for (Id id : nodes) {
    switch (graph.op(id)) {
      case Op::For:
      case Op::Loop:
      case Op::Atomic:
      case Op::Cas:
        return 1;
      case Op::Param:
        if (graph.mode(id) == Mode::Race) return 1;
        if (graph.mode(id) != Mode::Val) narrowest = std::min(narrowest, size_of(graph.type(id)));
        break;
      default:
        break;
    }
  }
  constexpr uint32_t kMost = 8;
  return std::min(kBytesWanted / narrowest, kMost);
}

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) names.push_back(pass.name);
  return names;
}

}  // namespace xlog::kernel
