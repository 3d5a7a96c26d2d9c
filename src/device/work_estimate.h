// How much there is to do in a launch before anything of it has run: the nodes that an instance
// computes, each as often as the loops around it go round. A loop's rounds are known where its
// limits come from parameters, lengths of buffers and the instance's number alone, as those of a
// kernel that takes a chunk of the rows for each instance, or are at most what these say; a loop
// over what was loaded counts as a short one.
#pragma once

#include <cstdint>
#include <vector>

#include "device/signature.h"
#include "kernel/graph.h"
#include "kernel/passes.h"

namespace xlog::device {

class WorkEstimate {
 public:
  WorkEstimate(const kernel::Graph& graph, const kernel::Lowered& lowered);

  // Nodes of an instance in the middle of the launch.
  double nodes(const BoundLaunch& launch) const;

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  // One value of the arithmetic that limits need, which are kept in order.
  struct Term {
    kernel::Op op;
    kernel::Type type;
    uint32_t position = 0;        // Param
    kernel::Scalar value = {};    // Const
    std::vector<uint32_t> terms;  // operands
  };
  // The kernel's body comes first, outer loops before inner ones.
  struct Body {
    uint32_t outer = 0;
    uint32_t nodes = 0;
    uint32_t lo = kUnknown, hi = kUnknown;  // terms; both are known or hi is not
  };

  void walk(const kernel::Graph& graph, const kernel::Placement& placement, kernel::Id block,
            uint32_t body);
  uint32_t term(const kernel::Graph& graph, kernel::Id value);
  uint32_t known_of(const kernel::Graph& graph, kernel::Id smaller);

  std::vector<Term> terms_;
  std::vector<Body> bodies_;
};

}  // namespace xlog::device
