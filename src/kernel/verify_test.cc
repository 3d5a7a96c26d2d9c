#include "kernel/verify.h"

#include <gtest/gtest.h>

#include <string>

#include "kernel/builder.h"
#include "kernel/text.h"

namespace xlog::kernel {
namespace {

// All messages about the last definition of a text.
std::string problems_of(std::string_view text, Spec spec = Spec::Kernel) {
  Graph graph;
  auto roots = parse(graph, text, "v.ir");
  EXPECT_TRUE(roots.ok()) << roots.error().text();
  if (!roots.ok()) return "did not parse";
  std::string all;
  for (const Problem& problem : verify(graph, roots->back(), spec)) all += problem.message + "\n";
  return all;
}

std::string in_grid(std::string_view params, std::string_view body, Spec spec = Spec::Kernel) {
  return problems_of(
      "kernel k(n: u32, " + std::string(params) + ") {\ni = grid n\n" + std::string(body) + "\n}",
      spec);
}

std::string in_group(std::string_view body) {
  return problems_of(
      "kernel k group 64 (n: u32, x: in u32, y: out u32) {\ng = group n\nl = lane\n" +
      std::string(body) + "\nstore y (add (mul g 64) l) 0\n}");
}

std::string in_plan(std::string_view body) {
  return problems_of(
      "kernel fill(n: u32, y: out u32) {\n i = grid n\n store y i i\n}\n"
      "kernel count(n: u32, x: in u32, c: acc u32) {\n i = grid n\n v = load x i\n"
      " atomic.add c v 1\n}\n"
      "kernel racy(n: u32, x: in u32, t: race u32, o: out u32, p: out u32) {\n i = grid n\n"
      " v = load x i\n a = atomic.add t 0 1\n store o a v\n store p a i\n}\n"
      "kernel twice(n: u32, x: in u32, y: out u32) {\n i = grid n\n v = load x i\n"
      " store y i (add v v)\n}\n"
      "plan p(n: u32, x: in u32, f: in f64) {\n" +
          std::string(body) + "\n}\n",
      Spec::Plan);
}

#define EXPECT_SAYS(problems, part)                          \
  do {                                                       \
    const std::string found = problems;                      \
    EXPECT_NE(found.find(part), std::string::npos) << found; \
  } while (false)

TEST(Verify, ModesRefuseWhatTheyDoNotPromise) {
  EXPECT_SAYS(in_grid("x: out u32", "v = load x i\nstore x i v"),
              "`x` is `out` and is never loaded");
  EXPECT_SAYS(in_grid("x: acc u32, y: out u32", "store y i (load x i)"), "`x` is `acc`");
  EXPECT_SAYS(in_grid("x: in u32", "store x i 1"), "`x` is `in` and nobody writes it");
  EXPECT_SAYS(in_grid("x: acc u32", "store x i 1"), "`x` is `acc` and takes only atomics");
  EXPECT_SAYS(in_grid("x: in u32", "atomic.add x i 1"), "`in` and takes no atomics; make it `acc`");
  EXPECT_SAYS(in_grid("x: out u32", "atomic.add x i 1"), "`out` and takes no atomics");
  EXPECT_SAYS(in_grid("x: own u32", "atomic.add x i 1"), "`own` and takes no atomics");
  EXPECT_SAYS(in_grid("x: acc u32", "atomic.exch x i 1"), "exch leaves the value that came last");
  EXPECT_SAYS(in_grid("x: acc u32, y: out u32", "o = atomic.add x i 1\nstore y i o"),
              "leave it unused, or use a `race` parameter");
  EXPECT_SAYS(in_grid("x: acc u32", "atomic.max x i 1\natomic.add x 0 1\natomic.max x 0 2"),
              "`x` is `acc` and takes one kind of fold, but has max and add");
  EXPECT_SAYS(in_grid("x: own u32", "c = cas x i 0 1"), "`x` is not `race`: who wins");
  EXPECT_SAYS(in_grid("x: acc f32", "atomic.add x i 1.0"), "float atomics would depend");
  EXPECT_SAYS(in_grid("x: race f32", "atomic.exch x i 1.0"), "float atomics would depend");
  EXPECT_SAYS(in_grid("x: race u8", "atomic.add x i 1"), "atomics need 32 or 64 bits");
}

TEST(Verify, ModesAllowWhatTheyPromise) {
  EXPECT_EQ(in_grid("x: own u32", "v = load x i\nstore x i v"), "");
  EXPECT_EQ(in_grid("x: acc u64", "atomic.max x i 1\no = atomic.max x 0 1"), "");
  EXPECT_EQ(in_grid("x: acc u32, y: acc u32", "atomic.max x i 1\natomic.add y i 1"), "");
  EXPECT_EQ(in_grid("x: race u32", "atomic.max x i 1\natomic.add x i 1"), "");
  EXPECT_EQ(in_grid("x: race u32, y: out u32",
                    "o = atomic.exch x i 1\nc = cas x i o 2\nstore x i (load x 0)\nstore y i c"),
            "");
}

TEST(Verify, TheKindOfKernelDecidesItsIndexes) {
  EXPECT_SAYS(in_grid("y: out u32", "store y i (lane)"), "lane needs a group kernel");
  EXPECT_SAYS(in_grid("y: out u32", "barrier\nstore y i 0"), "barrier needs a group kernel");
  EXPECT_SAYS(in_grid("y: out u32", "s = greduce.add i\nstore y i s"), "greduce needs a group");
  EXPECT_SAYS(in_grid("y: out u32", "a = alloc local u32 4\nstore a 0 0\nstore y i 0"),
              "it needs a group kernel; make it private");
  EXPECT_SAYS(problems_of("kernel k(n: u32, y: out u32) {\n g = group n\n store y g 0\n}"),
              "`group` needs a group kernel");
  EXPECT_SAYS(problems_of("kernel k group 8 (n: u32, y: out u32) {\n i = grid n\n store y i 0\n}"),
              "not `grid`");
  EXPECT_SAYS(in_grid("m: u32, y: out u32", "j = grid m\nstore y i j"), "a kernel has one size");
  EXPECT_SAYS(problems_of("kernel k(n: u32, y: out u32) {\n i = grid (add n 1)\n store y i 0\n}"),
              "a val parameter or a constant");
  EXPECT_EQ(problems_of("kernel k(y: out u32) {\n i = grid 7\n store y i 0\n}"), "");
  EXPECT_SAYS(in_grid("y: out u32", "a = alloc private u32 4\nstore a 0 0\nstore y i (len a)"),
              "len is of parameters");
}

TEST(Verify, BarriersStandWhereAllLanesMeet) {
  EXPECT_EQ(in_group("barrier"), "");
  EXPECT_EQ(in_group("if (lt g 3) {\nbarrier\n}"), "");
  EXPECT_EQ(in_group("for j 0 (add n g) {\nfor k j 9 {\nbarrier\n}\n}"), "");
  EXPECT_EQ(in_group("a = for j 0 n carry p 1 {\nbarrier\nyield (add p j)\n}\n"
                     "for j 0 a {\nbarrier\n}"),
            "");
  EXPECT_EQ(in_group("m = greduce.max l\nfor j 0 m {\nbarrier\n}"), "");
  EXPECT_EQ(in_group("r = loop t n while true carry p g {\nbarrier\nyield (lt t p) p\n}"), "");

  const char* parted = "where lanes may part ways";
  EXPECT_SAYS(in_group("if (lt l 3) {\nbarrier\n}"), parted);
  EXPECT_SAYS(in_group("if (lt g 3) {\n} else {\nif (lt l 3) {\n} else {\nbarrier\n}\n}"), parted);
  EXPECT_EQ(in_group("v = load x 0\nfor j 0 v {\nbarrier\n}"), "");  // the same cell for all
  EXPECT_SAYS(in_group("v = load x l\nfor j 0 v {\nbarrier\n}"), parted);
  EXPECT_SAYS(in_group("for j l 9 {\ns = gscan.add j\n}"), parted);
  EXPECT_SAYS(in_group("for j 0 l {\nfor k 0 3 {\ns = greduce.add k\n}\n}"), parted);
  // What a loop carries starts uniform and does not stay so.
  EXPECT_SAYS(in_group("a = for j 0 n carry p 1 {\nif (lt p 3) {\nbarrier\n}\nyield (add p l)\n}"),
              parted);
  EXPECT_SAYS(in_group("a = for j 0 n carry p 1, q 1 {\nif (lt p 3) {\nbarrier\n}\n"
                       "yield q (add q l)\n}"),
              parted);
  EXPECT_SAYS(in_group("a = for j 0 l carry p 1 {\nyield (add p 1)\n}\nif (lt a 2) {\nbarrier\n}"),
              parted);
  EXPECT_SAYS(in_group("loop t n while true {\nbarrier\nyield (lt t l)\n}"), parted);
  EXPECT_SAYS(in_group("s = gscan.add n\nfor j 0 s {\nbarrier\n}"), parted);
}

TEST(Verify, GroupsShareLocalArraysByOrderFreeAtomics) {
  EXPECT_EQ(in_group("a = alloc local u32 64\nstore a l 0\nbarrier\natomic.add a 0 1"), "");
  EXPECT_SAYS(in_group("a = alloc local u32 64\no = atomic.add a 0 1\nstore y l o"),
              "`a` is local: what an atomic gives back");
  EXPECT_SAYS(in_group("a = alloc local u32 64\nc = cas a 0 1 2"), "`a` is not `race`");
  EXPECT_SAYS(in_group("if (lt g 1) {\na = alloc local u32 64\nstore a l 0\n}"),
              "a local array is made at the top of the kernel");
  EXPECT_SAYS(in_group("f = cast f32 l\ns = greduce.add f"), "folds integers");
}

TEST(Verify, ReadyKernelsHaveOnlyWhatRenderersTake) {
  const auto ready = [](std::string_view body) {
    return in_grid("x: in f32, y: out f32, z: out u32",
                   "v = load x i\n" + std::string(body) + "\nstore y i v", Spec::Ready);
  };
  EXPECT_EQ(ready("store z i (bitcast.raw u32 v)"), "");
  EXPECT_EQ(ready("store z i (min i 5)"), "");
  EXPECT_SAYS(ready("store z i (len x)"), "the pass lengths_to_params removes it");
  EXPECT_SAYS(ready("check full (lt v 1.0)"), "the pass checks_to_status removes it");
  EXPECT_SAYS(ready("store z i (bitcast u32 v)"), "the pass floats_to_basic removes it");
  EXPECT_SAYS(ready("store z i (cast u32 (min v 1.0))"), "min of f32 is left");
  EXPECT_SAYS(ready("store z i (cast u32 (exp2 v))"), "exp2 of f32 is left");
  EXPECT_EQ(in_grid("x: in f32, z: out u32",
                    "v = load x i\nstore z i (add (len x) (bitcast u32 (max v (log2 v))))"),
            "");
}

// ---- structure: graphs that only a broken pass can make ----

struct Broken {
  Graph graph;
  Id n = graph.parameter(0, Type::U32, Mode::Val);
  Id x = graph.parameter(1, Type::U32, Mode::In);
  Id y = graph.parameter(2, Type::U32, Mode::Out);
  Id i = graph.make(Op::Grid, {n});

