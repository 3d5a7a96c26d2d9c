// Memory in large pages, for arrays that are read all over the place: with small ones most of such
// a read is the search for the page.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace xlog::incremental {

template <typename T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <typename U>
  LargePages(const LargePages<U>&) {}  // NOLINT(google-explicit-constructor): as containers ask

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / 2 / sizeof(T)) throw std::bad_alloc();
    const bool large = is_large(count);
    const size_t unit = large ? kPage : kLine;
    const size_t bytes = (count * sizeof(T) + unit - 1) / unit * unit;
    void* memory = std::aligned_alloc(unit, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    if (large) (void)::madvise(memory, bytes, MADV_HUGEPAGE);  // a wish, no more
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { std::free(memory); }
  // Numbers that nobody gave a value have none: a page is touched when something is written there.
  template <typename U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(const LargePages&, const LargePages&) { return true; }

 private:
  static constexpr size_t kLine = 64, kPage = size_t{2} << 20;
  static bool is_large(size_t count) { return count * sizeof(T) >= 2 * kPage; }
};

template <typename T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace xlog::incremental
