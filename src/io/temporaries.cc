#include "io/temporaries.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/ending_signals.h"

namespace xlog::io {
namespace {

// A signal handler may use neither locks nor the heap, so the names stand in a fixed table. Names
// past its end are only not covered.
constexpr size_t kNames = 1024;
std::array<std::atomic<char*>, kNames> names;

void remove_all() {
  for (std::atomic<char*>& name : names) {
    const char* const path = name.load();
    if (path != nullptr) unlink(path);
  }
}

}  // namespace

TemporaryName::TemporaryName(TemporaryName&& other) noexcept
    : slot_(std::exchange(other.slot_, kNone)) {}

void TemporaryName::remember(const std::string& path) {
  before_ending_signal(remove_all);
  let_large_files_fail();
  char* const copy = strdup(path.c_str());
  for (size_t i = 0; i < kNames && copy != nullptr; ++i) {
    char* expected = nullptr;
    if (!names[i].compare_exchange_strong(expected, copy)) continue;
    slot_ = i;
    return;
  }
  std::free(copy);
}

void TemporaryName::forget() {
  if (slot_ == kNone) return;
  std::free(names[std::exchange(slot_, kNone)].exchange(nullptr));
}

}  // namespace xlog::io
