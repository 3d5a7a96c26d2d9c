// xlog kernel render, xlog kernel rewrite: what becomes of a kernel.
#include "cli/kernel_show.h"

#include <fmt/format.h>

#include "cli/kernel.h"
#include "cli/kernel_input.h"
#include "cli/terminal.h"
#include "device/llvm_compile.h"
#include "kernel/passes.h"
#include "kernel/text.h"
#include "render/renderer.h"

namespace xlog::cli {

using kernel::Graph;
using kernel::Id;
using kernel::Op;

std::string node_text(const Graph& graph, Id kernel, Id node, int depth) {
  switch (graph.op(node)) {
    case Op::Const:
      return kernel::to_text(graph.value(node));
    case Op::Param: {
      const auto name = graph.param_name(kernel, node);
      return name.empty() ? fmt::format("p{}", graph.position(node)) : std::string(name);
    }
    case Op::Arg: {
      const auto name = graph.arg_name(graph.tag(node), graph.arg_index(node));
      return name.empty() ? fmt::format("arg{}.{}", graph.tag(node), graph.arg_index(node))
                          : std::string(name);
    }
    case Op::Block:
      return "{...}";
    default:
      break;
  }
  if (depth == 0) {
    const auto name = graph.name(node);
    return name.empty() ? "..." : std::string(name);
  }
  std::string text = fmt::format("({}", kernel::spelling(graph.op(node)));
  if (graph.op(node) == Op::Cast || graph.op(node) == Op::Bitcast) {
    text += fmt::format(" {}", kernel::spelling(graph.type(node)));
  }
  for (Id operand : graph.operands(node)) {
    text += " " + node_text(graph, kernel, operand, depth - 1);
  }
  return text + ")";
}

namespace {

struct ShowOptions {
  std::string file, kernel;
  std::string target = "llvm";
  std::string pass;
  bool log = false;
  bool ptx = false;
};

Result<KernelFile> read_for(const ShowOptions& options) {
  Result<KernelFile> file = read_kernel(options.file, options.kernel);
  if (file.ok() && file->graph.op(file->kernel) == Op::Plan) {
    return Error{"this is a plan, and a target takes kernels", ""};
  }
  return file;
}

int render_kernel(const ShowOptions& options) {
  Result<KernelFile> file = read_for(options);
  if (!file.ok()) return kernel_error("render", file.error());
  const render::Renderer& renderer = *render::find_renderer(options.target);
  Result<kernel::Lowered> lowered = kernel::lower(file->graph, file->kernel, renderer.target);
  if (!lowered.ok()) return kernel_error("render", lowered.error());
  std::string text = renderer.render(file->graph, *lowered);
  if (options.ptx) {
    if (options.target != "ptx") return kernel_error("render", {"--ptx needs --target ptx", ""});
    Result<std::string> ptx = device::llvm_to_ptx(text, "sm_90");
    if (!ptx.ok()) return kernel_error("render", ptx.error());
    text = std::move(*ptx);
  }
  write_all(stdout, text);
  return kAnswered;
}

int rewrite_kernel(const ShowOptions& options) {
  Result<KernelFile> file = read_for(options);
  if (!file.ok()) return kernel_error("rewrite", file.error());
  const Graph& graph = file->graph;
  const render::Renderer& renderer = *render::find_renderer(options.target);
  kernel::RewriteLog log;
  Result<kernel::Lowered> lowered = kernel::lower(file->graph, file->kernel, renderer.target, &log);
  if (!lowered.ok()) return kernel_error("rewrite", lowered.error());
  Id shown = lowered->kernel;
  for (const kernel::PassRecord& pass : log.passes) {
    if (options.log) {
      fmt::print("# {:<24} {:>7.1f} us, {} rewrite{}\n", pass.name, pass.seconds * 1e6,
                 pass.rewrites, pass.rewrites == 1 ? "" : "s");
      for (const kernel::Rewrite& rewrite : log.rewrites) {
        if (rewrite.pass != pass.name) continue;
        fmt::print(
            "#   {:<24} {}\n#   {:<24} -> {}\n", rewrite.rule,
            node_text(graph, pass.kernel, rewrite.before), "",
            rewrite.after.valid() ? node_text(graph, pass.kernel, rewrite.after) : "nothing");
      }
    }
    if (pass.name == options.pass) {
      shown = pass.kernel;
      break;
    }
  }
  write_all(stdout, kernel::print(graph, shown));
  return kAnswered;
}

}  // namespace

void add_kernel_render(CLI::App& kernel, int& exit_code) {
  CLI::App* command = kernel.add_subcommand("render", "Show the code of a kernel for a target");
  auto options = std::make_shared<ShowOptions>();
  add_kernel_choice(*command, options->file, options->kernel);
  add_target_option(*command, options->target);
  command->add_flag("--ptx", options->ptx, "With --target ptx: PTX instead of LLVM IR");
  command->footer(
      "Examples:\n  xlog kernel render hash.ir bucket --target cuda\n"
      "  xlog kernel render hash.ir bucket --target ptx --ptx");
  command->callback([options, &exit_code] {
    exit_code = render_kernel(*options);
    if (!flush_stdout()) exit_code = kProgramError;
  });
}

void add_kernel_rewrite(CLI::App& kernel, int& exit_code) {
  CLI::App* command =
      kernel.add_subcommand("rewrite", "Show a kernel after the passes, and which rule did what");
  auto options = std::make_shared<ShowOptions>();
  add_kernel_choice(*command, options->file, options->kernel);
  add_target_option(*command, options->target);
  std::vector<std::string> passes;
  for (std::string_view name : kernel::pass_names()) passes.emplace_back(name);
  command->add_flag("--log", options->log, "Every pass with its time, and every rule that fired");
  command->add_option("--pass", options->pass, "Stop after this pass")
      ->type_name("PASS")
      ->check(CLI::IsMember(passes));
  command->footer(
      "Examples:\n  xlog kernel rewrite hash.ir bucket --log\n"
      "  xlog kernel rewrite scan.ir tile --target c --pass lanes");
  command->callback([options, &exit_code] {
    exit_code = rewrite_kernel(*options);
    if (!flush_stdout()) exit_code = kProgramError;
  });
}

}  // namespace xlog::cli
