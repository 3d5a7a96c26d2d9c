// The plan op `sort` on the cpu device against std::sort and oneTBB's parallel_sort, in turns in
// one run: the same keys, ratios of the medians. Two tables:
//
//   keys   the plan gives the sorted keys alone; the others sort the keys in place
//   rows   the plan gives the permutation too; the others sort pairs (key, row number) in place by
//          both, which is what makes them stable
//
// What the others sort is made before the clock starts.
//
//   bench_kernel_sort [keys] [repetitions]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <compare>
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

// What the other sorts take where the permutation is wanted.
struct KeyedRow {
  uint64_t key;
  uint32_t row;
  auto operator<=>(const KeyedRow&) const = default;
};

double parallel_sort_seconds(auto& values) {
#ifdef XLOG_HAS_TBB
  return seconds([&] { tbb::parallel_sort(values.begin(), values.end()); });
#else
  (void)values;
  return 0;
#endif
}

struct Times {
  std::vector<double> ours, standard, parallel;
};

// Sorts values with the other sorts; gives them back sorted.
template <typename T>
std::vector<T> time_others(Times& times, const std::vector<T>& values) {
  std::vector<T> copy = values;
  times.parallel.push_back(parallel_sort_seconds(copy));
  copy = values;
  times.standard.push_back(seconds([&] { std::ranges::sort(copy); }));
  return copy;
}

template <typename T>
void expect_column(device::Device& cpu, const device::PlanValue& column,
                   const std::vector<T>& expected) {
  const auto bytes = must(device::download(cpu, std::get<device::Column>(column)));
  XLOG_CHECK(bytes.size() == expected.size() * sizeof(T) &&
                 std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0,
             "the sorted columns differ");
}

Times time_sorts(device::Device& cpu, const std::vector<uint64_t>& keys, bool with_rows,
                 int repeat) {
  kernel::Graph graph;
  kernel::PlanBuilder plan(graph, "sort");
  const kernel::Sorted sorted = plan.sort({plan.in(kernel::Type::U64, "keys")});
  kernel::Columns wanted = sorted.columns;
  if (with_rows) wanted.push_back(sorted.permutation);
  device::PlanRunner runner = must(device::PlanRunner::make(cpu, graph, plan.finish(wanted)));
  const device::Column uploaded =
      must(device::upload(cpu, kernel::Type::U64, std::as_bytes(std::span(keys))));

  std::vector<KeyedRow> pairs;
  for (uint32_t row = 0; with_rows && row < keys.size(); ++row) pairs.push_back({keys[row], row});
  Times times;
  for (int r = 0; r <= repeat; ++r) {
    if (r == 1) times = {};  // the first round compiled and warmed up
    std::vector<device::PlanValue> results;
    times.ours.push_back(
        seconds([&] { results = must(runner.run(std::vector<device::PlanValue>{uploaded})); }));
    if (!with_rows) {
      expect_column(cpu, results[0], time_others(times, keys));
      continue;
    }
    std::vector<uint64_t> sorted_keys;
    std::vector<uint32_t> rows;
    for (const KeyedRow& pair : time_others(times, pairs)) {
      sorted_keys.push_back(pair.key);
      rows.push_back(pair.row);
    }
    expect_column(cpu, results[0], sorted_keys);
    expect_column(cpu, results[1], rows);
  }
  return times;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  const int repeat = argc > 2 ? std::atoi(argv[2]) : 5;
  auto cpu = must(device::open_device("native"));

  fmt::print("{} u64 keys, medians of {} runs in turns\n", n, repeat);
  fmt::print("{:<22} {:>10} {:>12} {:>16}\n", "", "xlog ms", "std::sort x", "parallel_sort x");
  struct Case {
    const char* name;
    uint64_t mask;
  };
  for (bool with_rows : {false, true}) {
    for (const Case& shape :
         {Case{"64 random bits", ~uint64_t{0}}, Case{"32", 0xffffffffu}, Case{"20", 0xfffff}}) {
      const Times times = time_sorts(*cpu, random_keys(n, shape.mask), with_rows, repeat);
      const double ours = median(times.ours);
      fmt::print("{:<22} {:>10.1f} {:>12.2f} {:>16.2f}\n",
                 fmt::format("{}, {}", with_rows ? "rows" : "keys", shape.name), ours * 1e3,
                 median(times.standard) / ours, median(times.parallel) / ours);
    }
  }
  fmt::print(
      "x: how many times faster xlog is; 0: not built with oneTBB\n"
      "keys: the keys alone; rows: with the permutation, the others sort pairs (key, row)\n");
  return 0;
}
