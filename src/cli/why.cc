// xlog why ATOM FILE, xlog why-not ATOM FILE
#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <chrono>
#include <new>

#include "cli/options.h"
#include "cli/watchdog.h"
#include "cli/why_worlds.h"
#include "device/device.h"
#include "engine/proof.h"
#include "engine/proof_print.h"
#include "epistemic/why_print.h"
#include "logic/memory_report.h"
#include "logic/needed.h"

namespace xlog::cli {
namespace {

struct WhyOptions {
  RunOptions run;
  epistemic::WhyQuestion question = epistemic::WhyQuestion::Why;
  uint64_t limit = 1;
  std::string format = "text";
};

// "edge", or "edge/2"
bool names_predicate(const std::string& relation, const lang::Predicate& predicate,
                     const lang::Names& names) {
  return relation == lang::predicate_name(predicate, names) ||
         relation == lang::predicate_signature(predicate, names);
}

std::optional<engine::Explanation> explain_settled(const WhyOptions& options, Outcome& outcome) {
  lang::Program& program = *outcome.program;
  const logic::AnswerOptions answer = answer_options(options.run.pipeline, program.pragmas);
  const auto start = std::chrono::steady_clock::now();
  logic::keep_needed(program, program.goal->pred);
  outcome.analysis = logic::analyze(program, outcome.session);
  std::unique_ptr<device::Device> device;
  if (!options.run.pipeline.reference_only) {
    device::OpenOptions open;
    open.memory_limit = answer.memory_limit;
    Result<std::unique_ptr<device::Device>> opened =
        device::open_device(options.run.pipeline.device, open);
    if (!opened.ok()) {
      outcome.session.diagnostics.report(Code::DeviceMissing, {}, opened.error().message)
          .help(opened.error().help);
      return std::nullopt;
    }
    device = std::move(*opened);
  }
  engine::Statistics statistics;
  const std::optional<engine::Settled> settled =
      engine::settle(program, *outcome.analysis, outcome.session, answer, device.get(), statistics);
  if (!settled) return std::nullopt;
  return engine::explain_goal(program, *outcome.analysis, *settled, outcome.session,
                              {.limit = options.limit,
                               .max_rows = answer.max_rows,
                               .timeout_seconds = answer.timeout_seconds,
                               .memory_limit = answer.memory_limit,
                               .start = start});
}

// The files that rows of a predicate were read from.
std::string input_files(const WhyOptions& options, const Outcome& outcome, lang::PredId pred) {
  std::string files;
  for (const io::Input& input : options.run.pipeline.inputs) {
    const lang::Predicate& predicate = (*outcome.program)[pred];
    if (!names_predicate(input.relation, predicate, outcome.session.names)) continue;
    files += (files.empty() ? "" : ", ") + input.path;
    if (!input.table.empty()) files += ":" + input.table;
  }
  return files;
}

std::string printed(const WhyOptions& options, const engine::Explanation& explanation,
                    Outcome& outcome) {
  const engine::ProofPrinting printing{
      .program = *outcome.program,
      .session = outcome.session,
      .input_files = [&](lang::PredId pred) { return input_files(options, outcome, pred); },
  };
  if (options.format == "json") return engine::proof_json(explanation, printing);
  if (options.format == "dot") return engine::proof_dot(explanation, printing);
  return engine::proof_text(explanation, printing);
}

std::string printed(const WhyOptions& options, const epistemic::WorldsWhy& why,
                    const Outcome& outcome) {
  const SourceMap& sources = outcome.session.sources;
  if (options.format == "json") {
    return epistemic::why_json(why, options.question, outcome.program->goal->text, sources);
  }
  if (options.format == "dot") return epistemic::why_dot(why, options.question, sources);
  return epistemic::why_text(why, options.question, sources);
}

// What there is to say, if it can be said; leaves the exit code.
std::optional<std::string> explain(const WhyOptions& options, Outcome& outcome) {
  const bool asks_why = options.question == epistemic::WhyQuestion::Why;
  const logic::AnswerOptions answer =
      answer_options(options.run.pipeline, outcome.program->pragmas);
  if (engine::is_settled(*outcome.program, *outcome.analysis, answer)) {
    const auto explanation = explain_settled(options, outcome);
    if (!explanation) return std::nullopt;
    outcome.exit_code = (explanation->matches > 0) == asks_why ? kAnswered : kNo;
    return printed(options, *explanation, outcome);
  }
  if (answer.well_founded) {
    engine::report_undetermined(*outcome.program, *outcome.analysis, answer, outcome.session);
    return std::nullopt;
  }
  const auto why = explain_worlds(
      options.run.pipeline, options.question, options.limit,
      [&](lang::PredId pred) { return input_files(options, outcome, pred); }, outcome);
  if (!why) return std::nullopt;
  outcome.exit_code = why->answered ? kAnswered : kNo;
  // What is said of the worlds is complete; proofs of rows that are the same in all may be missing.
  if (outcome.session.diagnostics.has_errors()) outcome.exit_code = failure_code(outcome.session);
  return printed(options, *why, outcome);
}

int why(const WhyOptions& options) {
  Outcome outcome;
  std::optional<std::string> text;
  outcome.exit_code = kAnswered;
  const Watchdog watchdog(options.run.pipeline.answer, options.run.report,
                          options.format == "json");
  try {
    if (prepare_pipeline(options.run.file, options.run.pipeline, outcome)) {
      text = explain(options, outcome);
    }
  } catch (const std::bad_alloc&) {
    logic::report_memory_shortage({.doing = "an explanation was looked for"}, outcome.session);
  }
  if (!text) {
    if (outcome.exit_code != kNoWorldView) outcome.exit_code = failure_code(outcome.session);
    text = options.format != "json"
               ? ""
               : fmt::format("{{\"diagnostics\": {}}}\n",
                             render_json(outcome.session.diagnostics, outcome.session.sources));
  }
  if (!write_all(stdout, *text) || !flush_stdout()) outcome.exit_code = kProgramError;
  print_diagnostics(outcome.session, options.run.report);
  return outcome.exit_code;
}

void add_options(CLI::App& command, WhyOptions& options) {
  command
      .add_option("ATOM", options.run.pipeline.load.goal,
                  "What to explain: reach(1, 4); reach(1, X) explains the first row that fits; the "
                  "atoms -h and -q stand behind --")
      ->required()
      ->type_name("")
      ->check([](const std::string& text) {
        return text.empty() ? "the atom is empty" : std::string();
      });
  command.add_option("FILE", options.run.file, "The program; - reads standard input")
      ->required()
      ->type_name("");
  add_evaluation_options(command, options.run);
  command
      .add_option("--limit", options.limit, "How many of the rows that fit to explain (default 1)")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Output");
  command.add_option("--format", options.format, "How to show it (default text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "dot", "json"}))
      ->group("Output");
  add_report_options(command, options.run.report);
}

}  // namespace

void add_why(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("why", "Show a proof of a fact, or why it does not hold");
  auto options = std::make_shared<WhyOptions>();
  add_options(*command, *options);
  command->footer(
      R"(A proof has the least height there is. Where a program has several worlds: in how many world views
the fact is known and possible, the rule instances that give it in all worlds, or a world with it and one
without it.

Examples:
  xlog why 'reach(1, 4)' reach.xlog
  xlog why 'reach(1, X)' reach.xlog --input edge=edges.csv --limit 3
  xlog why 'reach(1, 4)' reach.xlog --format dot | dot -Tsvg > proof.svg
  xlog why 'award(lea)' scholarship.xlog
  xlog why 'reach(4, 1)' reach.xlog --format json

Exit codes:
  0 it holds, at least in some world   1 error in the program or its data   2 usage
  3 it does not hold, or there is no world view   4 a limit was reached)");
  command->callback([options, &exit_code] {
    read_standard_input_once(options->run.pipeline.inputs, options->run.file);
    exit_code = why(*options);
  });
}

void add_why_not(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("why-not", "Show why a fact does not hold, or not in every world");
  auto options = std::make_shared<WhyOptions>();
  options->question = epistemic::WhyQuestion::WhyNot;
  add_options(*command, *options);
  command->footer(
      R"(Shows a world view in which the fact is not known, a world without it, the rule instances that might
have given it and the literal for which each fails. Where that literal asks what is known or possible: what
becomes of the opposite guess.

Examples:
  xlog why-not 'reach(4, 1)' reach.xlog
  xlog why-not 'award(mia)' scholarship.xlog

Exit codes:
  0 it does not hold in all worlds   1 error in the program or its data   2 usage
  3 it holds in all worlds, or there is no world view   4 a limit was reached)");
  command->callback([options, &exit_code] {
    read_standard_input_once(options->run.pipeline.inputs, options->run.file);
    exit_code = why(*options);
  });
}

}  // namespace xlog::cli
