#include "device/host_memory.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>

namespace xlog::device {

namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kSmallest = 256;  // its quarters are multiples of the alignment
constexpr uint64_t kHugePage = uint64_t{1} << 21;
constexpr uint64_t kLargest = uint64_t{1} << 47;  // user addresses of a process

// Tables that are probed at random miss the page cache of the processor less in huge pages.
std::byte* allocate(uint64_t bytes) {
  if (bytes < 2 * kHugePage) {
    return static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes));
  }
  const uint64_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* block = std::aligned_alloc(kHugePage, whole);
  if (block != nullptr) (void)::madvise(block, whole, MADV_HUGEPAGE);  // a wish, no more
  return static_cast<std::byte*>(block);
}

}  // namespace

// Class 4e + q has (4 + q) / 4 * 2^e * kSmallest bytes.
uint64_t HostMemoryPool::size_of_class(uint32_t k) {
  return (kSmallest / 4 * (4 + k % 4)) << (k / 4);
}

uint32_t HostMemoryPool::class_of(uint64_t bytes) {
  if (bytes <= kSmallest) return 0;
  uint32_t e = static_cast<uint32_t>(std::bit_width(bytes / kSmallest)) - 1;
  uint32_t k = 4 * e;
  while (size_of_class(k) < bytes) ++k;
  return k;
}

HostMemoryPool::~HostMemoryPool() {
  for (std::vector<std::byte*>& blocks : free_) {
    for (std::byte* block : blocks) std::free(block);
  }
}

std::byte* HostMemoryPool::take(uint64_t bytes) {
  if (bytes > kLargest) return nullptr;
  uint32_t k = class_of(bytes);
  if (!free_[k].empty()) {
    std::byte* block = free_[k].back();
    free_[k].pop_back();
    kept_ -= size_of_class(k);
    ++reused_;
    return block;
  }
  return allocate(size_of_class(k));
}

void HostMemoryPool::give(std::byte* block, uint64_t bytes) {
  if (block == nullptr) return;
  uint32_t k = class_of(bytes);
  if (kept_ + size_of_class(k) > keep_bytes_) {
    std::free(block);
    return;
  }
  kept_ += size_of_class(k);
  free_[k].push_back(block);
}

}  // namespace xlog::device
