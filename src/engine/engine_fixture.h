// Runs source text on the reference evaluator and on the engine, for tests that compare the two.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "base/sanitized.h"
#include "device/test_devices.h"
#include "engine/evaluate.h"
#include "logic/magic.h"
#include "oracle/evaluate.h"
#include "plan/estimate.h"

namespace xlog::engine {

// Views, worlds, rows and statuses. Floats are written so that -0.0 and 0.0 differ.
inline std::string text_of(const logic::Answer& answer, const lang::Program& program,
                           const lang::Names& names) {
  std::string text = answer.view_count.get_str() + " views\n";
  auto add = [&](const std::vector<logic::QueryAnswer>& queries) {
    for (size_t q = 0; q < queries.size(); ++q) {
      text += program.queries[q].text + ":";
      for (const logic::Row& row : queries[q].rows) {
        text += " (";
        for (const lang::Value& value : row.values) text += lang::to_source(value, names) + ",";
        text += fmt::format("){}", logic::spelling(row.status));
      }
      text += "\n";
    }
  };
  for (const logic::WorldView& view : answer.views) {
    text += view.world_count.get_str() + " worlds\n";
    add(view.queries);
    for (const std::vector<std::string>& world : view.worlds) {
      text += fmt::format("  {{{}}}\n", fmt::join(world, ", "));
    }
  }
  add(answer.well_founded_queries);
  if (answer.constraint_error) text += "a constraint is violated\n";
  return text;
}

struct Outcome {
  bool checked = false;    // the program has no errors before it runs
  bool answered = false;   // neither refused nor past a limit
  std::string text;        // the answer, and what was reported except for the count below
  uint64_t valueless = 0;  // what W0903 counts
  Statistics statistics;
};

enum class Which { Reference, Engine };

// As `xlog run` does it. `own`: a device of the caller's, instead of the shared one of that name.
inline Outcome run(const std::string& source, Which which,
                   const std::string& device_name = "interp", logic::AnswerOptions options = {},
                   std::optional<relation::Form> form = {}, device::Device* own = nullptr) {
  Outcome outcome;
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", source);
  auto report = [&] {
    for (const Diagnostic* diagnostic : in_order_of_place(session.diagnostics)) {
      if (diagnostic->code == Code::DivisionByZero) {
        outcome.valueless += std::stoull(diagnostic->message);
      } else if (diagnostic->code == Code::ConstraintViolated) {
        // Which of several instances is shown depends on the order in which they are found.
        const std::string& message = diagnostic->message;
        outcome.text += message.substr(0, message.find(" is violated")) + "\n";
      } else {
        outcome.text += render_text(*diagnostic, session.sources);
      }
    }
    return outcome;
  };
  std::optional<lang::Program> program = lang::load(*file, session);
  if (!program || session.diagnostics.has_errors()) return report();
  std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  if (!analysis || session.diagnostics.has_errors()) return report();
  // Programs that ask for magic sets get them, however few rows they have.
  const bool asks = source.find("magic_sets") != std::string::npos;
  const auto magic = logic::apply_magic_sets(*program, *analysis, session,
                                             asks ? logic::ExpectedRows() : plan::expected_rows);
  if (session.diagnostics.has_errors()) return report();
  if (std::ranges::any_of(magic, &logic::MagicDecision::applied)) {
    analysis = logic::analyze(*program, session);
  }
  if (!analysis || session.diagnostics.has_errors()) return report();
  outcome.checked = true;
  options.well_founded = program->pragmas.semantics == "well_founded";
  std::optional<logic::Answer> answer;
  if (which == Which::Reference) {
    answer = oracle::evaluate(*program, *analysis, session, options);
  } else if (own != nullptr) {
    answer = evaluate(*program, *analysis, session, options, *own, outcome.statistics, form);
  } else {
    // A GPU takes its time to open: once is enough.
    static std::map<std::string, Result<std::unique_ptr<device::Device>>> devices;
    auto found = devices.find(device_name);
    if (found == devices.end()) {
      found = devices.emplace(device_name, device::open_device(device_name)).first;
    }
    Result<std::unique_ptr<device::Device>>& device = found->second;
    if (!device.ok()) {
      outcome.text = device.error().text();
      return outcome;
    }
    answer = evaluate(*program, *analysis, session, options, **device, outcome.statistics, form);
  }
  outcome.answered = answer.has_value();
  if (answer) outcome.text = text_of(*answer, *program, session.names);
  return report();
}

// On all devices, and in the form of kernels that GPUs take; on those of $XLOG_TEST_DEVICES instead
// where there is one, for machines with a GPU.
inline void expect_same(const std::string& source, bool all_on_device = true) {
  const Outcome wanted = run(source, Which::Reference);
  EXPECT_TRUE(wanted.checked) << wanted.text;
  using relation::Form;
  std::vector<std::pair<std::string, std::optional<Form>>> ways = {
      {"interp", Form::Chunks}, {"cpu", Form::Chunks}, {"interp", Form::Groups}};
  if (kPartOfWork == 1) {
    ways.emplace_back("oracle", Form::Chunks);
    ways.emplace_back("oracle", Form::Groups);
  }
  if (std::getenv("XLOG_TEST_DEVICES") != nullptr) {
    ways.clear();
    for (const std::string& name : device::test_device_names())
      ways.emplace_back(name, std::nullopt);
  }
  for (const auto& [device, form] : ways) {
    const Outcome got = run(source, Which::Engine, device, {}, form);
    EXPECT_EQ(got.text, wanted.text) << device << "\n" << source;
    EXPECT_EQ(got.valueless, wanted.valueless) << device << "\n" << source;
    for (const Placement& placement : got.statistics.placements) {
      EXPECT_TRUE(placement.on_device || !all_on_device) << placement.reason << "\n" << source;
    }
  }
}

}  // namespace xlog::engine
