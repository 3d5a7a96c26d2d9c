#include "engine/trace.h"

namespace xlog::engine {

Trace::Timed::Timed(Trace& trace, TraceKind kind, RuleVersion version) : trace_(trace) {
  if (kind == TraceKind::Rule) trace_.running_ = version;
  event.kind = kind;
  event.version = version;
  event.component = trace_.component_;
  event.round = trace_.round_;
  event.launches = trace_.counters().launches;
  event.begin = std::chrono::steady_clock::now();
}

Trace::Timed::~Timed() {
  event.end = std::chrono::steady_clock::now();
  const device::Counters counters = trace_.counters();
  event.launches = counters.launches - event.launches;
  event.allocated = counters.allocated;
  trace_.note(event);
}

void Trace::note(const TraceEvent& event) {
  if (event.kind == TraceKind::Rule) {
    VersionTotals& totals = totals_[event.version];
    ++totals.runs;
    totals.rows_in += event.rows_in;
    totals.rows_out += event.rows_out;
    totals.launches += event.launches;
    totals.seconds += std::chrono::duration<double>(event.end - event.begin).count();
  }
  if (!options_.keep_events) return;
  if (events_.size() < options_.most_events) {
    events_.push_back(event);
  } else {
    ++left_out_;
  }
}

}  // namespace xlog::engine
