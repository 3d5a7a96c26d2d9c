// xlog why ATOM FILE
#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>

#include "cli/options.h"
#include "device/device.h"
#include "engine/proof.h"
#include "engine/proof_print.h"
#include "logic/needed.h"

namespace xlog::cli {
namespace {

struct WhyOptions {
  RunOptions run;
  uint64_t limit = 1;
  std::string format = "text";
};

// "edge", or "edge/2"
bool names_predicate(const std::string& relation, const lang::Predicate& predicate,
                     const lang::Names& names) {
  return relation == lang::predicate_name(predicate, names) ||
         relation == lang::predicate_signature(predicate, names);
}

std::optional<engine::Explanation> explain(const WhyOptions& options, Outcome& outcome) {
  lang::Program& program = *outcome.program;
  const logic::AnswerOptions answer = answer_options(options.run.pipeline, program.pragmas);
  if (!engine::can_explain(program, *outcome.analysis, answer, outcome.session)) {
    return std::nullopt;
  }
  logic::keep_needed(program, program.goal->pred);
  outcome.analysis = logic::analyze(program, outcome.session);
  std::unique_ptr<device::Device> device;
  if (!options.run.pipeline.reference_only) {
    Result<std::unique_ptr<device::Device>> opened =
        device::open_device(options.run.pipeline.device);
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
                               .timeout_seconds = answer.timeout_seconds});
}

std::string printed(const WhyOptions& options, const engine::Explanation& explanation,
                    Outcome& outcome) {
  const engine::ProofPrinting printing{
      .program = *outcome.program,
      .session = outcome.session,
      .input_files =
          [&](lang::PredId pred) {
            std::string files;
            for (const io::Input& input : options.run.pipeline.inputs) {
              const lang::Predicate& predicate = (*outcome.program)[pred];
              if (!names_predicate(input.relation, predicate, outcome.session.names)) continue;
              files += (files.empty() ? "" : ", ") + input.path;
              if (!input.table.empty()) files += ":" + input.table;
            }
            return files;
          },
  };
  if (options.format == "json") return engine::proof_json(explanation, printing);
  if (options.format == "dot") return engine::proof_dot(explanation, printing);
  return engine::proof_text(explanation, printing);
}

int why(const WhyOptions& options) {
  Outcome outcome;
  std::optional<engine::Explanation> explanation;
  if (prepare_pipeline(options.run.file, options.run.pipeline, outcome)) {
    explanation = explain(options, outcome);
  }
  std::string text;
  int exit_code = kAnswered;
  if (explanation) {
    text = printed(options, *explanation, outcome);
    exit_code = explanation->matches > 0 ? kAnswered : kNo;
  } else {
    exit_code = failure_code(outcome.session);
    if (options.format == "json") {
      text = fmt::format("{{\"diagnostics\": {}}}\n",
                         render_json(outcome.session.diagnostics, outcome.session.sources));
    }
  }
  if (!write_all(stdout, text) || !flush_stdout()) exit_code = kProgramError;
  print_diagnostics(outcome.session, options.run.report);
  return exit_code;
}

}  // namespace

void add_why(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("why", "Show a proof of a fact, or why it does not hold");
  auto options = std::make_shared<WhyOptions>();
  command
      ->add_option("ATOM", options->run.pipeline.load.goal,
                   "What to explain: reach(1, 4); reach(1, X) explains the first row that fits")
      ->required()
      ->type_name("")
      ->check([](const std::string& text) {
        return text.empty() ? "the atom is empty" : std::string();
      });
  command->add_option("FILE", options->run.file, "The program; - reads standard input")
      ->required()
      ->type_name("");
  add_evaluation_options(*command, options->run);
  command
      ->add_option("--limit", options->limit,
                   "How many of the rows that fit to explain (default 1)")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group("Output");
  command->add_option("--format", options->format, "How to show it (default text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "dot", "json"}))
      ->group("Output");
  add_report_options(*command, options->run.report);
  command->footer(
      R"(A proof has the least height there is. It is shown for what is determined: choice, disjunction
and cycles through negation have no proofs.

Examples:
  xlog why 'reach(1, 4)' reach.xlog
  xlog why 'reach(1, X)' reach.xlog --input edge=edges.csv --limit 3
  xlog why 'reach(1, 4)' reach.xlog --format dot | dot -Tsvg > proof.svg
  xlog why 'reach(4, 1)' reach.xlog --format json

Exit codes:
  0 it holds   1 error in the program or its data   2 usage
  3 it does not hold   4 a limit was reached)");
  command->callback([options, &exit_code] { exit_code = why(*options); });
}

}  // namespace xlog::cli
