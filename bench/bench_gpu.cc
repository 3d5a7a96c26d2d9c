// Kernels on a GPU against the driver's own copy and CUB, in turns in one run.
//
//   bench_gpu [device] [scale]      scale 0..1 shrinks every problem; default cuda, 1
//
// XLOG_CUB_PEER names the library made from bench/peers/cub.cu (`./dev gpu-bench` builds it).

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"
#include "device/device.h"
#include "device/plan_runner.h"
#include "kernel/builder.h"
#include "kernel/library_hash.h"
#include "kernel/plan_builder.h"

namespace {

namespace device = xlog::device;
namespace kernel = xlog::kernel;
using kernel::Type;
using xlog::Result;

constexpr int kRepeat = 7;

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) {
    fmt::print(stderr, "bench_gpu: {}\n", result.error().text());
    std::exit(1);
  }
  return std::move(result).value();
}

// Functions of bench/peers/cub.cu; a missing one gives 0 seconds, shown as "-".
double peer(const char* name, uint64_t n) {
  static void* library = [] {
    const char* path = std::getenv("XLOG_CUB_PEER");
    void* handle = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
    if (path != nullptr && handle == nullptr) fmt::print(stderr, "bench_gpu: {}\n", dlerror());
    return handle;
  }();
  if (library == nullptr) return 0;
  auto* run = reinterpret_cast<double (*)(uint64_t, int)>(dlsym(library, name));
  return run == nullptr ? 0 : run(n, kRepeat);
}

class Bench {
 public:
  explicit Bench(const std::string& name) : device_(must(device::open_device(name))) {}

  device::Device& device() { return *device_; }

  // Least seconds of several runs, by the device's own clock, after one that warms up.
  double least(const std::function<void()>& run) {
    double best = 1e30;
    for (int r = 0; r <= kRepeat; ++r) {
      auto begin = must(device_->record_event());
      run();
      auto end = must(device_->record_event());
      const double seconds = must(device_->seconds_between(*begin, *end));
      if (r > 0) best = std::min(best, seconds);
    }
    return best;
  }

  device::Buffer buffer(uint64_t bytes) { return must(device_->allocate(bytes)); }
  device::KernelHandle compile(kernel::Graph& graph, kernel::Id id) {
    return must(device_->compile(graph, id));
  }
  void launch(const device::KernelHandle& kernel, const std::vector<device::Argument>& arguments) {
    must(device_->launch(kernel, arguments));
  }

