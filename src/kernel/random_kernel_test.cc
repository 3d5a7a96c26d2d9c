#include "kernel/random_kernel.h"

#include <gtest/gtest.h>

#include <set>

#include "base/sanitized.h"
#include "kernel/place.h"
#include "kernel/text.h"
#include "kernel/verify.h"

namespace xlog::kernel {
namespace {

// The oracle in another order: no random kernel may depend on the schedule.
Runner shuffled_oracle(uint64_t schedule) {
  return [schedule](Graph& graph, Id kernel,
                    std::span<const Argument> arguments) -> Result<std::optional<CheckFailure>> {
    OracleOptions options;
    options.schedule_seed = schedule;
    auto report = run_oracle(graph, kernel, arguments, options);
    if (!report.ok()) return report.error();
    return report->failure;
  };
}

TEST(RandomKernel, TheScheduleDoesNotMatter) {
  for (uint64_t seed = 0; seed < 400 / kPartOfWork; ++seed) {
    Graph graph;
    RandomOptions options;
    options.groups = seed % 2 == 1;
    const Id kernel = random_kernel(graph, seed, options);
    const auto problems = verify(graph, kernel, Spec::Kernel);
    ASSERT_TRUE(problems.empty()) << problems[0].message << " seed " << seed;
    const auto arguments = random_arguments(graph, kernel, seed, 1 + seed % 9);
    ASSERT_EQ(compare(graph, kernel, arguments, shuffled_oracle(seed + 1)), "") << "seed " << seed;
  }
}

TEST(RandomKernel, TheSameSeedGivesTheSameKernel) {
  Graph a, b;
  EXPECT_EQ(print(a, random_kernel(a, 7)), print(b, random_kernel(b, 7)));
  EXPECT_NE(print(a, random_kernel(a, 8)), print(b, random_kernel(b, 9)));
}

TEST(RandomKernel, EveryOpOfAKernelOccurs) {
  std::set<Op> seen;
  for (uint64_t seed = 0; seed < 200 / kPartOfWork; ++seed) {
    Graph graph;
    RandomOptions options;
    options.groups = seed % 2 == 1;
    for (Id id : reachable(graph, random_kernel(graph, seed, options))) seen.insert(graph.op(id));
  }
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (info(op).tier != Tier::Kernel) continue;
    EXPECT_TRUE(seen.contains(op)) << spelling(op);
  }
}

TEST(RandomKernel, OptionsSwitchPartsOff) {
  RandomOptions options;
  options.floats = options.wide = options.checks = options.atomics = false;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Graph graph;
    const Id kernel = random_kernel(graph, seed, options);
    for (Id id : reachable(graph, kernel)) {
      ASSERT_FALSE(is_float(graph.type(id))) << "seed " << seed;
      ASSERT_LE(size_of(graph.type(id)), 4u) << "seed " << seed;
      ASSERT_NE(graph.op(id), Op::Check) << "seed " << seed;
      ASSERT_NE(graph.op(id), Op::Atomic) << "seed " << seed;
    }
    auto arguments = random_arguments(graph, kernel, seed, 5);
    auto report = run_oracle(graph, kernel, arguments.list);
    ASSERT_TRUE(report.ok()) << report.error().text();
    ASSERT_FALSE(report->failure) << "seed " << seed;
  }
}

// A backend whose subtraction is wrong: the report must come down to a subtraction and a store.
TEST(RandomKernel, DifferencesAreShrunk) {
  auto runner = [](Graph& graph, Id kernel,
                   std::span<const Argument> arguments) -> Result<std::optional<CheckFailure>> {
    auto report = run_oracle(graph, kernel, arguments);
    if (!report.ok()) return report.error();
    for (Id id : reachable(graph, kernel)) {
      if (graph.op(id) == Op::Sub) {
        auto& last = std::get<HostBuffer>(arguments.back());
        last.data[0] ^= std::byte{1};
        break;
      }
    }
    return report->failure;
  };
  int differing = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Graph graph;
    const Id kernel = random_kernel(graph, seed);
    const auto arguments = random_arguments(graph, kernel, seed, 2);
    const std::string text = compare(graph, kernel, arguments, runner);
    if (text.empty()) continue;
    ++differing;
    EXPECT_NE(text.find("out digest at index 0"), std::string::npos) << text;
    auto differs = [&](Id smaller) {
      for (Id id : reachable(graph, smaller)) {
        if (graph.op(id) == Op::Sub) return true;
      }
      return false;
    };
    uint32_t effects = 0, expressions = 0;
    const Id small = shrink(graph, kernel, differs);
    for (Id id : reachable(graph, small)) {
      effects += is_effect(graph.op(id)) ? 1 : 0;
      expressions += is_arithmetic(graph.op(id)) ? 1 : 0;
    }
    EXPECT_LE(expressions, 4u) << "seed " << seed << "\n" << print(graph, small);
    EXPECT_LE(effects, 10u) << "seed " << seed << "\n" << print(graph, small);
  }
  EXPECT_GT(differing, 3);
}

}  // namespace
}  // namespace xlog::kernel
