#include "device/llvm_compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device/llvm_fixture.h"
#include "kernel/builder.h"

namespace xlog::device {
namespace {

using kernel::Buffer;
using kernel::Fold;
using kernel::Graph;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Type;
using kernel::Value;
using kernel::Values;
using testing::ElementsAre;
using testing::HasSubstr;

// Runs instances 0 <= i < n.
void run(const Graph& graph, Id kernel, uint32_t n, std::vector<void*> args) {
  const Result<LoadedObject> loaded = compile_for_cpu(graph, as_it_is(graph, kernel));
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  loaded->entry()(0, n, args.data());
}

TEST(LlvmCompile, RunsOnlyTheInstancesAsked) {
  Graph graph;
  KernelBuilder k(graph, "square");
  Value n = k.val(Type::U32, "n");
  Buffer x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y");
  Value i = k.grid(n);
  k.store(y, i, x[i] * x[i]);
  const Id kernel = k.finish();
  const Result<LoadedObject> loaded = compile_for_cpu(graph, as_it_is(graph, kernel));
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  uint32_t count = 5;
  std::vector<uint32_t> from = {1, 2, 3, 4, 65536}, to(5, 9);
  std::vector<void*> args = {&count, from.data(), to.data()};
  loaded->entry()(1, 3, args.data());
  EXPECT_THAT(to, ElementsAre(9, 4, 9, 9, 9));
  loaded->entry()(3, 5, args.data());
  EXPECT_THAT(to, ElementsAre(9, 4, 9, 16, 0));
  loaded->entry()(5, 5, args.data());
  EXPECT_THAT(to, ElementsAre(9, 4, 9, 16, 0));
}

TEST(LlvmCompile, LoopsCarryValues) {
  Graph graph;
  KernelBuilder k(graph, "fibonacci");
  Value n = k.val(Type::U32, "n");
  Buffer out = k.out(Type::U64, "out");
  Value i = k.grid(n);
  Values pair = k.for_range(k.u32(0), i, {k.number(Type::U64, 0), k.number(Type::U64, 1)},
                            [&](Value, const Values& v) {
                              return Values{v[1], v[0] + v[1]};
                            });
  k.store(out, i, pair[0]);
  const Id kernel = k.finish();
  uint32_t count = 8;
  std::vector<uint64_t> got(8);
  run(graph, kernel, count, {&count, got.data()});
  EXPECT_THAT(got, ElementsAre(0, 1, 1, 2, 3, 5, 8, 13));
}

// Large kernels take other passes, and those without an inner loop another code generation.
TEST(LlvmCompile, LargeKernelsComputeTheSame) {
  constexpr int kRounds = 60;
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  for (bool inner_loop : {false, true}) {
    SCOPED_TRACE(inner_loop);
    Graph graph;
    KernelBuilder k(graph, "large");
    Value n = k.val(Type::U32, "n");
    Buffer x = k.in(Type::U64, "x"), y = k.out(Type::U64, "y");
    Value i = k.grid(n);
    Value h = x[i];
    for (int round = 0; round < kRounds; ++round) {
      h = (h ^ (h >> (7 + round % 9))) * k.number(Type::U64, kFactor + 2 * round);
      h = k.select((h & 64) == 0, h + 1, h);
    }
    if (inner_loop) {
      h = k.for_range(k.u32(0), i & 7, {h},
                      [&](Value j, const Values& v) { return Values{(v[0] ^ x[j]) * 3}; })[0];
    }
    k.if_then((h & 1) == 0, [&] { k.store(y, i, h); });
    const Id kernel = k.finish();

    uint32_t count = 1003;
    std::vector<uint64_t> from(count), got(count), want(count);
    for (uint32_t at = 0; at < count; ++at) from[at] = at * kFactor;
    for (uint32_t at = 0; at < count; ++at) {
      uint64_t hash = from[at];
      for (int round = 0; round < kRounds; ++round) {
        hash = (hash ^ (hash >> (7 + round % 9))) * (kFactor + 2 * round);
        if ((hash & 64) == 0) ++hash;
      }
      for (uint32_t j = 0; inner_loop && j < at % 8; ++j) hash = (hash ^ from[j]) * 3;
      if (hash % 2 == 0) want[at] = hash;
    }
    run(graph, kernel, count, {&count, from.data(), got.data()});
    EXPECT_EQ(got, want);
  }
}

TEST(LlvmCompile, LoopsStopAtTheirFlagOrBound) {
  Graph graph;
  KernelBuilder k(graph, "collatz");
  Value n = k.val(Type::U32, "n");
  Buffer steps = k.out(Type::U32, "steps");
  Value i = k.grid(n);
  Values end = k.loop(k.u32(10), i != 1, {i, k.u32(0)}, [&](Value, const Values& v) {
    Value next = k.select((v[0] & 1) == 0, v[0] >> 1, v[0] * 3 + 1);
    return std::pair{next != 1, Values{next, v[1] + 1}};
  });
  k.store(steps, i, end[1]);
  const Id kernel = k.finish();
  uint32_t count = 10;
  std::vector<uint32_t> got(10, 99);
  run(graph, kernel, count, {&count, got.data()});
  // 0 never reaches 1; 7 needs 16 steps and 9 needs 19: the bound stops all three.
  EXPECT_THAT(got, ElementsAre(10, 0, 1, 7, 2, 5, 8, 10, 3, 10));
}

TEST(LlvmCompile, BranchesArraysAndBytes) {
  Graph graph;
  KernelBuilder k(graph, "reverse");
  Value n = k.val(Type::U32, "n"), flip = k.val(Type::Bool, "flip");
  Buffer bits = k.in(Type::Bool, "bits"), bytes = k.own(Type::U8, "bytes");
  Value i = k.grid(n);
  Buffer four = k.private_array(Type::U8, 4);
  k.for_range(k.u32(0), k.u32(4), [&](Value j) { k.store(four, j, bytes[i * 4 + j] + 1); });
  k.if_then(
      k.make(kernel::Op::Xor, {bits[i], flip}),
      [&] {
        k.for_range(k.u32(0), k.u32(4),
                    [&](Value j) { k.store(bytes, i * 4 + j, four[k.u32(3) - j]); });
      },
      [&] { k.store(bytes, i * 4, k.number(Type::U8, 0)); });
  const Id kernel = k.finish();
  uint32_t count = 2;
  bool flipped = true;
  std::vector<uint8_t> which = {1, 0}, got = {1, 2, 3, 4, 5, 6, 7, 255};
  run(graph, kernel, count, {&count, &flipped, which.data(), got.data()});
  EXPECT_THAT(got, ElementsAre(0, 2, 3, 4, 0, 8, 7, 6));
}

// Selects behind an If with the same condition take another way than those that stand alone.
TEST(LlvmCompile, ChoicesBehindABranch) {
  Graph graph;
  KernelBuilder k(graph, "choices");
  Value n = k.val(Type::U32, "n");
  Buffer x = k.in(Type::U32, "x"), kept = k.out(Type::U32, "kept"), ends = k.out(Type::U32, "ends");
  Value i = k.grid(n);
  Values end = k.for_range(k.u32(0), k.u32(6), {k.u32(0), k.u32(0)}, [&](Value j, const Values& v) {
    Value odd = (x[j] & 1) == 1;
    k.if_then(
        odd, [&] { k.store(kept, v[0], x[j]); }, [&] { k.store(ends, v[1] + 10, x[j]); });
    Value step = k.select(odd, v[0] + 1, v[0]);
    Value later = x[(j + 1) % 6];  // loaded behind the branch
    return Values{step, k.select(odd, v[1], v[1] + (later | 1) / later)};
  });
  k.store(ends, i, end[0]);
  k.store(ends, i + 1, end[1]);
  const Id kernel = k.finish();
  uint32_t count = 1;
  std::vector<uint32_t> from = {3, 4, 5, 7, 8, 9}, odd(6, 0), other(20, 0);
  run(graph, kernel, count, {&count, from.data(), odd.data(), other.data()});
  EXPECT_THAT(odd, ElementsAre(3, 5, 7, 9, 0, 0));
  EXPECT_EQ(other[0], 4u);
  EXPECT_EQ(other[1], 2u);
  EXPECT_EQ(other[10], 4u);
  EXPECT_EQ(other[11], 8u);
}

TEST(LlvmCompile, AtomicsGiveTheOldValue) {
  Graph graph;
  KernelBuilder k(graph, "atomics");
  Value n = k.val(Type::U32, "n");
  Buffer cells = k.race(Type::I32, "cells"), seen = k.out(Type::I32, "seen");
  Value i = k.grid(n);
  Value v = k.cast(Type::I32, i) - 2;
  Values old;
  const Fold folds[] = {Fold::Add, Fold::Min, Fold::Max, Fold::And,
                        Fold::Or,  Fold::Xor, Fold::Exch};
  for (uint32_t f = 0; f < 7; ++f) old.push_back(k.atomic(folds[f], cells, k.u32(f), v));
  old.push_back(k.cas(cells, k.u32(7), v, v + 10));
  for (uint32_t f = 0; f < 8; ++f) k.store(seen, i * 8 + k.u32(f), old[f]);
  const Id kernel = k.finish();
  uint32_t count = 3;  // -2, -1, 0
  std::vector<int32_t> cell = {0, 0, -5, -1, 0, 1, 7, -1}, got(24);
  run(graph, kernel, count, {&count, cell.data(), got.data()});
  EXPECT_THAT(cell, ElementsAre(-3, -2, 0, 0, -1, 0, 0, 9));
  EXPECT_THAT(got, ElementsAre(0, 0, -5, -1, 0, 1, 7, -1,       //
                               -2, -2, -2, -2, -2, -1, -2, -1,  //
                               -3, -2, -1, -2, -1, 0, -1, 9));
}

TEST(LlvmCompile, RaceBuffersMayHoldBytes) {
  Graph graph;
  KernelBuilder k(graph, "bytes");
  Value n = k.val(Type::U32, "n");
  Buffer bytes = k.race(Type::U8, "bytes"), flags = k.race(Type::Bool, "flags");
  Value i = k.grid(n);
  k.store(bytes, i + 1, bytes[i] + k.number(Type::U8, 200));
  k.store(flags, i + 1, !flags[i]);
  const Id kernel = k.finish();
  uint32_t count = 3;
  std::vector<uint8_t> byte = {7, 0, 0, 9}, flag = {5, 5, 5, 5};
  run(graph, kernel, count, {&count, byte.data(), flag.data()});
  EXPECT_THAT(byte, ElementsAre(7, 207, 151, 95));
  EXPECT_THAT(flag, ElementsAre(5, 0, 1, 0));
}

TEST(LlvmCompile, SeveralObjectsLiveSideBySide) {
  auto adder = [](int64_t by) {
    Graph graph;
    KernelBuilder k(graph, "add");
    Value n = k.val(Type::U32, "n");
    Buffer x = k.own(Type::U32, "x");
    Value i = k.grid(n);
    k.store(x, i, x[i] + by);
    const Id kernel = k.finish();
    return compile_for_cpu(graph, as_it_is(graph, kernel));
  };
  Result<LoadedObject> one = adder(1);
  ASSERT_TRUE(one.ok()) << one.error().text();
  uint32_t count = 1, cell = 0;
  std::vector<void*> args = {&count, &cell};
  {
    const Result<LoadedObject> ten = adder(10);
    ASSERT_TRUE(ten.ok()) << ten.error().text();
    ten->entry()(0, 1, args.data());
    one->entry()(0, 1, args.data());
  }
  one->entry()(0, 1, args.data());
  EXPECT_EQ(cell, 12u);
}

TEST(LlvmCompile, SaysWhatIsWrongWithTheText) {
  const auto unread = llvm_to_object("define void @xlog_kernel( {");
  ASSERT_FALSE(unread.ok());
  EXPECT_THAT(unread.error().message, HasSubstr("cannot read the kernel"));
  const auto unsound = llvm_to_object(
      "define i32 @xlog_kernel(i1 %c) {\n  br i1 %c, label %a, label %b\n"
      "a:\n  %x = add i32 1, 1\n  br label %b\nb:\n  ret i32 %x\n}\n");
  ASSERT_FALSE(unsound.ok());
  EXPECT_THAT(unsound.error().message, HasSubstr("does not dominate"));
  const auto unknown = llvm_to_ptx("", "sm_20");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().text(), HasSubstr("sm_70 to sm_90"));
}

// `bfe` would give one bit: LLVM makes a shift with its sign of the choice, and a field of that.
TEST(LlvmCompile, FieldsInPtxKeepTheSign) {
  const auto ptx = llvm_to_ptx(
      "define ptx_kernel void @xlog_kernel(ptr addrspace(1) %p, i64 %y) {\n"
      "  %x = load i64, ptr addrspace(1) %p, align 8\n  %b = and i64 %x, 32\n"
      "  %z = icmp eq i64 %b, 0\n  %v = select i1 %z, i64 0, i64 4294967295\n"
      "  %w = or i64 %v, %y\n  store i64 %w, ptr addrspace(1) %p, align 8\n  ret void\n}\n",
      "sm_80");
  ASSERT_TRUE(ptx.ok()) << ptx.error().text();
  EXPECT_THAT(*ptx, testing::Not(HasSubstr("bfe.u64")));
  EXPECT_THAT(*ptx, HasSubstr("4294967295"));
}

TEST(LlvmCompile, SaysThatAnObjectCannotBeLoaded) {
  const std::vector<std::byte> nonsense(100, std::byte{7});
  EXPECT_FALSE(load_object(nonsense).ok());
  const auto other = llvm_to_object("define void @other() {\n  ret void\n}\n");
  ASSERT_TRUE(other.ok());
  const auto loaded = load_object(*other);
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().message, HasSubstr("xlog_kernel"));
  const auto calls = llvm_to_object(
      "declare void @nobody_defines_this()\ndefine void @xlog_kernel(i32, i32, ptr) {\n"
      "  call void @nobody_defines_this()\n  ret void\n}\n");
  ASSERT_TRUE(calls.ok());
  const auto unlinked = load_object(*calls);
  ASSERT_FALSE(unlinked.ok());
  EXPECT_THAT(unlinked.error().message, HasSubstr("nobody_defines_this"));
}

