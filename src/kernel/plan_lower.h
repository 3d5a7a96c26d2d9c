// From a plan of skeletons to one of launches: what is left are Buf, Launch, Copy, Read, Check
// and host arithmetic. Each skeleton is written in terms of simpler ones and of library kernels
// (library_*.h); rounds go on until none is left:
//
//   Partition -> Sort, Map           Segment -> Scan, Map, launches       Merge -> launch
//   Sort -> Map, Scan, launches      Expand -> launches, Scan, Read       Reduce, Scan -> launches
//   Map -> launch
//
// The bytes that a plan gives do not depend on the PlanTarget, only the kernels do.
#pragma once

#include "kernel/graph.h"

namespace xlog::kernel {

// What the lowering wants to know of a device.
struct PlanTarget {
  bool groups = false;   // lanes of a group run side by side: tiles and collectives pay
  uint32_t threads = 1;  // without groups: how many chunks keep the machine busy
  // Rows that one instance of a chunked kernel takes at least: fewer are not worth a thread.
  uint32_t min_chunk = 4096;
};

// `plan` satisfies Spec::Plan, the result Spec::ReadyPlan.
Id lower_plan(Graph& graph, Id plan, const PlanTarget& target);

}  // namespace xlog::kernel
