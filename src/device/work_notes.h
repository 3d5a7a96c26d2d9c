// What kernels cost while there is no machine code for them, kept from run to run: a kernel that is
// too small to be worth compiling in any run may be worth it over many.
//
//   WorkNotes notes(cache.load(key).value_or(""));
//   notes.add(kernel, work);
//   cache.store(key, notes.bytes());
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/cache.h"

namespace xlog::device {

class WorkNotes {
 public:
  static constexpr size_t kMost = 1024;  // kernels; past it those noted longest ago go

  // Bytes that are not those of notes count as none.
  explicit WorkNotes(std::string_view bytes);

  double work_of(const CacheKey& kernel) const;  // 0: nothing is noted
  void add(const CacheKey& kernel, double work);
  std::string bytes() const;

 private:
  struct Note {
    CacheKey kernel;
    double work = 0;
  };
  std::vector<Note> notes_;  // as they were changed last
};

}  // namespace xlog::device