TEST(LlvmCompile, TheCacheKeyNamesTheCpu) {
  const Result<std::string> version = llvm_version_for_cache();
  ASSERT_TRUE(version.ok());
  EXPECT_THAT(*version, HasSubstr("LLVM 16"));
  EXPECT_THAT(*version, HasSubstr("+"));
}

// A group kernel with everything that groups have.
Id group_kernel(Graph& graph, uint32_t lanes, Type type, Fold fold) {
  KernelBuilder k(graph, "fold", lanes);
  Value n = k.val(Type::U32, "n");
  Buffer x = k.in(type, "x"), before = k.out(type, "before"), all = k.out(type, "all");
  Value g = k.group(n), lane = k.lane();
  Buffer tile = k.local(type, lanes);
  Value at = g * lanes + lane;
  k.store(tile, lane, x[at]);
  k.barrier();
  Value v = tile[k.u32(lanes - 1) - lane];
  k.store(before, at, k.gscan(fold, v));
  k.store(all, at, k.greduce(fold, v));
  return k.finish();
}

TEST(LlvmPtx, GroupKernelsAssembleForEverySize) {
  if (PtxAssembler::program().empty()) GTEST_SKIP() << "no ptxas here";
  PtxAssembler assembler;
  for (uint32_t lanes : {1, 2, 31, 32, 33, 64, 100, 256, 1000, 1024}) {
    for (Type type : {Type::U8, Type::U32, Type::I64}) {
      for (Fold fold : {Fold::Add, Fold::Min, Fold::Xor}) {
        Graph graph;
        const Id kernel = group_kernel(graph, lanes, type, fold);
        const Result<std::string> ptx =
            llvm_to_ptx(render::render_llvm_ptx(graph, as_it_is(graph, kernel)), "sm_90");
        ASSERT_TRUE(ptx.ok()) << ptx.error().text();
        EXPECT_THAT(*ptx, HasSubstr(".maxntid " + std::to_string(lanes)));
        EXPECT_THAT(*ptx, HasSubstr("ld.global.nc"));
        EXPECT_THAT(*ptx, HasSubstr("bar.sync"));
        assembler.add(*ptx);
      }
    }
  }
  EXPECT_EQ(assembler.run("sm_90"), "");
}