  // n random u64, made on the device.
  device::Buffer random_u64(uint64_t n) {
    kernel::Graph graph;
    kernel::KernelBuilder k(graph, "random");
    auto size = k.val(Type::U32, "n");
    auto out = k.out(Type::U64, "out");
    auto i = k.grid(size);
    auto z = (k.cast(Type::U64, i) + 1) * static_cast<int64_t>(0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * static_cast<int64_t>(0xBF58476D1CE4E5B9u);
    z = (z ^ (z >> 27)) * static_cast<int64_t>(0x94D049BB133111EBu);
    k.store(out, i, z ^ (z >> 31));
    device::Buffer made = buffer(n * 8);
    launch(compile(graph, k.finish()),
           {kernel::Scalar::u32(static_cast<uint32_t>(n)), device::View{made}});
    must(device_->wait());
    return made;
  }

 private:
  std::unique_ptr<device::Device> device_;
};

void row(const std::string& what, double seconds, double amount, const char* unit, double peer) {
  fmt::print("{:<34} {:>10.3f} ms {:>10.1f} {:<8}", what, seconds * 1e3, amount / seconds * 1e-9,
             unit);
  if (peer > 0) {
    fmt::print(" peer {:>8.3f} ms, ours at {:.2f} of its speed\n", peer * 1e3, peer / seconds);
  } else {
    fmt::print(" peer -\n");
  }
}

kernel::Id copy_kernel(kernel::Graph& graph, Type type) {
  kernel::KernelBuilder k(graph, "copy");
  auto n = k.val(Type::U32, "n");
  auto x = k.in(type, "x"), y = k.out(type, "y");
  auto i = k.grid(n);
  k.store(y, i, x[i]);
  return k.finish();
}

kernel::Id mix_kernel(kernel::Graph& graph) {
  kernel::KernelBuilder k(graph, "mix");
  auto n = k.val(Type::U32, "n");
  auto x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y");
  auto i = k.grid(n);
  auto h = x[i];
  h = (h ^ (h >> 16)) * 0x85ebca6b;
  h = (h ^ (h >> 13)) * 0xc2b2ae35;
  k.store(y, i, h ^ (h >> 16));
  return k.finish();
}

void bench_copies(Bench& bench, uint64_t bytes) {
  device::Buffer x = bench.buffer(bytes), y = bench.buffer(bytes);
  must(bench.device().fill({x}, std::byte{1}));
  const double copied = peer("peer_copy", bytes);
  const auto moved = static_cast<double>(2 * bytes);
  row("device copy", bench.least([&] { must(bench.device().copy({y}, {x})); }), moved, "GB/s",
      copied);
  for (Type type : {Type::U8, Type::U32, Type::U64}) {
    kernel::Graph graph;
    auto kernel = bench.compile(graph, copy_kernel(graph, type));
    const auto n = static_cast<uint32_t>(bytes / kernel::size_of(type));
    row(fmt::format("kernel: copy {}", kernel::spelling(type)), bench.least([&] {
      bench.launch(kernel, {kernel::Scalar::u32(n), device::View{x}, device::View{y}});
    }),
        moved, "GB/s", copied);
  }
  kernel::Graph graph;
  auto kernel = bench.compile(graph, mix_kernel(graph));
  row("kernel: hash of u32", bench.least([&] {
    bench.launch(kernel, {kernel::Scalar::u32(static_cast<uint32_t>(bytes / 4)), device::View{x},
                          device::View{y}});
  }),
      moved, "GB/s", copied);
}

void bench_scan(Bench& bench, uint64_t n) {
  kernel::Graph graph;
  kernel::PlanBuilder plan(graph, "scan");
  auto column = plan.in(Type::U32, "x");
  const kernel::Id root = plan.finish({plan.scan(kernel::Fold::Add, column).before});
  auto runner = must(device::PlanRunner::make(bench.device(), graph, root));
  device::Column x{bench.buffer(n * 4), Type::U32, static_cast<uint32_t>(n)};
  must(bench.device().fill({x.buffer}, std::byte{1}));
  const double seconds = bench.least([&] { must(runner.run(std::vector<device::PlanValue>{x})); });
  row(fmt::format("plan: scan of {} u32", n), seconds, static_cast<double>(n), "Gkeys/s",
      peer("peer_scan_u32", n));
}

void bench_sort(Bench& bench, uint64_t n) {
  device::Column keys{bench.random_u64(n), Type::U64, static_cast<uint32_t>(n)};
  for (bool permutation : {false, true}) {
    kernel::Graph graph;
    kernel::PlanBuilder plan(graph, "sort");
    auto column = plan.in(Type::U64, "keys");
    auto sorted = plan.sort({column});
    const kernel::Id root = permutation ? plan.finish({sorted.permutation, sorted.columns[0]})
                                        : plan.finish({sorted.columns[0]});
    auto runner = must(device::PlanRunner::make(bench.device(), graph, root));
    const double seconds =
        bench.least([&] { must(runner.run(std::vector<device::PlanValue>{keys})); });
    row(fmt::format("plan: sort {} u64{}", n, permutation ? " + rows" : ""), seconds,
        static_cast<double>(n), "Gkeys/s",
        peer(permutation ? "peer_sort_pairs" : "peer_sort_u64", n));
  }
}

void bench_hash(Bench& bench, uint64_t n) {
  kernel::Graph graph;
  kernel::PlanBuilder plan(graph, "insert");
  auto keys = plan.in(Type::U64, "keys"), cells = plan.race(Type::U64, "cells");
  const kernel::Id root = plan.finish(
      {plan.reduce(kernel::Fold::Add, hash_insert(plan, kernel::hash_set_of(plan, cells), keys))});
  auto runner = must(device::PlanRunner::make(bench.device(), graph, root));
  uint64_t slots = 1;
  while (slots < n + n / 2) slots *= 2;
  const std::vector<device::PlanValue> arguments = {
      device::Column{bench.random_u64(n), Type::U64, static_cast<uint32_t>(n)},
      device::Column{bench.buffer((slots + 1) * 8), Type::U64, static_cast<uint32_t>(slots + 1)}};
  double best = 1e30;
  for (int r = 0; r < 3; ++r) {
    must(bench.device().fill({std::get<device::Column>(arguments[1]).buffer}, std::byte{0}));
    auto begin = must(bench.device().record_event());
    must(runner.run(arguments));
    auto end = must(bench.device().record_event());
    best = std::min(best, must(bench.device().seconds_between(*begin, *end)));
  }
  row(fmt::format("plan: hash insert {} u64, counted", n), best, static_cast<double>(n), "Gkeys/s",
      0);
}

// What a launch costs by itself, one by one and as a sequence.
void bench_launches(Bench& bench) {
  kernel::Graph graph;
  auto kernel = bench.compile(graph, mix_kernel(graph));
  device::Buffer x = bench.buffer(4096), y = bench.buffer(4096);
  must(bench.device().fill({x}, std::byte{1}));
  const std::vector<device::Argument> arguments = {kernel::Scalar::u32(1024), device::View{x},
                                                   device::View{y}};
  constexpr int kLaunches = 200;
  const double single = bench.least([&] {
    for (int i = 0; i < kLaunches; ++i) bench.launch(kernel, arguments);
  });
  must(bench.device().begin_sequence());
  for (int i = 0; i < kLaunches; ++i) bench.launch(kernel, arguments);
  auto sequence = must(bench.device().end_sequence());
  const double together = bench.least([&] { must(bench.device().run(sequence)); });
  fmt::print("{:<34} {:>10.2f} us each, {:.2f} us in a sequence\n", "launch",
             single * 1e6 / kLaunches, together * 1e6 / kLaunches);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "cuda";
  const double scale = argc > 2 ? std::atof(argv[2]) : 1;
  Bench bench(name);
  const device::DeviceInfo& info = bench.device().info();
  fmt::print("{}: {}, {}\n", info.name, info.hardware, info.software);
  auto size = [&](double n) {
    return std::max<uint64_t>(1 << 16, static_cast<uint64_t>(n * scale));
  };
  bench_launches(bench);
  bench_copies(bench, size(4e9) / 64 * 64);
  for (double n : {1e6, 1e8, 1e9}) bench_scan(bench, size(n));
  for (double n : {1e6, 1e7, 1e8, 5e8}) bench_sort(bench, size(n));
  bench_hash(bench, size(1e9));
  return 0;
}
