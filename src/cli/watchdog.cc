#include "cli/watchdog.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/ending_signals.h"
#include "cli/cli.h"
#include "logic/memory_report.h"

namespace xlog::cli {
namespace {

// Beside a limit, for those who look at it themselves: a quarter of it, and so much.
constexpr double kMostPatience = 10;  // seconds
constexpr double kLeastPatience = 0.75;
constexpr uint64_t kLeastBytes = uint64_t{32} << 20;
constexpr long kLookEveryNs = 50'000'000;

// What is written before the end.
struct LastWords {
  std::string out, err;
};

template <typename Report>
LastWords said(const ReportOptions& options, bool json, const Report& report) {
  lang::Session session;
  report(session);
  LastWords words{.out = {}, .err = diagnostics_text(session, options, stderr)};
  if (json) {
    words.out =
        fmt::format("{{\"diagnostics\": {}}}\n", render_json(session.diagnostics, session.sources));
  }
  return words;
}

// What the handler reads: set before the timer starts.
struct Watched {
  timespec deadline = {};
  bool has_deadline = false;
  uint64_t most_bytes = 0;  // 0: any number
  uint64_t page = 4096;
  LastWords time_is_up, memory_is_used_up;
};
Watched watched;
timer_t timer;
std::atomic<bool> on_watch = false;

int signal_of_timer() { return SIGRTMIN + 3; }

timespec after(double seconds) {
  constexpr long kSecond = 1'000'000'000;
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_sec += static_cast<time_t>(seconds);
  time.tv_nsec += static_cast<long>((seconds - std::floor(seconds)) * kSecond);
  if (time.tv_nsec >= kSecond) {
    ++time.tv_sec;
    time.tv_nsec -= kSecond;
  }
  return time;
}

bool is_over(const timespec& deadline) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (now.tv_sec != deadline.tv_sec) return now.tv_sec > deadline.tv_sec;
  return now.tv_nsec >= deadline.tv_nsec;
}

// As own_memory(), without what a handler may not call: pages in memory, less those of files.
uint64_t memory_in_handler() {
  char text[128];
  const int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t length = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  if (length <= 0) return 0;
  uint64_t numbers[3] = {};  // all pages, those in memory, those of files
  int which = 0;
  for (ssize_t i = 0; i < length && which < 3; ++i) {
    if (text[i] == ' ') {
      ++which;
    } else if (text[i] >= '0' && text[i] <= '9') {
      numbers[which] = numbers[which] * 10 + static_cast<uint64_t>(text[i] - '0');
    }
  }
  return numbers[1] < numbers[2] ? 0 : (numbers[1] - numbers[2]) * watched.page;
}

void write_in_handler(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

[[noreturn]] void end_with(const LastWords& words) {
  act_before_end();
  write_in_handler(STDOUT_FILENO, words.out);
  write_in_handler(STDERR_FILENO, words.err);
  _exit(kLimit);
}

void look(int) {
  const int saved_errno = errno;
  if (on_watch.load()) {
    if (watched.has_deadline && is_over(watched.deadline)) end_with(watched.time_is_up);
    if (watched.most_bytes > 0 && memory_in_handler() > watched.most_bytes) {
      end_with(watched.memory_is_used_up);
    }
  }
  errno = saved_errno;
}

}  // namespace

Watchdog::Watchdog(const logic::AnswerOptions& limits, const ReportOptions& report, bool json) {
  constexpr double kMostSeconds = 1e9;
  const double timeout_seconds = limits.timeout_seconds < kMostSeconds ? limits.timeout_seconds : 0;
  const uint64_t memory_limit = limits.memory_limit;
  if (timeout_seconds <= 0 && memory_limit == 0) return;
  watched = {};
  watched.time_is_up = said(report, json, [&](lang::Session& session) {
    session.diagnostics
        .report(Code::LimitReached, {},
                fmt::format("not finished after {} seconds", timeout_seconds))
        .note("this came in the middle of one step, which cannot be left with what is settled")
        .help("raise it with `--timeout SECONDS`");
  });
  watched.memory_is_used_up = said(report, json, [&](lang::Session& session) {
    logic::report_memory_shortage({.limit = memory_limit,
                                   .doing = "the program was evaluated",
                                   .details = "this came in the middle of one step"},
                                  session);
  });
  watched.page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (memory_limit > 0 && memory_limit < UINT64_MAX / 2) {
    watched.most_bytes = memory_limit + memory_limit / 4 + kLeastBytes;
  }
  if (timeout_seconds > 0) {
    watched.deadline =
        after(timeout_seconds + std::min(timeout_seconds / 4, kMostPatience) + kLeastPatience);
    watched.has_deadline = true;
  }
  struct sigaction action = {};
  action.sa_handler = look;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal_of_timer();
  if (sigaction(signal_of_timer(), &action, nullptr) != 0) return;
  // Where there is no timer, those at work look at the limits alone.
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return;
  watches_ = true;
  on_watch = true;
  const itimerspec every{{0, kLookEveryNs}, {0, kLookEveryNs}};
  timer_settime(timer, 0, &every, nullptr);
}

Watchdog::~Watchdog() {
  if (!watches_) return;
  on_watch = false;
  timer_delete(timer);
}

}  // namespace xlog::cli
