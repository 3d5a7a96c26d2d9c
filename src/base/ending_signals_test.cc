#include "base/ending_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace xlog {
namespace {

void say_bye() {
  if (write(STDERR_FILENO, "bye ", 4) != 4) _exit(9);
}
void say_again() {
  if (write(STDERR_FILENO, "again", 5) != 5) _exit(9);
}

bool is_ignored(int signal) {
  struct sigaction now = {};
  sigaction(signal, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

TEST(EndingSignals, ActsOnceAndThenEnds) {
  for (const int signal :
       {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU}) {
    if (is_ignored(signal)) continue;  // as a shell does for what it runs beside itself
    const auto act_and_die = [&] {
      before_ending_signal(say_bye);
      before_ending_signal(say_again);
      before_ending_signal(say_bye);
      raise(signal);
    };
    EXPECT_EXIT(act_and_die(), testing::KilledBySignal(signal), "^bye again$");
  }
}

TEST(EndingSignals, AHandlerFromBeforeIsKept) {
  const auto handle = [] {
    std::signal(SIGTERM, [](int) { _exit(5); });
    before_ending_signal(say_bye);
    raise(SIGTERM);
  };
  EXPECT_EXIT(handle(), testing::ExitedWithCode(5), "^bye $");
}

// Such a signal ends nothing, so what is being written goes on.
TEST(EndingSignals, AHandlerOfAnotherSignalIsLeftAlone) {
  const auto handle = [] {
    std::signal(SIGUSR1, [](int) {});
    before_ending_signal(say_bye);
    raise(SIGUSR1);
    _exit(7);
  };
  EXPECT_EXIT(handle(), testing::ExitedWithCode(7), "^$");
}

TEST(EndingSignals, AnIgnoredSignalStaysIgnored) {
  const auto live_on = [] {
    std::signal(SIGHUP, SIG_IGN);
    before_ending_signal(say_bye);
    raise(SIGHUP);
    _exit(6);
  };
  EXPECT_EXIT(live_on(), testing::ExitedWithCode(6), "^$");
}

}  // namespace
}  // namespace xlog
