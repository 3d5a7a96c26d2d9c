// xlog repl: statements are added, queries answered at once. Without a terminal it reads lines from
// standard input, with no prompt, so that it can be scripted.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "cli/line_editor.h"
#include "cli/options.h"
#include "cli/repl_session.h"

namespace xlog::cli {
namespace {

struct ReplOptions {
  std::vector<std::string> files;
  PipelineOptions pipeline;
  ReportOptions report;
};

std::string prompt(const ReplSession& session) {
  if (session.in_statement()) return "....> ";
  return session.in_session() ? "session> " : "xlog> ";
}

void talk(ReplSession& session, std::atomic<bool>& interrupted) {
  fmt::print("xlog: `:help` lists the commands, Ctrl-D leaves\n");
  flush_stdout();
  LineEditor editor(default_history_path(),
                    [&session](std::string_view line) { return session.completions(line); });
  std::string line;
  while (true) {
    switch (editor.read(prompt(session), line)) {
      case LineResult::Line:
        interrupted = false;
        if (!session.feed(line)) return;
        break;
      case LineResult::Cancelled:
        session.drop_unfinished();
        break;
      case LineResult::End:
        fmt::print("\n");
        if (!session.in_session()) return;
        session.leave_session();
        break;
    }
  }
}

void read_script(ReplSession& session) {
  std::string line;
  while (std::getline(std::cin, line)) {
    if (!session.feed(line)) return;
  }
  session.finish();
}

int repl(ReplOptions options) {
  const bool at_terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  if (at_terminal) options.pipeline.answer.interrupt = &catch_interrupts();
  ReplSession session(options.pipeline, options.report);
  session.set_batching(!at_terminal);
  for (const std::string& file : options.files) session.load(file);
  if (at_terminal) {
    talk(session, catch_interrupts());
    return flush_stdout() ? kAnswered : kProgramError;
  }
  read_script(session);
  return flush_stdout() && !session.had_errors() ? kAnswered : kProgramError;
}

}  // namespace

void add_repl(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("repl", "Enter a program and ask it questions");
  auto options = std::make_shared<ReplOptions>();
  command->add_option("FILE", options->files, "Programs to load first")->type_name("");
  command
      ->add_option_function<std::string>(
          "--epistemic-mode",
          [options](const std::string& text) { options->pipeline.mode = find_mode(text); },
          "Which sets of worlds are world views, instead of the program's pragma")
      ->type_name("MODE")
      ->check(CLI::IsMember(mode_names()));
  add_load_options(*command, options->pipeline.load);
  add_report_options(*command, options->report);
  add_progress_option(*command, options->report);
  command->footer(
      R"(Without a terminal, lines are read from standard input and the exit code is 1 when something
was wrong. History is kept in $XDG_STATE_HOME/xlog/history (~/.local/state/xlog/history).

Examples:
  xlog repl
  xlog repl family.xlog
  printf 'p(1). p(2).\n?- p(X).\n' | xlog repl
  printf 'p(1). p(2).\n?- p(X).\n:session -p(1). commit. changes.\n' | xlog repl)");
  command->callback([options, &exit_code] { exit_code = repl(*options); });
}

}  // namespace xlog::cli
