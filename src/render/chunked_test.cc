#include "render/chunked.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/sanitized.h"
#include "kernel/builder.h"
#include "kernel/random_kernel.h"

namespace xlog::render {
namespace {

using kernel::Argument;
using kernel::Buffer;
using kernel::CheckFailure;
using kernel::Fold;
using kernel::Graph;
using kernel::HiddenParam;
using kernel::HostBuffer;
using kernel::Id;
using kernel::kCheckCodes;
using kernel::KernelBuilder;
using kernel::lower;
using kernel::Lowered;
using kernel::RandomOptions;
using kernel::Runner;
using kernel::Scalar;
using kernel::store_scalar;
using kernel::Type;
using kernel::Value;
using kernel::Values;

// Lowers, compiles and runs a kernel in pieces of `grain` instances.
Result<std::optional<CheckFailure>> run_chunked(Graph& graph, Id kernel,
                                                std::span<const Argument> arguments,
                                                uint32_t grain) {
  auto lowered = lower(graph, kernel, kChunked);
  if (!lowered.ok()) return lowered.error();
  auto code = ChunkedKernel::compile(graph, *lowered);
  if (!code.ok()) return code.error();
  std::vector<void*> args;
  std::vector<uint64_t> scalars(arguments.size() + lowered->hidden.size());
  for (const Argument& argument : arguments) {
    if (const auto* scalar = std::get_if<Scalar>(&argument)) {
      store_scalar(*scalar, &scalars[args.size()]);
      args.push_back(&scalars[args.size()]);
    } else {
      args.push_back(std::get<HostBuffer>(argument).data);
    }
  }
  std::vector<uint32_t> status(kCheckCodes, UINT32_MAX);
  for (const HiddenParam& hidden : lowered->hidden) {
    if (hidden.kind == HiddenParam::Kind::Status) {
      args.push_back(status.data());
      continue;
    }
    const Type type = graph.type(graph.params(kernel)[hidden.of]);
    scalars[args.size()] = std::get<HostBuffer>(arguments[hidden.of]).bytes / size_of(type);
    args.push_back(&scalars[args.size()]);
  }
  uint32_t size = lowered->size_constant;
  if (lowered->size_param != Lowered::kNoParam) {
    size = std::get<Scalar>(arguments[lowered->size_param]).as_u32();
  }
  for (uint64_t lo = 0; lo < size; lo += grain) {
    code->run(static_cast<uint32_t>(lo),
              static_cast<uint32_t>(std::min<uint64_t>(size, lo + grain)), args.data());
  }
  for (uint32_t c = 0; c < kCheckCodes; ++c) {
    if (status[c] != UINT32_MAX) return std::optional(CheckFailure{c, status[c]});
  }
  return std::optional<CheckFailure>();
}

Runner runner(uint32_t grain) {
  return [grain](Graph& graph, Id kernel, std::span<const Argument> arguments) {
    return run_chunked(graph, kernel, arguments, grain);
  };
}

// Few lanes follow the list, many run densely, 256 are full, more are several chunks.
uint32_t instances_for(uint64_t seed) {
  constexpr uint32_t counts[] = {3, 20, 70, 300, 1, 256, 0, 130};
  return counts[seed % std::size(counts)];
}

TEST(Chunked, RandomGridKernels) {
  for (uint64_t seed = 0; seed < 600 / kPartOfWork; ++seed) {
    Graph graph;
    const Id kernel = random_kernel(graph, seed);
    const auto arguments = random_arguments(graph, kernel, seed, instances_for(seed));
    ASSERT_EQ(compare(graph, kernel, arguments, runner(seed % 3 == 0 ? 100 : 4096)), "")
        << "seed " << seed;
  }
}

TEST(Chunked, RandomKernelsOfManyLoops) {
  RandomOptions options;
  options.statements = 60;
  for (uint64_t seed = 10'000; seed < 10'000 + 60 / kPartOfWork; ++seed) {
    Graph graph;
    const Id kernel = random_kernel(graph, seed, options);
    const auto arguments = random_arguments(graph, kernel, seed, instances_for(seed));
    ASSERT_EQ(compare(graph, kernel, arguments, runner(4096)), "") << "seed " << seed;
  }
}

TEST(Chunked, RandomGroupKernels) {
  RandomOptions options;
  options.groups = true;
  for (uint64_t seed = 20'000; seed < 20'000 + 150 / kPartOfWork; ++seed) {
    Graph graph;
    const Id kernel = random_kernel(graph, seed, options);
    const auto arguments = random_arguments(graph, kernel, seed, seed % 7);
    ASSERT_EQ(compare(graph, kernel, arguments, runner(4)), "") << "seed " << seed;
  }
}

// Fibonacci by a loop whose carried values trade places, and trip counts that differ by lane.
TEST(Chunked, CarriedValuesChangeAllAtOnce) {
  Graph graph;
  KernelBuilder k(graph, "fibonacci");
  Value n = k.val(Type::U32, "n");
  Buffer out = k.out(Type::U64, "out");
  Value i = k.grid(n);
  Values end = k.for_range(k.u32(0), i, {k.number(Type::U64, 0), k.number(Type::U64, 1)},
                           [&](Value, const Values& c) {
                             return Values{c[1], c[0] + c[1]};
                           });
  k.store(out, i, end[0]);
  const Id kernel = k.finish();
  std::vector<uint64_t> got(1000);
  const std::vector<Argument> arguments = {
      Scalar::u32(1000), HostBuffer{reinterpret_cast<std::byte*>(got.data()), got.size() * 8}};
  ASSERT_TRUE(run_chunked(graph, kernel, arguments, 1000).ok());
  uint64_t a = 0, b = 1;
  for (uint64_t value : got) {
    ASSERT_EQ(value, a);
    a = std::exchange(b, a + b);
  }
}

TEST(Chunked, LargeArraysMakeSmallerChunks) {
  Graph graph;
  KernelBuilder k(graph, "reverse");
  Value n = k.val(Type::U32, "n");
  Buffer out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  constexpr uint32_t kCells = 3000;
  Buffer cells = k.private_array(Type::U32, kCells);
  k.for_range(k.u32(0), k.u32(kCells), [&](Value j) { k.store(cells, j, i * 7 + j); });
  k.store(out, i, cells[(i * 13) % kCells]);
  const Id kernel = k.finish();
  auto lowered = lower(graph, kernel, kChunked);
  ASSERT_TRUE(lowered.ok()) << lowered.error().text();
  auto code = ChunkedKernel::compile(graph, *lowered);
  ASSERT_TRUE(code.ok()) << code.error().text();
  EXPECT_LT(code->bytes(), 1u << 20);
  std::vector<uint32_t> got(500);
  const std::vector<Argument> arguments = {
      Scalar::u32(500), HostBuffer{reinterpret_cast<std::byte*>(got.data()), got.size() * 4}};
  ASSERT_TRUE(run_chunked(graph, kernel, arguments, 500).ok());
  for (uint32_t r = 0; r < 500; ++r) ASSERT_EQ(got[r], r * 7 + r * 13 % kCells);
}

TEST(Chunked, ThreadsShareAtomics) {
  Graph graph;
  KernelBuilder k(graph, "count");
  Value n = k.val(Type::U32, "n");
  Buffer sum = k.acc(Type::U64, "sum"), least = k.acc(Type::I32, "least");
  Value i = k.grid(n);
  k.atomic(Fold::Add, sum, i % 4, k.cast(Type::U64, i));
  k.atomic(Fold::Min, least, k.u32(0), k.number(Type::I32, 5) - k.cast(Type::I32, i));
  const Id kernel = k.finish();
  auto lowered = lower(graph, kernel, kChunked);
  ASSERT_TRUE(lowered.ok()) << lowered.error().text();
  auto code = ChunkedKernel::compile(graph, *lowered);
  ASSERT_TRUE(code.ok()) << code.error().text();
  uint32_t count = 40'000;
  std::vector<uint64_t> sums(4);
  std::vector<int32_t> smallest(1, 100);
  void* const args[] = {&count, sums.data(), smallest.data()};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] { code->run(t * 10'000, (t + 1) * 10'000, args); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sums[0] + sums[1] + sums[2] + sums[3], uint64_t{count} * (count - 1) / 2);
  EXPECT_EQ(smallest[0], 5 - 39'999);
}

}  // namespace
}  // namespace xlog::render
