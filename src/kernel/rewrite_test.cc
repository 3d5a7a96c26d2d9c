#include "kernel/rewrite.h"

#include <gtest/gtest.h>

#include "kernel/rules.h"

namespace xlog::kernel {
namespace {

// Nodes of an expression, each use counted.
Weight size_measure(const Graph&, Id) { return {1, 0, 0, 0}; }

constexpr Rule kFirst[] = {
    rule("first", "(add ?x 0)", "?x"),
    rule("second", "(add ?x #c)", "(sub ?x #c)"),
};
constexpr Rule kGrowing[] = {rule("grow", "(add ?x ?y)", "(add (sub ?x 1) ?y)")};
constexpr Rule kCircle[] = {
    rule("there", "(add ?x #c)", "(sub ?x #c)"),
    rule("back", "(sub ?x #c)", "(add ?x #c)"),
};
constexpr Rule kTyped[] = {
    rule("cast-by-name", "(add ?x:u64 (cast ?y:u32))", "(cast:u64 (add (cast:u32 ?x) ?y))"),
    rule("computed", "(mul ?x:int #c)", "(shl ?x (ctz #c))", "(eq (popc #c) 1)"),
    rule("numbers", "(min ?x:u32 ?y)", "(select (lt ?x 7) (add 1 ?y) 0)"),
};

class Rewrites : public testing::Test {
 protected:
  Id apply(std::span<const Rule> rules, Id node, Measure measure = size_measure) {
    RuleSet set("test", {rules}, measure);
    return Rewriter(context_, set).normal(node);
  }

  Graph graph_;
  Target target_;
  RewriteLog log_;
  PassContext context_{graph_, target_, &log_, "test", 0, {}};
  Id x_ = graph_.parameter(0, Type::U32, Mode::Val);
  Id wide_ = graph_.parameter(1, Type::U64, Mode::Val);
};

TEST_F(Rewrites, TakeTheFirstRuleThatFits) {
  const Id zero = graph_.constant(Scalar::u32(0));
  EXPECT_EQ(apply(kFirst, graph_.make(Op::Add, {x_, zero})), x_);
  ASSERT_EQ(log_.rewrites.size(), 1u);
  EXPECT_EQ(log_.rewrites[0].rule, "first");
  EXPECT_EQ(log_.rewrites[0].pass, "test");
}

TEST_F(Rewrites, SwapOperandsOfCommutativeOps) {
  const Id y = graph_.parameter(2, Type::U32, Mode::Val);
  const Id sum = graph_.make(Op::Sub, {graph_.make(Op::Add, {y, x_}), x_});
  EXPECT_EQ(Rewriter(context_, simplify_rules()).normal(sum), y);
}

TEST_F(Rewrites, GiveTypesToNumbersAndCasts) {
  const Id sum = graph_.make(Op::Add, {wide_, graph_.cast(Type::U64, x_)});
  EXPECT_EQ(describe(graph_, apply(kTyped, sum, nullptr)),
            "(cast:u64 (add (cast:u32 %1:u64) %0:u32))");
  const Id product = graph_.make(Op::Mul, {wide_, graph_.constant(Scalar::u64(1ull << 40))});
  EXPECT_EQ(describe(graph_, apply(kTyped, product, nullptr)), "(shl %1:u64 40:u64)");
  const Id least = graph_.make(Op::Min, {x_, graph_.constant(Scalar::u32(9))});
  EXPECT_EQ(describe(graph_, apply(kTyped, least, nullptr)),
            "(select (lt %0:u32 7:u32) (add 1:u32 9:u32) 0:u32)");
}

TEST_F(Rewrites, MeasureCountsSharedNodesByUse) {
  const Id twice = graph_.make(Op::Add, {x_, x_});
  const Id four = graph_.make(Op::Add, {twice, twice});
  EXPECT_EQ(measure_change(graph_, size_measure, four, twice), (Weight{-4, 0, 0, 0}));
  EXPECT_EQ(measure_change(graph_, size_measure, four, four), Weight{});
}

#ifndef NDEBUG
TEST_F(Rewrites, RulesThatDoNotLowerTheirMeasureAbort) {
  const Id sum = graph_.make(Op::Add, {x_, x_});
  EXPECT_DEATH(apply(kGrowing, sum), "rule grow of test does not lower the measure");
}
#endif

TEST_F(Rewrites, RulesInACircleRunOutOfFuel) {
  const Id sum = graph_.make(Op::Add, {x_, graph_.constant(Scalar::u32(1))});
  EXPECT_DEATH(apply(kCircle, sum, nullptr), "out of fuel for one node; the last rules were");
  EXPECT_DEATH(apply(kGrowing, sum, nullptr), "out of fuel");
}

}  // namespace
}  // namespace xlog::kernel
