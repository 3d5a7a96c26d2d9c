#include "cli/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace xlog::cli {
namespace {

struct Step {
  std::string_view name;
  double seconds;
  std::vector<std::pair<std::string_view, uint64_t>> figures;
  std::string note = {};  // why it did not do all
};

// What was solved in batches, and the units that were not for them by the reason.
Step batch_step(const epistemic::BatchTrace& batch) {
  Step step = {"batch",
               batch.seconds,
               {{"units", batch.units},
                {"launches", batch.launches},
                {"bytes_to_device", batch.bytes_to_device},
                {"bytes_from_device", batch.bytes_from_device}},
               batch.note};
#define XLOG_UNIT_FIT(name, text) \
  step.figures.emplace_back(text, batch.by_fit[static_cast<size_t>(epistemic::UnitFit::name)]);
  XLOG_UNIT_FITS(XLOG_UNIT_FIT)
#undef XLOG_UNIT_FIT
  return step;
}

// What the relational engine found out before anything was made ground.
Step estimate_step(const engine::Statistics::Bounded& bounded) {
  return {"estimate",
          bounded.seconds,
          {{"components", bounded.components},
           {"certain_rows", bounded.certain},
           {"open_rows", bounded.open},
           {"launches", bounded.launches}},
          bounded.note};
}

Step instances_step(const engine::OpenInstances::Figures& figures) {
  return {"instances",
          figures.seconds,
          {{"rules", figures.rules},
           {"rules_left_to_ground", figures.left},
           {"instances", figures.instances},
           {"launches", figures.launches},
           {"bytes_from_device", figures.bytes_from_device}}};
}

std::vector<Step> steps_of(const Outcome& outcome) {
  const epistemic::Trace& trace = *outcome.search;
  const epistemic::SearchCounts& search = trace.search;
  const engine::Statistics::Bounded bounded =
      outcome.engine ? outcome.engine->bounded : engine::Statistics::Bounded{};
  const engine::OpenInstances::Figures instances =
      outcome.engine ? outcome.engine->instances : engine::OpenInstances::Figures{};
  // Where grounding ended early, not all that were found came to be rules.
  const uint64_t given = std::min(instances.instances, trace.ground_rules);
  std::vector<Step> steps = {
      {"ground",
       trace.ground,
       {{"rules", trace.ground_rules},
        {"atoms", trace.ground_atoms},
        {"rules_from_instances", given},
        {"rules_from_walks", trace.ground_rules - given}}},
      {"bounds",
       trace.bounds,
       {{"open_rules", trace.open_rules}, {"open_atoms", trace.open_atoms}}},
      {"split",
       trace.split,
       {{"units", trace.units},
        {"clusters", search.clusters},
        {"largest_unit_atoms", trace.largest_unit}}},
      {"solve",
       trace.solve,
       {{"units_solved", search.units},
        {"units_reused", search.reused},
        {"solver_calls", search.solver_calls},
        {"candidates", search.candidates},
        {"accepted", search.accepted},
        {"not_known", search.not_known},
        {"not_possible", search.not_possible},
        {"not_open", search.not_open},
        {"unfounded", search.unfounded}}},
  };
  if (instances.rules + instances.left > 0) steps.insert(steps.begin(), instances_step(instances));
  if (bounded.components > 0 || !bounded.note.empty()) {
    steps.insert(steps.begin(), estimate_step(bounded));
  }
  if (trace.batch.tried) steps.insert(steps.end() - 1, batch_step(trace.batch));
  return steps;
}

std::string words(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c == '_') c = ' ';
  }
  return text;
}

}  // namespace

std::string trace_text(const Outcome& outcome) {
  if (!outcome.search) return "no worlds were searched for\n";
  std::string text;
  for (const Step& step : steps_of(outcome)) {
    text += fmt::format("{:<9} {:>10.3f} ms ", step.name, step.seconds * 1e3);
    for (const auto& [name, number] : step.figures) {
      text += fmt::format("{} {} {}", name == step.figures.front().first ? "" : ",", number,
                          words(name));
    }
    if (!step.note.empty()) text += fmt::format("; {}", step.note);
    text += "\n";
  }
  return text;
}

std::string trace_json(const Outcome& outcome) {
  nlohmann::ordered_json object;
  object["searched"] = outcome.search.has_value();
  object["steps"] = nlohmann::ordered_json::array();
  if (outcome.search) {
    for (const Step& step : steps_of(outcome)) {
      nlohmann::ordered_json entry;
      entry["step"] = step.name;
      entry["milliseconds"] = step.seconds * 1e3;
      for (const auto& [name, number] : step.figures) entry[std::string(name)] = number;
      if (!step.note.empty()) entry["note"] = step.note;
      object["steps"].push_back(std::move(entry));
    }
  }
  return object.dump();
}

}  // namespace xlog::cli
