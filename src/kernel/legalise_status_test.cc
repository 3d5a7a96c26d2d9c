#include <gtest/gtest.h>

#include "kernel/builder.h"
#include "kernel/pass.h"
#include "kernel/place.h"

namespace xlog::kernel {
namespace {

const Target kTarget{.name = "test"};

std::vector<Id> all_of(const Graph& graph, Id kernel, Op op) {
  std::vector<Id> found;
  for (Id id : reachable(graph, kernel)) {
    if (graph.op(id) == op) found.push_back(id);
  }
  return found;
}

TEST(ChecksToStatus, ReportsTheGridIndexByCode) {
  Graph graph;
  KernelBuilder k(graph, "checked");
  Value n = k.val(Type::U32, "n");
  Buffer in = k.in(Type::U32, "in");
  Value i = k.grid(n);
  Value v = in[i];
  k.check(3, v < 10);
  k.check(5, v != 7);
  PassContext context{graph, kTarget};
  const Id kernel = checks_to_status(context, k.finish());

  ASSERT_EQ(context.hidden.size(), 1u);
  EXPECT_EQ(context.hidden[0].kind, HiddenParam::Kind::Status);
  ASSERT_EQ(graph.params(kernel).size(), 3u);
  const Id status = graph.params(kernel)[2];
  EXPECT_EQ(graph.mode(status), Mode::Acc);
  EXPECT_EQ(graph.type(status), Type::U32);
  EXPECT_EQ(graph.position(status), 2u);
  EXPECT_TRUE(all_of(graph, kernel, Op::Check).empty());

  const auto reports = all_of(graph, kernel, Op::Atomic);
  ASSERT_EQ(reports.size(), 2u);
  for (size_t k_report = 0; k_report < 2; ++k_report) {
    const auto operands = graph.operands(reports[k_report]);
    EXPECT_EQ(graph.fold(reports[k_report]), Fold::Min);
    EXPECT_EQ(operands[0], status);
    EXPECT_EQ(graph.value(operands[1]).as_u32(), k_report == 0 ? 3u : 5u);
    EXPECT_EQ(operands[2], i.id);
  }
}

TEST(ChecksToStatus, InstanceOfALaneCountsAcrossGroups) {
  Graph graph;
  KernelBuilder k(graph, "lanes", 64);
  Value g = k.group(k.val(Type::U32, "n"));
  k.check(1, k.lane() < 5);
  PassContext context{graph, kTarget};
  const Id kernel = checks_to_status(context, k.finish());
  const auto reports = all_of(graph, kernel, Op::Atomic);
  ASSERT_EQ(reports.size(), 1u);
  // The group is named nowhere in this kernel, so it has one group, and the instance is the lane.
  EXPECT_EQ(graph.operand(reports[0], 2), k.lane().id);

  KernelBuilder both(graph, "both", 64);
  Value n = both.val(Type::U32, "n");
  Buffer in = both.in(Type::U32, "in");
  g = both.group(n);
  both.check(1, in[g] == 0);
  PassContext fresh{graph, kTarget};
  const Id second = checks_to_status(fresh, both.finish());
  EXPECT_EQ(graph.operand(all_of(graph, second, Op::Atomic)[0], 2), (g * 64 + both.lane()).id);
}

// A kernel with one loop; `body` gives the next flag.
Id loop_kernel(Graph& graph, Value (*go)(Builder&), Value (*again)(Builder&, Value t),
               uint32_t bound) {
  KernelBuilder k(graph, "loop");
  Buffer out = k.out(Type::U32, "out");
  Values r = k.loop(k.u32(bound), go(k), {k.u32(0)}, [&](Value t, const Values& carried) {
    return std::pair{again(k, t), Values{carried[0] + t}};
  });
  k.store(out, k.u32(0), r[0]);
  return k.finish();
}

TEST(ChecksToStatus, LoopsReportTheirBound) {
  Graph graph;
  auto yes = [](Builder& k) { return k.boolean(true); };
  auto no = [](Builder& k) { return k.boolean(false); };
  auto below = [](Builder&, Value t) { return t < 5; };
  auto never = [](Builder& k, Value) { return k.boolean(false); };

  PassContext context{graph, kTarget};
  Id kernel = checks_to_status(context, loop_kernel(graph, yes, below, 4));
  const auto reports = all_of(graph, kernel, Op::If);
  ASSERT_EQ(reports.size(), 1u);
  const Id flag = graph.operand(reports[0], 0);
  ASSERT_EQ(graph.op(flag), Op::Proj);
  EXPECT_EQ(graph.result_index(flag), 1u);
  EXPECT_EQ(graph.type(flag), Type::Bool);

  // Loops that cannot be stopped by their bound need no status.
  for (Id quiet : {loop_kernel(graph, no, below, 4), loop_kernel(graph, yes, never, 4)}) {
    PassContext fresh{graph, kTarget};
    EXPECT_EQ(checks_to_status(fresh, quiet), quiet);
    EXPECT_TRUE(fresh.hidden.empty());
  }
  PassContext fresh{graph, kTarget};
  Id stopped = loop_kernel(graph, yes, never, 0);  // wants to start and may not
  EXPECT_NE(checks_to_status(fresh, stopped), stopped);
}

TEST(ChecksToStatus, OneStatusForAll) {
  Graph graph;
  KernelBuilder k(graph, "twice");
  Value i = k.grid(k.val(Type::U32, "n"));
  k.check(1, i < 5);
  PassContext context{graph, kTarget};
  Id kernel = checks_to_status(context, k.finish());
  EXPECT_EQ(checks_to_status(context, kernel), kernel);
  EXPECT_EQ(context.hidden.size(), 1u);
}

TEST(LengthsToParams, AppendsNumbersInTheOrderOfBuffers) {
  Graph graph;
  KernelBuilder k(graph, "lengths");
  Value n = k.val(Type::U32, "n");
  Buffer a = k.in(Type::U32, "a"), b = k.in(Type::U64, "b"), out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  k.check(2, i < k.len(b));
  k.store(out, i, k.len(a) + k.len(b) + k.len(out));
  PassContext context{graph, kTarget};
  Id kernel = lengths_to_params(context, k.finish());
  kernel = checks_to_status(context, kernel);

  EXPECT_TRUE(all_of(graph, kernel, Op::Len).empty());
  ASSERT_EQ(graph.params(kernel).size(), 8u);
  ASSERT_EQ(context.hidden.size(), 4u);
  const uint32_t of[] = {1, 2, 3};
  for (uint32_t h = 0; h < 3; ++h) {
    EXPECT_EQ(context.hidden[h].kind, HiddenParam::Kind::Length);
    EXPECT_EQ(context.hidden[h].of, of[h]);
    const Id param = graph.params(kernel)[4 + h];
    EXPECT_EQ(graph.mode(param), Mode::Val);
    EXPECT_EQ(graph.type(param), Type::U32);
    EXPECT_EQ(graph.position(param), 4 + h);
  }
  EXPECT_EQ(context.hidden[3].kind, HiddenParam::Kind::Status);
}

TEST(LengthsToParams, NothingToDo) {
  Graph graph;
  KernelBuilder k(graph, "plain");
  Buffer out = k.out(Type::U32, "out");
  k.store(out, k.u32(0), k.u32(1));
  const Id kernel = k.finish();
  PassContext context{graph, kTarget};
  EXPECT_EQ(lengths_to_params(context, kernel), kernel);
  EXPECT_EQ(checks_to_status(context, kernel), kernel);
  EXPECT_TRUE(context.hidden.empty());
}

}  // namespace
}  // namespace xlog::kernel
