#include "device/work_estimate.h"

#include <gtest/gtest.h>

#include "kernel/builder.h"
#include "render/chunked.h"

namespace xlog::device {
namespace {

using kernel::Graph;
using kernel::KernelBuilder;
using kernel::Type;
using kernel::Value;
using kernel::Values;

// A launch of `instances` with one more value.
BoundLaunch launch_of(uint32_t instances, uint32_t value) {
  BoundLaunch launch;
  launch.instances = instances;
  launch.arguments.resize(4);
  launch.arguments[0].value = Scalar::u32(instances);
  launch.arguments[1].value = Scalar::u32(value);
  return launch;
}

// A kernel (n, m, in, out) that loops from and to what the limits say.
template <typename Limits>
WorkEstimate estimate_of(const Limits& limits) {
  Graph graph;
  KernelBuilder k(graph, "looping");
  Value n = k.val(Type::U32, "n"), m = k.val(Type::U32, "m");
  kernel::Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  auto [lo, hi] = limits(k, i, m, in);
  Values sum = k.for_range(lo, hi, {k.u32(0)}, [&](Value j, const Values& carried) {
    return Values{carried[0] * 3 + in[j]};
  });
  k.store(out, i, sum[0]);
  Result<kernel::Lowered> lowered = kernel::lower(graph, k.finish(), render::kChunked);
  EXPECT_TRUE(lowered.ok());
  return WorkEstimate(graph, *lowered);
}

TEST(WorkEstimate, FollowsLimitsThatComeFromArguments) {
  WorkEstimate chunks = estimate_of([](KernelBuilder& k, Value i, Value m, kernel::Buffer&) {
    return std::pair(i * m, k.min(i * m + m, k.u32(1'000'000)));
  });
  auto nodes = [&](uint32_t rounds) { return chunks.nodes(launch_of(8, rounds)); };
  const double once = nodes(1) - nodes(0);
  EXPECT_GE(once, 3);
  EXPECT_GT(nodes(0), 0);
  EXPECT_EQ(nodes(1010), nodes(0) + 1010 * once);
  EXPECT_EQ(nodes(250'000), nodes(0)) << "the instance in the middle has no rows left";
}

TEST(WorkEstimate, TakesAnInstanceInTheMiddle) {
  WorkEstimate triangle = estimate_of(
      [](KernelBuilder& k, Value i, Value, kernel::Buffer&) { return std::pair(k.u32(0), i); });
  EXPECT_GT(triangle.nodes(launch_of(10'000, 0)), 5'000);
  EXPECT_LT(triangle.nodes(launch_of(10'000, 0)), 100'000);
}

TEST(WorkEstimate, TakesTheMostThatDataMaySay) {
  for (bool first : {true, false}) {
    WorkEstimate part = estimate_of([&](KernelBuilder& k, Value i, Value m, kernel::Buffer& in) {
      return std::pair(k.u32(0), first ? k.min(m, in[i]) : k.min(in[i], m));
    });
    EXPECT_GT(part.nodes(launch_of(8, 10'000)), 10'000);
    EXPECT_LT(part.nodes(launch_of(8, 10)), 1'000);
  }
}

TEST(WorkEstimate, TakesLoopsOverDataToBeShort) {
  WorkEstimate bucket = estimate_of([](KernelBuilder&, Value i, Value, kernel::Buffer& in) {
    return std::pair(in[i], in[i + 1]);
  });
  EXPECT_EQ(bucket.nodes(launch_of(10, 1)), bucket.nodes(launch_of(1'000'000, 1'000'000)));
  EXPECT_LT(bucket.nodes(launch_of(10, 1)), 100);
}

}  // namespace
}  // namespace xlog::device
