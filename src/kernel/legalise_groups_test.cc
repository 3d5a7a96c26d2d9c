// Collectives as local memory and lanes as loops: group kernels run as written and as rewritten by
// the oracle on the same inputs, and every byte must agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kernel/builder.h"
#include "kernel/oracle.h"
#include "kernel/pass.h"
#include "kernel/place.h"
#include "kernel/verify.h"

namespace xlog::kernel {
namespace {

const Target kTarget{.name = "test"};
constexpr uint32_t kGroups = 3;

// All kernels of this file have these parameters. Buffers hold kGroups * 4 * lanes elements.
struct Frame {
  Frame(Graph& graph, uint32_t lanes)
      : k(graph, "group_kernel", lanes),
        size(lanes),
        n(k.val(Type::U32, "n")),
        in(k.in(Type::U32, "in")),
        wide(k.in(Type::U64, "wide")),
        out(k.out(Type::U32, "out")),
        own(k.own(Type::U32, "own")),
        sums(k.acc(Type::U32, "sums")),
        g(k.group(n)),
        lane(k.lane()),
        at(g * lanes + lane) {}

  KernelBuilder k;
  uint32_t size;
  Value n;
  Buffer in, wide, out, own, sums;
  Value g, lane, at;
};

using Build = void (*)(Frame&);

// ---- the kernels ----

void one_piece(Frame& f) { f.k.store(f.out, f.at, f.in[f.at] * 3 + f.lane); }

void block_scan(Frame& f) {
  Value v = f.in[f.at];
  f.k.store(f.out, f.at, f.k.gscan(Fold::Add, v) + v);
}

void one_reduce(Frame& f) { f.k.store(f.out, f.at, f.k.greduce(Fold::Add, f.in[f.at])); }

void block_reduce(Frame& f) {
  Value v = f.in[f.at];
  Value least = f.k.greduce(Fold::Min, v), most = f.k.greduce(Fold::Max, v);
  Value off = f.k.greduce(Fold::Xor, v - least);
  f.k.store(f.out, f.at, (most - least) ^ off ^ f.lane);
}

void every_fold(Frame& f) {
  Value v = f.wide[f.at];
  Value signed_v = f.k.cast(Type::I64, v), small = f.k.cast(Type::U8, v);
  Value mixed = v;
  for (Fold fold : {Fold::Add, Fold::Min, Fold::Max, Fold::And, Fold::Or, Fold::Xor}) {
    mixed = mixed * 31 + f.k.gscan(fold, v) + f.k.greduce(fold, v);
    mixed = mixed * 31 + f.k.cast(Type::U64, f.k.gscan(fold, signed_v));
    mixed = mixed * 31 + f.k.cast(Type::U64, f.k.greduce(fold, signed_v));
    mixed = mixed * 31 + f.k.cast(Type::U64, f.k.gscan(fold, small) + f.k.greduce(fold, small));
  }
  f.k.store(f.out, f.at, f.k.cast(Type::U32, mixed ^ (mixed >> 32)));
}

void histogram(Frame& f) {
  Buffer counts = f.k.local(Type::U32, 16);
  f.k.if_then(f.lane < 16, [&] { f.k.store(counts, f.lane, f.k.u32(0)); });
  Value few = f.k.min(f.k.u32(16), f.k.u32(f.size));
  f.k.if_then(f.lane == 0, [&] {
    f.k.for_range(few, f.k.u32(16), [&](Value j) { f.k.store(counts, j, f.k.u32(0)); });
  });
  f.k.barrier();
  f.k.for_range(f.k.u32(0), f.k.u32(4), [&](Value j) {
    Value v = f.in[(f.g * 4 + j) * f.size + f.lane];
    f.k.atomic(Fold::Add, counts, v & 15, f.k.u32(1));
  });
  f.k.barrier();
  f.k.store(f.out, f.at, counts[f.lane & 15]);
  f.k.if_then(f.lane < 16, [&] { f.k.atomic(Fold::Max, f.sums, f.lane & 3, counts[f.lane]); });
}

// Stable ranks of 2-bit digits: four counters of 16 bits in one word.
void radix_ranks(Frame& f) {
  Value key = f.in[f.at] & 3;
  Value one = f.k.number(Type::U64, 1) << f.k.cast(Type::U64, key * 16);
  Value before = f.k.gscan(Fold::Add, one), all = f.k.greduce(Fold::Add, one);
  Value shift = f.k.cast(Type::U64, key * 16);
  Value starts = (all << 16) + (all << 32) + (all << 48);
  Value rank = f.k.cast(Type::U32, ((before + starts) >> shift) & 0xffff);
  f.k.store(f.out, f.g * f.size + rank, f.lane);
}

void tiled_transpose(Frame& f) {
  Buffer tile = f.k.local(Type::U32, f.size);
  f.k.store(tile, f.lane, f.in[f.at]);
  f.k.barrier();
  Value turned = f.k.u32(f.size - 1) - f.lane;
  f.k.store(f.out, f.at, tile[turned]);
}

// A loop that all lanes run together and that carries a value of each lane, and one they share.
void loop_with_barriers(Frame& f) {
  Buffer ring = f.k.local(Type::U32, f.size);
  Value start = f.in[f.at];
  Values r = f.k.for_range(f.k.u32(0), f.k.u32(5), {start, f.k.u32(7), f.lane},
                           [&](Value j, const Values& c) {
                             f.k.store(ring, f.lane, c[0] + j);
                             f.k.barrier();
                             Value next = ring[(f.lane + 1) % f.k.u32(f.size)];
                             f.k.barrier();
                             return Values{next ^ c[2], c[1] * 3 + j, c[0]};
                           });
  f.k.store(f.out, f.at, r[0] + r[1] * 5 + r[2] * 9);
}

void nested_loops(Frame& f) {
  Buffer ring = f.k.local(Type::U32, f.size);
  Value rounds = (f.in[f.g] & 3) + 1;
  Values r = f.k.for_range(f.k.u32(0), rounds, {f.in[f.at]}, [&](Value i, const Values& outer) {
    Values inner =
        f.k.for_range(i, f.k.u32(3), {outer[0], f.k.u32(1)}, [&](Value j, const Values& c) {
          f.k.store(ring, f.lane, c[0]);
          f.k.barrier();
          Value v = ring[(f.lane * 5 + j) % f.k.u32(f.size)];
          f.k.barrier();
          return Values{v + c[1] + i, c[1] + j};
        });
    Value total = f.k.greduce(Fold::Add, inner[0]);
    return Values{inner[0] + total * inner[1] + outer[0]};
  });
  f.k.store(f.out, f.at, r[0]);
}

// The flag reads what the body is about to overwrite.
void while_with_barriers(Frame& f) {
  Buffer flag = f.k.local(Type::U32, 1);
  Value go = f.k.boolean(true);
  Values r =
      f.k.loop(f.k.u32(20), go, {f.in[f.at] & 63, f.lane * 0}, [&](Value t, const Values& c) {
        Value most = f.k.greduce(Fold::Max, c[0]);
        f.k.if_then(f.lane == 0, [&] { f.k.store(flag, f.k.u32(0), most + t); });
        f.k.barrier();
        Value seen = flag[f.k.u32(0)];
        f.k.barrier();
        Value again = (seen > f.k.u32(8)) & (c[1] < f.k.u32(12));
        return std::pair{again, Values{c[0] - (c[0] >> 1), c[1] + 1}};
      });
  f.k.store(f.out, f.at, r[0] * 100 + r[1]);
}

void bound_reached(Frame& f) {
  Values r = f.k.loop(f.k.u32(3), f.k.boolean(true), {f.lane}, [&](Value, const Values& c) {
    Value sum = f.k.greduce(Fold::Add, c[0]);
    return std::pair{sum == sum, Values{c[0] + sum}};
  });
  f.k.store(f.out, f.at, r[0]);
}

void if_with_barriers(Frame& f) {
  Buffer tile = f.k.local(Type::U32, f.size);
  Value v = f.in[f.at];
  f.k.if_then((f.in[f.g] & 1) == 0,
              [&] {
                f.k.store(tile, f.lane, v);
                f.k.barrier();
                Value other = tile[f.k.u32(f.size - 1) - f.lane];
                f.k.barrier();
                f.k.store(f.out, f.at, other + f.k.gscan(Fold::Add, v));
              },
              [&] { f.k.store(f.out, f.at, f.k.greduce(Fold::Or, v)); });
}

// Loops of lanes that differ, with results that are used after a barrier.
void varying_loops(Frame& f) {
  Buffer tile = f.k.local(Type::U32, f.size);
  Values r = f.k.for_range(f.k.u32(0), f.lane & 7, {f.k.u32(1)}, [&](Value j, const Values& c) {
    return Values{c[0] * 3 + f.in[(f.at + j) % f.k.u32(kGroups * f.size)]};
  });
  Values found = f.k.loop(f.k.u32(40), r[0] > f.k.u32(1), {r[0]}, [&](Value, const Values& c) {
    return std::pair{(c[0] >> 1) > f.k.u32(1), Values{c[0] >> 1}};
  });
  f.k.store(tile, f.lane, found[0]);
  f.k.barrier();
  f.k.store(f.out, f.at, tile[(f.lane + 3) % f.k.u32(f.size)] + r[0]);
}

void private_arrays(Frame& f) {
  Buffer mine = f.k.private_array(Type::U32, 4), scratch = f.k.private_array(Type::U32, 2);
  f.k.for_range(f.k.u32(0), f.k.u32(4), [&](Value j) { f.k.store(mine, j, f.in[f.at] + j); });
  f.k.store(scratch, f.k.u32(1), f.lane);
  Value kept = scratch[f.k.u32(1)];
  Value all = f.k.greduce(Fold::Add, f.lane);
  f.k.atomic(Fold::Add, mine, f.lane & 3, all);
  f.k.barrier();
  f.k.store(f.out, f.at, mine[0] + mine[1] * 3 + mine[2] * 5 + mine[3] * 7 + kept);
}

// Cells of `own` go from one lane to another across a barrier.
void own_across_lanes(Frame& f) {
  f.k.store(f.own, f.at, f.in[f.at]);
  f.k.barrier();
  Value v = f.own[f.g * f.size + (f.lane + 1) % f.k.u32(f.size)];
  f.k.barrier();
  f.k.store(f.own, f.at, v + 1);
  f.k.store(f.out, f.at, v);
}

void checks(Frame& f) {
  Value v = f.in[f.at];
  f.k.check(4, (v & 7) != 0);
  Value sum = f.k.greduce(Fold::Add, v);
  f.k.check(6, sum != 0);
  f.k.if_then(f.lane > f.k.u32(1), [&] { f.k.check(9, (v & 31) != 5); });
  f.k.store(f.out, f.at, sum);
}

// Two results of one atomic per lane: what was there, and what is there after all lanes.
void atomic_results(Frame& f) {
  Buffer cell = f.k.local(Type::U32, 2);
  f.k.if_then(f.lane == 0, [&] {
    f.k.store(cell, f.k.u32(0), f.k.u32(0));
    f.k.store(cell, f.k.u32(1), f.k.u32(0));
  });
  f.k.barrier();
  Value slot = f.k.atomic(Fold::Add, cell, f.k.u32(0), f.k.u32(1));
  f.k.barrier();
  // The order of the lanes is free, so only the sum over the slots may be seen.
  Value slots = f.k.greduce(Fold::Add, slot);
  f.k.store(f.out, f.at, slots + cell[f.k.u32(0)]);
}

void loads_in_order(Frame& f) {
  Value first = f.in[f.g], second = f.in[first % f.k.u32(f.size)];
  f.k.barrier();
  Value third = f.in[(second + f.lane) % f.k.u32(f.size)];
  Value top = f.k.gscan(Fold::Max, third);
  Value fourth = f.in[(first + second) % f.k.u32(f.size)];
  f.k.barrier();
  f.k.store(f.out, f.at, top + third + fourth + first);
}

constexpr std::pair<const char*, Build> kKernels[] = {
    {"one_piece", one_piece},
    {"block_scan", block_scan},
    {"one_reduce", one_reduce},
    {"block_reduce", block_reduce},
    {"every_fold", every_fold},
    {"histogram", histogram},
    {"radix_ranks", radix_ranks},
    {"tiled_transpose", tiled_transpose},
    {"loop_with_barriers", loop_with_barriers},
    {"nested_loops", nested_loops},
    {"while_with_barriers", while_with_barriers},
    {"bound_reached", bound_reached},
    {"if_with_barriers", if_with_barriers},
    {"varying_loops", varying_loops},
    {"private_arrays", private_arrays},
    {"own_across_lanes", own_across_lanes},
    {"checks", checks},
    {"atomic_results", atomic_results},
    {"loads_in_order", loads_in_order},
};

// ---- running them ----

struct Memory {
  std::vector<uint32_t> in, out, own, sums, status;
  std::vector<uint64_t> wide;

