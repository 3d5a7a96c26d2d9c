// CUDA C through NVRTC, and what NVRTC gives through ptxas: both work without a GPU. Skipped where
// they are not installed.
#include "device/nvrtc.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kernel/builder.h"
#include "kernel/passes.h"
#include "kernel/random_kernel.h"
#include "render/c_family.h"
#include "render/renderer.h"

namespace xlog::device {
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

#define SKIP_WITHOUT_NVRTC() \
  if (!nvrtc_version().ok()) GTEST_SKIP() << nvrtc_version().error().text()

std::string cuda_text(Graph& graph, Id kernel) {
  Result<Lowered> lowered = kernel::lower(graph, kernel, render::kCuda);
  EXPECT_TRUE(lowered.ok()) << lowered.error().text();
  return render::render_cuda(graph, *lowered);
}

std::string find_ptxas() {
  for (const char* name : {"ptxas", "/usr/local/cuda/bin/ptxas"}) {
    if (std::system(fmt::format("{} --version >/dev/null 2>&1", name).c_str()) == 0) return name;
  }
  return "";
}

// Compiles all of them as one program, each under a name of its own.
void expect_compiles(const std::vector<std::string>& kernels) {
  std::string program;
  for (size_t k = 0; k < kernels.size(); ++k) {
    program += fmt::format("namespace kernel_{} {{\n{}\n}}\n", k, kernels[k]);
    const size_t at = program.rfind(render::kEntryPoint);
    program.insert(at + render::kEntryPoint.size(), fmt::format("_{}", k));
  }
  Result<std::string> ptx = nvrtc_to_ptx(program, "sm_90");
  ASSERT_TRUE(ptx.ok()) << ptx.error().text() << program;
  EXPECT_NE(ptx->find(fmt::format("{}_{}", render::kEntryPoint, kernels.size() - 1)),
            std::string::npos);
  EXPECT_EQ(ptx->find(".ftz"), std::string::npos);
  EXPECT_EQ(ptx->find(".approx"), std::string::npos);

  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) return;
  const std::string file = testing::TempDir() + fmt::format("xlog-nvrtc-{}.ptx", getpid());
  std::ofstream(file) << *ptx;
  const std::string command = fmt::format("{} -arch=sm_90 -O0 {} -o {}.cubin", ptxas, file, file);
  EXPECT_EQ(std::system(command.c_str()), 0) << *ptx;
  std::filesystem::remove(file);
  std::filesystem::remove(file + ".cubin");
}

TEST(Nvrtc, SaysWhatIsWrongWithASource) {
  SKIP_WITHOUT_NVRTC();
  Result<std::string> ptx = nvrtc_to_ptx("__global__ void f() { nonsense; }", "sm_90");
  ASSERT_FALSE(ptx.ok());
  EXPECT_NE(ptx.error().message.find("nonsense"), std::string::npos) << ptx.error().text();
}

TEST(Nvrtc, TakesEveryOpOnEveryType) {
  SKIP_WITHOUT_NVRTC();
  Graph graph;
  std::vector<std::string> kernels;
  for (Type type : kernel::kValueTypes) {
    KernelBuilder k(graph, "ops");
    Value n = k.val(Type::U32, "n");
    Buffer a = k.in(type, "a"), b = k.in(type, "b");
    Value i = k.grid(n);
    Value x = a[i], y = b[i];
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
    kernels.push_back(cuda_text(graph, k.finish()));
  }
  expect_compiles(kernels);
}

TEST(Nvrtc, TakesAtomicsAndCollectives) {
  SKIP_WITHOUT_NVRTC();
  Graph graph;
  std::vector<std::string> kernels;
  for (uint32_t lanes : {20u, 32u, 1000u}) {
    for (Type type : {Type::U8, Type::U32, Type::U64, Type::I32, Type::I64}) {
      KernelBuilder k(graph, "groups", lanes);
      Value n = k.val(Type::U32, "n");
      Buffer a = k.in(type, "a"), r = k.out(type, "r");
      Buffer race = k.race(type, "race");
      Value at = k.group(n) * lanes + k.lane();
      Value x = a[at];
      Value sum = x;
      for (Fold fold : {Fold::Add, Fold::Min, Fold::Max, Fold::And, Fold::Or, Fold::Xor}) {
        sum = sum + k.gscan(fold, x) * k.greduce(fold, x);
      }
      if (type != Type::U8) {
        Buffer tile = k.local(type, lanes);
        k.store(tile, k.lane(), x);
        k.barrier();
        for (Fold fold : {Fold::Add, Fold::Min, Fold::Max, Fold::And, Fold::Or, Fold::Xor}) {
          k.atomic(fold, k.acc(type, "acc"), at, x);
          k.atomic(fold, tile, k.lane(), x);
        }
        sum = sum + k.atomic(Fold::Exch, race, at, x) + k.cas(race, at, x, sum) + race[at];
      }
      k.store(r, at, sum);
      kernels.push_back(cuda_text(graph, k.finish()));
    }
  }
  expect_compiles(kernels);
}

TEST(Nvrtc, TakesRandomKernels) {
  SKIP_WITHOUT_NVRTC();
  Graph graph;
  std::vector<std::string> kernels;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const kernel::RandomOptions options = {.atomics = seed % 4 == 0, .groups = seed % 2 == 0};
    kernels.push_back(cuda_text(graph, random_kernel(graph, seed, options)));
  }
  expect_compiles(kernels);
}

}  // namespace
}  // namespace xlog::device
