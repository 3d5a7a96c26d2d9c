// The subcommands of `xlog kernel`, for people who work on kernels and devices.
#pragma once

#include <CLI/App.hpp>
#include <string>

#include "cli/cli.h"

namespace xlog::cli {

// FILE and the optional name of a kernel in it.
void add_kernel_choice(CLI::App& command, std::string& file, std::string& kernel);
void add_target_option(CLI::App& command, std::string& target);

void add_kernel_run(CLI::App& kernel, int& exit_code);
void add_kernel_replay(CLI::App& kernel, int& exit_code);
void add_kernel_render(CLI::App& kernel, int& exit_code);
void add_kernel_rewrite(CLI::App& kernel, int& exit_code);
void add_kernel_bench(CLI::App& kernel, int& exit_code);
void add_kernel_devices(CLI::App& kernel, int& exit_code);
void add_kernel_viewer(CLI::App& kernel, int& exit_code);
void add_kernel_ops(CLI::App& kernel, int& exit_code);

}  // namespace xlog::cli
