// Whether two kernels or plans, perhaps of two graphs, are the same but for names and loop tags.
#pragma once

#include "kernel/graph.h"

namespace xlog::kernel {

bool equal(const Graph& a, Id root_a, const Graph& b, Id root_b);

}  // namespace xlog::kernel
