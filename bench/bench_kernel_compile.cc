// What it costs to get from a kernel to code: the passes on a 300-node kernel, the text of each
// target, LLVM's time a kernel, and what opening the compiler adds once.
//
//   bench_kernel_compile [repetitions]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <vector>

#include "device/device.h"
#include "device/llvm_compile.h"
#include "kernel/builder.h"
#include "kernel/passes.h"
#include "render/renderer.h"

namespace {

namespace device = xlog::device;
namespace kernel = xlog::kernel;
namespace render = xlog::render;
using Clock = std::chrono::steady_clock;

double least(int repeat, const std::function<void()>& run) {
  double best = 1e9;
  for (int r = 0; r < repeat; ++r) {
    const auto start = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

// Rounds of a hash over two columns with a loop and a guarded store, until it has `nodes` nodes.
kernel::Id sample(kernel::Graph& graph, uint32_t nodes) {
  kernel::KernelBuilder k(graph, "sample");
  auto n = k.val(kernel::Type::U32, "n");
  auto a = k.in(kernel::Type::U32, "a"), b = k.in(kernel::Type::U64, "b");
  auto out = k.out(kernel::Type::U64, "out");
  auto i = k.grid(n);
  auto h = k.cast(kernel::Type::U64, a[i]) ^ b[i];
  uint32_t round = 0;
  while (graph.size() + 20 < nodes) {
    h = (h ^ (h >> (13 + round % 7))) * (0x9E3779B97F4A7C15 + 2 * round);
    h = k.select(h < int64_t{1000} * round, h + 1, h | 8);
    ++round;
  }
  auto sum = k.for_range(k.u32(0), a[i] & 15, {h}, [&](kernel::Value j, const kernel::Values& c) {
    return kernel::Values{c[0] + k.cast(kernel::Type::U64, j) * 3};
  });
  k.if_then(sum[0] != 0, [&] { k.store(out, i, sum[0]); });
  return k.finish();
}

}  // namespace

int main(int argc, char** argv) {
  const int repeat = argc > 1 ? std::atoi(argv[1]) : 50;
  for (uint32_t nodes : {60u, 300u, 1000u}) {
    kernel::Graph first;
    sample(first, nodes);
    fmt::print("kernel of {} nodes\n", first.size());
    fmt::print("  {:<28} {:>9.1f} us\n", "build", 1e6 * least(repeat, [&] {
                                                    kernel::Graph graph;
                                                    sample(graph, nodes);
                                                  }));
    for (const render::Renderer& renderer : render::renderers()) {
      double passes = 1e9, text = 1e9;
      for (int r = 0; r < repeat; ++r) {
        kernel::Graph graph;
        const kernel::Id id = sample(graph, nodes);
        const auto start = Clock::now();
        auto lowered = kernel::lower(graph, id, renderer.target);
        const auto middle = Clock::now();
        if (!lowered.ok()) {
          fmt::print(stderr, "{}\n", lowered.error().text());
          return 1;
        }
        const std::string code = renderer.render(graph, *lowered);
        passes = std::min(passes, std::chrono::duration<double>(middle - start).count());
        text = std::min(text, std::chrono::duration<double>(Clock::now() - middle).count());
      }
      fmt::print("  {:<28} {:>9.1f} us passes, {:>7.1f} us text\n", renderer.target.name,
                 passes * 1e6, text * 1e6);
    }
    kernel::Graph graph;
    const kernel::Id id = sample(graph, nodes);
    auto lowered = kernel::lower(graph, id, render::find_renderer("llvm")->target);
    const std::string ir = render::find_renderer("llvm")->render(graph, *lowered);
    const auto start = Clock::now();
    auto object = device::llvm_to_object(ir);
    const double cold = std::chrono::duration<double>(Clock::now() - start).count();
    if (!object.ok()) {
      fmt::print(stderr, "{}\n", object.error().text());
      return 1;
    }
    const double warm =
        least(std::max(1, repeat / 5), [&] { object = device::llvm_to_object(ir); });
    const double load = least(std::max(1, repeat / 5), [&] {
      auto loaded = device::load_object(*object);
      (void)loaded;
    });
    fmt::print("  {:<28} {:>9.2f} ms first, {:.2f} ms each, {:.2f} ms to load\n", "LLVM to object",
               cold * 1e3, warm * 1e3, load * 1e3);
  }
  return 0;
}
