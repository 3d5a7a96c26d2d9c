// The plan op `sort` on the cpu device against std::sort and oneTBB's parallel_sort, in turns in
// one run: the same keys, ratios of the medians.
//
//   bench_kernel_sort [keys] [repetitions]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#ifdef XLOG_HAS_TBB
#include <tbb/parallel_sort.h>
#endif

#include "base/check.h"
#include "device/plan_runner.h"
#include "kernel/plan_builder.h"

namespace {

namespace device = xlog::device;
namespace kernel = xlog::kernel;
using xlog::Result;
using Clock = std::chrono::steady_clock;

double seconds(const std::function<void()>& run) {
  const auto start = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) {
    fmt::print(stderr, "bench_kernel_sort: {}\n", result.error().text());
    std::exit(1);
  }
  return std::move(result).value();
}

std::vector<uint64_t> random_keys(size_t n, uint64_t mask) {
  std::vector<uint64_t> keys(n);
  uint64_t state = 1;
  for (uint64_t& key : keys) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    key = (state ^ (state >> 29)) & mask;
  }
  return keys;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  const int repeat = argc > 2 ? std::atoi(argv[2]) : 5;
  auto cpu = must(device::open_device("cpu"));

  kernel::Graph graph;
  kernel::PlanBuilder plan(graph, "sort");
  kernel::Buffer column = plan.in(kernel::Type::U64, "keys");
  const kernel::Id root = plan.finish({plan.sort({column}).columns[0]});
  device::PlanRunner runner = must(device::PlanRunner::make(*cpu, graph, root));

  fmt::print("{} u64 keys, medians of {} runs in turns\n", n, repeat);
  fmt::print("{:<22} {:>10} {:>12} {:>14}\n", "keys", "xlog ms", "std::sort x", "parallel_sort x");
  struct Case {
    const char* name;
    uint64_t mask;
  };
  for (const Case& shape : {Case{"64 random bits", ~uint64_t{0}},
                            Case{"32 random bits", 0xffffffffu}, Case{"20 random bits", 0xfffff}}) {
    const std::vector<uint64_t> keys = random_keys(n, shape.mask);
    std::vector<uint64_t> expected = keys;
    std::vector<double> ours, standard, parallel;
    device::Column uploaded =
        must(device::upload(*cpu, kernel::Type::U64, std::as_bytes(std::span(keys))));
    for (int r = 0; r <= repeat; ++r) {
      std::vector<device::PlanValue> results;
      const double mine =
          seconds([&] { results = must(runner.run(std::vector<device::PlanValue>{uploaded})); });
      expected = keys;
      const double theirs = seconds([&] { std::ranges::sort(expected); });
      std::vector<uint64_t> copy = keys;
#ifdef XLOG_HAS_TBB
      const double tbb = seconds([&] { tbb::parallel_sort(copy.begin(), copy.end()); });
#else
      const double tbb = 0;
#endif
      const auto bytes = must(device::download(*cpu, std::get<device::Column>(results[0])));
      XLOG_CHECK(std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0,
                 "the sorted columns differ");
      if (r == 0) continue;  // compiles and warms up
      ours.push_back(mine);
      standard.push_back(theirs);
      parallel.push_back(tbb);
    }
    fmt::print("{:<22} {:>10.1f} {:>12.2f} {:>14.2f}\n", shape.name, median(ours) * 1e3,
               median(standard) / median(ours), median(parallel) / median(ours));
  }
  fmt::print("x: how many times faster xlog is; permutation included. 0: not built with oneTBB\n");
  return 0;
}
