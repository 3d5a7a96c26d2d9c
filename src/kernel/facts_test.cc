#include "kernel/facts.h"

#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "kernel/builder.h"
#include "kernel/random_expression.h"

namespace xlog::kernel {
namespace {

bool agrees(const Fact& fact, Scalar value) {
  const Wide number = number_of(value);
  return fact.min <= number && number <= fact.max && (fact.zeros & value.bits) == 0 &&
         (fact.ones & ~value.bits) == 0;
}

std::string text(const Fact& fact) {
  auto number = [](Wide v) {
    return v < 0 ? "-" + std::to_string(static_cast<uint64_t>(-v))
                 : std::to_string(static_cast<uint64_t>(v));
  };
  return number(fact.min) + " .. " + number(fact.max) + ", zeros " + std::to_string(fact.zeros) +
         ", ones " + std::to_string(fact.ones);
}

TEST(Facts, HoldForRandomExpressions) {
  constexpr uint64_t kSeed = 7;
  Random random(kSeed);
  for (int round = 0; round < 3000 / int{kPartOfWork}; ++round) {
    Graph graph;
    RandomExpressions expressions(graph, random);
    std::vector<Id> pool;
    for (int k = 0; k < 5; ++k) {
      const Type type = kValueTypes[random.below(6)];  // integers and bool
      pool.push_back(expressions.leaf(type));
      pool.push_back(expressions.leaf(type));
      pool.push_back(expressions.constant(type));
    }
    for (int k = 0; k < 25; ++k) pool.push_back(expressions.node(pool));
    Facts facts(graph);
    for (int k = 0; k < 12; ++k) {
      expressions.draw();
      for (Id id : pool) {
        if (!in_domain(Domain::Bits, graph.type(id))) continue;
        ASSERT_TRUE(agrees(facts.of(id), expressions.value(id)))
            << describe(graph, id) << " is " << to_text(expressions.value(id)) << ", facts "
            << text(facts.of(id)) << "\nseed " << kSeed << ", round " << round;
      }
    }
  }
}

// Every u8 operand of every shape of knowledge: two masks, all values.
TEST(Facts, HoldForEveryByte) {
  constexpr Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::MulHi, Op::Div, Op::Rem, Op::Min,
                        Op::Max, Op::And, Op::Or,  Op::Xor,   Op::Shl, Op::Shr};
  constexpr uint8_t masks[] = {0, 1, 3, 4, 0x0f, 0x38, 0x80, 0xf0, 0xff};
  for (Op op : ops) {
    for (uint8_t mask_a : masks) {
      for (uint8_t mask_b : masks) {
        Graph graph;
        const Id x = graph.parameter(0, Type::U8, Mode::Val);
        const Id y = graph.parameter(1, Type::U8, Mode::Val);
        const Id a = graph.make(Op::And, {x, graph.constant(Scalar::u8(mask_a))});
        const Id b = graph.make(Op::Or, {y, graph.constant(Scalar::u8(mask_b))});
        const Id node = graph.make(op, {a, b});
        Facts facts(graph);
        const Fact fact = facts.of(node);
        for (uint32_t i = 0; i < 256; ++i) {
          for (uint32_t j = 0; j < 256; ++j) {
            const Scalar operands[] = {Scalar::u8(static_cast<uint8_t>(i & mask_a)),
                                       Scalar::u8(static_cast<uint8_t>(j | mask_b))};
            ASSERT_TRUE(agrees(fact, evaluate(op, operands)))
                << spelling(op) << " " << operands[0].bits << " " << operands[1].bits << ": "
                << text(fact);
          }
        }
      }
    }
  }
}

TEST(Facts, KnowIndexesAndCounters) {
  Graph graph;
  KernelBuilder k(graph, "counts", 64);
  Value n = k.val(Type::U32, "n");
  Buffer out = k.own(Type::U32, "out");
  Value lane = k.lane();
  Value group = k.group(k.u32(10));
  Id counter, turn, open;
  k.for_range(k.u32(3), k.u32(17), [&](Value j) {
    counter = j.id;
    k.store(out, lane, j);
  });
  k.for_range(k.u32(3), n, [&](Value j) {
    open = j.id;
    k.store(out, lane, j);
  });
  k.loop(k.u32(32), k.boolean(true), {}, [&](Value t, const Values&) {
    turn = t.id;
    return std::pair{k.boolean(false), Values{}};
  });
  k.store(out, lane, group);
  const Id kernel = k.finish();
  Facts facts(graph, kernel);
  auto expect = [&](Id id, uint64_t min, uint64_t max) {
    EXPECT_EQ(static_cast<uint64_t>(facts.of(id).min), min);
    EXPECT_EQ(static_cast<uint64_t>(facts.of(id).max), max);
  };
  expect(lane.id, 0, 63);
  expect(group.id, 0, 9);
  expect(counter, 3, 16);
  expect(turn, 0, 31);
  expect(open, 3, UINT32_MAX - 1);
}

}  // namespace
}  // namespace xlog::kernel
