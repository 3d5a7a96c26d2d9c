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
  RewriteLog* log = nullptr;   // nullptr: nobody asked
  std::string_view pass = {};  // the one that runs, for the log
  uint32_t rewrites = 0;       // made by the pass that runs
  std::vector<HiddenParam> hidden = {};

  void note(std::string_view rule, Id before, Id after) {
    ++rewrites;
    if (log != nullptr) log->rewrites.push_back({pass, rule, before, after});
  }
};

// ---- structural passes (legalise_*.cc, decline.cc) ----
// Their order: lengths_to_params, checks_to_status (hidden parameters are appended in this order,
// and an instance is group * lanes + lane only while there are lanes), then lanes_to_loops or
// collectives_to_local, whichever the target needs. floats_to_basic may stand anywhere; after the
// rules is best, since they know more about Min than about its comparisons.

// Len as hidden val parameters, by position of the buffer.
Id lengths_to_params(PassContext& context, Id kernel);
// Check and loop bounds as atomics on a hidden status parameter. A kernel that cannot fail gets
// none.
Id checks_to_status(PassContext& context, Id kernel);
// GScan and GReduce as local arrays and barriers, where the target has groups without collectives.
Id collectives_to_local(PassContext& context, Id kernel);
// Lanes as loops inside one instance, where the target has no groups: blocks are split at barriers
// and collectives, values that live across one go through private arrays (after Stratton, Stone,
// Hwu, "MCUDA", 2008). Gives a grid kernel without local arrays, barriers and collectives.
Id lanes_to_loops(PassContext& context, Id kernel);
// Exp2 and Log2 as their steps; float Min and Max as comparisons; float -> int casts that saturate
// are the renderers'. NaNs that leave the kernel made canonical on their bits; every Bitcast raw.
Id floats_to_basic(PassContext& context, Id kernel);
// Why the target cannot run the kernel, or "". Takes the kernel as the passes leave it: they remove
// atomics on local arrays and bring local arrays for collectives.
std::string decline_reason(const Graph& graph, Id kernel, const Target& target);

}  // namespace xlog::kernel
