// What the parts of `xlog solve` share. A file of any kind becomes a job (solve/sir.h), the command
// line adds what is asked for, an engine is chosen for it, and one function a kind of job runs it
// and prints:
//
//   solve_job.h      file and options to a job
//   solve_engines.h  the engines and what each can do
//   solve_cnf.cc, solve_cnf_all.cc, solve_weighted.cc, solve_program.cc
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/progress.h"
#include "cli/solve_engines.h"
#include "device/device.h"
#include "solve/sir.h"
#include "solve/solver.h"
#include "solve/stable_models.h"

namespace xlog::cli {

// The exit codes of solver competitions. An input or a proof that is wrong is kProgramError, as
// everywhere.
enum SolveExitCode : int {
  kUnknown = 0,
  kSatisfiable = 10,
  kUnsatisfiable = 20,
  kOptimumFound = 30,
  kAllFound = 30,  // all models, their number, or what they share
};

struct SolveOptions {
  std::string file;
  std::string format;    // empty: by the name of the file or its first lines
  std::string engine;    // empty: the first that can do it
  uint32_t threads = 0;  // 0: not said
  std::string device;    // empty: not said
  double timeout_seconds = 0;
  std::optional<uint64_t> conflicts;
  std::optional<uint64_t> memory_bytes;
  std::optional<solve::SirAnswer> answer;  // empty: what the file says, or a model
  uint64_t models = 1;                     // with SirAnswer::Models; 0: all
  bool project = false;
  std::vector<std::string> assumptions;
  std::string proof_file;
  bool check_proof = false;
  std::string verify_file;
  bool print_sir = false;
  bool no_model = false;
  bool stats = false;
  ReportOptions report;
};

struct SolveJob {
  const SolveOptions& options;
  solve::SirJob sir = {};
  std::vector<std::string> notes = {};                 // comments of the reader
  std::map<solve::Literal, std::string> assumed = {};  // assumptions about a program, as given
  const EngineInfo* engine = nullptr;
  std::unique_ptr<device::Device> device = nullptr;  // of the engine, if it has one
  solve::Limits limits = {};
  std::unique_ptr<ProgressLine> progress = nullptr;  // nullptr: nobody looks
  bool out_of_memory = false;                        // ended above limits.memory_bytes
  std::FILE* out = stdout;

  bool wants_proof() const {
    return sir.answer == solve::SirAnswer::Proof || !options.proof_file.empty() ||
           options.check_proof;
  }
};

// From here on SIGINT and SIGTERM end a solve with what is known, and only the second one the
// process. Call it once the input is read, and before anything else that minds signals.
void let_signals_interrupt(SolveJob& job);

// A line of the answer.
void print_line(const SolveJob& job, std::string_view text);
// "c text", unless -q was given.
void print_comment(const SolveJob& job, const std::string& text);
// "s status"; gives the exit code back.
int print_status(const SolveJob& job, std::string_view status, int exit_code);
// Says what ended the solve before it was done.
void print_stop(const SolveJob& job);
// Says that too, and that nothing is known; gives the exit code.
int print_unknown(const SolveJob& job);
// "v 1 -2 3 0", broken into lines that begin with `letter`. `values` are literals that hold.
std::string value_lines(const std::vector<solve::Literal>& values, char letter = 'v');
// The number of models and what follows from it. `models` has only those found at a limit.
int print_count(const SolveJob& job, solve::Outcome outcome, const std::string& models);

// How many models there were, after those that were asked for were printed.
int print_end_of_models(const SolveJob& job, const solve::Enumeration& found);

// Says it on standard error and gives the exit code.
int solve_error(const Error& error);

// The bytes of a file, unpacked where it is packed; "-" is standard input.
Result<std::string> read_unpacked(const std::string& path);

int solve_cnf(SolveJob& job);
int solve_weighted(SolveJob& job);
int solve_program(SolveJob& job);

}  // namespace xlog::cli
