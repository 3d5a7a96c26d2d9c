#include "kernel/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernel/builder.h"

namespace xlog::kernel {
namespace {

using ::testing::HasSubstr;

template <typename T>
HostBuffer host(std::vector<T>& column) {
  return {reinterpret_cast<std::byte*>(column.data()), column.size() * sizeof(T)};
}

std::string error_of(const Graph& graph, Id kernel, const std::vector<Argument>& arguments,
                     const OracleOptions& options = {}) {
  auto result = run_oracle(graph, kernel, arguments, options);
  return result.ok() ? "" : result.error().text();
}

TEST(Oracle, RunsAGridKernel) {
  Graph graph;
  KernelBuilder k(graph, "bucket");
  Value n = k.val(Type::U32, "n");
  Buffer key = k.in(Type::U32, "key"), out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  Value h = key[i];
  h = (h ^ (h >> 16)) * 0x85ebca6b;
  k.store(out, i, h & 1023);
  const Id kernel = k.finish();

  std::vector<uint32_t> keys = {0, 1, 0xffffffff, 70000, 5}, got(5, 7);
  for (uint64_t seed : {0, 1, 2}) {
    std::ranges::fill(got, 7);
    OracleOptions options;
    options.schedule_seed = seed;
    auto report = run_oracle(graph, kernel,
                             std::vector<Argument>{Scalar::u32(5), host(keys), host(got)}, options);
    ASSERT_TRUE(report.ok()) << report.error().text();
    EXPECT_FALSE(report->failure.has_value());
    for (size_t r = 0; r < keys.size(); ++r) {
      EXPECT_EQ(got[r], ((keys[r] ^ (keys[r] >> 16)) * 0x85ebca6bu) & 1023u);
    }
  }
}

TEST(Oracle, LoopsCarryValuesAndNest) {
  Graph graph;
  KernelBuilder k(graph, "sums");
  Value n = k.val(Type::U32, "n");
  Buffer out = k.out(Type::U64, "out");
  Value i = k.grid(n);
  Values sum = k.for_range(k.u32(0), i, {k.number(Type::U64, 0)}, [&](Value a, const Values& s) {
    return k.for_range(k.u32(0), a, s, [&](Value b, const Values& t) {
      return Values{t[0] + k.cast(Type::U64, a * b)};
    });
  });
  k.store(out, i, sum[0]);
  const Id kernel = k.finish();
  std::vector<uint64_t> got(7, 0);
  ASSERT_EQ(error_of(graph, kernel, {Scalar::u32(7), host(got)}), "");
  for (uint64_t r = 0; r < 7; ++r) {
    uint64_t expected = 0;
    for (uint64_t a = 0; a < r; ++a)
      for (uint64_t b = 0; b < a; ++b) expected += a * b;
    EXPECT_EQ(got[r], expected);
  }
}

TEST(Oracle, ALoopThatReachesItsBoundFailsCheckZero) {
  Graph graph;
  KernelBuilder k(graph, "collatz");
  Value n = k.val(Type::U32, "n"), bound = k.val(Type::U32, "bound");
  Buffer steps = k.out(Type::U32, "steps");
  Value i = k.grid(n);
  Value x = i + 1;
  Values end = k.loop(bound, x != 1, {x, k.u32(0)}, [&](Value, const Values& c) {
    Value next = k.select((c[0] & 1) == 0, c[0] >> 1, c[0] * 3 + 1);
    return std::pair{next != 1, Values{next, c[1] + 1}};
  });
  k.store(steps, i, end[1]);
  const Id kernel = k.finish();
  std::vector<uint32_t> got(9);
  auto free =
      run_oracle(graph, kernel, std::vector<Argument>{Scalar::u32(9), Scalar::u32(50), host(got)});
  ASSERT_TRUE(free.ok()) << free.error().text();
  EXPECT_FALSE(free->failure);
  EXPECT_EQ(got, (std::vector<uint32_t>{0, 1, 7, 2, 5, 8, 16, 3, 19}));
  for (uint64_t seed : {0, 3}) {
    OracleOptions options;
    options.schedule_seed = seed;
    auto tight = run_oracle(
        graph, kernel, std::vector<Argument>{Scalar::u32(9), Scalar::u32(7), host(got)}, options);
    ASSERT_TRUE(tight.ok());
    ASSERT_TRUE(tight->failure);
    EXPECT_EQ(tight->failure->code, kCheckBound);
    EXPECT_EQ(tight->failure->instance, 5u);
    EXPECT_EQ(got[6], 7u);
  }
}

TEST(Oracle, ReportsTheSmallestCodeThenTheSmallestInstance) {
  Graph graph;
  KernelBuilder k(graph, "checks");
  Value n = k.val(Type::U32, "n");
  Value i = k.grid(n);
  k.check(2, i != 0);
  k.check(1, i < k.u32(4));
  const Id kernel = k.finish();
  for (uint64_t seed : {0, 1, 2, 3}) {
    OracleOptions options;
    options.schedule_seed = seed;
    auto report = run_oracle(graph, kernel, std::vector<Argument>{Scalar::u32(8)}, options);
    ASSERT_TRUE(report.ok());
    ASSERT_TRUE(report->failure);
    EXPECT_EQ(report->failure->code, 1u);
    EXPECT_EQ(report->failure->instance, 4u);
  }
}

TEST(Oracle, GroupsMeetAtBarriersAndCollectives) {
  Graph graph;
  constexpr uint32_t kLanes = 8;
  KernelBuilder k(graph, "tile", kLanes);
  Value n = k.val(Type::U32, "n");
  Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Buffer scanned = k.out(Type::U32, "scanned"), total = k.out(Type::U32, "total");
  Value g = k.group(n), lane = k.lane();
  Value at = g * kLanes + lane;
  Buffer tile = k.local(Type::U32, kLanes);
  k.store(tile, lane, in[at]);
  k.barrier();
  k.store(out, at, tile[k.u32(kLanes - 1) - lane]);
  k.store(scanned, at, k.gscan(Fold::Add, in[at]));
  Value sum = k.greduce(Fold::Max, in[at]);
  k.if_then(lane == 0, [&] { k.store(total, g, sum); });
  const Id kernel = k.finish();
  std::vector<uint32_t> input(24), reversed(24), prefix(24), most(3);
  for (uint32_t r = 0; r < 24; ++r) input[r] = r * 7 % 11;
  for (uint64_t seed : {0, 1, 2}) {
    OracleOptions options;
    options.schedule_seed = seed;
    ASSERT_EQ(
        error_of(graph, kernel,
                 {Scalar::u32(3), host(input), host(reversed), host(prefix), host(most)}, options),
        "");
    for (uint32_t group = 0; group < 3; ++group) {
      uint32_t sum_before = 0, largest = 0;
      for (uint32_t l = 0; l < kLanes; ++l) {
        EXPECT_EQ(reversed[group * kLanes + l], input[group * kLanes + kLanes - 1 - l]);
        EXPECT_EQ(prefix[group * kLanes + l], sum_before);
        sum_before += input[group * kLanes + l];
        largest = std::max(largest, input[group * kLanes + l]);
      }
      EXPECT_EQ(most[group], largest);
    }
  }
}

TEST(Oracle, MakesNaNsCanonicalWhereTheyLeave) {
  Graph graph;
  KernelBuilder k(graph, "nan");
  Buffer in = k.in(Type::F32, "in"), out = k.out(Type::F32, "out"), bits = k.out(Type::U32, "bits");
  Value x = in[0];
  k.store(out, k.u32(0), x);
  k.store(bits, k.u32(0), k.bitcast(Type::U32, x));
  const Id kernel = k.finish();
  std::vector<uint32_t> input = {0xffc12345}, stored(1), cast(1);
  ASSERT_EQ(error_of(graph, kernel, {host(input), host(stored), host(cast)}), "");
  EXPECT_EQ(stored[0], 0x7fc00000u);
  EXPECT_EQ(cast[0], 0x7fc00000u);
}

TEST(Oracle, AtomicsAndCas) {
  Graph graph;
  KernelBuilder k(graph, "atomics");
  Value n = k.val(Type::U32, "n");
  Buffer sums = k.acc(Type::U64, "sums"), slots = k.race(Type::U32, "slots");
  Value i = k.grid(n);
  k.atomic(Fold::Add, sums, i % 2, k.cast(Type::U64, i));
  k.cas(slots, i % 3, k.u32(UINT32_MAX), i);
  const Id kernel = k.finish();
  std::vector<uint64_t> totals = {100, 0};
  std::vector<uint32_t> winners(3, UINT32_MAX);
  ASSERT_EQ(error_of(graph, kernel, {Scalar::u32(7), host(totals), host(winners)}), "");
  EXPECT_EQ(totals, (std::vector<uint64_t>{112, 9}));
  EXPECT_EQ(winners, (std::vector<uint32_t>{0, 1, 2}));
}

// ---- broken promises ----

// Builds a grid kernel over one u32 buffer `b` of 4 cells and runs 4 instances.
std::string broken(Mode mode, const std::function<void(KernelBuilder&, Buffer, Value)>& body,
                   const OracleOptions& options = {}) {
  Graph graph;
  KernelBuilder k(graph, "wrong");
  Value n = k.val(Type::U32, "n");
  Buffer b = k.buffer(Type::U32, mode, "b");
  Buffer sink = k.race(Type::U32, "sink");
  Value i = k.grid(n);
  body(k, b, i);
  k.store(sink, k.u32(0), i);
  const Id kernel = k.finish();
  std::vector<uint32_t> column(4), rest(1);
  return error_of(graph, kernel, {Scalar::u32(4), host(column), host(rest)}, options);
}

TEST(OraclePromises, Index) {
  const std::string text =
      broken(Mode::In, [](KernelBuilder& k, Buffer b, Value i) { k.load(b, i + 2); });
  EXPECT_THAT(text, HasSubstr("kernel wrong, instance 2: load: b (in u32) at index 4"));
  EXPECT_THAT(text, HasSubstr("there are 4 elements"));
}

TEST(OraclePromises, Modes) {
  auto store = [](KernelBuilder& k, Buffer b, Value i) { k.store(b, i, i); };
  auto load = [](KernelBuilder& k, Buffer b, Value i) { k.load(b, i); };
  auto add = [](KernelBuilder& k, Buffer b, Value i) { k.atomic(Fold::Add, b, i, i); };
  auto exch = [](KernelBuilder& k, Buffer b, Value i) { k.atomic(Fold::Exch, b, i, i); };
  auto cas = [](KernelBuilder& k, Buffer b, Value i) { k.cas(b, i, i, i); };
  EXPECT_THAT(broken(Mode::In, store), HasSubstr("`in` is never stored to"));
  EXPECT_THAT(broken(Mode::Out, load), HasSubstr("`out` is never loaded"));
  EXPECT_THAT(broken(Mode::Acc, load), HasSubstr("`acc` takes atomics only"));
  EXPECT_THAT(broken(Mode::Acc, store), HasSubstr("`acc` takes atomics only"));
  EXPECT_THAT(broken(Mode::Acc, exch), HasSubstr("not by exch"));
  EXPECT_THAT(broken(Mode::Own, add), HasSubstr("`own` takes no atomics"));
  EXPECT_THAT(broken(Mode::Acc, cas), HasSubstr("`race` only"));
  EXPECT_THAT(broken(Mode::Acc,
                     [](KernelBuilder& k, Buffer b, Value i) {
                       k.atomic(Fold::Add, b, i, i);
                       k.atomic(Fold::Max, b, i / 2, i);
                     }),
              HasSubstr("only one kind of fold"));
  EXPECT_EQ(broken(Mode::Race, cas), "");
  EXPECT_EQ(broken(Mode::Acc, add), "");
}

TEST(OraclePromises, OutIsStoredOnceAndOwnHasOneOwner) {
  EXPECT_THAT(broken(Mode::Out, [](KernelBuilder& k, Buffer b, Value i) { k.store(b, i / 2, i); }),
              HasSubstr("instance 1: store: b (out u32) at index 0: instance 0 stored"));
  EXPECT_THAT(broken(Mode::Own,
                     [](KernelBuilder& k, Buffer b, Value i) {
                       k.store(b, i, i);
                       k.load(b, (i + 1) % 4);
                     }),
              HasSubstr("belongs to one instance"));
}

TEST(OraclePromises, ReadsOfUnwrittenCells) {
  EXPECT_THAT(broken(Mode::In,
                     [](KernelBuilder& k, Buffer, Value i) {
                       Buffer a = k.private_array(Type::U32, 4);
                       k.store(a, i, i);
                       k.load(a, k.u32(1));
                     }),
              HasSubstr("instance 0: load: the private array (private u32) at index 1: the cell is "
                        "read before"));
  const std::vector<std::vector<bool>> written = {{}, {true, true, false, true}, {}};
  OracleOptions options;
  options.written = &written;
  EXPECT_THAT(broken(
                  Mode::In, [](KernelBuilder& k, Buffer b, Value i) { k.load(b, i); }, options),
              HasSubstr("instance 2"));
  EXPECT_EQ(broken(
                Mode::Own,
                [](KernelBuilder& k, Buffer b, Value i) {
                  k.store(b, i, i);
                  k.load(b, i);
                },
                options),
            "");
}

TEST(OraclePromises, TheResultOfAnAtomicOnAccIsNobodys) {
  EXPECT_THAT(broken(Mode::Acc, [](KernelBuilder& k, Buffer b,
                                   Value i) { k.check(3, k.atomic(Fold::Add, b, i, i) == 0); }),
              HasSubstr("`acc` does not allow"));
}

std::string broken_group(const std::function<void(KernelBuilder&, Buffer, Value)>& body) {
  Graph graph;
  KernelBuilder k(graph, "wrong", 4);
  Buffer sink = k.race(Type::U32, "sink");
  Value g = k.group(k.u32(2));
  Value lane = k.lane();
  Buffer tile = k.local(Type::U32, 8);
  k.store(sink, g, lane);
  body(k, tile, lane);
  const Id kernel = k.finish();
  std::vector<uint32_t> rest(4);
  return error_of(graph, kernel, {host(rest)});
}

TEST(OraclePromises, RacesInABarrierInterval) {
  EXPECT_THAT(broken_group([](KernelBuilder& k, Buffer tile, Value lane) {
                k.store(tile, lane, lane);
                k.load(tile, lane / 2);
              }),
              HasSubstr("same barrier interval"));
  EXPECT_THAT(broken_group(
                  [](KernelBuilder& k, Buffer tile, Value lane) { k.store(tile, lane / 2, lane); }),
              HasSubstr("kernel wrong, group 0, lane 1: store: the local array"));
  EXPECT_EQ(broken_group([](KernelBuilder& k, Buffer tile, Value lane) {
              k.store(tile, lane, lane);
              k.barrier();
              k.load(tile, (lane + 3) % 4);
              k.barrier();
              k.atomic(Fold::Add, tile, k.u32(0), lane);
            }),
            "");
  EXPECT_THAT(broken_group([](KernelBuilder& k, Buffer tile, Value lane) {
                k.if_then(lane == 0, [&] { k.store(tile, k.u32(0), lane); });
                k.atomic(Fold::Add, tile, k.u32(0), lane);
              }),
              HasSubstr("same barrier interval"));
}

TEST(OraclePromises, BarriersThatNotAllLanesReach) {
  EXPECT_THAT(broken_group([](KernelBuilder& k, Buffer, Value lane) {
                k.if_then(lane < k.u32(2), [&] { k.barrier(); });
              }),
              HasSubstr("group 0, lane 2 has ended, but lane 0 waits at a barrier"));
  EXPECT_THAT(broken_group([](KernelBuilder& k, Buffer, Value lane) {
                k.for_range(lane / 3, k.u32(3), [&](Value) { k.barrier(); });
              }),
              HasSubstr("lane 3 waits at a barrier, but lane 0 waits at a barrier in another"));
}

TEST(OraclePromises, Arguments) {
  Graph graph;
  KernelBuilder k(graph, "copy");
  Value n = k.val(Type::U32, "n");
  Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  k.store(out, i, in[i]);
  const Id kernel = k.finish();
  std::vector<uint32_t> column(8);
  HostBuffer whole = host(column);
  HostBuffer front{whole.data, 16}, middle{whole.data + 8, 16}, back{whole.data + 16, 16};
  EXPECT_EQ(error_of(graph, kernel, {Scalar::u32(4), front, back}), "");
  EXPECT_THAT(error_of(graph, kernel, {Scalar::u32(4), front, middle}),
              HasSubstr("in and out overlap"));
  EXPECT_THAT(error_of(graph, kernel, {Scalar::u64(4), front, back}), HasSubstr("n is a u32"));
  EXPECT_THAT(error_of(graph, kernel, {Scalar::u32(4), Scalar::u32(4), back}),
              HasSubstr("in is a buffer"));
  EXPECT_THAT(error_of(graph, kernel, {Scalar::u32(4), front}), HasSubstr("3 parameters"));
  EXPECT_THAT(error_of(graph, kernel, {Scalar::u32(4), HostBuffer{whole.data, 7}, back}),
              HasSubstr("no whole number"));
}

}  // namespace
}  // namespace xlog::kernel
