#include "kernel/graph.h"

#include <gtest/gtest.h>

#include <random>

#include "kernel/builder.h"
#include "kernel/place.h"
#include "kernel/rebuild.h"

namespace xlog::kernel {
namespace {

TEST(Graph, PureNodesAreInterned) {
  Graph graph;
  const Id x = graph.parameter(0, Type::U32, Mode::Val),
           y = graph.parameter(1, Type::U32, Mode::Val);
  EXPECT_EQ(graph.make(Op::Add, {x, y}), graph.make(Op::Add, {x, y}));
  EXPECT_NE(graph.make(Op::Add, {x, y}), graph.make(Op::Add, {y, x}));
  EXPECT_NE(graph.make(Op::Add, {x, y}), graph.make(Op::Sub, {x, y}));
  EXPECT_EQ(graph.parameter(0, Type::U32, Mode::Val), x);
  EXPECT_NE(graph.parameter(0, Type::U32, Mode::In), x);
  EXPECT_NE(graph.cast(Type::U64, x), graph.cast(Type::I64, x));
  EXPECT_EQ(graph.cast(Type::U32, x), x);
  const Id f = graph.parameter(2, Type::F32, Mode::Val);
  EXPECT_NE(graph.bitcast(Type::U32, f), graph.bitcast(Type::U32, f, true));
  EXPECT_TRUE(graph.is_raw(graph.bitcast(Type::U32, f, true)));
}

TEST(Graph, ConstantsKeepTypeAndBits) {
  Graph graph;
  const Scalar values[] = {
      Scalar::u32(1),        Scalar::u64(1),          Scalar::i32(-1),
      Scalar::i64(-1),       Scalar::u64(UINT64_MAX), Scalar::f32(-0.0f),
      Scalar::f32(0.0f),     Scalar::f64(-0.0),       {Type::F64, 0x7ff0000000000001},
      Scalar::boolean(true), Scalar::u8(1),           Scalar::u64(uint64_t{1} << 32)};
  for (Scalar a : values) {
    EXPECT_EQ(graph.value(graph.constant(a)), a);
    for (Scalar b : values) EXPECT_EQ(graph.constant(a) == graph.constant(b), a == b);
  }
}

TEST(Graph, EffectsAreNeverShared) {
  Graph graph;
  const Id b = graph.parameter(0, Type::U32, Mode::In), zero = graph.constant(Scalar::u32(0));
  EXPECT_NE(graph.make(Op::Load, {b, zero}), graph.make(Op::Load, {b, zero}));
  EXPECT_NE(graph.make(Op::Barrier, {}), graph.make(Op::Barrier, {}));
  EXPECT_NE(graph.alloc(Type::U32, 4, Space::Local), graph.alloc(Type::U32, 4, Space::Local));
}

TEST(Graph, LongOperandListsStayInPlace) {
  Graph graph;
  std::vector<Id> blocks;
  std::vector<std::vector<Id>> expected;
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) {
    std::vector<Id> effects;
    const size_t count = random() % 100 == 0 ? 10000 : random() % 40;
    for (size_t k = 0; k < count; ++k) effects.push_back(graph.make(Op::Barrier, {}));
    blocks.push_back(graph.block(effects));
    expected.push_back(effects);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_TRUE(std::ranges::equal(graph.operands(blocks[i]), expected[i])) << i;
  }
}

TEST(Graph, IdsAreTopologicalAndRepeatable) {
  auto build = [](Graph& graph) {
    std::mt19937_64 random(7);
    std::vector<Id> values = {graph.parameter(0, Type::U32, Mode::Val)};
    for (int i = 0; i < 20000; ++i) {
      const Op ops[] = {Op::Add, Op::Mul, Op::Xor, Op::Min};
      const Id a = values[random() % values.size()], b = values[random() % values.size()];
      values.push_back(graph.make(ops[random() % 4], {a, b}));
    }
    return values;
  };
  Graph first, second;
  EXPECT_EQ(build(first), build(second));
  for (uint32_t i = 0; i < first.size(); ++i) {
    for (Id operand : first.operands(Id{i})) ASSERT_LT(operand.index, i);
  }
}

TEST(Graph, WithOperandsKeepsWhatTheNodeIs) {
  Graph graph;
  const Id x = graph.parameter(0, Type::F32, Mode::Val),
           y = graph.parameter(1, Type::F32, Mode::Val);
  const Id raw = graph.bitcast(Type::U32, x, true);
  const Id other = graph.with_operands(raw, std::span(&y, 1));
  EXPECT_TRUE(graph.is_raw(other));
  EXPECT_EQ(graph.type(other), Type::U32);
  EXPECT_EQ(graph.with_operands(raw, std::span(&x, 1)), raw);
}

TEST(Graph, TypeProblemsSayWhatIsWrong) {
  Graph graph;
  const Id u = graph.parameter(0, Type::U32, Mode::Val),
           f = graph.parameter(1, Type::F32, Mode::Val);
  const Id b = graph.parameter(2, Type::U32, Mode::In);
  auto problem = [&](Op op, std::initializer_list<Id> operands) {
    return type_problem(graph, op, std::span(operands));
  };
  EXPECT_EQ(problem(Op::Add, {u, u}), "");
  EXPECT_NE(problem(Op::Add, {u, f}), "");
  EXPECT_NE(problem(Op::Add, {u}), "");
  EXPECT_NE(problem(Op::Add, {u, b}), "");
  EXPECT_NE(problem(Op::And, {f, f}), "");
  EXPECT_NE(problem(Op::Sqrt, {u}), "");
  EXPECT_NE(problem(Op::Select, {u, u, u}), "");
  EXPECT_EQ(problem(Op::Load, {b, u}), "");
  EXPECT_NE(problem(Op::Load, {u, u}), "");
  EXPECT_NE(problem(Op::Load, {b, f}), "");
  EXPECT_NE(problem(Op::Store, {b, u, f}), "");
  EXPECT_NE(problem(Op::Check, {u}), "");
  EXPECT_NE(cast_problem(Op::Bitcast, Type::U32, Type::F64), "");
  EXPECT_NE(cast_problem(Op::Bitcast, Type::Bool, Type::U8), "");
  EXPECT_EQ(cast_problem(Op::Cast, Type::Bool, Type::F64), "");
}

// A chain as deep as this overflows the stack of a walk that calls itself.
TEST(Graph, DeepChainsAreWalked) {
  Graph graph;
  KernelBuilder k(graph, "deep");
  Value n = k.val(Type::U32, "n");
  Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  Value v = in[i];
  for (int step = 0; step < 100000; ++step) v = (v ^ (v >> 7)) + step;
  k.store(out, i, v);
  const Id kernel = k.finish();
  EXPECT_GT(reachable(graph, kernel).size(), 300000u);

  Rebuild again(graph);
  EXPECT_EQ(again.run(kernel), kernel);
}

}  // namespace
}  // namespace xlog::kernel
