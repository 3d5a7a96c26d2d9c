// What the parts of `xlog solve` share: one function a kind of file, each in a file of its own.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/progress.h"
#include "solve/solver.h"

namespace xlog::cli {

// The exit codes of solver competitions. An input or a proof that is wrong is kProgramError, as
// everywhere.
enum SolveExitCode : int {
  kUnknown = 0,
  kSatisfiable = 10,
  kUnsatisfiable = 20,
  kOptimumFound = 30,
};

struct SolveOptions {
  std::string file;
  std::string format;    // empty: by the name of the file or its first lines
  std::string engine;    // empty: as the number of threads wants it
  uint32_t threads = 0;  // 0: not said
  double timeout_seconds = 0;
  std::optional<uint64_t> conflicts;
  std::optional<uint64_t> memory_bytes;
  std::string proof_file;
  bool check_proof = false;
  std::string verify_file;
  bool no_model = false;
  bool stats = false;
  ReportOptions report;
};

struct SolveJob {
  const SolveOptions& options;
  std::string text;  // of the file, unpacked
  solve::Limits limits;
  std::unique_ptr<ProgressLine> progress;  // nullptr: nobody looks
  bool out_of_memory = false;              // the solve ended above limits.memory_bytes
};

// From here on SIGINT and SIGTERM end a solve with what is known, and only the second one the
// process. Call it once the input is read, and before anything else that minds signals.
void let_signals_interrupt(SolveJob& job);

// To standard output: "c text", unless -q was given.
void print_comment(const SolveJob& job, const std::string& text);
// Says why nothing is known, and that; gives the exit code.
int print_unknown(const SolveJob& job);
// "v 1 -2 3 0", broken into lines. `values` are literals that hold.
std::string value_lines(const std::vector<solve::Literal>& values);

// Says it on standard error and gives the exit code.
int solve_error(const Error& error);

// The bytes of a file, unpacked where it is packed; "-" is standard input.
Result<std::string> read_unpacked(const std::string& path);

int solve_cnf(SolveJob& job);
int solve_weighted(SolveJob& job);

}  // namespace xlog::cli
