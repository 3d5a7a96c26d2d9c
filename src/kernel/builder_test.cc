#include "kernel/builder.h"

#include <gtest/gtest.h>

#include "kernel/text.h"

namespace xlog::kernel {
namespace {

TEST(Builder, ReadsLikeTheLoopItMakes) {
  Graph graph;
  KernelBuilder k(graph, "bucket");
  Value n = k.val(Type::U32, "n");
  Buffer key = k.in(Type::U32, "key"), out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  Value h = key[i];
  Value mixed = (h ^ (h >> 16)) * 0x85ebca6b;
  k.store(out, i, mixed & 1023);
  const Id kernel = k.finish();

  EXPECT_EQ(graph.kernel_info(kernel).name, "bucket");
  EXPECT_EQ(graph.kernel_info(kernel).group, 0u);
  ASSERT_EQ(graph.params(kernel).size(), 3u);
  EXPECT_EQ(graph.name(graph.params(kernel)[1]), "key");
  EXPECT_EQ(graph.mode(graph.params(kernel)[2]), Mode::Out);
  const auto effects = graph.operands(graph.body(kernel));
  ASSERT_EQ(effects.size(), 2u);
  EXPECT_EQ(effects[0], h.id);
  EXPECT_EQ(graph.op(effects[1]), Op::Store);
  EXPECT_EQ(graph.operand(effects[1], 2), (mixed & k.u32(1023)).id);
}

TEST(Builder, NumbersTakeTheTypeOfTheOtherSide) {
  Graph graph;
  KernelBuilder k(graph, "numbers");
  Value wide = k.val(Type::I64, "wide"), real = k.val(Type::F32, "real");
  EXPECT_EQ((wide + -1).type(), Type::I64);
  EXPECT_EQ(graph.value(graph.operand((wide + -1).id, 1)), Scalar::i64(-1));
  EXPECT_EQ(graph.value(graph.operand((real * 2).id, 1)), Scalar::f32(2));
  EXPECT_EQ((wide < 5).type(), Type::Bool);
  EXPECT_EQ((wide != 5).id, (!(wide == 5)).id);
  EXPECT_EQ((wide <= wide).id, (!(wide < wide)).id);
  // NaN is not below, equal to or above anything.
  EXPECT_EQ((real <= real).id, ((real < real) | (real == real)).id);
}

TEST(Builder, ForCarriesValues) {
  Graph graph;
  KernelBuilder k(graph, "for");
  Value n = k.val(Type::U32, "n");
  Value seen_j, seen_a;
  Values r =
      k.for_range(k.u32(0), n, {k.u32(1), k.boolean(false)}, [&](Value j, const Values& carried) {
        seen_j = j;
        seen_a = carried[0];
        return Values{carried[0] + j, !carried[1]};
      });
  const Id kernel = k.finish();
  const Id loop = graph.operands(graph.body(kernel))[0];
  ASSERT_EQ(graph.op(loop), Op::For);
  EXPECT_EQ(graph.inits(loop).size(), 2u);
  EXPECT_EQ(graph.arg_index(seen_j.id), 0u);
  EXPECT_EQ(graph.arg_index(seen_a.id), 1u);
  EXPECT_EQ(graph.tag(seen_j.id), graph.tag(loop));
  EXPECT_EQ(graph.operand(r[1].id, 0), loop);
  EXPECT_EQ(graph.result_index(r[1].id), 1u);
  EXPECT_EQ(r[1].type(), Type::Bool);
  const Id yield = graph.operands(graph.body(loop)).back();
  ASSERT_EQ(graph.op(yield), Op::Yield);
  EXPECT_EQ(graph.operand(yield, 0), (seen_a + seen_j).id);
}

TEST(Builder, LoopYieldsItsFlagFirst) {
  Graph graph;
  KernelBuilder k(graph, "loop");
  Value flag;
  Values r = k.loop(k.u32(32), k.boolean(true), {k.u32(5)}, [&](Value t, const Values& c) {
    flag = t < 3;
    return std::pair{flag, Values{c[0] * 2}};
  });
  const Id kernel = k.finish();
  const Id loop = graph.operands(graph.body(kernel))[0];
  ASSERT_EQ(graph.op(loop), Op::Loop);
  const Id yield = graph.operands(graph.body(loop)).back();
  EXPECT_EQ(graph.operand(yield, 0), flag.id);
  EXPECT_EQ(graph.operands(yield).size(), 2u);
  EXPECT_EQ(graph.result_index(r[0].id), 0u);
}

TEST(Builder, BlocksHoldWhatWasWrittenInThem) {
  Graph graph;
  KernelBuilder k(graph, "blocks", 32);
  Buffer out = k.race(Type::U32, "out");
  Buffer tile = k.local(Type::U32, 32);
  k.if_then(
      k.lane() < 4, [&] { k.store(tile, k.lane(), k.u32(1)); },
      [&] {
        k.atomic(Fold::Add, out, k.u32(0), k.u32(1));
        k.cas(out, k.u32(0), k.u32(1), k.u32(2));
      });
  k.barrier();
  Value before = k.gscan(Fold::Add, k.lane());
  Value most = k.greduce(Fold::Max, k.lane());
  k.check(kCheckFull, before == most);
  const Id kernel = k.finish();
  EXPECT_EQ(graph.kernel_info(kernel).group, 32u);
  const Op expected[] = {Op::Alloc, Op::If, Op::Barrier, Op::GScan, Op::GReduce, Op::Check};
  const auto effects = graph.operands(graph.body(kernel));
  ASSERT_EQ(effects.size(), std::size(expected));
  for (size_t i = 0; i < effects.size(); ++i) EXPECT_EQ(graph.op(effects[i]), expected[i]);
  EXPECT_EQ(graph.operands(graph.operand(effects[1], 1)).size(), 1u);
  EXPECT_EQ(graph.operands(graph.operand(effects[1], 2)).size(), 2u);
  EXPECT_EQ(graph.code(effects[5]), kCheckFull);
}

TEST(Builder, KernelsOfOneGraphKeepTheirParameterNames) {
  Graph graph;
  auto build = [&](std::string_view name, std::string_view n, std::string_view out) {
    KernelBuilder k(graph, name);
    const Value size = k.val(Type::U32, n);
    const Buffer y = k.out(Type::U32, out);
    const Value i = k.grid(size);
    k.store(y, i, i);
    return k.finish();
  };
  // The parameters are the same nodes, and a node has one name.
  const Id first = build("first", "rows", "places");
  const Id second = build("second", "n", "y");
  EXPECT_EQ(graph.params(first)[1], graph.params(second)[1]);
  using Names = std::vector<std::string>;
  EXPECT_EQ(graph.kernel_info(first).param_names, (Names{"rows", "places"}));
  EXPECT_EQ(graph.kernel_info(second).param_names, (Names{"n", "y"}));
  EXPECT_NE(print(graph, first).find("first(rows: u32, places: out u32)"), std::string::npos);
}

TEST(BuilderDeath, TypeErrorsAbortWithTheReason) {
  Graph graph;
  KernelBuilder k(graph, "wrong");
  Value a = k.val(Type::U32, "a"), b = k.val(Type::F32, "b");
  EXPECT_DEATH(k.make(Op::Add, {a, b}), "one type");
  Buffer out = k.out(Type::U32, "out");
  EXPECT_DEATH(k.store(out, a, b), "the buffer holds u32");
}

}  // namespace
}  // namespace xlog::kernel
