// Any bytes go through the parser of the kernel text form without a crash. When they are kernels
// or plans: each can be verified, and printing and parsing again gives the same one, with its names
// and without.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kernel/equal.h"
#include "kernel/text.h"
#include "kernel/verify.h"

namespace {

using namespace xlog::kernel;

void require(bool condition, const char* what, const std::string& text) {
  if (condition) return;
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

// Gives the definition that the text ends with, read into `graph`.
Id read_back(Graph& graph, const std::string& text) {
  auto again = parse(graph, text, "printed");
  require(again.ok(), "what was printed does not parse", text);
  return again->back();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Graph graph;
  auto roots = parse(graph, text, "input");
  if (!roots.ok()) return 0;
  for (Id root : *roots) {
    const bool plan = graph.op(root) == Op::Plan;
    for (const Problem& problem : verify(graph, root, plan ? Spec::Plan : Spec::Kernel)) {
      require(!problem.message.empty(), "a problem without a message", text);
    }

    const std::string printed = print(graph, root);
    Graph named;
    const Id same = read_back(named, printed);
    require(equal(graph, root, named, same), "print and parse are not inverse", printed);
    // Kernels of one graph share nodes and so their names; a plan brings its kernels along.
    require(plan || print(named, same) == printed, "printing is no fixed point", printed);

    const std::string canonical = print_canonical(graph, root);
    Graph nameless;
    const Id bare = read_back(nameless, canonical);
    require(equal(graph, root, nameless, bare), "the canonical text is another kernel", canonical);
    require(print_canonical(nameless, bare) == canonical, "the canonical text is no fixed point",
            canonical);
    require(print_canonical(named, same) == canonical, "names change the canonical text", printed);
  }
  return 0;
}
