// xlog kernel: the tools around the kernel language.
#include "cli/kernel.h"

#include "render/renderer.h"

namespace xlog::cli {

void add_kernel_choice(CLI::App& command, std::string& file, std::string& kernel) {
  command.add_option("FILE", file, "A text of kernels, - for standard input")
      ->required()
      ->type_name("");
  command.add_option("KERNEL", kernel, "Which one, where the text holds several")->type_name("");
}

void add_target_option(CLI::App& command, std::string& target) {
  std::vector<std::string> names;
  for (const render::Renderer& renderer : render::renderers()) {
    names.emplace_back(renderer.target.name);
  }
  command.add_option("-t,--target", target, "For which target (default llvm)")
      ->type_name("TARGET")
      ->check(CLI::IsMember(names));
}

void add_kernel(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("kernel", "Tools for the kernel language and its devices");
  command->require_subcommand(1);
  add_kernel_run(*command, exit_code);
  add_kernel_replay(*command, exit_code);
  add_kernel_render(*command, exit_code);
  add_kernel_rewrite(*command, exit_code);
  add_kernel_bench(*command, exit_code);
  add_kernel_devices(*command, exit_code);
  add_kernel_viewer(*command, exit_code);
  add_kernel_ops(*command, exit_code);
  command->footer("`xlog kernel COMMAND --help` says more; docs/kernel.md describes the language.");
}

}  // namespace xlog::cli
