#include "io/temporaries.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

namespace xlog::io {
namespace {

// A signal handler may use neither locks nor the heap, so the names stand in a fixed table. Names
// past its end are only not covered.
constexpr size_t kNames = 1024;
std::array<std::atomic<char*>, kNames> names;

constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};
struct sigaction before[std::size(kSignals)];

void remove_all() {
  for (std::atomic<char*>& name : names) {
    const char* const path = name.load();
    if (path != nullptr) unlink(path);
  }
}

// Removes, then does what the signal did before.
void on_signal(int signal) {
  const int saved_errno = errno;
  remove_all();
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] != signal) continue;
    if (before[i].sa_handler != SIG_DFL && before[i].sa_handler != SIG_IGN) {
      before[i].sa_handler(signal);
    } else {
      sigaction(signal, &before[i], nullptr);
      raise(signal);
    }
  }
  errno = saved_errno;
}

bool install() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    // An ignored signal ends nothing; a handler that wants more than the number is not ours to
    // wrap.
    const bool takes_more = (before[i].sa_flags & SA_SIGINFO) != 0;
    if (before[i].sa_handler != SIG_IGN && !takes_more) sigaction(kSignals[i], &action, nullptr);
  }
  // A file that reaches the limit of `ulimit -f` is an error like a full disk, not the end.
  struct sigaction too_large = {};
  sigaction(SIGXFSZ, nullptr, &too_large);
  if (too_large.sa_handler == SIG_DFL) std::signal(SIGXFSZ, SIG_IGN);
  return true;
}

}  // namespace

TemporaryName::TemporaryName(TemporaryName&& other) noexcept
    : slot_(std::exchange(other.slot_, kNone)) {}

void TemporaryName::remember(const std::string& path) {
  static const bool installed = install();
  static_cast<void>(installed);
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
