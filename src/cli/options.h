// Options that several subcommands share, and their way into the structures of the pipeline.
#pragma once

#include <CLI/App.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/pipeline.h"

namespace xlog::cli {

// --diagnostics, --color, --quiet.
void add_report_options(CLI::App& command, ReportOptions& options);

// --no-progress.
void add_progress_option(CLI::App& command, ReportOptions& options);

// --module-path, -D: what loading a program needs.
void add_load_options(CLI::App& command, lang::LoadOptions& options);

// --device, whose value is a name that devices have.
CLI::Option* add_device_option(CLI::App& command, std::string& device, const std::string& help);

// --input.
void add_input_option(CLI::App& command, PipelineOptions& options);

// A usage error where `-` is named more than once, with what else is read.
void read_standard_input_once(std::span<const io::Input> inputs, const std::string& other = "");

// How results are printed.
struct PrintOptions {
  io::Format format = io::Format::Table;
  std::string output_file;
  std::string output_dir;
  bool worlds = false;
  std::string stats;  // "", "text" or "json"
  std::string trace;  // the same
  std::string profile_file;
};

struct RunOptions {
  std::string file;
  PipelineOptions pipeline;
  ReportOptions report;
  PrintOptions print;
  bool ends_at_limits = false;  // the process, where nothing else keeps them (watchdog.h)
};

// What shapes an evaluation but not its output: inputs, loading, reasoning, limits.
void add_evaluation_options(CLI::App& command, RunOptions& options);

// Everything `xlog run FILE` takes; watch takes the same.
void add_run_options(CLI::App& command, RunOptions& options);

// Runs and prints once. The outcome is the caller's, who may want to know which files were read.
void run_and_print(const RunOptions& options, Outcome& outcome);

}  // namespace xlog::cli
