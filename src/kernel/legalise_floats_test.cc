#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/sanitized.h"
#include "kernel/builder.h"
#include "kernel/pass.h"
#include "kernel/place.h"

namespace xlog::kernel {
namespace {

const Target kTarget{.name = "test"};

// The value of a pure node whose only free leaves are parameters.
Scalar compute(const Graph& graph, Id root, const std::vector<Scalar>& params) {
  std::map<Id, Scalar> known;
  for (Id id : reachable(graph, root)) {
    std::vector<Scalar> operands;
    for (Id operand : graph.operands(id)) operands.push_back(known[operand]);
    switch (graph.op(id)) {
      case Op::Const:
        known[id] = graph.value(id);
        break;
      case Op::Param:
        known[id] = params[graph.position(id)];
        break;
      case Op::Cast:
        known[id] = cast(graph.type(id), operands[0]);
        break;
      case Op::Bitcast:
        known[id] = bitcast(graph.type(id), operands[0], graph.is_raw(id));
        break;
      default:
        known[id] = evaluate(graph.op(id), operands);
    }
  }
  return known[root];
}

// Random bits, with the values where floats turn.
Scalar any_float(Type type, std::mt19937_64& random) {
  const uint64_t sign = (mask_of(bits_type(type)) >> 1) + 1;
  const uint64_t infinity =
      type == Type::F32 ? Scalar::f32(INFINITY).bits : Scalar::f64(INFINITY).bits;
  const uint64_t edges[] = {0,
                            sign,
                            1,
                            infinity,
                            infinity + 1,
                            infinity | sign,
                            infinity - 1,
                            canonical_nan(type).bits,
                            mask_of(type),
                            Scalar::of(type, 1).bits,
                            Scalar::of(type, -1).bits};
  if (random() % 2 == 0) return {type, edges[random() % std::size(edges)]};
  if (random() % 2 == 0) return Scalar::of(type, static_cast<int64_t>(random() % 400) - 200);
  return {type, random() & mask_of(type)};
}

struct Case {
  Graph graph;
  Id stored;  // the value of the kernel's only store, after the pass
};

// A kernel that stores f(a, b), after the pass.
Case lowered(Type type, Type result, const std::function<Value(Builder&, Value, Value)>& f) {
  Case made;
  KernelBuilder k(made.graph, "floats");
  Value a = k.val(type, "a"), b = k.val(type, "b");
  Buffer out = k.out(result, "out");
  k.store(out, k.u32(0), f(k, a, b));
  PassContext context{made.graph, kTarget};
  const Id kernel = floats_to_basic(context, k.finish());
  for (Id id : reachable(made.graph, kernel)) {
    const Op op = made.graph.op(id);
    EXPECT_NE(op, Op::Exp2);
    EXPECT_NE(op, Op::Log2);
    const bool is_min_max = op == Op::Min || op == Op::Max;
    EXPECT_FALSE(is_min_max && is_float(made.graph.type(id)));
    EXPECT_FALSE(op == Op::Bitcast && !made.graph.is_raw(id));
    if (op == Op::Store) made.stored = made.graph.operand(id, 2);
  }
  return made;
}

TEST(LegaliseFloats, ComputesWhatTheOpsDefine) {
  const uint64_t seed = 11;
  for (Type type : {Type::F32, Type::F64}) {
    for (Op op : {Op::Min, Op::Max, Op::Exp2, Op::Log2, Op::Add, Op::Mul, Op::Sqrt}) {
      const bool unary = info(op).operands == 1;
      Case c = lowered(type, type, [&](Builder& k, Value a, Value b) {
        return unary ? k.make(op, {a}) : k.make(op, {a, b});
      });
      std::mt19937_64 random(seed);
      for (int round = 0; round < 3000 / int{kPartOfWork}; ++round) {
        const Scalar operands[] = {any_float(type, random), any_float(type, random)};
        const Scalar expected = canonical(evaluate(op, std::span(operands, unary ? 1 : 2)));
        const Scalar got = compute(c.graph, c.stored, {operands[0], operands[1]});
        ASSERT_EQ(got, expected) << spelling(op) << " " << to_text(operands[0]) << " "
                                 << to_text(operands[1]) << " seed " << seed;
      }
    }
  }
}

TEST(LegaliseFloats, MinAndMaxWithConstants) {
  const uint64_t seed = 12;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000 / int{kPartOfWork}; ++round) {
    const Type type = round % 2 == 0 ? Type::F32 : Type::F64;
    const Op op = round % 4 < 2 ? Op::Min : Op::Max;
    const Scalar fixed = any_float(type, random);
    const bool first = random() % 2 == 0;
    Case c = lowered(type, type, [&](Builder& k, Value a, Value) {
      return first ? k.make(op, {k.constant(fixed), a}) : k.make(op, {a, k.constant(fixed)});
    });
    for (int i = 0; i < 20; ++i) {
      const Scalar x = any_float(type, random);
      const Scalar operands[] = {first ? fixed : x, first ? x : fixed};
      ASSERT_EQ(compute(c.graph, c.stored, {x, x}), canonical(evaluate(op, operands)))
          << spelling(op) << " " << to_text(operands[0]) << " " << to_text(operands[1]) << " seed "
          << seed;
    }
  }
}

TEST(LegaliseFloats, BitcastsMakeNansCanonical) {
  const uint64_t seed = 13;
  std::mt19937_64 random(seed);
  const std::pair<Type, Type> casts[] = {{Type::F32, Type::U32}, {Type::F32, Type::I32},
                                         {Type::F32, Type::F32}, {Type::F64, Type::U64},
                                         {Type::F64, Type::I64}, {Type::U32, Type::F32},
                                         {Type::I64, Type::F64}, {Type::I32, Type::U32}};
  for (auto [from, to] : casts) {
    Case c =
        lowered(from, to, [&, to = to](Builder& k, Value a, Value) { return k.bitcast(to, a); });
    for (int round = 0; round < 1000 / int{kPartOfWork}; ++round) {
      const Scalar x =
          is_float(from) ? any_float(from, random) : Scalar{from, random() & mask_of(from)};
      ASSERT_EQ(compute(c.graph, c.stored, {x, x}), canonical(bitcast(to, x)))
          << spelling(from) << " to " << spelling(to) << " " << to_text(x) << " seed " << seed;
    }
  }
}

TEST(LegaliseFloats, LeavesWhatIsCanonicalAlone) {
  Graph graph;
  KernelBuilder k(graph, "canonical");
  Value n = k.val(Type::U32, "n"), x = k.val(Type::F32, "x");
  Buffer out = k.out(Type::F32, "out");
  Value i = k.grid(n);
  Value number = k.cast(Type::F32, i);
  k.store(out, i, k.select(i < 5, number, k.constant(canonical_nan(Type::F32))));
  Buffer scratch = k.private_array(Type::F32, 1);
  k.store(scratch, k.u32(0), x);
  const Id kernel = k.finish();
  PassContext context{graph, kTarget};
  EXPECT_EQ(floats_to_basic(context, kernel), kernel);
  EXPECT_EQ(context.rewrites, 0u);
}

TEST(LegaliseFloats, ConstantNansAreReplaced) {
  const Scalar odd{Type::F64, 0x7ff0000000000123};
  Case c = lowered(Type::F64, Type::F64, [&](Builder& k, Value, Value) { return k.constant(odd); });
  ASSERT_TRUE(c.graph.is_const(c.stored));
  EXPECT_EQ(c.graph.value(c.stored), canonical_nan(Type::F64));
}

}  // namespace
}  // namespace xlog::kernel
