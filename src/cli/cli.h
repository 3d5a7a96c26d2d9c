// The command line as a whole, and the functions that put each subcommand into it.
#pragma once

#include <CLI/App.hpp>
#include <memory>

namespace xlog::cli {

enum ExitCode : int {
  kAnswered = 0,
  kProgramError = 1,  // program, data or constraint
  kUsage = 2,
  kNoWorldView = 3,
  kNo = 3,  // of `why`: what was asked about does not hold
  kLimit = 4,
};

// Everything main() does.
int run_cli(int argc, char** argv);

// The subcommands. The callback of one does its work and sets `exit_code`.
void add_run(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_fmt(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_why(CLI::App& app, int& exit_code);
void add_why_not(CLI::App& app, int& exit_code);
void add_repl(CLI::App& app, int& exit_code);
void add_watch(CLI::App& app, int& exit_code);
void add_session(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_solve(CLI::App& app, int& exit_code);
void add_kernel(CLI::App& app, int& exit_code);
void add_version(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);

}  // namespace xlog::cli
