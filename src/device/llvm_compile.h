// From LLVM IR text to machine code of this host or to PTX, and from an object file to an entry
// point in memory.
//
//   Result<std::vector<std::byte>> object = llvm_to_object(ir);     // what the disk cache keeps
//   Result<LoadedObject> loaded = load_object(*object);
//   loaded->entry()(0, n, args);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace xlog::device {

// An object file for this host's CPU with all its features.
Result<std::vector<std::byte>> llvm_to_object(std::string_view ir);
// PTX text for an NVIDIA GPU of at least this compute capability: "sm_70" up to "sm_90". A newer
// GPU takes the text for sm_90.
Result<std::string> llvm_to_ptx(std::string_view ir, std::string_view sm);

// The code of one kernel, mapped into this process as long as this lives.
class LoadedObject {
 public:
  using Entry = void (*)(uint32_t lo, uint32_t hi, void* const* args);
  LoadedObject() = default;
  LoadedObject(Entry at, std::shared_ptr<const void> code) : code_(std::move(code)), entry_(at) {}

  Entry entry() const { return entry_; }

 private:
  std::shared_ptr<const void> code_;
  Entry entry_ = nullptr;
};

Result<LoadedObject> load_object(std::span<const std::byte> object);
// Through LLVM's own linker, for hosts that object_loader.h does not know.
Result<LoadedObject> load_object_by_jit(std::span<const std::byte> object);

// What compiled code in the cache depends on besides the kernel: LLVM, pass pipeline, CPU and
// features.
Result<std::string> llvm_version_for_cache();
// The same for objects of this host; without opening LLVM where the library's file and the CPU say
// enough.
Result<std::string> host_version_for_cache();
std::optional<std::string> host_version_without_llvm();

}  // namespace xlog::device
