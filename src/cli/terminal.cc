#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace xlog::cli {
namespace {

std::atomic<bool> interrupted = false;

void on_interrupt(int signal) {
  if (!interrupted.exchange(true)) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// Said once: who goes on after it, as a session does, comes here with each line. False.
bool cannot_write_stdout() {
  static bool said = false;
  if (errno != EPIPE && !std::exchange(said, true)) {
    std::fprintf(stderr, "xlog: cannot write to standard output: %s\n", std::strerror(errno));
  }
  return false;
}

}  // namespace

bool use_color(ColorChoice choice, std::FILE* stream) {
  if (choice != ColorChoice::Auto) return choice == ColorChoice::Always;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term == nullptr || std::strcmp(term, "dumb") == 0) return false;
  return isatty(fileno(stream)) != 0;
}

uint32_t terminal_width(std::FILE* stream) {
  constexpr uint32_t kDefault = 120;
  winsize size = {};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefault;
  constexpr uint32_t kMargin = 12;  // line numbers and the dots at both ends
  return std::clamp<uint32_t>(size.ws_col, 40 + kMargin, 400) - kMargin;
}

bool write_all(std::FILE* stream, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream) == text.size()) return true;
  if (stream == stdout) return cannot_write_stdout();
  if (errno != EPIPE) std::fprintf(stderr, "xlog: cannot write: %s\n", std::strerror(errno));
  return false;
}

bool flush_stdout() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  return cannot_write_stdout();
}

std::atomic<bool>& catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  return interrupted;
}

}  // namespace xlog::cli
