// The oracle: runs a kernel as it was written, one instance after another in any order asked for,
// and checks every promise: indexes inside buffers, modes, write-once of `out`, ownership of `own`,
// reads of cells nobody wrote, races between lanes inside a barrier interval, barriers that not all
// lanes reach, distinct buffers. Slow and obvious; everything else is compared with it bit by bit.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "kernel/graph.h"

namespace xlog::kernel {

// Memory of a buffer argument, `bytes` long; the element type is the parameter's.
struct HostBuffer {
  std::byte* data = nullptr;
  size_t bytes = 0;
};

using Argument = std::variant<Scalar, HostBuffer>;

// A Check that failed: the smallest code, and the smallest instance that failed it; in a group
// kernel the instance is group * lanes + lane.
struct CheckFailure {
  uint32_t code = 0;
  uint32_t instance = 0;
};

struct OracleOptions {
  uint64_t schedule_seed = 0;  // 0: instances in order; else shuffled
  // Cells that were written before the launch, by parameter; empty: all of them. A load of another
  // cell is an uninitialised read.
  const std::vector<std::vector<bool>>* written = nullptr;
};

struct OracleReport {
  std::optional<CheckFailure> failure;
};

// An error is a broken promise of the kernel: it names kernel, instance, buffer and index.
Result<OracleReport> run_oracle(const Graph& graph, Id kernel, std::span<const Argument> arguments,
                                const OracleOptions& options = {});

}  // namespace xlog::kernel
