// What must hold of a kernel or plan. Four specs over one op table:
//   Kernel     as a person or builder writes it
//   Ready      as a renderer takes it: only ops the target has (after the passes)
//   Plan       between kernels: also row order (bags and sequences, docs/kernel.md)
//   ReadyPlan  a plan of launches, as plan_lower.h leaves it. Row order is not looked at: the
//   launches
//              that a sort became do not show that they sort.
// Structure (operands defined before use in a dominating place, args inside their loop, yields that
// fit, barriers only in uniform control) and modes (in is not stored to, out not loaded, acc only
// atomics whose results nobody uses, cas only on race, float atomics refused) are checked in all.
#pragma once

#include <string>
#include <vector>

#include "kernel/graph.h"

namespace xlog::kernel {

enum class Spec : uint8_t { Kernel, Ready, Plan, ReadyPlan };

struct Problem {
  Id node;
  std::string message;
};

std::vector<Problem> verify(const Graph& graph, Id root, Spec spec);

// Aborts with the printed kernel when something is wrong: for our own passes.
void verify_or_die(const Graph& graph, Id root, Spec spec, std::string_view after_what);

}  // namespace xlog::kernel
