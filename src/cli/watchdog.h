// Keeps the limits of time and memory where nobody looks at them: one step of an evaluation may
// take far longer than the user allowed, or make one value that is larger. Whoever is at work looks
// at the limits and says what was going on; the watchdog leaves some room for that, then ends the
// process with the exit code of a limit, as a signal would: nothing is half written.
//
//   const Watchdog watchdog(pipeline.answer, report, false);
#pragma once

#include "cli/pipeline.h"

namespace xlog::cli {

class Watchdog {
 public:
  // One at a time. `json`: standard output gets what is said as JSON too.
  Watchdog(const logic::AnswerOptions& limits, const ReportOptions& report, bool json);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  bool watches_ = false;
};

}  // namespace xlog::cli
