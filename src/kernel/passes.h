// From a kernel as it was written to one that a renderer takes. The whole lowering is the flat list
// of named passes in passes.cc; each is timed, logged on request, and verified in debug builds.
//
//   Result<Lowered> ready = lower(graph, kernel, target);
//   if (!ready.ok()) ...                       // the target declines, and why
//   std::string text = render_c(graph, *ready);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/graph.h"
#include "kernel/place.h"
#include "kernel/target.h"

namespace xlog::kernel {

// Parameters that the passes append after the kernel's own, in this order.
struct HiddenParam {
  enum class Kind : uint8_t {
    Length,  // u32 val: number of elements of buffer parameter `of`
    Status,  // acc u32[kCheckCodes]: smallest failing instance by code, UINT32_MAX for none
  };
  Kind kind;
  uint32_t of = 0;
};

struct Lowered {
  Id kernel;  // satisfies Spec::Ready
  std::vector<HiddenParam> hidden;
  // How many instances a launch has: the val parameter `size_param`, or a constant where it is
  // kNoParam. Instances are groups for a group kernel.
  static constexpr uint32_t kNoParam = UINT32_MAX;
  uint32_t size_param = kNoParam;
  uint32_t size_constant = 1;
  uint32_t group = 0;  // lanes side by side; 0 when instances are single (or lanes became loops)
  uint32_t per_thread = 1;  // see instances_per_thread
  Placement placement;
};

// One firing of a rule, or one change by a pass that is code.
struct Rewrite {
  std::string_view pass;
  std::string_view rule;
  Id before, after;
};

struct PassRecord {
  std::string_view name;
  double seconds = 0;
  Id kernel;  // as it stood after the pass
  uint32_t rewrites = 0;
};

struct RewriteLog {
  std::vector<PassRecord> passes;
  std::vector<Rewrite> rewrites;
};

Result<Lowered> lower(Graph& graph, Id kernel, const Target& target, RewriteLog* log = nullptr);

// How many instances a GPU thread runs one after another. One instance of a short kernel that only
// moves columns keeps too few bytes in flight to fill the memory bus, so such kernels get several,
// the more the narrower their columns are. A function of the kernel as it was written: the launch
// and the rendered text have to agree on it.
uint32_t instances_per_thread(const Graph& graph, Id kernel);

// The names of all passes in order.
std::vector<std::string_view> pass_names();

}  // namespace xlog::kernel