  Id u32(uint32_t v) { return graph.constant(Scalar::u32(v)); }
  Id block(std::vector<Id> effects) { return graph.block(effects); }
  std::string problems(std::vector<Id> effects) {
    const Id params[] = {n, x, y};
    const Id kernel = graph.kernel({"broken", 0}, block(std::move(effects)), params);
    std::string all;
    for (const Problem& problem : verify(graph, kernel, Spec::Kernel))
      all += problem.message + "\n";
    return all;
  }
};

TEST(Verify, ValuesAreMadeBeforeTheyAreUsed) {
  Broken b;
  Id load = b.graph.make(Op::Load, {b.x, b.i});
  Id sum = b.graph.make(Op::Add, {load, b.i});
  Id store = b.graph.make(Op::Store, {b.y, b.i, sum});
  EXPECT_EQ(b.problems({load, store}), "");
  EXPECT_SAYS(b.problems({store, load}), "before it is made, or outside the block that makes it");
  EXPECT_SAYS(b.problems({store}), "before it is made");
  EXPECT_SAYS(b.problems({load, load, store}), "stands in two places");
  EXPECT_SAYS(b.problems({sum}), "add is no effect");

  // Made in one branch, used in the other; and after it.
  Id yes = b.graph.constant(Scalar::boolean(true));
  const Id branches[] = {yes, b.block({load}), b.block({store})};
  Id choice = b.graph.make(Op::If, branches);
  EXPECT_SAYS(b.problems({choice}), "outside the block that makes it");
  const Id branch[] = {yes, b.block({load})};
  Id one = b.graph.make(Op::If, branch);
  EXPECT_SAYS(b.problems({one, store}), "outside the block that makes it");
}

TEST(Verify, ArgumentsLiveInsideTheirLoop) {
  Broken b;
  Id j = b.graph.arg(0, 0, Type::U32);
  Id store = b.graph.make(Op::Store, {b.y, j, b.i});
  const Id operands[] = {b.u32(0), b.n, b.block({store})};
  Id loop = b.graph.loop(Op::For, 0, operands);
  EXPECT_EQ(b.problems({loop}), "");
  Id outside = b.graph.make(Op::Store, {b.y, b.i, j});
  EXPECT_SAYS(b.problems({loop, outside}), "a loop that is not around it");
  Id missing = b.graph.make(Op::Store, {b.y, b.i, b.graph.arg(1, 1, Type::U32)});
  const Id wrong[] = {b.u32(0), b.n, b.block({missing})};
  EXPECT_SAYS(b.problems({b.graph.loop(Op::For, 1, wrong)}), "argument 1 of the loop is not there");
  const Id again[] = {b.u32(0), b.n, b.block({})};
  EXPECT_SAYS(b.problems({loop, b.graph.loop(Op::For, 0, again)}), "two loops share a tag");
}

TEST(Verify, LoopsYieldWhatTheyCarry) {
  Broken b;
  const auto loop = [&](std::vector<Id> body) {
    const Id operands[] = {b.u32(0), b.n, b.u32(1), b.block(std::move(body))};
    return b.graph.loop(Op::For, b.graph.new_tag(), operands);
  };
  const auto yield = [&](std::vector<Id> values) { return b.graph.make(Op::Yield, values); };
  EXPECT_EQ(b.problems({loop({yield({b.i})})}), "");
  EXPECT_SAYS(b.problems({loop({})}), "has no yield");
  EXPECT_SAYS(b.problems({loop({yield({b.i, b.i})})}), "yields 1 values, 2 given");
  EXPECT_SAYS(b.problems({loop({yield({b.graph.constant(Scalar::u8(1))})})}),
              "value 1 of this yield is u8, the loop carries u32");
  EXPECT_SAYS(b.problems({loop({yield({b.i}), yield({b.i})})}), "yield ends the body");
  EXPECT_SAYS(b.problems({yield({b.i})}), "yield ends the body");
  Id good = loop({yield({b.i})});
  Id store = b.graph.make(Op::Store, {b.y, b.i, b.graph.proj(good, 1, Type::U32)});
  EXPECT_SAYS(b.problems({good, store}), "for has no result 1 of this type");
}

TEST(Verify, OperandsFit) {
  Broken b;
  Id wide = b.graph.constant(Scalar::u64(1));
  const Id mixed[] = {b.i, wide};
  Id sum = b.graph.add(Op::Add, Type::U32, 0, 0, mixed);
  EXPECT_SAYS(b.problems({b.graph.make(Op::Store, {b.y, b.i, sum})}), "operands of one type");
  const Id both[] = {b.i, b.i};
  Id lie = b.graph.add(Op::Add, Type::U64, 0, 0, both);
  Id cast = b.graph.cast(Type::U32, lie);
  EXPECT_SAYS(b.problems({b.graph.make(Op::Store, {b.y, b.i, cast})}), "does not follow");
  Id foreign = b.graph.parameter(7, Type::U32, Mode::Val);
  EXPECT_SAYS(b.problems({b.graph.make(Op::Store, {b.y, b.i, foreign})}),
              "parameter 7 is none of this kernel's");
  EXPECT_SAYS(b.problems({b.graph.check(99, b.graph.constant(Scalar::boolean(true)))}),
              "no such check code");
  const Id unfit[] = {b.i, b.block({})};
  EXPECT_SAYS(b.problems({b.graph.make(Op::If, unfit)}), "the condition of an if is a bool");
  const Id sorted[] = {b.x};
  EXPECT_SAYS(b.problems({b.graph.make(Op::Sort, sorted)}), "sort belongs in the block of a plan");
}

TEST(VerifyDeathTest, AbortsWithTheKernelAndTheReason) {
  Graph graph;
  auto roots = parse(graph, "kernel k(n: u32, x: in u32) {\n i = grid n\n store x i 1\n}", "v.ir");
  ASSERT_TRUE(roots.ok());
  EXPECT_DEATH(verify_or_die(graph, roots->front(), Spec::Kernel, "a test"),
               "broken after a test(.|\n)*nobody writes it(.|\n)*store x i 1:u32");
  Broken b;
  Id load = b.graph.make(Op::Load, {b.x, b.i});
  Id store = b.graph.make(Op::Store, {b.y, b.i, load});
  const Id params[] = {b.n, b.x, b.y};
  const Id kernel = b.graph.kernel({"broken", 0}, b.block({store, load}), params);
  EXPECT_DEATH(verify_or_die(b.graph, kernel, Spec::Kernel, "a test"), "= store %");
}

// ---- plans ----

TEST(Verify, LaunchArgumentsFitTheKernel) {
  EXPECT_EQ(in_plan("y = buf u32 n\nlaunch fill n y\nyield y"), "");
  EXPECT_SAYS(in_plan("y = buf u64 n\nlaunch fill n y\nyield"), "is u32, the argument is u64");
  EXPECT_SAYS(in_plan("launch fill x x\nyield"), "`n` of fill is a scalar, the argument is not");
  EXPECT_SAYS(in_plan("launch fill n n\nyield"), "`y` of fill is a buffer, the argument is not");
  EXPECT_SAYS(in_plan("launch fill n x\nyield"), "would write `x`, which is `in`");
  EXPECT_SAYS(in_plan("y = buf u32 n\nlaunch count n y y\nyield y"), "given twice to a launch");
  EXPECT_SAYS(problems_of("plan p(y: out u32) {\n yield\n}", Spec::Plan), "yields what it makes");
}

TEST(Verify, PlansVerifyTheKernelsTheyLaunch) {
  EXPECT_SAYS(problems_of("kernel bad(n: u32, x: own u32) {\n i = grid n\n atomic.add x i 1\n}\n"
                          "plan p(n: u32) {\n x = buf u32 n\n launch bad n x\n yield x\n}",
                          Spec::Plan),
              "kernel bad: `x` is `own` and takes no atomics");
}

TEST(Verify, BodiesOfMapsOnlyLoad) {
  EXPECT_SAYS(in_plan("y = buf u32 n\nm = map i n {\nstore y i i\nyield i\n}\nyield m"),
              "a map or expand only loads the plan's buffers");
  EXPECT_SAYS(in_plan("m = map i n {\nyield (grid n)\n}\nyield m"), "the index is the row");
  EXPECT_SAYS(in_plan("m = map i n {\nbarrier\nyield i\n}\nyield m"), "the index is the row");
  EXPECT_EQ(in_plan("m = map i n {\na = alloc private u32 2\nstore a 0 i\nyield (load a 0)\n}\n"
                    "yield m"),
            "");
}

TEST(Verify, BagsAreSortedBeforeTheirOrderShows) {
  const std::string start = "t = buf u32 1\no = buf u32 n\nq = buf u32 n\nlaunch racy n x t o q\n";
  const auto plan = [&](const std::string& rest) { return in_plan(start + rest); };
  EXPECT_SAYS(plan("yield o"), "`o` is a bag");
  EXPECT_SAYS(plan("yield o"), "a result would show that order");
  EXPECT_SAYS(plan("m = map i n {\nyield (load o i)\n}\nyield m"), "map would show that order");
  EXPECT_SAYS(plan("m, c = expand i n {\nfor j 0 2 {\nemit (load o j)\n}\n}\nyield m"),
              "expand would show that order");
  EXPECT_SAYS(plan("s = scan.add o\nyield s"), "scan would show");
  EXPECT_SAYS(plan("s = partition o 4\nyield s"), "partition would show");
  EXPECT_SAYS(plan("s = merge x / o\nyield s"), "merge would show");
  EXPECT_SAYS(plan("s = segment.add o x\nyield s"), "segment would show");
  EXPECT_SAYS(plan("c = copy o x\nyield c"), "`c` is a bag");
  EXPECT_SAYS(plan("z = buf u32 n\nlaunch twice n o z\nyield z"), "`z` is a bag");

  EXPECT_EQ(plan("_, a, b = sort o q\nyield a b"), "");
  EXPECT_EQ(plan("s = reduce.add o\nc = read t 0\nyield s c"), "");
  EXPECT_EQ(plan("z = buf u32 9\nlaunch count n o z\nyield z"), "");
  EXPECT_EQ(plan("z = buf u32 n\nlaunch twice n o z\n_, a = sort z\nyield a"), "");
  EXPECT_EQ(plan("a = copy o o\nb = copy q q\n_, c, d = sort a b\nyield c d"), "");

  // Where a row stood is as much by chance as before; so is what stands beside it elsewhere.
  EXPECT_SAYS(plan("r, a, b = sort o q\nyield r"), "`r` is a bag");
  EXPECT_SAYS(plan("_, a, b = sort o x\nyield a b"), "sort would pair rows by chance");
}

TEST(Verify, ReadyPlansHaveOnlyLaunches) {
  const std::string start =
      "kernel racy(n: u32, t: race u32) {\n i = grid n\n store t 0 i\n}\n"
      "plan p(n: u32) {\n t = buf u32 n\n launch racy n t\n";
  EXPECT_EQ(problems_of(start + " yield t\n}", Spec::ReadyPlan), "");
  EXPECT_SAYS(problems_of(start + " _, s = sort t\n yield s\n}", Spec::ReadyPlan),
              "sort is left, which the lowering of plans turns into launches");
}

TEST(Verify, FloatsOfABagAreNotFolded) {
  EXPECT_SAYS(problems_of("kernel racy(n: u32, x: in f64, t: race u32, o: out f64) {\n i = grid n\n"
                          " a = atomic.add t 0 1\n store o a (load x i)\n}\n"
                          "plan p(n: u32, x: in f64) {\n t = buf u32 1\n o = buf f64 n\n"
                          " launch racy n x t o\n s = reduce.add o\n yield s\n}",
                          Spec::Plan),
              "reduce would show that order");
}

}  // namespace
}  // namespace xlog::kernel
