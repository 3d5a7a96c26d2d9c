#include "cli/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/stats.h"
#include "logic/memory_report.h"

namespace xlog::cli {
namespace {

using engine::TimePoint;
using engine::TraceEvent;
using engine::TraceKind;
using Json = nlohmann::ordered_json;

constexpr int kProcess = 1, kThread = 1;

class ProfileWriter {
 public:
  ProfileWriter(const Outcome& outcome, std::FILE* stream)
      : outcome_(outcome), names_(outcome), stream_(stream) {}

  void write(const std::string& title) {
    std::fputs("{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [\n", stream_);
    note("process_name", title);
    note("thread_name", "evaluation");
    for (const StageTime& time : outcome_.times) {
      complete(time.stage, "stage", time.begin, time.seconds * 1e6, Json::object());
    }
    if (outcome_.engine) engine(outcome_.engine->trace);
    std::fputs("\n]}\n", stream_);
  }

 private:
  void engine(const engine::Trace& trace) {
    for (const TraceEvent& event : trace.events()) {
      const std::chrono::duration<double, std::micro> length = event.end - event.begin;
      complete(name_of(event), category_of(event.kind), event.begin, length.count(),
               args_of(event));
      if (event.kind == TraceKind::Component || event.kind == TraceKind::Round) memory(event);
    }
    if (trace.events_left_out() > 0) {
      note("process_labels", fmt::format("{} events were left out", trace.events_left_out()));
    }
  }

  static std::string_view category_of(TraceKind kind) {
    switch (kind) {
      case TraceKind::Component:
        return "component";
      case TraceKind::Round:
        return "round";
      case TraceKind::Rule:
        return "rule";
      case TraceKind::Reference:
        return "reference";
    }
    return "";
  }

  std::string name_of(const TraceEvent& event) {
    switch (event.kind) {
      case TraceKind::Component:
        return logic::relation_name(
            outcome_.analysis->components[event.component].predicates.front(), *outcome_.program,
            outcome_.session.names);
      case TraceKind::Round:
        return fmt::format("round {}", event.round);
      case TraceKind::Rule:
        return rule(event.version.rule).text;
      case TraceKind::Reference:
        return "reference evaluator";
    }
    return "";
  }

  Json args_of(const TraceEvent& event) {
    Json args = Json::object();
    if (event.kind == TraceKind::Reference) return args;
    args["component"] = event.component;
    if (event.round > 0) args["round"] = event.round;
    if (event.kind == TraceKind::Rule) {
      args["place"] = rule(event.version.rule).place;
      if (event.version.literal) {
        args["new"] = names_.literal(event.version.rule, *event.version.literal);
      }
      args["rows_in"] = event.rows_in;
    }
    args["rows_out"] = event.rows_out;
    args["launches"] = event.launches;
    return args;
  }

  const RuleName& rule(uint32_t index) {
    auto known = rules_.find(index);
    if (known == rules_.end()) known = rules_.emplace(index, names_.rule(index)).first;
    return known->second;
  }

  // ---- events ----

  // Since the run began, in microseconds.
  double since_begin(TimePoint time) const {
    if (outcome_.times.empty()) return 0;
    return std::chrono::duration<double, std::micro>(time - outcome_.times.front().begin).count();
  }

  void complete(std::string_view name, std::string_view category, TimePoint begin,
                double microseconds, Json args) {
    add({{"name", name},
         {"cat", category},
         {"ph", "X"},
         {"ts", since_begin(begin)},
         {"dur", microseconds},
         {"pid", kProcess},
         {"tid", kThread},
         {"args", std::move(args)}});
  }

  void memory(const TraceEvent& event) {
    add({{"name", "bytes on the device"},
         {"ph", "C"},
         {"ts", since_begin(event.end)},
         {"pid", kProcess},
         {"args", {{"bytes", event.allocated}}}});
  }

  void note(std::string_view what, const std::string& text) {
    const char* key = what == "process_labels" ? "labels" : "name";
    add({{"name", what},
         {"ph", "M"},
         {"pid", kProcess},
         {"tid", kThread},
         {"args", {{key, text}}}});
  }

  void add(const Json& event) {
    const std::string text = event.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::fputs(first_ ? "" : ",\n", stream_);
    std::fwrite(text.data(), 1, text.size(), stream_);
    first_ = false;
  }

  const Outcome& outcome_;
  RuleNames names_;
  std::map<uint32_t, RuleName> rules_;
  std::FILE* stream_;
  bool first_ = true;
};

}  // namespace

void write_profile(const Outcome& outcome, const std::string& title, std::FILE* stream) {
  ProfileWriter(outcome, stream).write(title);
}

}  // namespace xlog::cli
