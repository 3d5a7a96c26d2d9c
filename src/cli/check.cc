// xlog check FILE...
#include <fmt/format.h>

#include "cli/options.h"

namespace xlog::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  PipelineOptions pipeline;
  ReportOptions report;
};

std::string counted(size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string summary(const lang::Program& program) {
  size_t predicates = 0, facts = 0, rules = 0, queries = 0;
  for (const lang::Predicate& predicate : program.predicates) {
    predicates += !predicate.helper;
    facts += predicate.facts ? predicate.facts->rows : 0;
  }
  for (const lang::Rule& rule : program.rules) rules += rule.origin == lang::RuleOrigin::Source;
  for (const lang::Query& query : program.queries) queries += !query.implicit;
  std::string text = counted(predicates, "predicate") + ", " + counted(facts, "fact") + ", " +
                     counted(rules, "rule");
  if (queries > 0) text += fmt::format(", {} {}", queries, queries == 1 ? "query" : "queries");
  return text;
}

// With --diagnostics json one array for all files goes to standard output: it is what the command
// is for.
int check(const CheckOptions& options) {
  int exit_code = kAnswered;
  std::string json;
  for (const std::string& file : options.files) {
    Outcome outcome;
    check_pipeline(file, options.pipeline, outcome);
    if (outcome.exit_code != kAnswered) exit_code = outcome.exit_code;
    const bool quiet = options.report.quiet;
    if (options.report.json) {
      std::string part = render_json(outcome.session.diagnostics, outcome.session.sources, quiet);
      part = part.substr(1, part.size() - 2);  // without the brackets
      if (!json.empty() && !part.empty()) json += ",";
      json += part;
      continue;
    }
    print_diagnostics(outcome.session, options.report);
    if (outcome.exit_code == kAnswered && !quiet) {
      fmt::print("{}: ok ({})\n", file, summary(*outcome.program));
    }
  }
  if (options.report.json) fmt::print("[{}]\n", json);
  return flush_stdout() ? exit_code : kProgramError;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("check", "Parse, type and check programs without running them");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("FILE", options->files, "Programs; - reads standard input")
      ->required()
      ->type_name("");
  add_load_options(*command, options->pipeline.load);
  add_report_options(*command, options->report);
  command->footer(R"(With --diagnostics json one array for all files goes to standard output.

Examples:
  xlog check family.xlog
  xlog check examples/*.xlog --diagnostics json)");
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace xlog::cli
