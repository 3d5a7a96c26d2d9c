#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "base/ending_signals.h"
#include "base/memory.h"
#include "base/text.h"

namespace xlog::cli {
namespace {

constexpr double kFirstAfter = 1;   // seconds
constexpr double kThenEvery = 0.2;  // seconds
constexpr std::string_view kEraseLine = "\r\x1b[K";

// Whether the line of progress_on_terminal() is there, for the handler of a signal.
std::atomic<bool> on_terminal = false;

void erase_at_signal() {
  if (!on_terminal.load()) return;
  // Whether that succeeds changes nothing any more.
  const ssize_t written = write(STDERR_FILENO, kEraseLine.data(), kEraseLine.size());
  static_cast<void>(written);
}

// The longest beginning that takes at most so many columns of a terminal.
std::string fitting(std::string_view text, size_t columns) {
  size_t used = 0, end = 0;
  while (end < text.size()) {
    const CodePoint c = decode_utf8(text, end);
    used += static_cast<size_t>(display_width(c.value));
    if (used > columns) break;
    end += c.bytes;
  }
  return std::string(text.substr(0, end));
}

}  // namespace

std::string short_count(double count) {
  constexpr std::string_view kUnits = " kMGT";
  size_t unit = 0;
  for (; count >= 1000 && unit + 1 < kUnits.size(); ++unit) count /= 1000;
  if (unit == 0) return fmt::format("{:.0f}", count);
  return fmt::format("{:.{}f}{}", count, count < 10 ? 1 : 0, kUnits[unit]);
}

std::string progress_text(const logic::Progress& now, double rows_per_second) {
  if (now.clusters > 0) {
    return fmt::format("worlds, part {} of {}: {} candidates, {} accepted, {}",
                       std::min(now.clusters_done + 1, now.clusters), now.clusters,
                       short_count(static_cast<double>(now.candidates)),
                       short_count(static_cast<double>(now.accepted)), size_text(own_memory()));
  }
  std::string text =
      fmt::format("[{}/{}] {}", now.component + 1, now.components, printable(now.name));
  if (now.round > 0) text += fmt::format(", round {}", now.round);
  return text + fmt::format(": {} new rows, {} rows/s, {}",
                            short_count(static_cast<double>(now.new_rows)),
                            short_count(rows_per_second),
                            size_text(now.bytes > 0 ? now.bytes : own_memory()));
}

ProgressLine::ProgressLine(Clock clock, Sink sink, uint32_t width)
    : clock_(std::move(clock)),
      sink_(std::move(sink)),
      width_(width),
      shown_at_(clock_()),
      next_(shown_at_ + kFirstAfter) {}

void ProgressLine::show(const logic::Progress& now) {
  const double time = clock_();
  if (time < next_) return;
  // Components on different evaluators count their rows apart.
  const uint64_t more = now.rows - std::min(now.rows, shown_rows_);
  const double rate = static_cast<double>(more) / (time - shown_at_);
  draw(progress_text(now, rate), time);
  shown_rows_ = now.rows;
}

void ProgressLine::show(const std::function<std::string()>& text) {
  const double time = clock_();
  if (time >= next_) draw(text(), time);
}

void ProgressLine::draw(const std::string& text, double time) {
  sink_(fmt::format("{}{}", kEraseLine, fitting(text, width_)));
  visible_ = true;
  shown_at_ = time;
  next_ = time + kThenEvery;
}

void ProgressLine::clear() {
  if (!visible_) return;
  sink_(kEraseLine);
  visible_ = false;
}

std::unique_ptr<ProgressLine> progress_on_terminal(const ReportOptions& options) {
  if (options.quiet || options.json || options.no_progress) return nullptr;
  const char* term = std::getenv("TERM");
  if (isatty(STDERR_FILENO) == 0 || term == nullptr || std::string_view(term) == "dumb") {
    return nullptr;
  }
  auto clock = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  before_ending_signal(erase_at_signal);
  auto sink = [](std::string_view text) {
    on_terminal = text != kEraseLine;
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  return std::make_unique<ProgressLine>(clock, sink, terminal_width(stderr));
}

}  // namespace xlog::cli
