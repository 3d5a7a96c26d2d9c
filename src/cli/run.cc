// xlog run FILE
#include <fmt/format.h>

#include "cli/options.h"
#include "cli/profile.h"
#include "cli/progress.h"
#include "cli/stats.h"
#include "cli/trace.h"
#include "cli/watchdog.h"
#include "io/file.h"
#include "io/output_files.h"

namespace xlog::cli {
namespace {

// False when the results cannot be written; that is reported.
bool print_answer(const RunOptions& options, Outcome& outcome) {
  const StageTimer timer("write", outcome);
  const io::Results results{
      .program = *outcome.program,
      .answer = *outcome.answer,
      .session = outcome.session,
      .queries = io::all_queries(*outcome.program),
      .worlds = options.print.worlds,
      .bold = use_color(options.report.color, stdout),
  };
  const PrintOptions& print = options.print;
  if (print.output_file.empty() && print.output_dir.empty()) {
    io::Output out{.text = {}, .stream = stdout};
    io::write(print.format, results, out);
    out.flush();
    return flush_stdout();
  }
  std::vector<std::string> written;
  Diagnostics& diagnostics = outcome.session.diagnostics;
  const bool ok =
      print.output_dir.empty()
          ? io::write_output_file(print.output_file, print.format, results, diagnostics, written)
          : io::write_output_dir(print.output_dir, print.format, results, diagnostics, written);
  if (!ok) return false;
  if (options.report.quiet) return true;
  for (const std::string& path : written) fmt::print("wrote {}\n", path);
  return flush_stdout();
}

// What cannot be written should be known before a long run, not after it.
bool output_can_be_written(const PrintOptions& print, Diagnostics& diagnostics) {
  if (!print.output_file.empty()) {
    return io::check_output_file(print.output_file, print.format, diagnostics);
  }
  return print.output_dir.empty() || io::check_output_dir(print.output_dir, diagnostics);
}

// What a limit ended is shown to people and as JSON, which say so. Rows alone would look complete,
// and files are written whole or not at all.
bool is_shown(const PrintOptions& print, const Outcome& outcome) {
  if (!outcome.answer || outcome.answer->constraint_error) return false;
  if (!outcome.answer->unfinished) return true;
  const bool says_so = print.format == io::Format::Table || print.format == io::Format::Json;
  return says_so && print.output_file.empty() && print.output_dir.empty();
}

void run_with_progress(const RunOptions& options, Outcome& outcome) {
  PipelineOptions pipeline = options.pipeline;
  pipeline.keep_events = !options.print.profile_file.empty();
  pipeline.answer.spends_facts = true;
  const std::unique_ptr<ProgressLine> line = progress_on_terminal(options.report);
  if (line != nullptr) {
    pipeline.answer.progress = [&line](const logic::Progress& now) { line->show(now); };
  }
  std::optional<Watchdog> watchdog;
  if (options.ends_at_limits) {
    watchdog.emplace(pipeline.answer, options.report, options.print.format == io::Format::Json);
  }
  run_pipeline(options.file, pipeline, outcome);
}

void cannot_write_profile(const io::AtomicFile& file, const RunOptions& options, Outcome& outcome) {
  outcome.session.diagnostics.report(
      Code::CannotWriteFile, {},
      fmt::format("cannot write `{}`: {}", options.print.profile_file, file.reason()));
  outcome.exit_code = kProgramError;
}

void print_report(const RunOptions& options, Outcome& outcome) {
  if (!is_shown(options.print, outcome) && options.print.format == io::Format::Json) {
    write_all(stdout,
              fmt::format("{{\"diagnostics\": {}}}\n",
                          render_json(outcome.session.diagnostics, outcome.session.sources)));
    flush_stdout();
  }
  print_diagnostics(outcome.session, options.report);
  if (options.print.trace == "text") write_all(stderr, trace_text(outcome));
  if (options.print.trace == "json") write_all(stderr, trace_json(outcome) + "\n");
  if (options.print.stats == "text") write_all(stderr, stats_text(outcome));
  if (options.print.stats == "json") write_all(stderr, stats_json(outcome) + "\n");
}

}  // namespace

void run_and_print(const RunOptions& options, Outcome& outcome) {
  if (!output_can_be_written(options.print, outcome.session.diagnostics)) {
    return print_report(options, outcome);
  }
  io::AtomicFile profile;
  const bool profiled = !options.print.profile_file.empty();
  if (profiled && !profile.open(options.print.profile_file)) {
    cannot_write_profile(profile, options, outcome);
    return print_report(options, outcome);
  }
  run_with_progress(options, outcome);
  if (is_shown(options.print, outcome) && !print_answer(options, outcome)) {
    outcome.exit_code = kProgramError;
  }
  if (profiled) {
    write_profile(outcome, "xlog " + options.file, profile.stream());
    if (!profile.finish() || !profile.commit()) cannot_write_profile(profile, options, outcome);
  }
  print_report(options, outcome);
}

void add_run(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Answer the queries of a program");
  auto options = std::make_shared<RunOptions>();
  add_run_options(*command, *options);
  command->footer(R"(Examples:
  xlog run family.xlog
  xlog run reach.xlog --input edge=edges.csv --format csv
  xlog run reach.xlog --input edge=graph.db:links --output answers.db
  xlog run planning.xlog --world-views all --worlds 5
  xlog run planning.xlog --over-views credulous
  xlog run reach.xlog --memory 2G --stats --profile trace.json
  echo 'p(1..3). ?- p(X).' | xlog run - --format json

Exit codes:
  0 answered   1 error in the program, its data or a constraint   2 usage
  3 no world view   4 a limit was reached)");
  command->callback([options, &exit_code] {
    read_standard_input_once(options->pipeline.inputs, options->file);
    options->ends_at_limits = true;
    Outcome outcome;
    run_and_print(*options, outcome);
    exit_code = outcome.exit_code;
  });
}

}  // namespace xlog::cli
