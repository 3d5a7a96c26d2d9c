#include "cli/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/memory.h"
#include "base/text.h"

namespace xlog::cli {
namespace {

using engine::RelationFigures;
using engine::RuleVersion;
using engine::VersionTotals;
using Json = nlohmann::ordered_json;

constexpr size_t kMostShown = 5;
constexpr size_t kWidestRule = 60;

std::string shortened(const std::string& text, size_t columns) {
  if (text.size() <= columns) return text;
  size_t end = columns - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // UTF-8
  return text.substr(0, end) + "...";
}

double total_seconds(const Outcome& outcome) {
  double total = 0;
  for (const StageTime& time : outcome.times) total += time.seconds;
  return total;
}

std::string relations_text(const engine::Statistics& engine) {
  std::vector<const RelationFigures*> largest;
  for (const RelationFigures& figures : engine.relations) largest.push_back(&figures);
  std::ranges::stable_sort(largest, std::greater<>(), &RelationFigures::bytes);
  if (largest.size() > kMostShown) largest.resize(kMostShown);
  if (largest.empty()) return "";
  std::string text = fmt::format("\n{:>12} {:>10}  {:<6} {:>7}  {}\n", "rows", "bytes", "set",
                                 "indexes", "largest relations");
  for (const RelationFigures* figures : largest) {
    text += fmt::format("{:>12} {:>10}  {:<6} {:>7}  {}\n", figures->rows,
                        size_text(figures->bytes), relation::spelling(figures->set),
                        figures->indexes, shortened(printable(figures->name), kWidestRule));
  }
  return text;
}

std::string rules_text(const Outcome& outcome) {
  RuleNames names(outcome);
  std::vector<std::pair<RuleVersion, VersionTotals>> slowest(outcome.engine->trace.totals().begin(),
                                                             outcome.engine->trace.totals().end());
  std::ranges::stable_sort(slowest, std::greater<>(),
                           [](const auto& entry) { return entry.second.seconds; });
  if (slowest.size() > kMostShown) slowest.resize(kMostShown);
  if (slowest.empty()) return "";
  std::string text = fmt::format("\n{:>12} {:>10}  {:>6}  {}\n", "rows", "ms", "runs",
                                 "slowest rules (the literal whose rows are new)");
  for (const auto& [version, totals] : slowest) {
    const RuleName name = names.rule(version.rule);
    text += fmt::format("{:>12} {:>10.3f}  {:>6}  {}: {}", totals.rows_out, totals.seconds * 1e3,
                        totals.runs, name.place, shortened(printable(name.text), kWidestRule));
    if (version.literal) {
      text += fmt::format(" (new {})", printable(names.literal(version.rule, *version.literal)));
    }
    text += "\n";
  }
  return text;
}

std::string engine_text(const engine::Statistics& engine) {
  const device::Counters& device = engine.device;
  std::string text;
  auto line = [&text](std::string_view name, uint64_t number) {
    text += fmt::format("{:<12} {:>10}\n", name, number);
  };
  line("rows", engine.rows);
  line("rounds", engine.rounds);
  line("launches", device.launches);
  line("compiled", device.compiled);
  line("from cache", device.cached);
  line("bytes in", device.bytes_to_device);
  line("bytes out", device.bytes_from_device);
  text += fmt::format("{:<12} {:>10}\n", "on device", size_text(device.peak));
  return text;
}

std::string placements_text(const engine::Statistics& engine) {
  std::string text;
  for (const engine::Placement& placement : engine.placements) {
    if (placement.on_device) continue;
    const char* const how = placement.bounded ? "differs between worlds, bounded on the device"
                            : placement.open  ? "differs between worlds"
                                              : "ran on the reference evaluator";
    text += fmt::format("component {} {}: {}\n", placement.component, how, placement.reason);
  }
  return text;
}

Json degrees_json(const std::map<uint32_t, plan::Degrees>& columns) {
  Json array = Json::array();
  for (const auto& [column, degrees] : columns) {
    size_t powers = degrees.counts.size();
    while (powers > 0 && degrees.counts[powers - 1] == 0) --powers;
    Json counts = Json::array();
    for (size_t p = 0; p < powers; ++p) counts.push_back(degrees.counts[p]);
    array.push_back({{"column", column + 1},
                     {"values", degrees.values},
                     {"rows_of_row", degrees.rows_of_row()},
                     {"counts", std::move(counts)}});
  }
  return array;
}

Json relations_json(const engine::Statistics& engine) {
  Json array = Json::array();
  for (const RelationFigures& figures : engine.relations) {
    array.push_back({{"name", figures.name},
                     {"rows", figures.rows},
                     {"bytes", figures.bytes},
                     {"set", relation::spelling(figures.set)},
                     {"indexes", figures.indexes},
                     {"degrees", degrees_json(figures.degrees)},
                     {"component", figures.component}});
  }
  return array;
}

Json rules_json(const Outcome& outcome) {
  RuleNames names(outcome);
  Json array = Json::array();
  for (const auto& [version, totals] : outcome.engine->trace.totals()) {
    const RuleName name = names.rule(version.rule);
    Json fresh = nullptr;
    if (version.literal) {
      fresh = {{"literal", *version.literal + 1},
               {"text", names.literal(version.rule, *version.literal)}};
    }
    array.push_back({{"rule", name.text},
                     {"place", name.place},
                     {"version", std::move(fresh)},
                     {"runs", totals.runs},
                     {"rows_in", totals.rows_in},
                     {"rows", totals.rows_out},
                     {"launches", totals.launches},
                     {"milliseconds", totals.seconds * 1e3}});
  }
  return array;
}

Json components_json(const engine::Statistics& engine) {
  Json array = Json::array();
  for (const engine::Placement& placement : engine.placements) {
    array.push_back({{"component", placement.component},
                     {"on_device", placement.on_device},
                     {"open", placement.open},
                     {"bounded", placement.bounded},
                     {"reason", placement.on_device ? Json(nullptr) : Json(placement.reason)}});
  }
  return array;
}

}  // namespace

RuleName RuleNames::rule(uint32_t index) {
  const lang::Program& program = *outcome_.program;
  const lang::Rule& rule = program.rules[index];
  RuleName name;
  name.text = lang::to_source(rule, program, outcome_.session.names);
  if (rule.origin == lang::RuleOrigin::Query) {
    for (const lang::Query& query : program.queries) {
      if (query.pred == rule.head[0].pred) name.text = "?- " + query.text + ".";
    }
  }
  if (lines_.file_at(rule.span.begin) != nullptr) {
    const Place place = lines_.place(rule.span.begin);
    name.place = fmt::format("{}:{}", place.file, place.line);
  }
  return name;
}

std::string RuleNames::literal(uint32_t rule, uint32_t literal) const {
  const lang::Program& program = *outcome_.program;
  return lang::to_source(program.rules[rule].body[literal], program.rules[rule], program,
                         outcome_.session.names);
}

std::string stats_text(const Outcome& outcome) {
  std::string text;
  for (const StageTime& time : outcome.times) {
    text += fmt::format("{:<12} {:>10.3f} ms\n", time.stage, time.seconds * 1e3);
  }
  text += fmt::format("{:<12} {:>10.3f} ms\n", "total", total_seconds(outcome) * 1e3);
  if (outcome.engine) text += engine_text(*outcome.engine);
  text += fmt::format("{:<12} {:>10}\n", "memory", size_text(peak_memory()));
  if (!outcome.engine) return text;
  return text + placements_text(*outcome.engine) + relations_text(*outcome.engine) +
         rules_text(outcome);
}

std::string stats_json(const Outcome& outcome) {
  const engine::Statistics none;
  const engine::Statistics& engine = outcome.engine ? *outcome.engine : none;
  Json object;
  object["exit_code"] = outcome.exit_code;
  object["milliseconds"] = total_seconds(outcome) * 1e3;
  object["stages"] = Json::array();
  for (const StageTime& time : outcome.times) {
    object["stages"].push_back({{"stage", time.stage}, {"milliseconds", time.seconds * 1e3}});
  }
  object["device"] = outcome.device.empty() ? Json(nullptr) : Json(outcome.device);
  object["rounds"] = engine.rounds;
  object["rows"] = engine.rows;
  object["bytes_in"] = engine.device.bytes_to_device;
  object["bytes_out"] = engine.device.bytes_from_device;
  object["launches"] = engine.device.launches;
  object["kernels_compiled"] = engine.device.compiled;
  object["kernels_from_cache"] = engine.device.cached;
  object["device_peak_bytes"] = engine.device.peak;
  object["process_peak_bytes"] = peak_memory();
  object["components"] = components_json(engine);
  object["relations"] = relations_json(engine);
  object["rules"] = outcome.engine ? rules_json(outcome) : Json::array();
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xlog::cli
