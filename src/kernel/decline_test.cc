#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/builder.h"
#include "kernel/pass.h"

namespace xlog::kernel {
namespace {

using ::testing::HasSubstr;

TEST(Decline, SaysNothingWhereAllFits) {
  Graph graph;
  KernelBuilder k(graph, "fits", 256);
  Value n = k.val(Type::U32, "n");
  Buffer out = k.acc(Type::U64, "out");
  k.local(Type::U32, 256);
  k.atomic(Fold::Add, out, k.group(n), k.number(Type::U64, 1));
  const Id kernel = k.finish();
  EXPECT_EQ(decline_reason(graph, kernel, {.name = "gpu", .groups = true}), "");
}

TEST(Decline, NamesTheOpTheTargetAndTheWayOut) {
  Graph graph;
  KernelBuilder k(graph, "wide");
  Value a = k.val(Type::F64, "a");
  Buffer out = k.out(Type::F32, "out"), sum = k.acc(Type::U64, "sum"),
         low = k.acc(Type::U32, "low");
  k.store(out, k.u32(0), k.cast(Type::F32, a));
  Value single = k.cast(Type::F32, k.len(out));
  k.store(out, k.u32(1), k.make(Op::Fma, {single, single, single}));
  k.atomic(Fold::Add, sum, k.u32(0), k.number(Type::U64, 1));
  k.atomic(Fold::Add, low, k.u32(0), k.u32(1));
  const Id kernel = k.finish();

  EXPECT_EQ(decline_reason(graph, kernel, {.name = "all"}), "");
  std::string reason = decline_reason(graph, kernel, {.name = "webgpu", .f64 = false});
  EXPECT_THAT(reason, HasSubstr("f64"));
  EXPECT_THAT(reason, HasSubstr("target webgpu"));
  EXPECT_THAT(reason, HasSubstr("use f32"));
  reason = decline_reason(graph, kernel, {.name = "old", .fma = false});
  EXPECT_THAT(reason, HasSubstr("fma"));
  EXPECT_THAT(reason, HasSubstr("target old"));
  reason = decline_reason(graph, kernel, {.name = "old", .atomic64 = false});
  EXPECT_THAT(reason, HasSubstr("atomic on u64"));
  EXPECT_THAT(reason, HasSubstr("use a 32-bit buffer"));
  reason = decline_reason(graph, kernel, {.name = "old", .atomic32 = false});
  EXPECT_THAT(reason, HasSubstr("atomic on u32"));
}

TEST(Decline, GroupsAndLocalMemory) {
  Graph graph;
  KernelBuilder k(graph, "big", 512);
  Value g = k.group(k.val(Type::U32, "n"));
  Buffer out = k.own(Type::U32, "out");
  Buffer tile = k.local(Type::U64, 1024);
  k.atomic(Fold::Add, tile, k.u32(0), k.number(Type::U64, 1));
  k.store(tile, k.lane(), k.cast(Type::U64, g));
  k.store(out, k.lane(), k.cast(Type::U32, tile[k.lane()]));
  const Id kernel = k.finish();
  Target small{.name = "small", .groups = true, .max_group = 256};
  EXPECT_THAT(decline_reason(graph, kernel, small), HasSubstr("512 lanes, target small takes"));
  small = {.name = "small", .groups = true, .max_local_bytes = 4096};
  EXPECT_THAT(decline_reason(graph, kernel, small), HasSubstr("8192 bytes, target small has 4096"));
  // Where lanes become loops there is neither a group nor local memory to run out of, and no
  // atomic on an array.
  EXPECT_EQ(
      decline_reason(graph, kernel,
                     {.name = "cpu", .atomic64 = false, .max_group = 1, .max_local_bytes = 0}),
      "");
}

TEST(Decline, ArraysThatAThreadCannotHold) {
  Graph graph;
  KernelBuilder k(graph, "arrays", 4);
  Value at = k.group(k.val(Type::U32, "n")) * 4 + k.lane();
  Buffer own = k.private_array(Type::U64, 512), tile = k.local(Type::U32, 256);
  k.store(own, k.lane(), k.cast(Type::U64, at));
  k.store(tile, k.lane(), at);
  k.store(k.out(Type::U64, "out"), at, own[k.lane()] + k.cast(Type::U64, tile[k.lane()]));
  const Id kernel = k.finish();
  Target target{.name = "small", .groups = true, .max_private_bytes = 4096};
  EXPECT_EQ(decline_reason(graph, kernel, target), "");
  target.max_private_bytes = 4095;
  EXPECT_THAT(decline_reason(graph, kernel, target),
              HasSubstr("4096 bytes of a thread, target small has 4095; use smaller arrays, or a"));
  // Where lanes are loops, one thread holds the local arrays too.
  target.groups = false;
  target.max_private_bytes = 5120;
  EXPECT_EQ(decline_reason(graph, kernel, target), "");
  target.max_private_bytes = 5119;
  EXPECT_THAT(decline_reason(graph, kernel, target),
              HasSubstr("5120 bytes of a thread with those of all lanes, target small has 5119"));
  target.max_private_bytes = 0;
  EXPECT_EQ(decline_reason(graph, kernel, target), "");
  // Where a thread takes the lanes of a group one after another, it holds what each has.
  target = {.name = "pocl", .groups = true, .max_private_bytes = 4 * 4096, .lanes_of_thread = 2};
  EXPECT_EQ(decline_reason(graph, kernel, target), "") << "4 lanes";
  target.lanes_of_thread = 5;
  EXPECT_THAT(decline_reason(graph, kernel, target), HasSubstr("20480 bytes of a thread with"));
}

}  // namespace
}  // namespace xlog::kernel
