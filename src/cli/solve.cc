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
#include "io/byte_source.h"

namespace xlog::cli {
namespace {

solve::Interrupt interrupted = false;

void on_signal(int signal) {
  if (!interrupted.exchange(true)) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// What a file can hold. A kind without a function is known, but cannot be solved.
struct Kind {
  std::string_view name;  // also the ending of its files
  std::string_view what;
  int (*solve)(SolveJob& job);
};

constexpr Kind kKinds[] = {
    {"cnf", "a formula in conjunctive normal form", solve_cnf},
    {"wcnf", "a weighted formula", solve_weighted},
    {"sir", "a solver job", nullptr},
    {"lp", "a ground logic program", nullptr},
};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

const Kind* kind_of_name(std::string_view file) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (file.ends_with(packed)) file.remove_suffix(packed.size());
  }
  const size_t dot = file.rfind('.');
  return dot == std::string_view::npos ? nullptr : find_kind(file.substr(dot + 1));
}

// By the first line that is no comment.
const Kind* kind_of_text(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.starts_with("p cnf ")) return find_kind("cnf");
    if (line.starts_with("p wcnf ") || line.starts_with("h ")) return find_kind("wcnf");
    if (line.starts_with("asp ")) return find_kind("lp");
    const bool skip = line.starts_with("c") || line.find_first_not_of(" \t\r") == line.npos;
    if (!skip) return nullptr;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return nullptr;
}

Result<const Kind*> kind_of(const SolveOptions& options, std::string_view text) {
  const Kind* kind = find_kind(options.format);
  if (kind == nullptr) kind = kind_of_name(options.file);
  if (kind == nullptr) kind = kind_of_text(text);
  if (kind == nullptr) {
    return Error{fmt::format("`{}`: neither its name nor its first line says what it is",
                             printable(options.file)),
                 fmt::format("say it with --format {}", fmt::join(kind_names(), "|"))};
  }
  if (kind->solve == nullptr) {
    return Error{fmt::format("`{}` is {} ({}), which this version cannot solve",
                             printable(options.file), kind->what, kind->name),
                 "it solves cnf and wcnf files"};
  }
  return kind;
}

// Proofs and portfolios are for formulas without weights.
Status check_kind(const Kind& kind, const SolveOptions& options) {
  if (kind.name == "cnf") return Done{};
  if (!options.proof_file.empty() || options.check_proof || !options.verify_file.empty()) {
    return Error{fmt::format("there are no proofs about {}", kind.what),
                 "leave out --proof, --check-proof and --verify"};
  }
  if (options.engine == "portfolio" || options.threads > 1) {
    return Error{fmt::format("a portfolio cannot solve {}", kind.what),
                 "leave out --engine and --threads"};
  }
  return Done{};
}

void set_limits(const SolveOptions& options, solve::Limits& limits) {
  limits.conflicts = options.conflicts;
  limits.memory_bytes = options.memory_bytes;
  if (options.timeout_seconds > 0) {
    // More than a thousand years is no limit, and would not fit.
    const double seconds = std::min(options.timeout_seconds, 3e10 / 1000);
    limits.deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                               std::chrono::duration<double>(seconds));
  }
}

int solve_file(const SolveOptions& options) {
  SolveJob job{options, {}, {}, nullptr, false};
  set_limits(options, job.limits);
  Result<std::string> text = read_unpacked(options.file);
  if (!text.ok()) return solve_error(text.error());
  job.text = std::move(*text);
  const Result<const Kind*> kind = kind_of(options, job.text);
  if (!kind.ok()) return solve_error(kind.error());
  if (const Status fits = check_kind(**kind, options); !fits.ok()) return solve_error(fits.error());
  const int exit_code = (*kind)->solve(job);
  return flush_stdout() ? exit_code : kProgramError;
}

void check_options(const SolveOptions& options) {
  const bool proves = !options.proof_file.empty() || options.check_proof;
  const bool several = options.threads > 1 || options.engine == "portfolio";
  if (options.engine == "cadical" && options.threads > 1) {
    throw CLI::ValidationError("--threads", "cadical runs on one thread; the portfolio takes more");
  }
  if (proves && several) {
    throw CLI::ValidationError("--proof", "a proof comes from one engine: use --engine cadical");
  }
  if (proves && !options.verify_file.empty()) {
    throw CLI::ValidationError("--verify", "nothing is solved, so there is no proof to write");
  }
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
      ->check(CLI::IsMember(kind_names()))
      ->group(kGroup);
  command
      .add_option("--engine", options.engine,
                  "Who solves it: cadical (the default), or a portfolio of several engines, of "
                  "which the first that has an answer ends the others")
      ->type_name("ENGINE")
      ->check(CLI::IsMember({"cadical", "portfolio"}))
      ->group(kGroup);
  command
      .add_option("--threads", options.threads,
                  "How many engines a portfolio runs (default: one a core); more than one means "
                  "--engine portfolio")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
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

void print_comment(const SolveJob& job, const std::string& text) {
  if (!job.options.report.quiet) fmt::print("c {}\n", text);
}

int print_unknown(const SolveJob& job) {
  const solve::Limits& limits = job.limits;
  if (interrupted.load()) {
    print_comment(job, "stopped: interrupted");
  } else if (limits.deadline && std::chrono::steady_clock::now() >= *limits.deadline) {
    print_comment(job, "stopped: the time is used up (--timeout)");
  } else if (limits.memory_bytes && (job.out_of_memory || !limits.conflicts)) {
    print_comment(job, "stopped: the process takes more memory than allowed (--memory)");
  } else if (limits.conflicts) {
    print_comment(job, "stopped: the conflicts are used up (--conflicts)");
  }
  fmt::print("s UNKNOWN\n");
  return kUnknown;
}

std::string value_lines(const std::vector<solve::Literal>& values) {
  constexpr size_t kWidth = 78;
  std::string out = "v";
  size_t line = 0;
  const auto append = [&](solve::Literal literal) {
    const fmt::format_int digits(literal);
    if (out.size() - line + 1 + digits.size() > kWidth) {
      out += "\nv";
      line = out.size() - 1;
    }
    out += ' ';
    out.append(digits.data(), digits.size());
  };
  for (const solve::Literal literal : values) append(literal);
  append(0);
  return out + "\n";
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
      "solve", "Find a model of a formula, or the best one, or show there is none");
  auto options = std::make_shared<SolveOptions>();
  command
      ->add_option("FILE", options->file,
                   "A DIMACS formula (cnf, wcnf), also packed (gzip, zstd); - reads standard input")
      ->required()
      ->type_name("");
  add_engine_options(*command, *options);
  add_limit_options(*command, *options);
  add_output_options(*command, *options);
  command->parse_complete_callback([options] { check_options(*options); });
  command->footer(R"(Examples:
  xlog solve formula.cnf
  xlog solve formula.cnf.gz --threads 4 --timeout 60
  xlog solve formula.cnf --proof formula.drat --check-proof
  xlog solve formula.cnf --verify formula.drat
  xlog solve weighted.wcnf --timeout 60
  generate | xlog solve - --format cnf --no-model

Prints what solver competitions print: `s` the answer, `v` the literals that hold, `c` comments;
of a weighted formula `o` the cost, each time a better model is found, and `v` a digit a variable.

Exit codes:
  10 satisfiable   20 unsatisfiable   0 unknown (a limit was reached, or Ctrl-C), or help
  30 optimum found (wcnf)   1 error in the file or the proof   2 usage   4 out of memory)");
  command->callback([options, &exit_code] { exit_code = solve_file(*options); });
}

}  // namespace xlog::cli
