#include "render/renderer.h"

#include "render/c_family.h"
#include "render/llvm.h"

namespace xlog::render {

std::span<const Renderer> renderers() {
  static const Renderer table[] = {
      {kC, "C", render_c},
      {kOpenCl, "OpenCL C", render_opencl},
      {kCuda, "CUDA C", render_cuda},
      {kHip, "HIP", render_hip},
      {kLlvm, "LLVM IR", render_llvm_cpu},
      {kPtx, "LLVM IR for PTX", render_llvm_ptx},
  };
  return table;
}

const Renderer* find_renderer(std::string_view target_name) {
  for (const Renderer& row : renderers()) {
    if (row.target.name == target_name) return &row;
  }
  return nullptr;
}

}  // namespace xlog::render