TEST(LlvmPtx, EveryArchitectureTakesAtomics) {
  if (PtxAssembler::program().empty()) GTEST_SKIP() << "no ptxas here";
  for (const char* sm : {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90"}) {
    PtxAssembler assembler;
    for (Type type : {Type::U32, Type::I32, Type::U64, Type::I64}) {
      Graph graph;
      KernelBuilder k(graph, "atomics");
      Value n = k.val(Type::U32, "n");
      Buffer cells = k.race(type, "cells"), seen = k.out(type, "seen");
      Value i = k.grid(n);
      Value v = k.cast(type, i);
      for (Fold fold :
           {Fold::Add, Fold::Min, Fold::Max, Fold::And, Fold::Or, Fold::Xor, Fold::Exch}) {
        v = v ^ k.atomic(fold, cells, i, v);
      }
      k.store(cells, i, cells[i + 1]);
      k.store(seen, i, k.cas(cells, i, v, v + 1));
      const Id kernel = k.finish();
      const Result<std::string> ptx =
          llvm_to_ptx(render::render_llvm_ptx(graph, as_it_is(graph, kernel)), sm);
      ASSERT_TRUE(ptx.ok()) << ptx.error().text();
      assembler.add(*ptx);
    }
    EXPECT_EQ(assembler.run(sm), "");
  }
}

}  // namespace
}  // namespace xlog::device
