// LLVM IR text (LLVM 16, opaque pointers) from a lowered kernel: one renderer for the CPU and for
// NVIDIA GPUs through PTX. The text names no triple and no data layout; the compiler that reads it
// sets both (device/llvm_compile.h).
//
// Every op keeps its exact meaning: no nsw, no fast-math flag, no contraction. The only `nuw` is on
// loop counters, which stay below a u32 bound.
//
//   CPU:  void @xlog_kernel(i32 lo, i32 hi, ptr args) unpacks the arguments and calls @instances,
//         a loop over lo <= i < hi that LLVM may vectorise: buffers are noalias, and accesses
//         whose mode promises that instances do not meet are marked parallel.
//   PTX:  ptx_kernel void @xlog_kernel(params...), one thread an instance; one block a group.
#pragma once

#include <string>

#include "kernel/graph.h"
#include "kernel/passes.h"
#include "kernel/target.h"

namespace xlog::render {

// Arrays lie on the stack, of which a thread has 8 MiB at most places.
inline constexpr kernel::Target kLlvm{
    .name = "llvm", .prefetch = true, .max_private_bytes = 1024 * 1024};
// A block has 48 KiB of shared memory, of which collectives take 528 bytes for themselves. CUDA
// gives a thread 512 KiB at most; a part is left to what the compiler spills.
inline constexpr kernel::Target kPtx{.name = "ptx",
                                     .groups = true,
                                     .collectives = true,
                                     .max_local_bytes = 47 * 1024,
                                     .max_private_bytes = 448 * 1024};

std::string render_llvm_cpu(const kernel::Graph& graph, const kernel::Lowered& lowered);
std::string render_llvm_ptx(const kernel::Graph& graph, const kernel::Lowered& lowered);

}  // namespace xlog::render
