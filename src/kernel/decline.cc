// What a target cannot run. Nothing falls back in silence: the message says what the kernel uses
// and what to do.
#include <fmt/format.h>

#include <algorithm>

#include "kernel/pass.h"
#include "kernel/place.h"

namespace xlog::kernel {

namespace {

bool is_atomic(Op op) { return op == Op::Atomic || op == Op::Cas; }

bool touches_f64(const Graph& graph, Id id) {
  if (graph.type(id) == Type::F64) return true;
  for (Id operand : graph.operands(id)) {
    if (graph.type(operand) == Type::F64) return true;
  }
  return false;
}

std::string node_problem(const Graph& graph, Id id, const Target& target) {
  const Op op = graph.op(id);
  if (!target.f64 && touches_f64(graph, id)) {
    return fmt::format(
        "{} works on f64, which target {} does not have; use f32 or a target with f64",
        spelling(op), target.name);
  }
  if (!target.fma && op == Op::Fma) {
    return fmt::format(
        "fma rounds once, which target {} cannot; write mul and add, or use another target",
        target.name);
  }
  const bool on_array = is_atomic(op) && graph.op(graph.operand(id, 0)) == Op::Alloc;
  if (is_atomic(op) && !(on_array && !target.groups)) {  // where lanes are loops, arrays need none
    const uint32_t bits = bits_of(graph.type(graph.operand(id, 0)));
    const bool wide = bits == 64;
    if (wide ? target.atomic64 : target.atomic32) return "";
    return fmt::format("{} on {} is an atomic of {} bits, which target {} does not have; {}",
                       spelling(op), spelling(graph.type(graph.operand(id, 0))), bits, target.name,
                       wide ? "use a 32-bit buffer or a target with 64-bit atomics"
                            : "use a target with atomics, or sort and fold instead");
  }
  return "";
}

}  // namespace

std::string decline_reason(const Graph& graph, Id kernel, const Target& target) {
  const uint32_t lanes = graph.kernel_info(kernel).group;
  if (target.groups && lanes > target.max_group) {
    return fmt::format("group of {} lanes, target {} takes at most {}; use a smaller group", lanes,
                       target.name, target.max_group);
  }
  uint64_t local_bytes = 0, private_bytes = 0;
  for (Id id : reachable(graph, kernel)) {
    if (std::string problem = node_problem(graph, id, target); !problem.empty()) return problem;
    if (graph.op(id) == Op::Alloc) {
      const bool shared = target.groups && graph.space(id) == Space::Local;
      (shared ? local_bytes : private_bytes) +=
          uint64_t{graph.elements(id)} * size_of(graph.type(id));
    }
  }
  if (local_bytes > target.max_local_bytes) {
    return fmt::format("alloc local takes {} bytes, target {} has {}; use smaller arrays",
                       local_bytes, target.name, target.max_local_bytes);
  }
  if (target.lanes_of_thread > 1) private_bytes *= std::max(lanes, target.lanes_of_thread);
  if (target.max_private_bytes != 0 && private_bytes > target.max_private_bytes) {
    return fmt::format(
        "its arrays take {} bytes of a thread{}, target {} has {}; use smaller arrays, or a buffer "
        "in which each instance has its part",
        private_bytes,
        target.groups && target.lanes_of_thread == 1 ? "" : " with those of all lanes", target.name,
        target.max_private_bytes);
  }
  return "";
}

}  // namespace xlog::kernel
