#include "kernel/place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/sanitized.h"
#include "kernel/builder.h"

namespace xlog::kernel {
namespace {

bool lists(const Placement& placed, Id block, Value v) {
  return std::ranges::count(placed.in(block), v.id) == 1;
}

TEST(Place, MovesValuesOutOfLoops) {
  Graph graph;
  KernelBuilder k(graph, "loops");
  Value n = k.val(Type::U32, "n"), scale = k.val(Type::U32, "scale");
  Buffer out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  Value fixed = i * scale + 7;  // depends on no loop
  Value by_outer, by_inner;
  k.for_range(k.u32(0), n, [&](Value a) {
    by_outer = fixed ^ a;
    k.for_range(k.u32(0), n, [&](Value b) {
      by_inner = by_outer + b;
      k.store(out, by_inner, by_outer & 1);
    });
  });
  const Id kernel = k.finish();
  const Placement placed = place(graph, kernel);
  ASSERT_EQ(placed.blocks.size(), 3u);
  EXPECT_EQ(placed.blocks[0], graph.body(kernel));
  EXPECT_TRUE(lists(placed, placed.blocks[0], fixed));
  EXPECT_TRUE(lists(placed, placed.blocks[1], by_outer));
  EXPECT_TRUE(lists(placed, placed.blocks[1], by_outer & 1));
  EXPECT_TRUE(lists(placed, placed.blocks[2], by_inner));
}

TEST(Place, KeepsValuesInTheGuardThatUsesThem) {
  Graph graph;
  KernelBuilder k(graph, "guards");
  Value n = k.val(Type::U32, "n");
  Buffer out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  Value only_then = i * 31, both = i + 5;
  k.if_then(
      i < 9, [&] { k.store(out, i, only_then + both); }, [&] { k.store(out, i, both); });
  const Placement placed = place(graph, k.finish());
  ASSERT_EQ(placed.blocks.size(), 3u);
  EXPECT_TRUE(lists(placed, placed.blocks[0], both));
  EXPECT_TRUE(lists(placed, placed.blocks[1], only_then));
  EXPECT_FALSE(lists(placed, placed.blocks[2], only_then));
}

// A value of a guarded block inside a loop goes before the loop, guard or not: it is computed once.
TEST(Place, GuardInsideALoop) {
  Graph graph;
  KernelBuilder k(graph, "both");
  Value n = k.val(Type::U32, "n");
  Buffer out = k.out(Type::U32, "out");
  Value i = k.grid(n), fixed = i * 77;
  k.for_range(k.u32(0), n, [&](Value j) { k.if_then(j == 3, [&] { k.store(out, i, fixed); }); });
  const Placement placed = place(graph, k.finish());
  EXPECT_TRUE(lists(placed, placed.blocks[0], fixed));
}

TEST(Place, LoadsStayWhereTheyAre) {
  Graph graph;
  KernelBuilder k(graph, "loads");
  Value n = k.val(Type::U32, "n");
  Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Value i = k.grid(n), loaded, after;
  k.for_range(k.u32(0), n, [&](Value j) {
    k.if_then(i < k.len(in), [&] {
      loaded = in[i];  // the same in each iteration, and yet only valid under its guard
      after = loaded + 1;
      k.store(out, j, after);
    });
  });
  const Placement placed = place(graph, k.finish());
  ASSERT_EQ(placed.blocks.size(), 3u);
  EXPECT_TRUE(lists(placed, placed.blocks[2], loaded));
  EXPECT_TRUE(lists(placed, placed.blocks[2], after));
}

// A chain as deep as this overflows the stack of a walk that calls itself.
TEST(Place, DeepChains) {
  Graph graph;
  KernelBuilder k(graph, "deep");
  Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Value v = in[k.u32(0)];
  for (int step = 0; step < 100000; ++step) v = (v ^ (v >> 7)) + step;
  k.store(out, k.u32(0), v);
  const Placement placed = place(graph, k.finish());
  ASSERT_EQ(placed.blocks.size(), 1u);
  EXPECT_GT(placed.in(placed.blocks[0]).size(), 299000u);
}

// Random kernels with loops and guards inside each other: everything is listed once, after what it
// needs, in a block that its user can see.
class RandomKernel {
 public:
  RandomKernel(Graph& graph, uint64_t seed)
      : random_(seed),
        k_(graph, "random"),
        n_(k_.val(Type::U32, "n")),
        in_(k_.in(Type::U32, "in")),
        out_(k_.out(Type::U32, "out")) {
    visible_ = {k_.grid(n_), n_, k_.u32(3)};
  }

  Id build() {
    block(0);
    return k_.finish();
  }

 private:
  Value pick() { return visible_[random_() % visible_.size()]; }

  void block(int depth) {
    const size_t outside = visible_.size();
    for (int i = 0; i < 6; ++i) {
      switch (random_() % (depth < 4 ? 6 : 3)) {
        case 0:
          visible_.push_back(in_[pick()]);
          break;
        case 1:
          k_.store(out_, pick(), pick());
          break;
        case 2:
          visible_.push_back(pick() * pick() + pick());
          break;
        case 3:
          k_.if_then(
              pick() < pick(), [&] { block(depth + 1); }, [&] { block(depth + 1); });
          break;
        default: {
          Values r = k_.for_range(k_.u32(0), pick(), {pick()}, [&](Value j, const Values& c) {
            const size_t before = visible_.size();
            visible_.push_back(j);
            visible_.push_back(c[0]);
            block(depth + 1);
            Values next = {pick() ^ c[0]};
            visible_.resize(before);
            return next;
          });
          visible_.push_back(r[0]);
        }
      }
    }
    visible_.resize(outside);
  }

  std::mt19937_64 random_;
  KernelBuilder k_;
  Value n_;
  Buffer in_, out_;
  Values visible_;
};

bool needs_no_place(Op op) {
  return op == Op::Param || op == Op::Const || op == Op::Arg || op == Op::Block;
}

void check_block(const Graph& graph, const Placement& placed, Id block, std::vector<bool>& known,
                 uint64_t seed) {
  std::vector<Id> made;
  for (Id id : placed.in(block)) {
    ASSERT_FALSE(known[id.index]) << "listed twice, seed " << seed;
    for (Id operand : graph.operands(id)) {
      const Op op = graph.op(operand);
      if (op == Op::Block) {
        check_block(graph, placed, operand, known, seed);
        continue;
      }
      const Id source = op == Op::Proj ? graph.operand(operand, 0) : operand;
      if (needs_no_place(graph.op(source))) continue;
      ASSERT_TRUE(known[source.index]) << "used before it is there, seed " << seed;
    }
    known[id.index] = true;
    made.push_back(id);
  }
  for (Id id : made) known[id.index] = false;  // out of sight after the block
}

TEST(Place, RandomKernelsAreInOrder) {
  for (uint64_t seed = 1; seed <= 200 / kPartOfWork; ++seed) {
    Graph graph;
    const Id kernel = RandomKernel(graph, seed).build();
    const Placement placed = place(graph, kernel);
    std::vector<bool> known(graph.size(), false);
    check_block(graph, placed, graph.body(kernel), known, seed);
    std::map<Id, int> times;
    for (Id block : placed.blocks) {
      for (Id id : placed.in(block)) ++times[id];
    }
    for (auto [id, count] : times) ASSERT_EQ(count, 1) << "seed " << seed;
  }
}

}  // namespace
}  // namespace xlog::kernel
