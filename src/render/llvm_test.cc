#include "render/llvm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>

#include "kernel/builder.h"
#include "kernel/place.h"

namespace xlog::render {
namespace {

using kernel::Buffer;
using kernel::Fold;
using kernel::Graph;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Lowered;
using kernel::Scalar;
using kernel::Type;
using kernel::Value;
using kernel::Values;
using testing::HasSubstr;
using testing::Not;

// As if the passes had run; the size is the first parameter.
Lowered ready(const Graph& graph, Id kernel) {
  Lowered lowered;
  lowered.kernel = kernel;
  lowered.group = graph.kernel_info(kernel).group;
  lowered.size_param = 0;
  lowered.placement = place(graph, kernel);
  return lowered;
}

struct Texts {
  std::string cpu, ptx;
};

Texts render(const std::function<void(KernelBuilder&, Value i)>& body) {
  Graph graph;
  KernelBuilder k(graph, "test");
  body(k, k.grid(k.val(Type::U32, "n")));
  const Lowered lowered = ready(graph, k.finish());
  return {render_llvm_cpu(graph, lowered), render_llvm_ptx(graph, lowered)};
}

TEST(LlvmText, IsTheSameEveryTime) {
  auto square = [](KernelBuilder& k, Value i) {
    Buffer x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y");
    k.store(y, i, x[i]);
  };
  const Texts texts = render(square), again = render(square);
  EXPECT_EQ(texts.cpu, again.cpu);
  EXPECT_EQ(texts.ptx, again.ptx);
  // One instance is a function of its own; the kernel runs it for the instances of a tile.
  const std::string instance = texts.ptx.substr(0, texts.ptx.find("define ptx_kernel"));
  EXPECT_EQ(
      instance,
      R"(define internal void @instance(i32 %instance, i32 %p0, ptr addrspace(1) noalias nocapture readonly align 4 %p1, ptr addrspace(1) noalias nocapture align 4 %p2) alwaysinline nounwind {
entry:
  %t0 = zext i32 %instance to i64
  %t1 = getelementptr inbounds i32, ptr addrspace(1) %p1, i64 %t0
  %t2 = load i32, ptr addrspace(1) %t1, align 4, !invariant.load !0
  %t3 = zext i32 %instance to i64
  %t4 = getelementptr inbounds i32, ptr addrspace(1) %p2, i64 %t3
  store i32 %t2, ptr addrspace(1) %t4, align 4
  ret void
}

)");
}

TEST(LlvmText, ATileOfThreadsRunsRowsOfInstances) {
  Graph graph;
  KernelBuilder k(graph, "test");
  Value i = k.grid(k.val(Type::U32, "n"));
  k.store(k.out(Type::U32, "y"), i, i);
  Lowered lowered = ready(graph, k.finish());
  lowered.per_thread = 8;
  const std::string text = render_llvm_ptx(graph, lowered);
  // Tiles of 8 rows of 256 instances, counted in 64 bits.
  EXPECT_THAT(text, HasSubstr("%tile = mul nuw i64 %block.wide, 2048\n"));
  EXPECT_THAT(text, HasSubstr("%full = icmp ule i64 %end, %count\n"));
  EXPECT_THAT(text, HasSubstr("%again = icmp ult i32 %step.next, 8\n"));
  EXPECT_THAT(text, HasSubstr("%inside = icmp ult i64 %at, %count\n"));
}

TEST(LlvmText, OnlyCountersPromiseNotToWrap) {
  const Texts texts = render([](KernelBuilder& k, Value i) {
    Buffer x = k.in(Type::I32, "x"), f = k.in(Type::F32, "f");
    Values sums = k.for_range(k.u32(0), i, {x[i], f[i]}, [&](Value j, const Values& v) {
      return Values{v[0] * x[j] + 3, v[1] * f[j] + f[j]};
    });
    k.store(k.out(Type::I32, "y"), i, sums[0]);
    k.store(k.out(Type::F32, "g"), i, sums[1]);
  });
  const std::regex counter("%(count\\.[0-9]+|instance)\\.next = add nuw i32");
  for (const std::string& text : {texts.cpu, texts.ptx}) {
    // The kernel that runs a tile of instances only counts them; the instance comes before it.
    const std::string computes = text.substr(0, text.find("define ptx_kernel"));
    EXPECT_THAT(std::regex_replace(computes, counter, ""), Not(HasSubstr("nuw")));
    for (const char* flag : {"nsw", "fast", "contract", "reassoc", "exact"}) {
      EXPECT_THAT(text, Not(HasSubstr(flag)));
    }
  }
}

TEST(LlvmText, MarksAccessesThatInstancesDoNotShare) {
  const Texts texts = render([](KernelBuilder& k, Value i) {
    Buffer race = k.race(Type::U32, "race"), acc = k.acc(Type::U32, "acc");
    Buffer in = k.in(Type::U32, "in");
    k.atomic(Fold::Add, acc, i, in[i]);
    k.store(race, i, race[i + 1]);
  });
  EXPECT_THAT(texts.cpu, HasSubstr("load i32, ptr %t1, align 4, !llvm.access.group !1"));
  EXPECT_THAT(texts.cpu, HasSubstr("!{!\"llvm.loop.parallel_accesses\", !1}"));
  for (const std::string& text : {texts.cpu, texts.ptx}) {
    EXPECT_THAT(text, HasSubstr("load atomic i32"));
    EXPECT_THAT(text, HasSubstr("store atomic i32"));
    EXPECT_THAT(text, HasSubstr("atomicrmw add"));
    EXPECT_THAT(text, Not(testing::ContainsRegex("atomic.*access.group")));
  }
}

TEST(LlvmText, ChoicesBehindABranchArePhis) {
  const Texts texts = render([](KernelBuilder& k, Value i) {
    Buffer x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y");
    Value keep = x[i] == 0;
    k.if_then(keep, [&] { k.store(y, i, i); });
    k.store(y, i + 1, k.select(keep, i + 2, i));
  });
  EXPECT_THAT(texts.cpu,
              testing::ContainsRegex("phi i32 . %t[0-9]+, %then.0 ., . %instance, %run"));
  EXPECT_THAT(texts.cpu, Not(HasSubstr("select")));
}

// A choice that another one is computed from stays a select: it is needed before the branch.
TEST(LlvmText, NoPhiOfAJoinNamesAnother) {
  const Texts texts = render([](KernelBuilder& k, Value i) {
    Buffer x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y");
    Value keep = x[i] == 0;
    k.if_then(keep, [&] { k.store(y, i, i); });
    Value first = k.select(keep, i + 2, i * 7);
    k.store(y, i + 1, k.select(keep, first, i + 9));
    k.store(y, i + 2, first);
  });
  for (const std::string& text : {texts.cpu, texts.ptx}) {
    const std::regex join("join\\.0:\n  %t[0-9]+ = phi [^\n]*\n  [^\n]* = ([a-z]+)");
    std::smatch found;
    ASSERT_TRUE(std::regex_search(text, found, join)) << text;
    EXPECT_NE(found[1], "phi");
    EXPECT_THAT(text, HasSubstr("select"));
  }
}

TEST(LlvmText, WritesConstantsBitByBit) {
  const Texts texts = render([](KernelBuilder& k, Value i) {
    Buffer f = k.out(Type::F32, "f"), d = k.out(Type::F64, "d");
    k.store(f, i, k.constant(Scalar::f32(0.1f)));
    k.store(f, i, k.constant({Type::F32, 0xffa00001}));
    k.store(d, i, k.constant(Scalar::f64(-0.0)));
    k.store(k.out(Type::I32, "i"), i, k.number(Type::I32, -1));
    k.store(k.out(Type::Bool, "b"), i, k.boolean(true));
  });
  EXPECT_THAT(texts.cpu, HasSubstr("store float 0x3FB99999A0000000"));
  EXPECT_THAT(texts.cpu, HasSubstr("store float bitcast (i32 4288675841 to float)"));
  EXPECT_THAT(texts.cpu, HasSubstr("store double 0x8000000000000000"));
  EXPECT_THAT(texts.cpu, HasSubstr("store i32 4294967295"));
  EXPECT_THAT(texts.cpu, HasSubstr("zext i1 true to i8"));
}

// The barriers in the text of a kernel that scans and then reduces the same value.
size_t barriers_of_scan_and_total(bool store_between) {
  Graph graph;
  KernelBuilder k(graph, "totals", 64);
  Value at = k.group(k.val(Type::U32, "n")) * 64 + k.lane();
  Buffer tile = k.local(Type::U32, 64);
  Value v = k.in(Type::U32, "x")[at];
  Value before = k.gscan(Fold::Add, v);
  if (store_between) k.store(tile, k.lane(), before * 3);
  Value total = k.greduce(Fold::Add, v);
  if (!store_between) k.store(tile, k.lane(), before * 3);
  k.store(k.out(Type::U32, "y"), at, total + tile[k.lane()]);
  const std::string text = render_llvm_ptx(graph, ready(graph, k.finish()));
  const std::regex call("call void @llvm.nvvm.barrier0");
  return static_cast<size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), call), std::sregex_iterator()));
}

