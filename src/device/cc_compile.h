// The C compiler of this machine: from rendered C to the bytes of a shared object, and from such
// bytes to a function. Bytes, so that a cache can keep them.
//
//   Result<std::vector<std::byte>> object = compile_c(render_c(graph, lowered));
//   Result<LoadedC> loaded = load_c(*object);
//   loaded->entry(0, n, args);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace xlog::device {

// Runs instances lo <= i < hi; see render/renderer.h.
using RangeFunction = void (*)(uint32_t lo, uint32_t hi, void* const* args);

// `cc --version`, the flags and the processor they compile for: two objects of one source are alike
// if this is. An error: there is no compiler.
Result<std::string> c_compiler();

Result<std::vector<std::byte>> compile_c(std::string_view source);

struct LoadedC {
  std::shared_ptr<void> library;  // unloaded with its last copy
  RangeFunction entry = nullptr;
};
Result<LoadedC> load_c(std::span<const std::byte> object,
                       const std::string& entry_point = "xlog_kernel");

}  // namespace xlog::device
