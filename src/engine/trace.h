// What an evaluation does, noted down as it does it: which component, which round, which version of
// which rule, with rows and times. Totals for each version are always kept, they cost two looks at
// the clock a run; every single run, round and component only where somebody wants a profile.
//
//   Trace trace({.keep_events = true});
//   trace.watch(&device);
//   {
//     Trace::Timed round(trace, TraceKind::Round);
//     ...
//     round.event.rows_out = rows;
//   }                                   // noted here, also on the way out of a failure
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "logic/answer.h"

namespace xlog::engine {

using TimePoint = std::chrono::steady_clock::time_point;

// A rule in which one literal reads only new rows, or all read everything.
struct RuleVersion {
  uint32_t rule = 0;
  std::optional<uint32_t> literal;  // the new one, of the rule's body
  friend auto operator<=>(const RuleVersion&, const RuleVersion&) = default;
};

enum class TraceKind : uint8_t { Component, Round, Rule, Reference };

struct TraceEvent {
  TraceKind kind = TraceKind::Component;
  TimePoint begin, end;
  uint32_t component = 0;
  uint64_t round = 0;
  RuleVersion version;     // Rule
  uint64_t rows_in = 0;    // rows that drove it
  uint64_t rows_out = 0;   // new rows
  uint64_t launches = 0;   // of kernels
  uint64_t allocated = 0;  // bytes on the device at the end
};

struct VersionTotals {
  uint64_t runs = 0, rows_in = 0, rows_out = 0, launches = 0;
  double seconds = 0;
};

class Trace {
 public:
  struct Options {
    bool keep_events = false;
    uint64_t most_events = 1'000'000;  // later ones are only counted
  };
  Trace() = default;
  explicit Trace(const Options& options) : options_(options) {}
  // Whose launches and bytes are noted; nullptr: nobody's.
  void watch(const device::Device* device) { device_ = device; }

  // Something that goes on while this lives.
  class Timed {
   public:
    Timed(Trace& trace, TraceKind kind, RuleVersion version = {});
    ~Timed();
    Timed(const Timed&) = delete;
    Timed& operator=(const Timed&) = delete;
    TraceEvent event;

   private:
    Trace& trace_;
  };

  // Where the evaluation is, for all that is noted from here on.
  void enter_component(uint32_t component) {
    component_ = component;
    round_ = 0;
    running_.reset();
  }
  void enter_round(uint64_t round) { round_ = round; }
  uint32_t component() const { return component_; }
  uint64_t round() const { return round_; }
  // The version that runs now, or the last one of this component that did.
  const std::optional<RuleVersion>& running() const { return running_; }

  const std::map<RuleVersion, VersionTotals>& totals() const { return totals_; }
  const std::vector<TraceEvent>& events() const { return events_; }
  uint64_t events_left_out() const { return left_out_; }

 private:
  device::Counters counters() const {
    return device_ != nullptr ? device_->counters() : device::Counters{};
  }
  void note(const TraceEvent& event);

  const device::Device* device_ = nullptr;
  Options options_;
  uint32_t component_ = 0;
  uint64_t round_ = 0;
  std::optional<RuleVersion> running_;
  std::map<RuleVersion, VersionTotals> totals_;
  std::vector<TraceEvent> events_;
  uint64_t left_out_ = 0;
};

}  // namespace xlog::engine
