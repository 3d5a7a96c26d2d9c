// Nodes as short texts, for logs and the viewer.
#pragma once

#include <string>

#include "kernel/graph.h"

namespace xlog::cli {

// "(add x (mul y 4:u32))", to `depth` levels; deeper operands by name or as "...". Parameters are
// called as in `kernel`.
std::string node_text(const kernel::Graph& graph, kernel::Id kernel, kernel::Id node,
                      int depth = 3);

}  // namespace xlog::cli
