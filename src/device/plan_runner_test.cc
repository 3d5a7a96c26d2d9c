// What a run of a plan refuses, and that it leaves nothing behind.
#include "device/plan_runner.h"

#include <gtest/gtest.h>

#include "device/plan_fixture.h"
#include "kernel/text.h"

namespace xlog::device {
namespace {

using kernel::Graph;
using kernel::Id;
using kernel::PlanBuilder;
using kernel::Scalar;
using kernel::Type;
using kernel::Value;

class PlanRunnerTest : public PlanTest {
 protected:
  // The plans of a text, ready to run.
  std::vector<PlanRunner> runners(Graph& graph, const std::string& text) {
    Result<std::vector<Id>> parsed = kernel::parse(graph, text, "plans");
    EXPECT_TRUE(parsed.ok()) << parsed.error().text();
    std::vector<PlanRunner> all;
    for (Id id : *parsed) {
      if (graph.op(id) != kernel::Op::Plan) continue;
      Result<PlanRunner> runner = make_runner(*device, graph, id, GetParam().target);
      EXPECT_TRUE(runner.ok()) << runner.error().text();
      all.push_back(std::move(*runner));
    }
    return all;
  }

  Column rows(size_t n) { return to_device(*device, std::vector<uint32_t>(n, 1)); }
};

INSTANTIATE_TEST_SUITE_P(Devices, PlanRunnerTest, ::testing::ValuesIn(plan_settings()),
                         ::testing::PrintToStringParamName());

TEST_P(PlanRunnerTest, ASegmentSeesWhatALaunchWroteBeforeIt) {
  Graph graph;
  auto plan = runners(graph,
                      "kernel fill(n: u32, h: out u32, v: u32) {\n"
                      "  i = grid n\n"
                      "  store h i (cast u32 (eq (rem i v) 0))\n"
                      "}\n"
                      "plan p(x: in u32) {\n"
                      "  n = len x\n"
                      "  h = buf u32 n\n"
                      "  launch fill n h 2\n"
                      "  a = segment.add h x\n"
                      "  launch fill n h 3\n"
                      "  b = segment.add h x\n"
                      "  yield a b\n"
                      "}\n");
  auto results = plan[0].run(
      std::vector<PlanValue>{to_device(*device, std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(results.ok()) << results.error().text();
  EXPECT_EQ(to_host<uint32_t>(*device, (*results)[0]), (std::vector<uint32_t>{1, 5, 9, 6}));
  EXPECT_EQ(to_host<uint32_t>(*device, (*results)[1]), (std::vector<uint32_t>{3, 12, 6}));
}

TEST_P(PlanRunnerTest, ColumnsOfOneTableHaveOneLength) {
  Graph graph;
  auto plans = runners(graph,
                       "plan sorts(x: in u32, y: in u32) {\n"
                       "  o, a, b = sort x y\n"
                       "  yield o a b\n"
                       "}\n"
                       "plan folds(x: in u32, y: in u32) {\n"
                       "  f = segment.add x y\n"
                       "  yield f\n"
                       "}\n"
                       "plan merges(x: in u32, y: in u32) {\n"
                       "  s = merge x x / x y\n"
                       "  yield s\n"
                       "}\n"
                       "plan merges_first(x: in u32, y: in u32) {\n"
                       "  s = merge y x / y y\n"
                       "  yield s\n"
                       "}\n");
  const std::string where[] = {"plan sorts: columns of unequal length in sort (check 4)",
                               "plan folds: columns of unequal length in segment (check 4)",
                               "plan merges: columns of unequal length in the second run of merge "
                               "(check 4)",
                               "plan merges_first: columns of unequal length in the first run of "
                               "merge (check 4)"};
  for (size_t k = 0; k < plans.size(); ++k) {
    EXPECT_TRUE(plans[k].run(std::vector<PlanValue>{rows(5), rows(5)}).ok());
    for (auto [a, b] : {std::pair(5, 4), std::pair(4, 5), std::pair(0, 1), std::pair(3000, 0)}) {
      const auto fails = plans[k].run(std::vector<PlanValue>{rows(a), rows(b)});
      ASSERT_FALSE(fails.ok()) << a << " " << b;
      EXPECT_EQ(fails.error().message, where[k]);
    }
  }
}

TEST_P(PlanRunnerTest, CountsThatDoNotFitAreRefused) {
  Graph graph;
  // The buffer is larger than anything that is read or written: it only has to be there.
  auto plans = runners(graph,
                       "plan parts(x: in u32, b: u32) {\n"
                       "  s = partition x b\n"
                       "  yield s\n"
                       "}\n"
                       "plan merges(n: u32) {\n"
                       "  x = buf.unset u8 n\n"
                       "  y = buf.unset u8 n\n"
                       "  s = merge x / y\n"
                       "  yield s\n"
                       "}\n");
  EXPECT_TRUE(plans[0].run(std::vector<PlanValue>{rows(5), Scalar::u32(7)}).ok());
  const auto parts = plans[0].run(std::vector<PlanValue>{rows(5), Scalar::u32(UINT32_MAX)});
  ASSERT_FALSE(parts.ok());
  EXPECT_EQ(parts.error().message, "plan parts: too many buckets in partition (check 1)");
  EXPECT_TRUE(plans[1].run(std::vector<PlanValue>{Scalar::u32(0)}).ok());
  if (GetParam().device != "cpu") return;  // where memory that nobody touches is free
  const auto merged = plans[1].run(std::vector<PlanValue>{Scalar::u32(1u << 31)});
  ASSERT_FALSE(merged.ok());
  EXPECT_EQ(merged.error().message, "plan merges: more rows than 32 bits count in merge (check 1)");
}

TEST_P(PlanRunnerTest, AHostCheckEndsThePlan) {
  Graph graph;
  auto plan = runners(graph,
                      "kernel fails(n: u32, y: in u32) {\n"
                      "  i = grid n\n"
                      "  check full (eq (load y i) 1)\n"
                      "}\n"
                      "plan p(y: in u32, most: u32) {\n"
                      "  launch fails (len y) y\n"
                      "  check 9 (lt (len y) most)\n"
                      "  yield y\n"
                      "}\n");
  auto message = [&](uint32_t value, uint32_t most) {
    const Column y = to_device(*device, std::vector<uint32_t>(6, value));
    const auto result = plan[0].run(std::vector<PlanValue>{y, Scalar::u32(most)});
    return result.ok() ? "" : result.error().message;
  };
  EXPECT_EQ(message(1, 7), "");
  EXPECT_EQ(message(1, 6), "plan p: a check failed (check 9)");
  // What comes first in the plan is reported first, and only once.
  EXPECT_EQ(message(2, 6), "plan p: a table has no room left (check 2, instance 0, in fails)");
  EXPECT_EQ(message(1, 7), "");
}

TEST_P(PlanRunnerTest, AnErrorLeavesNoFailedCheckBehind) {
  Graph graph;
  std::string text =
      "kernel fails(n: u32, y: in u32) {\n"
      "  i = grid n\n"
      "  check full (eq (load y i) 0)\n"
      "}\n"
      "plan bad(y: in u32) {\n"
      "  launch fails (len y) y\n"
      "  x = buf.unset u8 16777216\n"
      "  z = copy";
  for (int k = 0; k < 256; ++k) text += " x";
  text +=
      "\n  yield z\n"
      "}\n"
      "kernel fine(n: u32, y: in u32, z: out u32) {\n"
      "  i = grid n\n"
      "  v = load y i\n"
      "  check overflow (lt v 100)\n"
      "  store z i v\n"
      "}\n"
      "plan good(y: in u32) {\n"
      "  z = buf u32 (len y)\n"
      "  launch fine (len y) y z\n"
      "  yield z\n"
      "}\n";
  auto plans = runners(graph, text);
  const std::vector<PlanValue> y = {rows(3)};
  EXPECT_TRUE(plans[1].run(y).ok());
  const auto fails = plans[0].run(y);
  ASSERT_FALSE(fails.ok());
  EXPECT_NE(fails.error().message.find("a copy would have 4294967296 rows"), std::string::npos)
      << fails.error().message;
  const auto after = plans[1].run(y);
  EXPECT_TRUE(after.ok()) << after.error().message;
}

TEST(PlanRunner, HostArithmeticMayBeDeeperThanTheStack) {
  auto device = open_for_test("interp");
  Graph graph;
  PlanBuilder p(graph, "deep");
  const Value n = p.val(Type::U32, "n");
  Value v = n;
  uint32_t expected = 5;
  for (int k = 0; k < 200000; ++k) {
    v = (v * 3) ^ n;
    expected = (expected * 3) ^ 5;
  }
  Result<PlanRunner> runner = PlanRunner::make(*device, graph, p.finish_ids({v.id}));
  ASSERT_TRUE(runner.ok());
  const auto results = runner->run(std::vector<PlanValue>{Scalar::u32(5)});
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(std::get<Scalar>((*results)[0]), Scalar::u32(expected));
}

}  // namespace
}  // namespace xlog::device
