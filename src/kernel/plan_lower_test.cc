#include "kernel/plan_lower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernel/plan_builder.h"
#include "kernel/text.h"
#include "kernel/verify.h"

namespace xlog::kernel {
namespace {

size_t count_ops(const Graph& graph, Id plan, Op op) {
  return std::ranges::count_if(graph.operands(graph.body(plan)),
                               [&](Id effect) { return graph.op(effect) == op; });
}

std::set<std::string> kernels_of(const Graph& graph, Id plan) {
  std::set<Id> ids;
  std::set<std::string> names;
  for (Id effect : graph.operands(graph.body(plan))) {
    if (graph.op(effect) != Op::Launch) continue;
    const Id kernel = graph.operand(effect, 0);
    const std::string& name = graph.kernel_info(kernel).name;
    if (!ids.insert(kernel).second) continue;
    // Bodies differ; the kernels of the library are there once each.
    const bool is_body = name == "map" || name.starts_with("expand_");
    EXPECT_TRUE(names.insert(name).second || is_body) << name << " was built twice";
  }
  return names;
}

void expect_well_formed(const Graph& graph, Id plan) {
  for (const Problem& problem : verify(graph, plan, Spec::Plan)) {
    ADD_FAILURE() << problem.message << "\n" << print(graph, plan);
  }
}

// A plan with every skeleton in it.
Id build_all(Graph& graph) {
  PlanBuilder p(graph, "all");
  const Buffer x = p.in(Type::U32, "x");
  const Buffer w = p.in(Type::F64, "w");
  const Value b = p.val(Type::U32, "b");
  const Value n = p.len(x);
  const Columns odd = p.map(n, [&](Value i) { return Values{x[i] & 1, i}; });
  const Rows rows = p.expand(n, [&](Value i) {
    p.for_range(p.u32(0), x[i], [&](Value j) { p.emit({i, j + b}); });
  });
  const Sorted sorted = p.sort({x, w});
  const Partitioned parts = p.partition(odd[0], p.u32(2));
  const Columns results = {
      rows.columns[1],
      p.scan(Fold::Add, x).before,
      p.reduce(Fold::Max, w),
      sorted.permutation,
      sorted.columns[1],
      parts.starts,
      p.segment(Fold::Add, odd[0], w),
      p.segment(Fold::Min, odd[0], x),
      p.merge({sorted.columns[0]}, {sorted.columns[0]}),
      p.copy({x, odd[1]}),
  };
  return p.finish(results);
}

TEST(PlanLower, LeavesLaunchesAndHostArithmetic) {
  for (bool groups : {false, true}) {
    Graph graph;
    const Id plan = build_all(graph);
    expect_well_formed(graph, plan);
    const Id lowered = lower_plan(graph, plan, {groups, 4});
    expect_well_formed(graph, lowered);
    for (Id effect : graph.operands(graph.body(lowered))) {
      const Op op = graph.op(effect);
      EXPECT_TRUE(op == Op::Buf || op == Op::Launch || op == Op::Copy || op == Op::Read ||
                  op == Op::Check || op == Op::Yield)
          << spelling(op);
    }
    EXPECT_EQ(lower_plan(graph, lowered, {groups, 4}), lowered);
    EXPECT_EQ(graph.params(lowered).size(), 3u);
    kernels_of(graph, lowered);
  }
}

TEST(PlanLower, AnExpandReadsOnceAndAScanNever) {
  Graph graph;
  PlanBuilder p(graph, "reads");
  const Buffer x = p.in(Type::U32, "x");
  const Rows rows = p.expand(p.len(x), [&](Value i) { p.emit({x[i]}); });
  const Buffer before = p.scan(Fold::Add, rows.columns[0]).before;
  const Id lowered = lower_plan(graph, p.finish({before}), {});
  EXPECT_EQ(count_ops(graph, lowered, Op::Read), 1u);
  const std::set<std::string> names = kernels_of(graph, lowered);
  EXPECT_TRUE(names.contains("expand_count"));
  EXPECT_TRUE(names.contains("expand_emit"));
}

TEST(PlanLower, SegmentsOverTheSameRunsShareTheirScan) {
  Graph graph;
  PlanBuilder p(graph, "share");
  const Buffer heads = p.in(Type::U32, "heads");
  const Buffer x = p.in(Type::I64, "x");
  const Id once = p.finish({p.segment(Fold::Add, heads, x)});
  PlanBuilder q(graph, "share");
  const Buffer heads2 = q.in(Type::U32, "heads");
  const Buffer x2 = q.in(Type::I64, "x");
  const Id twice = q.finish({q.segment(Fold::Add, heads2, x2), q.segment(Fold::Max, heads2, x2)});
  EXPECT_EQ(count_ops(graph, lower_plan(graph, once, {}), Op::Read), 1u);
  EXPECT_EQ(count_ops(graph, lower_plan(graph, twice, {}), Op::Read), 1u);
}

TEST(PlanLower, ALaunchThatWritesTheHeadsEndsTheSharing) {
  constexpr std::string_view kText =
      "kernel fill(n: u32, h: MODE u32) {\n"
      "  i = grid n\n"
      "  WRITE\n"
      "}\n"
      "kernel look(n: u32, h: in u32) {\n"
      "  i = grid n\n"
      "  check 7 (lt (load h i) 2)\n"
      "}\n"
      "plan p(x: in u32) {\n"
      "  n = len x\n"
      "  h = buf u32 n\n"
      "  a = segment.add h x\n"
      "  launch look n h\n"
      "  b = segment.max h x\n"
      "  LAUNCH\n"
      "  c = segment.min h x\n"
      "  yield a b c\n"
      "}\n";
  auto reads = [&](std::string_view mode, std::string_view write, bool launch) {
    std::string text(kText);
    auto put = [&](std::string_view what, std::string_view by) {
      text.replace(text.find(what), what.size(), by);
    };
    put("MODE", mode);
    put("WRITE", write);
    put("LAUNCH", launch ? "launch fill n h" : "");
    Graph graph;
    const Result<std::vector<Id>> parsed = parse(graph, text, "plan");
    EXPECT_TRUE(parsed.ok()) << parsed.error().text();
    return count_ops(graph, lower_plan(graph, parsed->back(), {}), Op::Read);
  };
  EXPECT_EQ(reads("out", "store h i 1", false), 1u);
  EXPECT_EQ(reads("out", "store h i 1", true), 2u);
  EXPECT_EQ(reads("own", "store h i (load h i)", true), 2u);
  EXPECT_EQ(reads("acc", "atomic.or h i 1", true), 2u);
}

TEST(PlanLower, OnlyLengthsThatMayDifferAreChecked) {
  Graph graph;
  PlanBuilder p(graph, "lengths");
  const Buffer x = p.in(Type::U32, "x");
  const Buffer y = p.in(Type::U32, "y");
  const Value n = p.len(x);
  const Columns same = p.map(n, [&](Value i) { return Values{x[i], i}; });
  const Buffer checked_once = p.sort({x, y, x}).permutation;
  const Buffer not_checked = p.sort(same).permutation;
  const Id lowered = lower_plan(graph, p.finish({checked_once, not_checked}), {});
  EXPECT_EQ(count_ops(graph, lowered, Op::Check), 1u);
}

TEST(PlanLower, ABodyMayBeDeeperThanTheStack) {
  Graph graph;
  PlanBuilder p(graph, "deep");
  const Value n = p.val(Type::U32, "n");
  const Columns y = p.map(n, [&](Value i) {
    Value v = i;
    for (int k = 0; k < 200000; ++k) v = (v * 3) ^ n;
    return Values{v};
  });
  const Id lowered = lower_plan(graph, p.finish(y), {});
  EXPECT_EQ(count_ops(graph, lowered, Op::Launch), 1u);
}

TEST(PlanLower, AHostCheckIsPartOfAPlan) {
  Graph graph;
  const Result<std::vector<Id>> parsed = parse(graph,
                                               "plan p(x: in u32, y: in u32) {\n"
                                               "  check length (eq (len x) (len y))\n"
                                               "  check 9 (lt (len x) 8)\n"
                                               "  yield x\n"
                                               "}\n",
                                               "plan");
  ASSERT_TRUE(parsed.ok()) << parsed.error().text();
  const Id plan = parsed->back();
  expect_well_formed(graph, plan);
  EXPECT_TRUE(verify(graph, plan, Spec::ReadyPlan).empty());
  EXPECT_NE(print(graph, plan).find("check 4 "), std::string::npos) << print(graph, plan);
  EXPECT_NE(print(graph, plan).find("check 9 "), std::string::npos);
}

TEST(PlanLower, PlansAreTextToo) {
  Graph graph;
  const Id plan = build_all(graph);
  for (Id each : {plan, lower_plan(graph, plan, {false, 2}), lower_plan(graph, plan, {true, 2})}) {
    const std::string text = print(graph, each);
    Graph copy;
    Result<std::vector<Id>> parsed = parse(copy, text, "plan");
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    EXPECT_EQ(print_canonical(copy, parsed->back()), print_canonical(graph, each));
  }
}

}  // namespace
}  // namespace xlog::kernel
