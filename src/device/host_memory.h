// Memory of the host's devices, kept and given out again: a fresh large block costs a page fault
// for every page of it, which is often more than the kernel that fills it.
//
// Small blocks come in sizes, from the C library. Large ones are cut from one range of addresses:
// a free part is cut or joined with its neighbours as sizes change. A large block that grows gets
// pages of its own, which the system moves to where there are addresses for more: nothing is
// copied, and what was asked for but not yet touched takes no memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace xlog::device {

class HostMemoryPool {
 public:
  // Free memory goes back to the system where there is more than so many bytes of it, and more than
  // a sixteenth of what is in use.
  explicit HostMemoryPool(uint64_t keep_bytes = uint64_t{1} << 23) : keep_bytes_(keep_bytes) {}
  ~HostMemoryPool();
  HostMemoryPool(const HostMemoryPool&) = delete;
  HostMemoryPool& operator=(const HostMemoryPool&) = delete;

  // At least `bytes`, aligned to 64, not cleared; nullptr when the system has no more. A system
  // that promises more than it has would end the process later instead, so what is left is looked
  // at now and then.
  std::byte* take(uint64_t bytes);
  void give(std::byte* block, uint64_t bytes);  // `bytes` as they were asked for
  // A block of another size that begins with the first `kept` bytes of this one, which is given
  // back; nullptr, and all is as it was, where that would be no better than to take and copy.
  std::byte* resize(std::byte* block, uint64_t bytes, uint64_t kept, uint64_t wanted);

  uint64_t kept() const { return kept_small_ + kept_large_; }
  uint64_t reused() const { return reused_; }

 private:
  // Four sizes for each power of two: at most a fifth of a block is unused.
  static constexpr uint32_t kClasses = 4 * 14;
  static uint32_t class_of(uint64_t bytes);
  static uint64_t size_of_class(uint32_t k);

  // Whether the system has so many bytes more; gives back what is kept where it has not.
  bool has_fresh(uint64_t bytes);
  bool make_range();
  bool is_in_range(const std::byte* block) const;
  std::byte* take_large(uint64_t bytes);
  void give_large(std::byte* block, uint64_t bytes);
  // Free addresses; touched: they may have pages.
  struct Part {
    uint64_t size;
    bool touched;
  };
  using Parts = std::map<uint64_t, Part>;
  void add_free(uint64_t begin, Part part);
  void remove_free(Parts::iterator part);
  void release_small();
  std::byte* map_own(uint64_t bytes);
  void release();

  std::array<std::vector<std::byte*>, kClasses> free_;
  uint64_t may_keep() const;

  uint64_t keep_bytes_;
  uint64_t in_use_ = 0;  // of the range
  uint64_t kept_small_ = 0;
  uint64_t reused_ = 0;
  uint64_t unseen_ = 0;  // fresh bytes since the last look at what is left

  // The range: used up to `top_`, and what is free below it, by place and by size.
  std::byte* range_ = nullptr;
  uint64_t range_bytes_ = 0;
  bool has_no_range_ = false;
  uint64_t top_ = 0;
  uint64_t kept_large_ = 0;  // free and touched
  Parts free_at_;
  std::set<std::pair<uint64_t, uint64_t>> free_by_size_;

  std::map<const std::byte*, uint64_t> own_;  // blocks with pages of their own, and their sizes
};

}  // namespace xlog::device
