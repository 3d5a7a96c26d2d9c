// xlog solve FILE
#include "cli/solve.h"

#include <fmt/format.h>

#include <CLI/Error.hpp>
#include <CLI/Validators.hpp>
#include <cmath>
#include <csignal>

#include "base/memory.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/solve_job.h"
#include "io/byte_source.h"

namespace xlog::cli {
namespace {

solve::Interrupt interrupted = false;

void on_signal(int signal) {
  if (!interrupted.exchange(true)) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// The job as text. A program that is projected onto what it shows says so by atoms.
int print_job(SolveJob& job) {
  auto* program = std::get_if<solve::GroundProgram>(&job.sir.problem);
  if (job.options.project && program != nullptr && !program->projection) {
    std::vector<solve::Atom>& atoms = program->projection.emplace();
    for (const solve::Shown& shown : program->shown) {
      if (shown.condition.size() > 1) {
        return solve_error({fmt::format("`{}` is shown under several literals, and a job is "
                                        "projected onto atoms",
                                        printable(shown.text)),
                            "name the atoms in the program: #project"});
      }
      for (const solve::Literal literal : shown.condition) {
        atoms.push_back(solve::variable_of(literal));
      }
    }
  }
  const bool written = write_all(job.out, solve::print_sir(job.sir));
  return written && flush_stdout() ? static_cast<int>(kAnswered) : static_cast<int>(kProgramError);
}

// Reading the file counts too.
int solve_file(const SolveOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  SolveJob job{.options = options};
  {
    const Result<std::string> text = read_unpacked(options.file);
    if (!text.ok()) return solve_error(text.error());
    if (const Status read = read_job(job, *text); !read.ok()) return solve_error(read.error());
    if (const Status chosen = choose_engine(job); !chosen.ok()) return solve_error(chosen.error());
    if (options.print_sir) return print_job(job);
    for (const std::string& note : job.notes) print_comment(job, note);
    if (options.stats) {
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      print_comment(job, fmt::format("{:.3f} s reading {}, engine {}", seconds,
                                     size_text(text->size()), job.engine->name));
    }
  }
  job.limits = job.sir.limits.from(begin);
  if (options.verify_file.empty()) {
    if (const Status opened = open_engine_device(job); !opened.ok()) {
      return solve_error(opened.error());
    }
  }
  int exit_code = kProgramError;
  switch (job.sir.kind()) {
    case solve::SirKind::Sat:
      exit_code = solve_cnf(job);
      break;
    case solve::SirKind::Maxsat:
      exit_code = solve_weighted(job);
      break;
    case solve::SirKind::Stable:
      exit_code = solve_program(job);
      break;
  }
  return flush_stdout() ? exit_code : static_cast<int>(kProgramError);
}

void add_limit_options(CLI::App& command, SolveOptions& options) {
  constexpr const char* kGroup = "Limits";
  command
      .add_option_function<double>(
          "--timeout",
          [&options](const double seconds) {
            if (!std::isfinite(seconds) || seconds <= 0) {
              throw CLI::ValidationError("--timeout", "the number of seconds must be positive");
            }
            options.timeout_seconds = seconds;
          },
          "Stop after so many seconds")
      ->type_name("SECONDS")
      ->group(kGroup);
  command
      .add_option("--conflicts", options.conflicts, "Stop after so many conflicts of each engine")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--memory",
          [&options](const std::string& text) {
            options.memory_bytes = parse_size(text);
            if (!options.memory_bytes || *options.memory_bytes == 0) {
              throw CLI::ValidationError(
                  "--memory", "`" + text + "` is not a size such as 500M, 2G or a number of bytes");
            }
          },
          "Stop when the process takes more; k, M, G, T are powers of 1024")
      ->type_name("SIZE")
      ->group(kGroup);
}

void add_engine_options(CLI::App& command, SolveOptions& options) {
  constexpr const char* kGroup = "Solving";
  command
      .add_option("--format", options.format,
                  "What the file holds; else its name or its first line tells")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(solve_kind_names()))
      ->group(kGroup);
  command
      .add_option("--engine", options.engine,
                  "Who solves it; see below. Default: the first that can, and the portfolio for "
                  "more than one thread")
      ->type_name("ENGINE")
      ->check(CLI::IsMember(engine_names()))
      ->group(kGroup);
  command
      .add_option("--threads", options.threads,
                  "How many engines a portfolio runs (default: one a core)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->group(kGroup);
  add_device_option(command, options.device,
                    "Where batch and local-search run: cpu (the default), interp, opencl[:K], "
                    "cuda[:K]; see `xlog kernel devices`")
      ->group(kGroup);
}

// Each replaces what the file asks for; at most one of them.
void add_question_options(CLI::App& command, SolveOptions& options) {
  constexpr const char* kGroup = "What is asked for (default: a model, or the best one)";
  std::vector<CLI::Option*> questions;
  questions.push_back(command
                          .add_option_function<uint64_t>(
                              "--models",
                              [&options](const uint64_t models) {
                                options.answer = models == 1 ? solve::SirAnswer::Model
                                                             : solve::SirAnswer::Models;
                                options.models = models;
                              },
                              "So many models; 0: all")
                          ->check(CLI::NonNegativeNumber)
                          ->type_name("N"));
  const auto add_question = [&](const char* name, solve::SirAnswer answer, const char* what) {
    questions.push_back(command.add_flag_callback(
        name, [&options, answer] { options.answer = answer; }, what));
  };
  add_question("--count", solve::SirAnswer::Count, "How many models there are");
  add_question("--cautious", solve::SirAnswer::Cautious, "What holds in every model");
  add_question("--brave", solve::SirAnswer::Brave, "What holds in some model");
  add_question("--core", solve::SirAnswer::Core, "A model, or assumptions that cannot all hold");
  for (CLI::Option* question : questions) {
    question->group(kGroup);
    for (CLI::Option* other : questions) {
      if (other != question) question->excludes(other);
    }
  }
}

void add_job_options(CLI::App& command, SolveOptions& options) {
  constexpr const char* kGroup = "Solving";
  command
      .add_option("--assume", options.assumptions,
                  "Only models in which this holds: a literal, or of a program NAME or `not NAME` "
                  "as it shows them; may be repeated")
      ->type_name("LITERAL")
      ->allow_extra_args(false)
      ->group(kGroup);
  command
      .add_flag(
          "--project", options.project,
          "Models of a program that show the same, or agree on what it projects onto, are one")
      ->group(kGroup);
}

void add_output_options(CLI::App& command, SolveOptions& options) {
  constexpr const char* kGroup = "Output";
  command
      .add_option("--proof", options.proof_file,
                  "Where there is no model: write a DRAT proof of that into this file")
      ->type_name("FILE")
      ->group(kGroup);
  command
      .add_flag("--check-proof", options.check_proof,
                "Where there is no model: check the proof of that before saying so")
      ->group(kGroup);
  command
      .add_option("--verify", options.verify_file,
                  "Do not solve: check that this file is a DRAT proof that there is no model")
      ->type_name("FILE")
      ->group(kGroup);
  command.add_flag("--print-sir", options.print_sir, "Do not solve: print the job (docs/sir.md)")
      ->group(kGroup);
  command.add_flag("--no-model", options.no_model, "No `v` lines")->group(kGroup);
  command.add_flag("--stats", options.stats, "Comments that say where time and memory went")
      ->group(kGroup);
  command.add_flag("-q,--quiet", options.report.quiet, "No comments (`c` lines)")
      ->group("Messages");
  add_progress_option(command, options.report);
}

}  // namespace

void let_signals_interrupt(SolveJob& job) {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  job.limits.interrupt = &interrupted;
  job.progress = progress_on_terminal(job.options.report);
}

void print_line(const SolveJob& job, std::string_view text) { fmt::print(job.out, "{}\n", text); }

void print_comment(const SolveJob& job, const std::string& text) {
  if (!job.options.report.quiet) print_line(job, "c " + text);
}

int print_status(const SolveJob& job, std::string_view status, int exit_code) {
  fmt::print(job.out, "s {}\n", status);
  return exit_code;
}

void print_stop(const SolveJob& job) {
  const solve::Limits& limits = job.limits;
  const auto say = [&](std::string_view what, bool is_option, std::string_view option,
                       std::string_view statement) {
    print_comment(job, fmt::format("stopped: {} ({})", what, is_option ? option : statement));
  };
  const SolveOptions& options = job.options;
  if (interrupted.load()) {
    print_comment(job, "stopped: interrupted");
  } else if (limits.deadline && std::chrono::steady_clock::now() >= *limits.deadline) {
    say("the time is used up", options.timeout_seconds > 0, "--timeout", "limit seconds");
  } else if (limits.memory_bytes && (job.out_of_memory || !limits.conflicts)) {
    say("the process takes more memory than allowed", options.memory_bytes.has_value(), "--memory",
        "limit memory");
  } else if (limits.conflicts) {
    say("the conflicts are used up", options.conflicts.has_value(), "--conflicts",
        "limit conflicts");
  }
}

int print_unknown(const SolveJob& job) {
  print_stop(job);
  return print_status(job, "UNKNOWN", kUnknown);
}

std::string value_lines(const std::vector<solve::Literal>& values, char letter) {
  constexpr size_t kWidth = 78;
  std::string out(1, letter);
  size_t line = 0;
  const auto append = [&](solve::Literal literal) {
    const fmt::format_int digits(literal);
    if (out.size() - line + 1 + digits.size() > kWidth) {
      out += '\n';
      line = out.size();
      out += letter;
    }
    out += ' ';
    out.append(digits.data(), digits.size());
  };
  for (const solve::Literal literal : values) append(literal);
  append(0);
  return out + "\n";
}

int print_count(const SolveJob& job, solve::Outcome outcome, const std::string& models) {
  const bool exact = outcome == solve::Outcome::Sat || outcome == solve::Outcome::Unsat;
  if (exact) {
    print_line(job, "n " + models);
    return models == "0" ? print_status(job, "UNSATISFIABLE", kUnsatisfiable)
                         : print_status(job, "SATISFIABLE", kAllFound);
  }
  if (models == "0") return print_unknown(job);
  print_stop(job);
  print_comment(job, fmt::format("at least {} models", models));
  return print_status(job, "SATISFIABLE", kSatisfiable);
}

int print_end_of_models(const SolveJob& job, const solve::Enumeration& found) {
  const bool all = found.outcome == solve::Outcome::Unsat;
  const bool stopped = !all && found.outcome != solve::Outcome::Sat;
  if (found.models == 0) {
    return all ? print_status(job, "UNSATISFIABLE", kUnsatisfiable) : print_unknown(job);
  }
  if (stopped) print_stop(job);
  print_comment(job, fmt::format("models {}{}", found.models, all ? "" : "+"));
  return print_status(job, "SATISFIABLE", all ? kAllFound : kSatisfiable);
}

int solve_error(const Error& error) {
  fmt::print(stderr, "xlog solve: {}\n", error.text());
  return error.kind == ErrorKind::Failure ? kProgramError : kLimit;
}

Result<std::string> read_unpacked(const std::string& path) {
  io::ByteSource source;
  std::string text;
  size_t used = 0;
  if (source.open(path)) {
    do {
      if (text.size() - used < size_t{1} << 20) text.resize(used + (size_t{2} << 20) + used / 2);
      const size_t n = source.read(text.data() + used, text.size() - used);
      if (n == 0) break;
      used += n;
    } while (true);
    if (!source.failed()) {
      text.resize(used);
      return text;
    }
  }
  return Error{fmt::format("cannot read `{}`: {}", printable(path), source.reason()), ""};
}

void add_solve(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "solve", "Find models of a formula or a ground program, or the best, or show there is none");
  auto options = std::make_shared<SolveOptions>();
  command
      ->add_option("FILE", options->file,
                   "A formula (cnf, wcnf), a ground program (lp) or a job (sir), also packed "
                   "(gzip, zstd); - reads standard input")
      ->required()
      ->type_name("");
  add_question_options(*command, *options);
  add_job_options(*command, *options);
  add_engine_options(*command, *options);
  add_limit_options(*command, *options);
  add_output_options(*command, *options);
  command->parse_complete_callback([options] {
    if (const auto error = check_usage(*options)) {
      throw CLI::ValidationError(error->option, error->message);
    }
  });
  command->footer(R"(Examples:
  xlog solve formula.cnf
  xlog solve formula.cnf.gz --threads 4 --timeout 60
  xlog solve formula.cnf --assume 3 --assume -7 --core
  xlog solve formula.cnf --proof formula.drat --check-proof
  xlog solve formula.cnf --verify formula.drat
  xlog solve weighted.wcnf --timeout 60
  gringo program.lp | xlog solve --format lp - --models 0
  xlog solve job.sir

Engines, and what each answers. The first that can is the default.
)" + engines_text() +
                  R"(
Prints what solver competitions print: `s` the answer, `v` the literals that hold or what a program
shows, `c` comments; `o` the cost of each better model, `n` the number of models, `f` assumptions
that cannot all hold. Of a weighted formula `v` is a digit a variable.

Exit codes:
  10 satisfiable   20 unsatisfiable   0 unknown (a limit was reached, or Ctrl-C), or help
  30 optimum found, or all that was asked for (--models 0, --count, --cautious, --brave)
  1 error in the file or the proof   2 usage   4 out of memory)");
  command->callback([options, &exit_code] { exit_code = solve_file(*options); });
}

}  // namespace xlog::cli
