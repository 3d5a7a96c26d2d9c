// xlog kernel viewer: one HTML file that shows a kernel after every pass and which rule fired
// where.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/kernel.h"
#include "cli/kernel_input.h"
#include "cli/kernel_show.h"
#include "cli/terminal.h"
#include "cli/viewer_page.h"
#include "kernel/passes.h"
#include "kernel/place.h"
#include "kernel/text.h"
#include "render/renderer.h"

namespace xlog::cli {
namespace {

using kernel::Graph;
using kernel::Id;
using nlohmann::ordered_json;

struct ViewerOptions {
  std::string file, kernel;
  std::string target = "llvm";
  std::string output;
};

std::string label_of(const Graph& graph, Id kernel, Id id) {
  std::string text(kernel::spelling(graph.op(id)));
  if (graph.is_const(id) || graph.op(id) == kernel::Op::Param || graph.op(id) == kernel::Op::Arg) {
    return node_text(graph, kernel, id, 0);
  }
  return text;
}

// Nodes and edges of a kernel as it stood after a pass.
ordered_json graph_json(const Graph& graph, Id kernel) {
  ordered_json nodes = ordered_json::array();
  for (Id id : kernel::reachable(graph, kernel)) {
    ordered_json node;
    node["id"] = id.index;
    node["label"] = label_of(graph, kernel, id);
    node["type"] = kernel::spelling(graph.type(id));
    node["effect"] = kernel::is_effect(graph.op(id));
    const bool is_param = graph.op(id) == kernel::Op::Param;
    node["name"] = is_param ? graph.param_name(kernel, id) : graph.name(id);
    node["text"] = node_text(graph, kernel, id, 2);
    node["from"] = ordered_json::array();
    for (Id operand : graph.operands(id)) node["from"].push_back(operand.index);
    nodes.push_back(std::move(node));
  }
  return nodes;
}

ordered_json steps_json(const Graph& graph, Id original, const kernel::RewriteLog& log) {
  ordered_json steps = ordered_json::array();
  steps.push_back({{"pass", "as written"},
                   {"microseconds", 0},
                   {"text", kernel::print(graph, original)},
                   {"nodes", graph_json(graph, original)},
                   {"rewrites", ordered_json::array()}});
  for (const kernel::PassRecord& pass : log.passes) {
    ordered_json rewrites = ordered_json::array();
    for (const kernel::Rewrite& rewrite : log.rewrites) {
      if (rewrite.pass != pass.name) continue;
      ordered_json entry;
      entry["rule"] = rewrite.rule;
      entry["before"] = node_text(graph, pass.kernel, rewrite.before);
      entry["beforeId"] = rewrite.before.index;
      if (rewrite.after.valid()) {
        entry["after"] = node_text(graph, pass.kernel, rewrite.after);
        entry["afterId"] = rewrite.after.index;
      }
      rewrites.push_back(std::move(entry));
    }
    steps.push_back({{"pass", pass.name},
                     {"microseconds", pass.seconds * 1e6},
                     {"text", kernel::print(graph, pass.kernel)},
                     {"nodes", graph_json(graph, pass.kernel)},
                     {"rewrites", std::move(rewrites)}});
  }
  return steps;
}

Result<std::string> viewer_html(const ViewerOptions& options) {
  Result<KernelFile> file = read_kernel(options.file, options.kernel);
  if (!file.ok()) return file.error();
  if (file->graph.op(file->kernel) == kernel::Op::Plan) {
    return Error{"this is a plan, and the viewer shows kernels", ""};
  }
  const render::Renderer& renderer = *render::find_renderer(options.target);
  kernel::RewriteLog log;
  Result<kernel::Lowered> lowered = kernel::lower(file->graph, file->kernel, renderer.target, &log);
  if (!lowered.ok()) return lowered.error();
  ordered_json data;
  data["kernel"] = file->graph.kernel_info(file->kernel).name;
  data["target"] = renderer.target.name;
  data["language"] = renderer.language;
  data["steps"] = steps_json(file->graph, file->kernel, log);
  data["code"] = renderer.render(file->graph, *lowered);
  std::string json = data.dump();
  // "</script>" inside a string would end the page's script.
  for (size_t at = json.find("</"); at != std::string::npos; at = json.find("</", at + 3)) {
    json.replace(at, 2, "<\\/");
  }
  std::string page(kViewerPage);
  constexpr std::string_view kPlace = "/*DATA*/null";
  page.replace(page.find(kPlace), kPlace.size(), json);
  return page;
}

int write_viewer(const ViewerOptions& options) {
  Result<std::string> page = viewer_html(options);
  if (!page.ok()) return kernel_error("viewer", page.error());
  if (options.output.empty() || options.output == "-") {
    write_all(stdout, *page);
    return kAnswered;
  }
  std::ofstream out(options.output, std::ios::binary);
  out << *page;
  out.close();
  if (!out) return kernel_error("viewer", {fmt::format("cannot write `{}`", options.output), ""});
  fmt::print(stderr, "wrote {}: open it in a browser\n", options.output);
  return kAnswered;
}

}  // namespace

void add_kernel_viewer(CLI::App& kernel, int& exit_code) {
  CLI::App* command = kernel.add_subcommand(
      "viewer", "Write an HTML page that shows every pass and every rule that fired");
  auto options = std::make_shared<ViewerOptions>();
  add_kernel_choice(*command, options->file, options->kernel);
  add_target_option(*command, options->target);
  command->add_option("-o,--output", options->output, "The page (default: standard output)")
      ->type_name("FILE");
  command->footer("Example:\n  xlog kernel viewer hash.ir bucket -o bucket.html");
  command->callback([options, &exit_code] {
    exit_code = write_viewer(*options);
    if (!flush_stdout()) exit_code = kProgramError;
  });
}

}  // namespace xlog::cli
