// One line on a terminal that says how far a long run is, rewritten in place and taken away at the
// end.
//
//   ProgressLine line(clock, sink, width);
//   options.answer.progress = [&](const logic::Progress& now) { line.show(now); };
//   run_pipeline(...);
//   line.clear();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "cli/pipeline.h"

namespace xlog::cli {

class ProgressLine {
 public:
  using Clock = std::function<double()>;  // seconds
  using Sink = std::function<void(std::string_view)>;
  ProgressLine(Clock clock, Sink sink, uint32_t width);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Writes nothing in the first second, and later at most five times in one.
  void show(const logic::Progress& now);
  // Progress of another kind: `text` says how far it is, and is only asked when its turn has come.
  void show(const std::function<std::string()>& text);
  // Nothing stays on the terminal.
  void clear();

 private:
  void draw(const std::string& text, double time);

  Clock clock_;
  Sink sink_;
  uint32_t width_;
  double shown_at_;
  uint64_t shown_rows_ = 0;
  double next_;
  bool visible_ = false;
};

// "950", "1.2k", "34M"
std::string short_count(double count);

// "[3/7] reach/2, round 12: 1.2M new rows, 3.4M rows/s, 1.2 GiB", and for worlds
// "worlds, part 3 of 40: 1.2k candidates, 2 accepted, 80 MiB"
std::string progress_text(const logic::Progress& now, double rows_per_second);

// On standard error, where that is a terminal that can rewrite a line and nobody asked for silence;
// else nullptr. Ctrl-C takes the line away too.
std::unique_ptr<ProgressLine> progress_on_terminal(const ReportOptions& options);

}  // namespace xlog::cli
