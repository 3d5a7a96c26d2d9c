// What a pass sees. A pass takes a kernel and gives back one that means the same, nearer to what
// the target takes; passes.cc lists them all.
#pragma once

#include <vector>

#include "kernel/graph.h"
#include "kernel/passes.h"
#include "kernel/target.h"

namespace xlog::kernel {

struct PassContext {
  Graph& graph;
  const Target& target;
  RewriteLog* log = nullptr;  // nullptr: nobody asked
  std::string_view pass;      // the one that runs, for the log
  uint32_t rewrites = 0;      // made by the pass that runs
  std::vector<HiddenParam> hidden;

  void note(std::string_view rule, Id before, Id after) {
    ++rewrites;
    if (log != nullptr) log->rewrites.push_back({pass, rule, before, after});
  }
};

// ---- structural passes (legalise_*.cc) ----

// GScan and GReduce as local arrays and barriers, where the target has no collectives.
Id collectives_to_local(PassContext& context, Id kernel);
// Lanes as loops inside one instance, where the target has no groups: blocks are split at barriers,
// values that live across one go through private arrays (after Stratton, Stone, Hwu, "MCUDA",
// 2008).
Id lanes_to_loops(PassContext& context, Id kernel);
// Check and loop bounds as atomics on a hidden status parameter; Len as hidden val parameters.
Id checks_to_status(PassContext& context, Id kernel);
Id lengths_to_params(PassContext& context, Id kernel);
// Exp2 and Log2 as their steps; float Min and Max as comparisons; float -> int casts that saturate
// are the renderers'. NaNs that leave the kernel made canonical on their bits.
Id floats_to_basic(PassContext& context, Id kernel);
// Why the target cannot run the kernel, or "".
std::string decline_reason(const Graph& graph, Id kernel, const Target& target);

}  // namespace xlog::kernel
