// Test helpers: a kernel built by hand, through the LLVM renderer and compiler, run in this
// process.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "device/llvm_compile.h"
#include "kernel/graph.h"
#include "kernel/passes.h"
#include "kernel/place.h"
#include "render/llvm.h"

namespace xlog::device {

// A kernel that holds only ops every target has, as if the passes had run.
inline kernel::Lowered as_it_is(const kernel::Graph& graph, kernel::Id kernel) {
  kernel::Lowered lowered;
  lowered.kernel = kernel;
  lowered.group = graph.kernel_info(kernel).group;
  lowered.placement = place(graph, kernel);
  for (kernel::Id id : reachable(graph, kernel)) {
    if (graph.op(id) != kernel::Op::Grid && graph.op(id) != kernel::Op::Group) continue;
    const kernel::Id size = graph.operand(id, 0);
    if (graph.is_const(size)) {
      lowered.size_constant = graph.value(size).as_u32();
    } else {
      lowered.size_param = graph.position(size);
    }
  }
  return lowered;
}

inline Result<LoadedObject> compile_for_cpu(const kernel::Graph& graph,
                                            const kernel::Lowered& lowered) {
  const Result<std::vector<std::byte>> object =
      llvm_to_object(render::render_llvm_cpu(graph, lowered));
  if (!object.ok()) return object.error();
  return load_object(*object);
}

// NVIDIA's assembler over the PTX of many kernels at once: starting it costs more than a kernel.
class PtxAssembler {
 public:
  // Where the program is; "" if this machine has none.
  static std::string program() {
    std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
    path += ":/usr/local/cuda/bin";
    for (size_t at = 0; at < path.size();) {
      const size_t end = std::min(path.find(':', at), path.size());
      std::string candidate = path.substr(at, end - at) + "/ptxas";
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
      at = end + 1;
    }
    return "";
  }

  // Everything that a kernel defines has the entry's name in it.
  void add(const std::string& ptx) {
    const size_t header_end = ptx.find(".address_size 64") + 16;
    if (text_.empty()) text_ = ptx.substr(0, header_end);
    text_ += std::regex_replace(ptx.substr(header_end), std::regex("xlog_kernel"),
                                "k" + std::to_string(kernels_++) + "_xlog_kernel");
  }

  // "" or what the assembler said.
  std::string run(const std::string& sm) const {
    const std::string base = testing::TempDir() + "xlog_ptx_" + std::to_string(getpid());
    std::ofstream(base + ".ptx") << text_;
    const std::string command =
        program() + " -O0 -arch=" + sm + " -o /dev/null " + base + ".ptx > " + base + ".log 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream log(base + ".log");
    const std::string said((std::istreambuf_iterator<char>(log)), std::istreambuf_iterator<char>());
    if (status != 0) return said + "in " + base + ".ptx";
    std::filesystem::remove(base + ".ptx");
    std::filesystem::remove(base + ".log");
    return "";
  }

 private:
  std::string text_;
  int kernels_ = 0;
};

}  // namespace xlog::device
