// The texts themselves. What they compute is tested where they can be compiled and run
// (device/c_semantics_test.cc); here OpenCL C and HIP only pass a compiler's front end.
#include "render/c_family.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernel/builder.h"
#include "kernel/place.h"
#include "kernel/random_kernel.h"
#include "render/renderer.h"

namespace xlog::render {
namespace {

using kernel::Buffer;
using kernel::Fold;
using kernel::Graph;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Lowered;
using kernel::Op;
using kernel::Type;
using kernel::Value;
using kernel::Values;

// The text of a kernel of basic ops as it was written: no pass changes it. Its first parameter is
// the number of instances.
std::string text_as_written(const Graph& graph, Id kernel, std::string_view target) {
  Lowered lowered;
  lowered.kernel = kernel;
  lowered.size_param = 0;
  lowered.placement = kernel::place(graph, kernel);
  return find_renderer(target)->render(graph, lowered);
}

std::string text_of(Graph& graph, Id kernel, std::string_view target) {
  const Renderer* renderer = find_renderer(target);
  Result<Lowered> lowered = kernel::lower(graph, kernel, renderer->target);
  EXPECT_TRUE(lowered.ok()) << lowered.error().text();
  return renderer->render(graph, *lowered);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

Id count_matches(Graph& graph) {
  KernelBuilder k(graph, "count");
  Value n = k.val(Type::U32, "n");
  Buffer key = k.in(Type::U32, "key"), start = k.in(Type::U32, "start");
  Buffer count = k.out(Type::I32, "count");
  Value i = k.grid(n);
  Value wanted = key[i];
  const Value end = start[i + 1];  // one by one: the order of arguments is the compiler's choice
  const Value begin = start[i];
  Values sum = k.for_range(begin, end, {k.number(Type::I32, 0)}, [&](Value j, const Values& c) {
    return Values{c[0] + k.cast(Type::I32, key[j] == wanted)};
  });
  k.store(count, i, sum[0]);
  return k.finish();
}

TEST(CFamily, AKernelReadsLikeTheLoopItIs) {
  Graph graph;
  const std::string text = text_as_written(graph, count_matches(graph), "c");
  const std::string kernel = text.substr(text.find("static void"));
  EXPECT_EQ(kernel,
            "static void xlog_kernel_range(u32 lo, u32 hi, u32 p0, const u32* restrict p1, "
            R"(const u32* restrict p2, i32* restrict p3) {
  for (u32 i = lo; i < hi; ++i) {
    const u32 v0 = i;
    const u32 v1 = p1[v0];
    const u32 v2 = v0 + 1u;
    const u32 v3 = p2[v2];
    const u32 v4 = p2[v0];
    i32 c6 = (i32)0;
    for (u32 j5 = v4; j5 < v3; ++j5) {
      const u32 v7 = p1[j5];
      const bool v8 = v7 == v1;
      const i32 v9 = (i32)v8;
      const i32 v10 = (i32)((u32)c6 + (u32)v9);
      c6 = v10;
    }
    p3[v0] = c6;
  }
}

void xlog_kernel(u32 lo, u32 hi, void* const* args) {
  xlog_kernel_range(lo, hi, *(const u32*)args[0], args[1], args[2], args[3]);
}
)");
}

TEST(CFamily, AGpuKernelGuardsItsLastGroupIn64Bits) {
  Graph graph;
  const Id kernel = count_matches(graph);
  for (std::string_view target : {"opencl", "cuda", "hip"}) {
    const std::string text = text_as_written(graph, kernel, target);
    EXPECT_TRUE(has(text, "  const u64 thread = ")) << text;
    EXPECT_TRUE(has(text,
                    "  const u64 first = thread / 256u * 256u + thread % 256u;\n"
                    "  for (u64 at = first; at < first + 256u && at < p0; at += 256u) {\n"
                    "    const u32 i = (u32)at;\n"))
        << text;
  }
}

TEST(CFamily, AThreadOfAShortKernelRunsSeveralInstances) {
  Graph graph;
  KernelBuilder k(graph, "copy");
  Value n = k.val(Type::U32, "n");
  Buffer x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y");
  Value i = k.grid(n);
  k.store(y, i, x[i]);
  const std::string text = text_of(graph, k.finish(), "cuda");
  EXPECT_TRUE(has(text, "const u64 first = thread / 256u * 2048u + thread % 256u;")) << text;
  EXPECT_TRUE(has(text, "at < first + 2048u && at < p0; at += 256u")) << text;
}

// What a loop carries begins in each lane with a value of its own; see Emitter::per_lane.
TEST(CFamily, OpenClLoopsOfAGroupKernelCarryALanesOwnValues) {
  Graph graph;
  const auto text_for = [&](std::string_view target, bool barrier_inside) {
    KernelBuilder k(graph, "carry", 32);
    Value at = k.group(k.val(Type::U32, "n")) * 32 + k.lane();
    Values last =
        k.for_range(k.u32(3), barrier_inside ? k.u32(7) : k.lane(),
                    {k.u32(5), k.boolean(false), k.constant(kernel::Scalar::f64(1.5))},
                    [&](Value, const Values&) {
                      if (barrier_inside) k.barrier();
                      return Values{k.u32(9), k.boolean(true), k.constant(kernel::Scalar::f64(2))};
                    });
    k.barrier();
    k.store(k.out(Type::U32, "r"), at, last[0]);
    k.store(k.out(Type::Bool, "s"), at, last[1]);
    k.store(k.out(Type::F64, "t"), at, last[2]);
    Lowered lowered;
    lowered.kernel = k.finish();
    lowered.group = 32;
    lowered.size_param = 0;
    lowered.placement = kernel::place(graph, lowered.kernel);
    return find_renderer(target)->render(graph, lowered);
  };
  const std::string text = text_for("opencl", false);
  EXPECT_TRUE(has(text, "volatile u32 own_lane = get_local_id(0);")) << text;
  EXPECT_TRUE(has(text, " = 5u ^ lane_zero;")) << text;
  EXPECT_TRUE(has(text, " = 0 ^ lane_zero;")) << text;
  EXPECT_TRUE(has(text, " = as_double(as_ulong((0x1.8p+0)) ^ lane_zero);")) << text;
  EXPECT_FALSE(has(text_for("opencl", true), "^ lane_zero")) << "all lanes run such a loop alike";
  EXPECT_FALSE(has(text_for("cuda", false), "lane_zero"));
}

TEST(CFamily, CollectivesOfOneWarpOrderMemory) {
  Graph graph;
  for (uint32_t lanes : {20u, 32u, 33u}) {
    KernelBuilder k(graph, "fold", lanes);
    Value at = k.group(k.val(Type::U32, "n")) * lanes + k.lane();
    Value x = k.in(Type::U32, "x")[at];
    k.store(k.out(Type::U32, "r"), at, k.gscan(Fold::Add, x) + k.greduce(Fold::Max, x));
    const std::string text = text_of(graph, k.finish(), "cuda");
    const size_t scan = text.find("group_scan_add"), reduce = text.find("group_reduce_max");
    for (size_t at_text : {scan, reduce}) {
      ASSERT_NE(at_text, std::string::npos);
      const std::string body = text.substr(at_text, text.find("\n}\n", at_text) - at_text);
      EXPECT_TRUE(has(body, "__syncwarp(mask);")) << body;
      EXPECT_TRUE(has(body, "__syncthreads();")) << body;
    }
  }
}

TEST(CFamily, TheTextDependsOnTheKernelAlone) {
  Graph alone, crowded;
  crowded.constant(kernel::Scalar::u64(77));
  count_matches(crowded);
  EXPECT_EQ(text_as_written(alone, count_matches(alone), "cuda"),
            text_as_written(crowded, count_matches(crowded), "cuda"));
}

TEST(CFamily, ValuesThatChangePlacesAreCopiedFirst) {
  Graph graph;
  KernelBuilder k(graph, "swap");
  Value n = k.val(Type::U32, "n");
  Buffer r = k.out(Type::U32, "r");
  Value i = k.grid(n);
  Values last = k.for_range(k.u32(0), i, {i, n}, [](Value, const Values& c) {
    return Values{c[1], c[0]};
  });
  k.store(r, i, last[0]);
  const std::string text = text_as_written(graph, k.finish(), "c");
  EXPECT_TRUE(has(text, "      const u32 n4 = c2;\n      c2 = c3;\n      c3 = n4;\n")) << text;
}

TEST(CFamily, OnlyWhatAKernelUsesIsDeclared) {
  Graph graph;
  const Id plain = count_matches(graph);
  EXPECT_FALSE(has(text_as_written(graph, plain, "opencl"), "cl_khr"));
  KernelBuilder k(graph, "wide");
  Value n = k.val(Type::U32, "n");
  Buffer x = k.in(Type::F64, "x"), sum = k.acc(Type::U64, "sum");
  k.atomic(Fold::Add, sum, k.u32(0), k.cast(Type::U64, x[k.grid(n)]));
  const std::string text = text_as_written(graph, k.finish(), "opencl");
  EXPECT_TRUE(has(text, "cl_khr_fp64 : enable"));
  EXPECT_TRUE(has(text, "cl_khr_int64_base_atomics : enable"));
}

TEST(CFamily, ModesBecomePromisesToTheCompiler) {
  Graph graph;
  KernelBuilder k(graph, "modes");
  Value n = k.val(Type::U32, "n"), flag = k.val(Type::Bool, "flag");
  Buffer in = k.in(Type::Bool, "in"), own = k.own(Type::U32, "own");
  Buffer acc = k.acc(Type::U32, "acc"), race = k.race(Type::U32, "race");
  Value i = k.grid(n);
  k.if_then(in[i] & flag, [&] { k.store(own, i, race[i]); });
  k.atomic(Fold::Add, acc, k.u32(0), own[i]);
  const std::string text = text_as_written(graph, k.finish(), "opencl");
  EXPECT_TRUE(has(text,
                  "(u32 p0, u8 p1, __global const u8* restrict p2, "
                  "__global u32* restrict p3, __global u32* p4, __global volatile u32* p5)"))
      << text;
}

TEST(CFamily, ShortLoopsOfConstantLengthAreUnrolled) {
  Graph graph;
  const auto loop_of = [&](uint32_t rounds) {
    KernelBuilder k(graph, "rounds");
    Value n = k.val(Type::U32, "n");
    Buffer own = k.own(Type::U32, "own");
    Value i = k.grid(n);
    k.for_range(k.u32(0), k.u32(rounds), [&](Value j) { k.store(own, i, own[i] * 3 + j); });
    return text_as_written(graph, k.finish(), "cuda");
  };
  EXPECT_TRUE(has(loop_of(32), "#pragma unroll"));
  EXPECT_FALSE(has(loop_of(33), "#pragma unroll"));
}

TEST(CFamily, EveryTargetHasOneRow) {
  for (const Renderer& row : renderers()) EXPECT_EQ(find_renderer(row.target.name), &row);
  EXPECT_EQ(find_renderer("abacus"), nullptr);
}

// ---- front ends ----

constexpr std::string_view kClang = "clang-16";

// What of HIP's headers the texts use, as declarations for a compiler that has none.
constexpr std::string_view kHipDeclarations = R"(
#define __global__
#define __shared__ static
#define __launch_bounds__(n)
struct Index { unsigned x; } blockIdx, blockDim, threadIdx;
void __syncthreads();
unsigned long long __umul64hi(unsigned long long, unsigned long long);
long long __mul64hi(long long, long long);
int __popc(unsigned), __popcll(unsigned long long), __clz(int), __clzll(long long);
float fmaf(float, float, float), sqrtf(float), floorf(float), __uint_as_float(unsigned);
double fma(double, double, double), sqrt(double), floor(double), __longlong_as_double(long long);
unsigned __float_as_uint(float);
long long __double_as_longlong(double);
#define ATOMICS(T)                                                                      \
  T atomicAdd(T*, T), atomicAnd(T*, T), atomicOr(T*, T), atomicXor(T*, T);              \
  T atomicMin(T*, T), atomicMax(T*, T), atomicExch(T*, T), atomicCAS(T*, T, T);
ATOMICS(unsigned) ATOMICS(unsigned long long)
int atomicMin(int*, int), atomicMax(int*, int);
long long atomicMin(long long*, long long), atomicMax(long long*, long long);
)";

void expect_accepted(const std::string& text, std::string_view language) {
  const std::string file = testing::TempDir() + fmt::format("xlog-c-family-{}", getpid());
  std::ofstream(file) << text;
  const std::string command =
      fmt::format("{} {} -fsyntax-only -Werror=implicit-function-declaration {} 2>{}.log", kClang,
                  language, file, file);
  const bool accepted = std::system(command.c_str()) == 0;
  std::ifstream log(file + ".log");
  EXPECT_TRUE(accepted) << std::string(std::istreambuf_iterator<char>(log), {}) << text;
  std::filesystem::remove(file);
  std::filesystem::remove(file + ".log");
}

// One kernel with every op on every type, and random ones.
std::vector<Id> many_kernels(Graph& graph) {
  std::vector<Id> kernels;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    kernels.push_back(random_kernel(graph, seed, {.groups = seed % 2 == 0}));
  }
  KernelBuilder k(graph, "ops");
  Value n = k.val(Type::U32, "n");
  Value i = k.grid(n);
  for (Type type : kernel::kValueTypes) {
    Value x = k.in(type, "x")[i], y = k.in(type, "y")[i];
    for (int o = static_cast<int>(Op::Add); o <= static_cast<int>(Op::Log2); ++o) {
      const Op op = static_cast<Op>(o);
      if (op == Op::Cast || op == Op::Bitcast) {
        for (Type to : kernel::kValueTypes) {
          if (!kernel::cast_problem(op, type, to).empty()) continue;
          k.store(k.out(to, "r"), i, op == Op::Cast ? k.cast(to, x) : k.bitcast(to, x));
        }
      } else if (kernel::in_domain(kernel::info(op).domain, type)) {
        Value r = op == Op::Select                 ? k.select(x < y, x, y)
                  : kernel::info(op).operands == 1 ? k.make(op, {x})
                  : kernel::info(op).operands == 2 ? k.make(op, {x, y})
                                                   : k.make(op, {x, y, x});
        k.store(k.out(r.type(), "r"), i, r);
      }
    }
    for (Fold fold : {Fold::Add, Fold::Min, Fold::Max, Fold::And, Fold::Or, Fold::Xor}) {
      if (kernel::is_int(type) && type != Type::U8) k.atomic(fold, k.acc(type, "acc"), i, x);
    }
  }
  kernels.push_back(k.finish());
  return kernels;
}

TEST(CFamily, OpenClPassesClang) {
  if (std::system(fmt::format("{} --version >/dev/null 2>&1", kClang).c_str()) != 0) {
    GTEST_SKIP() << kClang << " is not installed";
  }
  Graph graph;
  for (Id kernel : many_kernels(graph)) {
    expect_accepted(text_of(graph, kernel, "opencl"),
                    "-x cl -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header");
  }
}

TEST(CFamily, HipPassesClang) {
  if (std::system(fmt::format("{} --version >/dev/null 2>&1", kClang).c_str()) != 0) {
    GTEST_SKIP() << kClang << " is not installed";
  }
  Graph graph;
  for (Id kernel : many_kernels(graph)) {
    expect_accepted(std::string(kHipDeclarations) + text_of(graph, kernel, "hip"),
                    "-x c++ -std=c++17 -fno-builtin");
  }
}

}  // namespace
}  // namespace xlog::render
