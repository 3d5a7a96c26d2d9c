// The parts of the verifier, inside. Structure comes first; the other rules take a kernel whose
// structure is sound.
#pragma once

#include <string>
#include <vector>

#include "kernel/graph.h"
#include "kernel/verify.h"

namespace xlog::kernel {

// Every node of a kernel or plan (not of the kernels it launches), operands before users.
struct Walked {
  std::vector<Id> nodes;
  std::vector<bool> used;  // by Id: somebody takes its value
};

// Definitions before uses in a dominating place, operand types, yields, where blocks and ops may
// stand.
Walked verify_structure(const Graph& graph, Id root, Spec spec, std::vector<Problem>& problems);
// What is done to which buffer; which ops a kernel of this kind and spec may have.
void verify_modes(const Graph& graph, Id root, Spec spec, const Walked& walked,
                  std::vector<Problem>& problems);
// Barriers and collectives only where all lanes of a group come together.
void verify_uniform(const Graph& graph, Id kernel, const Walked& walked,
                    std::vector<Problem>& problems);
// Launch arguments, and the order of rows: bags and sequences.
void verify_plan(const Graph& graph, Id plan, Spec spec, const Walked& walked,
                 std::vector<Problem>& problems);

// "`key`" for a parameter or a named node, else its op.
std::string called(const Graph& graph, Id root, Id node);

}  // namespace xlog::kernel
