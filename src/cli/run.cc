// xlog run FILE
#include <fmt/format.h>
#include <sys/resource.h>

#include "cli/options.h"
#include "io/output_files.h"

namespace xlog::cli {
namespace {

void print_engine_stats(const engine::Statistics& engine) {
  const device::Counters& device = engine.device;
  auto line = [](std::string_view name, uint64_t number) {
    fmt::print(stderr, "{:<12} {:>10}\n", name, number);
  };
  line("rows", engine.rows);
  line("rounds", engine.rounds);
  line("launches", device.launches);
  line("compiled", device.compiled);
  line("from cache", device.cached);
  line("bytes in", device.bytes_to_device);
  line("bytes out", device.bytes_from_device);
  fmt::print(stderr, "{:<12} {:>10.1f} MB\n", "on device", static_cast<double>(device.peak) / 1e6);
  for (const engine::Placement& placement : engine.placements) {
    if (placement.on_device) continue;
    fmt::print(stderr, "component {} ran on the reference evaluator: {}\n", placement.component,
               placement.reason);
  }
}

void print_stats(const Outcome& outcome) {
  double total = 0;
  for (const StageTime& time : outcome.times) {
    fmt::print(stderr, "{:<12} {:>10.3f} ms\n", time.stage, time.seconds * 1e3);
    total += time.seconds;
  }
  fmt::print(stderr, "{:<12} {:>10.3f} ms\n", "total", total * 1e3);
  if (outcome.engine) print_engine_stats(*outcome.engine);
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    fmt::print(stderr, "{:<12} {:>10.1f} MB\n", "memory",
               static_cast<double>(usage.ru_maxrss) / 1024);
  }
}

// False when the results cannot be written; that is reported.
bool print_answer(const RunOptions& options, Outcome& outcome) {
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

}  // namespace

void run_and_print(const RunOptions& options, Outcome& outcome) {
  run_pipeline(options.file, options.pipeline, outcome);
  const bool answered = outcome.answer && !outcome.answer->constraint_error;
  if (answered && !print_answer(options, outcome)) outcome.exit_code = kProgramError;
  if (!answered && options.print.format == io::Format::Json) {
    write_all(stdout,
              fmt::format("{{\"diagnostics\": {}}}\n",
                          render_json(outcome.session.diagnostics, outcome.session.sources)));
    flush_stdout();
  }
  print_diagnostics(outcome.session, options.report);
  if (options.print.stats) print_stats(outcome);
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
  echo 'p(1..3). ?- p(X).' | xlog run - --format json

Exit codes:
  0 answered   1 error in the program, its data or a constraint   2 usage
  3 no world view   4 a limit was reached)");
  command->callback([options, &exit_code] {
    Outcome outcome;
    run_and_print(*options, outcome);
    exit_code = outcome.exit_code;
  });
}

}  // namespace xlog::cli
