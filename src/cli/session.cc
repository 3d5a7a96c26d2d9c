// xlog session PROGRAM [FILE]: facts come and go, answers follow. xlog replay LOG PROGRAM: the same
// again.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include "cli/line_editor.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/session_script.h"
#include "session/replay.h"
#include "session/session.h"

namespace xlog::cli {
namespace {

struct SessionOptions {
  RunOptions run;  // its file is the program
  std::string script;
  std::string log;  // of replay
  std::string state;
  std::string checkpoint;
  bool accept_program = false;
  bool recompute = false;
  bool keep_going = false;
  bool verify = false;
};

session::Options session_options(const SessionOptions& options) {
  session::Options out = session_options(options.run.pipeline);
  out.recompute = options.recompute || out.reference_only;  // which knows no other way
  out.state = options.state;
  out.checkpoint = options.checkpoint;
  out.accept_program = options.accept_program;
  out.log = options.log.empty() ? "" : session::log_path(options.log);
  return out;
}

// ---- xlog session ----

void talk(SessionScript& script, std::atomic<bool>& interrupted) {
  fmt::print("xlog session: `help.` lists the commands, Ctrl-D leaves\n");
  flush_stdout();
  const std::string history = default_history_path();
  LineEditor editor(history.empty() ? "" : history + "_session",
                    [&script](std::string_view) { return script.completions(); });
  std::string line;
  while (true) {
    switch (editor.read(script.in_statement() ? "....> " : "xlog> ", line)) {
      case LineResult::Line:
        interrupted = false;
        if (!script.feed(line)) return;
        break;
      case LineResult::Cancelled:
        script.drop_unfinished();
        break;
      case LineResult::End:
        fmt::print("\n");
        script.finish();
        return;
    }
  }
}

// False when the commands cannot be read (to their end), with errno.
bool read_script(SessionScript& script, std::istream& in) {
  std::string line;
  errno = 0;
  while (std::getline(in, line)) {
    if (!script.feed(line)) return true;
    errno = 0;
  }
  // Standard input is read by way of stdio, which keeps its errors to itself.
  if (in.bad() || (&in == &std::cin && std::ferror(stdin) != 0)) return false;
  script.finish();
  return true;
}

int cannot_read(const std::string& commands) {
  fmt::print(stderr, "xlog session: cannot read `{}`: {}\n", commands, std::strerror(errno));
  return kProgramError;
}

int run_session(const SessionOptions& options) {
  std::ifstream file;
  const bool from_file = !options.script.empty() && options.script != "-";
  if (from_file) {
    file.open(options.script);
    if (!file) return cannot_read(options.script);
  }
  session::Session session;
  const bool at_terminal = !from_file && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  SessionScript script(session, {.name = from_file ? options.script : "<stdin>",
                                 .format = options.run.print.format,
                                 .report = options.run.report,
                                 .at_terminal = at_terminal,
                                 .keep_going = options.keep_going,
                                 .by_line = at_terminal});
  session::Options open = session_options(options);
  open.answer.progress = [&script](const logic::Progress& now) {
    if (script.progress() != nullptr) script.progress()->show(now);
  };
  if (at_terminal) open.answer.interrupt = &catch_interrupts();
  const bool opened = session.open(options.run.file, std::move(open));
  lang::Session& language = session.language();
  script.report(language.diagnostics, language.sources);
  if (!opened) return failure_code(language);
  for (const std::string& notice : session.notices()) {
    if (!options.run.report.quiet) fmt::print(stderr, "note: {}\n", notice);
  }
  script.set_progress([&options] { return progress_on_terminal(options.run.report); });
  if (at_terminal) {
    if (session.last() > 0) fmt::print("at commit {}\n", session.last());
    talk(script, catch_interrupts());
    return flush_stdout() ? kAnswered : kProgramError;
  }
  if (!read_script(script, from_file ? file : std::cin)) {
    return cannot_read(from_file ? options.script : "<stdin>");
  }
  return flush_stdout() ? script.exit_code() : kProgramError;
}

void add_format(CLI::App& command, PrintOptions& print) {
  std::vector<std::string> names = io::format_names();
  std::erase(names, std::string(io::spelling(io::Format::Sqlite)));
  command
      .add_option_function<std::string>(
          "--format", [&print](const std::string& text) { print.format = *io::find_format(text); },
          "How answers and changes are printed")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(names))
      ->group("Output");
}

void add_recompute(CLI::App& command, bool& recompute) {
  command
      .add_flag("--recompute", recompute,
                "Evaluate everything afresh instead of following the changes")
      ->group("Reasoning");
}

void add_accept_program(CLI::App& command, bool& accept) {
  command
      .add_flag("--accept-program", accept,
                "Go on where the rules are not those that the log was written with")
      ->group("State");
}

// ---- xlog replay ----

// In place of an answer: rows alone have no place for it, so then only the messages say it.
void add_violation(const SessionOptions& options, const lang::Session& language,
                   const session::Commit& commit, std::string& out) {
  const io::Format format = options.run.print.format;
  if (format == io::Format::Table) {
    out += "a constraint is violated\n";
  } else if (format == io::Format::Json || format == io::Format::Ndjson) {
    out += fmt::format("{{\"diagnostics\": {}}}\n",
                       render_json(language.diagnostics, language.sources));
  }
  flush_stdout();
  if (!options.run.report.json) {
    fmt::print(stderr, "note: commit {} has no answer:\n", commit.number);
  }
  print_diagnostics(language, options.run.report);
}

// The answer after a batch, under a line that names it.
bool print_answer(const SessionOptions& options, session::Session& session,
                  const session::Commit& commit, uint64_t& digest, int& exit_code) {
  const std::optional<logic::Answer> answer = session.answer();
  const lang::Session& language = session.language();
  if (!answer) {
    exit_code = failure_code(language);
    return false;
  }
  digest = session::answer_digest(*answer, session.program(), language);
  io::Output out{.text = {}, .stream = stdout};
  if (options.run.print.format == io::Format::Table) {
    out.text = fmt::format("{}== commit {}\n", commit.number > 0 ? "\n" : "", commit.number);
  } else if (options.run.print.format == io::Format::Json ||
             options.run.print.format == io::Format::Ndjson) {
    out.text = fmt::format("{{\"commit\": {}}}\n", commit.number);
  } else if (commit.number > 0) {
    out.text = "\n";
  }
  if (answer->constraint_error) {
    add_violation(options, language, commit, out.text);
  } else {
    io::write(options.run.print.format,
              {.program = session.program(),
               .answer = *answer,
               .session = language,
               .queries = io::all_queries(session.program())},
              out);
  }
  out.flush();
  return true;
}

int run_replay(const SessionOptions& options) {
  session::Session session;
  const session::Options open = session_options(options);
  const bool opened = session.open(options.run.file, open);
  lang::Session& language = session.language();
  print_diagnostics(language, options.run.report);
  if (!opened) return failure_code(language);

  int exit_code = kAnswered;
  uint64_t digest = 0, verified = 0, differing = 0;
  const session::ReplayVisitor visitor{
      .on_batch = [&](const session::Commit& commit) -> Status {
        if (print_answer(options, session, commit, digest, exit_code)) return Done{};
        print_diagnostics(language, options.run.report);
        return Error{fmt::format("commit {} has no answer", commit.number), ""};
      },
      .on_recorded_answer = [&](uint64_t number, uint64_t recorded) -> Status {
        if (!options.verify) return Done{};
        ++verified;
        if (recorded == digest) return Done{};
        ++differing;
        flush_stdout();
        fmt::print(stderr, "error: commit {}: the answer is not the one that was recorded\n",
                   number);
        return Done{};
      }};
  const Result<session::Replayed> replayed = session::replay(session, open, visitor);
  if (!flush_stdout()) return kProgramError;
  if (!replayed.ok()) {
    fmt::print(stderr, "error: {}\n", replayed.error().text());
    return exit_code == kAnswered ? static_cast<int>(kProgramError) : exit_code;
  }
  if (replayed->torn_bytes > 0 && !options.run.report.quiet) {
    fmt::print(stderr, "note: `{}` ends in {} bytes of a commit that was never acknowledged\n",
               open.log, replayed->torn_bytes);
  }
  if (options.verify && !options.run.report.quiet) {
    fmt::print(stderr, "{} recorded answer{} compared, {} differ\n", verified,
               verified == 1 ? "" : "s", differing);
  }
  return differing > 0 ? kProgramError : kAnswered;
}

}  // namespace

