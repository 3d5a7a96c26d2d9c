#include "base/ending_signals.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>

#include "base/check.h"

namespace xlog {
namespace {

std::array<std::atomic<void (*)()>, 8> acts;

// Those that ask for the end come first: a program's own handler for them is wrapped. The others
// are about something else, and end a process that does not handle them.
constexpr int kSignals[] = {SIGHUP,  SIGINT,  SIGTERM, SIGPIPE,   SIGQUIT,
                            SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU};
constexpr size_t kAskForTheEnd = 3;
struct sigaction before[std::size(kSignals)];

// Acts, then does what the signal did before.
void on_signal(int signal) {
  const int saved_errno = errno;
  act_before_end();
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
    const bool ends =
        i < kAskForTheEnd ? before[i].sa_handler != SIG_IGN : before[i].sa_handler == SIG_DFL;
    if (ends && !takes_more) sigaction(kSignals[i], &action, nullptr);
  }
  return true;
}

}  // namespace

void before_ending_signal(void (*act)()) {
  static const bool installed = install();
  static_cast<void>(installed);
  for (std::atomic<void (*)()>& slot : acts) {
    void (*expected)() = nullptr;
    if (slot.compare_exchange_strong(expected, act) || expected == act) return;
  }
  XLOG_UNREACHABLE("more acts before the end than there is room for");
}

void act_before_end() {
  for (std::atomic<void (*)()>& slot : acts) {
    if (void (*const act)() = slot.load()) act();
  }
}

void let_large_files_fail() {
  struct sigaction now = {};
  sigaction(SIGXFSZ, nullptr, &now);
  if (now.sa_handler == SIG_DFL) std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace xlog
