// What a target can do. A new target is such a record, a table of op texts and perhaps a few
// legaliser rules; the passes read the record and nothing else.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlog::kernel {

struct Target {
  std::string_view name;     // "c", "llvm", "chunked", "opencl", "cuda", "ptx", "hip"
  bool groups = false;       // runs the lanes of a group side by side: local memory, barriers.
                             // Without it a pass turns lanes into loops.
  bool collectives = false;  // has GScan and GReduce of its own; else they become local memory
  bool prefetch = false;     // brings memory near on demand; else Prefetch is dropped
  bool f64 = true;
  bool fma = true;  // a correctly rounded Fma
  bool atomic32 = true;
  bool atomic64 = true;
  uint32_t max_group = 1024;
  uint32_t max_local_bytes = 48 * 1024;
  // Of all arrays that a thread keeps for itself; 0: any. Without groups the arrays of all lanes
  // are one thread's.
  uint32_t max_private_bytes = 0;
  // How many lanes a thread may have to hold the private arrays of; all those of a larger group.
  uint32_t lanes_of_thread = 1;
};

}  // namespace xlog::kernel