TEST(LlvmText, ATotalSharesTheBarriersOfItsScanOnlyWhereNothingIsBetween) {
  EXPECT_EQ(barriers_of_scan_and_total(false), 2u);
  EXPECT_EQ(barriers_of_scan_and_total(true), 4u) << "the store has to be seen behind the total";
}

TEST(LlvmText, LocalArraysOfAGroupAreShared) {
  Graph graph;
  KernelBuilder k(graph, "tile", 48);
  Value n = k.val(Type::U32, "n");
  Buffer y = k.out(Type::U64, "y");
  Value g = k.group(n), lane = k.lane();
  Buffer tile = k.local(Type::U64, 48), own = k.private_array(Type::Bool, 3);
  k.store(tile, lane, k.cast(Type::U64, g));
  k.store(own, k.u32(0), k.boolean(false));
  k.barrier();
  k.store(y, g * 48 + lane, k.greduce(Fold::Max, tile[lane]));
  const std::string text = render_llvm_ptx(graph, ready(graph, k.finish()));
  EXPECT_THAT(text, HasSubstr("internal addrspace(3) global [48 x i64] undef"));
  EXPECT_THAT(text, HasSubstr("alloca [3 x i8]"));
  EXPECT_THAT(text, HasSubstr("llvm.nvvm.barrier0"));
  EXPECT_THAT(text, HasSubstr("llvm.nvvm.shfl.sync.up.i32"));
  // The last warp has 16 lanes.
  EXPECT_THAT(text, HasSubstr("i32 -1, i32 65535"));
  EXPECT_THAT(text, HasSubstr("!\"maxntidx\", i32 48}"));
}

}  // namespace
}  // namespace xlog::render
