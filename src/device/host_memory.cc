#include "device/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/memory.h"
#include "base/sanitized.h"

namespace xlog::device {

namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint64_t kSmallest = 256;             // its quarters are multiples of the alignment
constexpr uint64_t kLarge = uint64_t{1} << 18;  // from here on blocks are cut from the range
constexpr uint64_t kGrain = uint64_t{1} << 16;  // in multiples of this
constexpr uint64_t kLookEvery = uint64_t{64} << 20;
constexpr uint64_t kMostAddresses = uint64_t{1} << 42;
constexpr uint64_t kLeastAddresses = uint64_t{1} << 34;

// A sanitizer watches the ends of blocks that it hands out itself.
constexpr bool kHasRange = !kSanitized;

uint64_t rounded(uint64_t bytes) { return (bytes + kGrain - 1) / kGrain * kGrain; }

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

void HostMemoryPool::release_small() {
  for (std::vector<std::byte*>& blocks : free_) {
    for (std::byte* block : blocks) std::free(block);
    blocks.clear();
  }
  kept_small_ = 0;
}

HostMemoryPool::~HostMemoryPool() {
  release_small();
  if (range_ != nullptr) ::munmap(range_, range_bytes_);
}

std::byte* HostMemoryPool::take(uint64_t bytes) {
  if (bytes > kMostAddresses) return nullptr;
  if (bytes >= kLarge) return take_large(bytes);
  const uint32_t k = class_of(bytes);
  if (!free_[k].empty()) {
    std::byte* block = free_[k].back();
    free_[k].pop_back();
    kept_small_ -= size_of_class(k);
    ++reused_;
    return block;
  }
  if (!has_fresh(size_of_class(k))) return nullptr;
  return static_cast<std::byte*>(std::aligned_alloc(kAlignment, size_of_class(k)));
}

bool HostMemoryPool::has_fresh(uint64_t bytes) {
  unseen_ += bytes;
  if (unseen_ < kLookEvery) return true;
  unseen_ = 0;
  if (bytes <= available_memory()) return true;
  release();
  release_small();
  return bytes <= available_memory();
}

void HostMemoryPool::give(std::byte* block, uint64_t bytes) {
  if (block == nullptr) return;
  if (is_in_range(block)) return give_large(block, rounded(bytes));
  if (const auto own = own_.find(block); own != own_.end()) {
    ::munmap(block, own->second);
    own_.erase(own);
    return;
  }
  if (bytes >= kLarge) return std::free(block);
  const uint32_t k = class_of(bytes);
  if (kept() + size_of_class(k) > may_keep()) return std::free(block);
  kept_small_ += size_of_class(k);
  free_[k].push_back(block);
}

uint64_t HostMemoryPool::may_keep() const { return std::max(keep_bytes_, in_use_ / 16); }

// ---- pages of their own ----

std::byte* HostMemoryPool::map_own(uint64_t bytes) {
  void* pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  own_.emplace(static_cast<std::byte*>(pages), bytes);
  return static_cast<std::byte*>(pages);
}

std::byte* HostMemoryPool::resize(std::byte* block, uint64_t bytes, uint64_t kept,
                                  uint64_t wanted) {
  if (!kHasRange || wanted < kLarge || wanted > kMostAddresses) return nullptr;
  const uint64_t size = rounded(wanted);
  const auto own = own_.find(block);
  if (own == own_.end()) {
    std::byte* moved = wanted > bytes && has_fresh(size) ? map_own(size) : nullptr;
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, kept);
    give(block, bytes);
    return moved;
  }
  const uint64_t before = own->second;
  if (size == before) return block;
  if (size > before && !has_fresh(size - before)) return nullptr;
  void* moved = ::mremap(block, before, size, MREMAP_MAYMOVE);
  if (moved == MAP_FAILED) return nullptr;
  own_.erase(own);
  own_.emplace(static_cast<std::byte*>(moved), size);
  return static_cast<std::byte*>(moved);
}

// ---- the range ----

// Addresses cost nothing: as many as the system gives.
bool HostMemoryPool::make_range() {
  if (range_ != nullptr || has_no_range_) return range_ != nullptr;
  for (uint64_t bytes = kMostAddresses; kHasRange && bytes >= kLeastAddresses; bytes /= 2) {
    void* range = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) continue;
    // Tables that are probed at random miss the page cache of the processor less in huge pages.
    (void)::madvise(range, bytes, MADV_HUGEPAGE);  // a wish, no more
    range_ = static_cast<std::byte*>(range);
    range_bytes_ = bytes;
    return true;
  }
  has_no_range_ = true;
  return false;
}

bool HostMemoryPool::is_in_range(const std::byte* block) const {
  return range_ != nullptr && block >= range_ && block < range_ + range_bytes_;
}

std::byte* HostMemoryPool::take_large(uint64_t bytes) {
  const uint64_t size = rounded(bytes);
  if (!make_range()) {
    return has_fresh(size) ? static_cast<std::byte*>(std::aligned_alloc(kAlignment, size))
                           : nullptr;
  }
  // The smallest free part that holds it.
  const auto fits = free_by_size_.lower_bound({size, 0});
  if (fits != free_by_size_.end()) {
    const uint64_t begin = fits->second;
    const auto found = free_at_.find(begin);
    const Part part = found->second;
    remove_free(found);
    if (part.size > size) add_free(begin + size, {part.size - size, part.touched});
    ++reused_;
    in_use_ += size;
    return range_ + begin;
  }
  if (size > range_bytes_ - top_ || !has_fresh(size)) return nullptr;
  std::byte* block = range_ + top_;
  in_use_ += size;
  top_ += size;
  return block;
}

void HostMemoryPool::give_large(std::byte* block, uint64_t size) {
  in_use_ -= size;
  uint64_t begin = static_cast<uint64_t>(block - range_);
  uint64_t end = begin + size;
  auto next = free_at_.lower_bound(begin);
  if (next != free_at_.end() && next->first == end) {
    end += next->second.size;
    const auto joined = next++;
    remove_free(joined);
  }
  if (next != free_at_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.size == begin) {
      begin = before->first;
      remove_free(before);
    }
  }
  add_free(begin, {end - begin, true});
  if (kept() > may_keep()) release();
}

void HostMemoryPool::add_free(uint64_t begin, Part part) {
  free_at_.emplace(begin, part);
  free_by_size_.emplace(part.size, begin);
  if (part.touched) kept_large_ += part.size;
}

void HostMemoryPool::remove_free(Parts::iterator part) {
  free_by_size_.erase({part->second.size, part->first});
  if (part->second.touched) kept_large_ -= part->second.size;
  free_at_.erase(part);
}

// Gives the pages of all free parts back; addresses at the end are free again.
void HostMemoryPool::release() {
  for (auto& [begin, part] : free_at_) {
    if (!part.touched) continue;
    (void)::madvise(range_ + begin, part.size, MADV_DONTNEED);
    part.touched = false;
  }
  kept_large_ = 0;
  const auto last = free_at_.empty() ? free_at_.end() : std::prev(free_at_.end());
  if (last != free_at_.end() && last->first + last->second.size == top_) {
    top_ = last->first;
    remove_free(last);
  }
}

}  // namespace xlog::device