namespace {

// An empty name, as of a variable that is not set, would mean that nothing is kept.
std::string not_empty(const std::string& name) { return name.empty() ? "a name is missing" : ""; }

}  // namespace

void add_session(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("session", "Insert and retract facts; answers follow the changes");
  auto options = std::make_shared<SessionOptions>();
  command->add_option("PROGRAM", options->run.file, "The program")->required()->type_name("");
  command->add_option("FILE", options->script, "Commands; standard input where there is none")
      ->type_name("");
  add_evaluation_options(*command, options->run);
  command
      ->add_option("--state", options->state,
                   "Keep every commit in this folder, and start from what is there")
      ->type_name("DIR")
      ->check(not_empty)
      ->group("State");
  command
      ->add_option("--checkpoint", options->checkpoint,
                   "Start from the facts of this checkpoint instead of those of the program")
      ->type_name("FILE")
      ->check(not_empty)
      ->group("State");
  add_accept_program(*command, options->accept_program);
  add_recompute(*command, options->recompute);
  command
      ->add_flag("--keep-going", options->keep_going,
                 "Go on with a script after a command that failed")
      ->group("Messages");
  add_format(*command, options->run.print);
  add_report_options(*command, options->run.report);
  add_progress_option(*command, options->run.report);
  command->footer(R"(Commands, each with a period at its end:
  +edge(1, 2).  -edge(1, 2).  commit.  changes.  changes reach.  answer.  answer at 17.
  difference 3 17.  undo 17.  log.  pending.  rollback.  load edge "deltas.csv".
  checkpoint.  help.  quit.

Examples:
  xlog session reach.xlog
  xlog session reach.xlog --input edge=edges.csv --state state commands.txt
  printf '+edge(4, 5). commit. changes.\n' | xlog session reach.xlog --format json

Without a terminal the first command that fails ends the script (exit code 1), unless there is
--keep-going. Exit code 3: an answer had no world view; 4: a limit was reached.)");
  command->callback([options, &exit_code] {
    if (options->run.file == "-" && (options->script.empty() || options->script == "-")) {
      throw CLI::ValidationError("PROGRAM", "the program or the commands must be in a file");
    }
    const std::string& script = options->script.empty() ? "-" : options->script;
    read_standard_input_once(options->run.pipeline.inputs,
                             options->run.file == "-" ? options->run.file : script);
    exit_code = run_session(*options);
  });
}

void add_replay(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("replay", "Run the log of a session again");
  auto options = std::make_shared<SessionOptions>();
  command->add_option("LOG", options->log, "The log, or the folder of --state")
      ->required()
      ->type_name("");
  command->add_option("PROGRAM", options->run.file, "The program")->required()->type_name("");
  add_evaluation_options(*command, options->run);
  command
      ->add_flag("--verify", options->verify,
                 "Compare each answer with the one that the log recorded (exit code 1 where they "
                 "differ)")
      ->group("State");
  add_accept_program(*command, options->accept_program);
  add_recompute(*command, options->recompute);
  add_format(*command, options->run.print);
  add_report_options(*command, options->run.report);
  command->footer(R"(Prints the answers after every commit, from commit 0 (what the program stated
then) on: the same bytes on every device.

Examples:
  xlog replay state reach.xlog --verify
  xlog replay state/log reach.xlog --device cuda --format json)");
  command->callback([options, &exit_code] { exit_code = run_replay(*options); });
}

}  // namespace xlog::cli