  Memory(uint32_t lanes, uint64_t seed)
      : in(kGroups * 4 * lanes),
        out(in.size(), 0),
        own(in.size(), 0),
        sums(4, 0),
        status(kCheckCodes, UINT32_MAX),
        wide(in.size()) {
    std::mt19937_64 random(seed);
    for (uint32_t& v : in) v = static_cast<uint32_t>(random() % 2 == 0 ? random() : random() % 64);
    for (uint64_t& v : wide) v = random();
  }

  template <typename T>
  static Argument whole(std::vector<T>& v) {
    return HostBuffer{reinterpret_cast<std::byte*>(v.data()), v.size() * sizeof(T)};
  }

  Result<OracleReport> run(const Graph& graph, Id kernel, uint64_t schedule) {
    std::vector<Argument> arguments = {Scalar::u32(kGroups), whole(in),  whole(wide),
                                       whole(out),           whole(own), whole(sums)};
    if (graph.params(kernel).size() > arguments.size()) arguments.push_back(whole(status));
    return run_oracle(graph, kernel, arguments, {.schedule_seed = schedule});
  }
};

// The first code that failed, or kCheckCodes.
uint32_t first_code(const std::vector<uint32_t>& status) {
  const auto failed = std::ranges::find_if(status, [](uint32_t v) { return v != UINT32_MAX; });
  return static_cast<uint32_t>(failed - status.begin());
}

using Pass = Id (*)(PassContext&, Id);

void expect_same(const char* name, Build build, uint32_t lanes, uint64_t seed, Pass pass) {
  SCOPED_TRACE(testing::Message() << name << " with " << lanes << " lanes, seed " << seed);
  Graph graph;
  Frame frame(graph, lanes);
  build(frame);
  const Id kernel = frame.k.finish();
  PassContext context{graph, kTarget};
  const Id with_status = checks_to_status(context, kernel);
  const Id rewritten = pass(context, with_status);
  if (pass == lanes_to_loops) {
    const auto problems = verify(graph, rewritten, Spec::Kernel);
    ASSERT_TRUE(problems.empty()) << problems[0].message;
  }

  Memory expected(lanes, seed), got(lanes, seed);
  auto original = Memory(lanes, seed).run(graph, kernel, 0);
  ASSERT_TRUE(original.ok()) << original.error().message;
  auto reported = expected.run(graph, with_status, 0);
  ASSERT_TRUE(reported.ok()) << reported.error().message;
  auto changed = got.run(graph, rewritten, seed);
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  EXPECT_EQ(expected.out, got.out);
  EXPECT_EQ(expected.own, got.own);
  EXPECT_EQ(expected.sums, got.sums);
  EXPECT_EQ(expected.status, got.status);
  const uint32_t code = first_code(got.status);
  ASSERT_EQ(original->failure ? original->failure->code : kCheckCodes, code);
  if (code == kCheckCodes) return;
  EXPECT_EQ(original->failure->instance, got.status[code]);
}

void expect_none(Pass pass, std::initializer_list<Op> ops) {
  for (auto [name, build] : kKernels) {
    Graph graph;
    Frame frame(graph, 32);
    build(frame);
    PassContext context{graph, kTarget};
    const Id kernel = pass(context, checks_to_status(context, frame.k.finish()));
    for (Id id : reachable(graph, kernel)) {
      for (Op op : ops) EXPECT_NE(graph.op(id), op) << name << " still has " << spelling(op);
      if (graph.op(id) != Op::Atomic || pass != lanes_to_loops) continue;
      EXPECT_EQ(graph.op(graph.operand(id, 0)), Op::Param) << name << ": atomic on an array";
    }
  }
}

// Around the steps of collectives_to_local: windows of 8 and 64.
constexpr uint32_t kSizes[] = {1, 2, 7, 8, 9, 10, 65, 129};

TEST(CollectivesToLocal, SameBytes) {
  for (auto [name, build] : kKernels) {
    for (uint32_t lanes : kSizes) expect_same(name, build, lanes, lanes + 5, collectives_to_local);
  }
}

TEST(CollectivesToLocal, LargeGroups) {
  for (uint32_t lanes : {513u, 514u, 1024u}) {
    expect_same("block_scan", block_scan, lanes, 3, collectives_to_local);
    expect_same("block_reduce", block_reduce, lanes, 4, collectives_to_local);
  }
}

TEST(CollectivesToLocal, NoCollectivesLeft) {
  expect_none(collectives_to_local, {Op::GScan, Op::GReduce});
}

TEST(CollectivesToLocal, FewBarriers) {
  for (auto [lanes, most] : {std::pair{64u, 2u}, {256u, 3u}, {1024u, 4u}}) {
    for (Build build : {block_scan, one_reduce}) {
      Graph graph;
      Frame frame(graph, lanes);
      build(frame);
      PassContext context{graph, kTarget};
      const Id kernel = collectives_to_local(context, frame.k.finish());
      uint32_t barriers = 0;
      for (Id id : reachable(graph, kernel)) barriers += graph.op(id) == Op::Barrier;
      EXPECT_LE(barriers, most) << lanes;
    }
  }
}

TEST(LanesToLoops, SameBytes) {
  for (auto [name, build] : kKernels) {
    for (uint32_t lanes : kSizes) expect_same(name, build, lanes, lanes + 7, lanes_to_loops);
  }
}

TEST(LanesToLoops, BecomesAGridKernel) {
  expect_none(lanes_to_loops, {Op::GScan, Op::GReduce, Op::Barrier, Op::Lane, Op::Group});
  Graph graph;
  Frame frame(graph, 32);
  histogram(frame);
  PassContext context{graph, kTarget};
  const Id kernel = lanes_to_loops(context, frame.k.finish());
  EXPECT_EQ(graph.kernel_info(kernel).group, 0u);
  for (Id id : reachable(graph, kernel)) {
    EXPECT_FALSE(graph.op(id) == Op::Alloc && graph.space(id) == Space::Local);
  }
  EXPECT_EQ(lanes_to_loops(context, kernel), kernel);
}

TEST(LanesToLoops, FailuresNameTheLane) {
  const uint32_t lanes = 10;
  Graph graph;
  Frame f(graph, lanes);
  f.k.check(4, f.at < 17);
  f.k.barrier();
  f.k.check(5, f.at < 23);
  PassContext context{graph, kTarget};
  const Id kernel = lanes_to_loops(context, checks_to_status(context, f.k.finish()));
  Memory memory(lanes, 1);
  ASSERT_TRUE(memory.run(graph, kernel, 9).ok());
  EXPECT_EQ(memory.status[4], 17u);
  EXPECT_EQ(memory.status[5], 23u);
}

// What all lanes agree on needs no array.
TEST(LanesToLoops, UniformValuesStayValues) {
  Graph graph;
  Frame f(graph, 32);
  Value shared = f.in[f.g];
  Value total = f.k.greduce(Fold::Add, f.in[f.at]);
  Values r = f.k.for_range(f.k.u32(0), shared, {total}, [&](Value j, const Values& c) {
    return Values{c[0] + f.k.greduce(Fold::Add, f.lane * j)};
  });
  f.k.store(f.out, f.at, r[0] + shared);
  PassContext context{graph, kTarget};
  const Id kernel = lanes_to_loops(context, f.k.finish());
  for (Id id : reachable(graph, kernel)) EXPECT_NE(graph.op(id), Op::Alloc);
}

}  // namespace
}  // namespace xlog::kernel
