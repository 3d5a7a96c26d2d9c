// What the host runs for a kernel, and how it is made: steps of the chunked interpreter, or machine
// code from LLVM or from the system's C compiler.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/host_device.h"
#include "kernel/passes.h"
#include "render/chunked.h"

namespace xlog::device {

class InterpretedCode : public HostCode {
 public:
  explicit InterpretedCode(render::ChunkedKernel kernel) : kernel_(std::move(kernel)) {}
  void run(uint32_t lo, uint32_t hi, void* const* arguments) const override {
    work_.fetch_add(kernel_.run(lo, hi, arguments), std::memory_order_relaxed);
  }
  uint32_t chunk() const override { return render::chunked::kLanes; }
  // All that it did, as render::ChunkedKernel::run counts it.
  uint64_t work() const { return work_.load(std::memory_order_relaxed); }

 private:
  render::ChunkedKernel kernel_;
  mutable std::atomic<uint64_t> work_{0};  // threads share out a launch
};

// A compiler of machine code: all in which the devices that have one differ.
struct NativeCompiler {
  std::string_view device;  // that compiles every kernel with it
  std::string_view software;
  std::string_view renderer;
  Result<std::string> (*version)();
  Result<std::vector<std::byte>> (*compile)(std::string_view text);
  Result<CodeHandle> (*load)(std::span<const std::byte> object);

  const kernel::Target& target() const;
  // The bytes that a cache keeps, and code from them.
  Result<std::string> build(const kernel::Graph& graph, const kernel::Lowered& lowered) const;
  Result<CodeHandle> load_bytes(const std::string& object) const;
};

const NativeCompiler& llvm_compiler();
const NativeCompiler& system_c_compiler();

}  // namespace xlog::device
