// Maps an object file of the host's into memory, without a linker or LLVM: kernels from the cache
// start in microseconds, and a process that compiles nothing never opens LLVM.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

namespace xlog::device {

// Whether map_object knows this kind of file: ELF for x86-64.
bool can_map_object(std::span<const std::byte> object);

// The address of a symbol in the object's code, which stays mapped as long as `memory` lives.
struct MappedObject {
  std::shared_ptr<const void> memory;
  void* entry = nullptr;
};
Result<MappedObject> map_object(std::span<const std::byte> object, const char* entry);

}  // namespace xlog::device
