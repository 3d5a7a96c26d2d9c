// Memory of the host's devices: blocks of 64-byte alignment that are kept and given out again. A
// fresh large block costs a page fault for every 4 KiB of it, which is often more than the kernel
// that fills it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace xlog::device {

class HostMemoryPool {
 public:
  // Free blocks beyond so many bytes go back to the system.
  explicit HostMemoryPool(uint64_t keep_bytes = uint64_t{1} << 30) : keep_bytes_(keep_bytes) {}
  ~HostMemoryPool();
  HostMemoryPool(const HostMemoryPool&) = delete;
  HostMemoryPool& operator=(const HostMemoryPool&) = delete;

  // At least `bytes`, not cleared; nullptr when the system has no more.
  std::byte* take(uint64_t bytes);
  void give(std::byte* block, uint64_t bytes);  // `bytes` as they were asked for

  uint64_t kept() const { return kept_; }
  uint64_t reused() const { return reused_; }

 private:
  // Four sizes for each power of two: at most a fifth of a block is unused.
  static constexpr uint32_t kClasses = 4 * 58;
  static uint32_t class_of(uint64_t bytes);
  static uint64_t size_of_class(uint32_t k);

  std::array<std::vector<std::byte*>, kClasses> free_;
  uint64_t keep_bytes_;
  uint64_t kept_ = 0;
  uint64_t reused_ = 0;
};

}  // namespace xlog::device
