// Renderers: from a lowered kernel to the text of a language. One table row each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernel/passes.h"

namespace xlog::render {

struct Renderer {
  const kernel::Target& target;
  std::string_view language;  // "C", "OpenCL C", "CUDA C", "LLVM IR"
  std::string (*render)(const kernel::Graph& graph, const kernel::Lowered& lowered);
};

std::span<const Renderer> renderers();
const Renderer* find_renderer(std::string_view target_name);  // nullptr: no such target

// Every rendered kernel has the entry point "xlog_kernel".
//   CPU (C, LLVM):  void xlog_kernel(uint32_t lo, uint32_t hi, void* const* args)
//                   runs instances lo <= i < hi; args[k] points to the value of a val parameter, or
//                   is the buffer itself.
//   GPU:            parameters in order, by value or as pointers; instance numbers come from the
//                   launch, rounded up to whole groups and guarded.
inline constexpr std::string_view kEntryPoint = "xlog_kernel";
// Lanes of a GPU work group for kernels without groups of their own.
inline constexpr uint32_t kGridGroup = 256;

}  // namespace xlog::render
