// Names of files that must not outlive the process: when a signal ends it, they are removed first.
// (A file that is being written has such a name until it is complete. Only SIGKILL leaves it.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace xlog::io {

// Removes nothing itself: whoever made the file unlinks it, or renames it.
class TemporaryName {
 public:
  TemporaryName() = default;
  ~TemporaryName() { forget(); }
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&&) = delete;

  void remember(const std::string& path);
  void forget();

 private:
  static constexpr size_t kNone = SIZE_MAX;
  size_t slot_ = kNone;
};

}  // namespace xlog::io
