// A kernel or plan as bytes: equal ones (equal.h) have equal bytes, whatever graph they are in, and
// others have others. For cache keys; it takes a tenth of the time of the text without names, since
// nothing is placed or spelled.
#pragma once

#include <string>

#include "kernel/graph.h"

namespace xlog::kernel {

std::string canonical_bytes(const Graph& graph, Id kernel_or_plan);

}  // namespace xlog::kernel
