// Random kernels for tests of every backend: typed, in bounds and free of races by construction, so
// that the oracle runs them without an error and any other result is a bug.
//
//   Graph graph;
//   Id kernel = random_kernel(graph, seed, options);
//   RandomArguments arguments = random_arguments(graph, kernel, seed, 100);
//   EXPECT_EQ(compare(graph, kernel, arguments, run_on_my_backend), "") << "seed " << seed;
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/graph.h"
#include "kernel/oracle.h"

namespace xlog::kernel {

struct RandomOptions {
  bool floats = true;        // f32, and f64 where `wide`
  bool wide = true;          // 64-bit types
  bool checks = true;        // Check, and Loops that may reach their bound
  bool loops = true;         // For and Loop
  bool arrays = true;        // private arrays
  bool atomics = true;       // acc and race parameters
  bool groups = false;       // a group kernel: lanes, local arrays, barriers, collectives
  uint32_t statements = 20;  // about so many at the outermost level
};

Id random_kernel(Graph& graph, uint64_t seed, const RandomOptions& options = {});

// Arguments that fit a random kernel, and the memory behind them.
struct RandomArguments {
  std::vector<std::vector<std::byte>> memory;  // by parameter; empty for val
  std::vector<Argument> list;                  // points into `memory`

  RandomArguments() = default;
  RandomArguments(const RandomArguments& other) { *this = other; }
  RandomArguments& operator=(const RandomArguments& other);
};

RandomArguments random_arguments(const Graph& graph, Id kernel, uint64_t seed, uint32_t instances);

// Runs a kernel as it was written on some backend; `arguments` hold the results afterwards.
using Runner = std::function<Result<std::optional<CheckFailure>>(
    Graph& graph, Id kernel, std::span<const Argument> arguments)>;

// "" if the backend does what the oracle does, else the first difference (buffer, index, both
// values, or the failed checks) and the printed kernel.
std::string compare(Graph& graph, Id kernel, const RandomArguments& arguments,
                    const Runner& runner);

// A smaller kernel for which `differs` still holds: effects are dropped, loads and loops replaced
// by constants and initial values, expressions by their operands.
Id shrink(Graph& graph, Id kernel, const std::function<bool(Id kernel)>& differs);

}  // namespace xlog::kernel
