// xlog explain FILE|CODE|TOPIC
#include <fmt/format.h>

#include <cctype>

#include "cli/explain_ast.h"
#include "cli/explain_tables.h"
#include "cli/explain_worlds.h"
#include "cli/options.h"
#include "lang/parser.h"
#include "plan/explain.h"
#include "plan/prepare.h"

namespace xlog::cli {
namespace {

using logic::ExplainFormat;

struct ExplainOptions {
  std::string target;
  std::string stage = "components";
  std::string format = "text";
  RunOptions run;
};

bool shows_worlds(const ExplainOptions& options) {
  return options.stage == "units" || options.stage == "worldviews";
}

ExplainFormat find_explain_format(std::string_view text) {
  if (text == "json") return ExplainFormat::Json;
  return text == "dot" ? ExplainFormat::Dot : ExplainFormat::Text;
}

// A letter and digits: E0412. A file of such a name can be written ./E0412.
bool looks_like_code(std::string_view text) {
  if (text.size() < 2 || (std::toupper(text[0]) != 'E' && std::toupper(text[0]) != 'W'))
    return false;
  return text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

int explain_code(std::string_view name) {
  if (const std::optional<Code> code = find_code(name)) {
    fmt::print("{}", code_text(code_info(*code)));
    return kAnswered;
  }
  std::vector<std::string_view> names;
  for (const CodeInfo& info : all_codes()) names.push_back(info.name);
  fmt::print(stderr, "xlog explain: there is no code `{}`\n", name);
  if (const auto near = did_you_mean(name, names))
    fmt::print(stderr, "did you mean `{}`?\n", *near);
  fmt::print(stderr, "`xlog explain codes` lists all.\n");
  return kUsage;
}

// The pipelines of the relational engine, for the program as a run has it: with the rows of its
// input, magic sets where they pay, and rules rewritten.
std::optional<std::string> plan_text(const ExplainOptions& options, Outcome& outcome) {
  if (!prepare_pipeline(options.target, options.run.pipeline, outcome) ||
      !rewrite_for_queries(options.run.pipeline, outcome)) {
    return std::nullopt;
  }
  std::string text;
  for (const logic::MagicDecision& decision : outcome.magic) {
    text += fmt::format("query {}\n  {}: {}\n", outcome.program->queries[decision.query].text,
                        decision.applied ? "magic sets" : "no magic sets", decision.reason);
  }
  const plan::Prepared prepared =
      plan::prepare(*outcome.program, *outcome.analysis, outcome.session,
                    outcome.program->pragmas.semantics == "well_founded");
  return text + plan::to_text(prepared) +
         plan::explain(*outcome.program, *outcome.analysis, prepared, outcome.session);
}

// The text of a stage, or nothing when the program has errors.
std::optional<std::string> stage_text(const ExplainOptions& options, Outcome& outcome) {
  const ExplainFormat format = find_explain_format(options.format);
  if (options.stage == "ast") {
    const SourceFile* file = lang::read_source(options.target, outcome.session);
    if (file == nullptr) return std::nullopt;
    const lang::Module module = lang::parse(*file, outcome.session.names.symbols,
                                            outcome.session.diagnostics, {.bulk_facts = false});
    if (outcome.session.diagnostics.has_errors()) return std::nullopt;
    return explain_ast(module, outcome.session, format);
  }
  if (options.stage == "plan") return plan_text(options, outcome);
  if (shows_worlds(options)) {
    if (!prepare_pipeline(options.target, options.run.pipeline, outcome)) return std::nullopt;
    return explain_worlds(options.stage, options.format, options.run.pipeline, outcome);
  }
  check_pipeline(options.target, options.run.pipeline, outcome);
  // Types are there before the analysis and help to understand what it says.
  if (options.stage == "types" && outcome.program) {
    return logic::explain_types(*outcome.program, outcome.session, format);
  }
  if (outcome.exit_code != kAnswered) return std::nullopt;
  return options.stage == "eir"
             ? logic::explain_eir(*outcome.program, *outcome.analysis, outcome.session, format)
             : logic::explain_components(*outcome.program, *outcome.analysis, outcome.session,
                                         format);
}

int explain_program(const ExplainOptions& options) {
  Outcome outcome;
  const std::optional<std::string> text = stage_text(options, outcome);
  if (text) {
    write_all(stdout, *text);
    if (!text->ends_with('\n')) write_all(stdout, "\n");
  }
  print_diagnostics(outcome.session, options.run.report);
  const bool is_shown = text && !outcome.session.diagnostics.has_errors();
  return is_shown ? kAnswered : failure_code(outcome.session);
}

int explain(const ExplainOptions& options) {
  if (options.stage == "plan" && options.format != "text") {
    fmt::print(stderr, "xlog explain: the stage `plan` is shown as text only\n");
    return kUsage;
  }
  if (options.format == "html" && options.stage != "worldviews") {
    fmt::print(stderr, "xlog explain: only the stage `worldviews` is shown as html\n");
    return kUsage;
  }
  const bool looks_at_data = options.stage == "plan" || shows_worlds(options);
  if (!looks_at_data && !options.run.pipeline.inputs.empty()) {
    fmt::print(stderr,
               "xlog explain: only the stages `plan`, `units` and `worldviews` look at --input\n");
    return kUsage;
  }
  if (const auto table = table_text(options.target, find_explain_format(options.format))) {
    fmt::print("{}", *table);
    return kAnswered;
  }
  if (looks_like_code(options.target)) return explain_code(options.target);
  return explain_program(options);
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("explain", "Show a stage of a program, a diagnostic code or a table");
  auto options = std::make_shared<ExplainOptions>();
  command
      ->add_option("TARGET", options->target,
                   "A program, a code such as E0412, or one of: codes, pragmas, builtins, types")
      ->required()
      ->type_name("");
  command->add_option("--stage", options->stage, "What to show of a program (default components)")
      ->type_name("STAGE")
      ->check(CLI::IsMember({"ast", "types", "components", "eir", "plan", "units", "worldviews"}));
  command->add_option("--format", options->format, "How to show it (default text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "dot", "html"}));
  add_evaluation_options(*command, options->run);
  add_report_options(*command, options->run.report);
  command->footer(
      R"(Stages: ast (as parsed), types (every column), components (what depends on what, in
evaluation order), eir (modal literals in normal form), plan (the pipelines of the engine for
these facts and --input files, with what they are expected to find; text), units (what is left of a
program with several worlds when it is ground, and how each part of it was decided), worldviews (a
picture of its world views and their worlds; also as one HTML page). The last two evaluate the program.

Examples:
  xlog explain E0412
  xlog explain pragmas
  xlog explain planning.xlog --stage eir
  xlog explain reach.xlog --stage plan --input edge=edges.csv
  xlog explain planning.xlog --stage worldviews --format html > worlds.html
  xlog explain planning.xlog --format dot | dot -Tsvg > planning.svg)");
  command->callback([options, &exit_code] {
    exit_code = explain(*options);
    if (!flush_stdout()) exit_code = kProgramError;
  });
}

}  // namespace xlog::cli
