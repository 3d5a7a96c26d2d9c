// Random kernels through the passes, the LLVM renderer and LLVM, against the oracle; and their PTX
// through NVIDIA's assembler.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/sanitized.h"
#include "device/llvm_fixture.h"
#include "kernel/passes.h"
#include "kernel/random_kernel.h"
#include "kernel/text.h"

namespace xlog::device {
namespace {

using kernel::Argument;
using kernel::CheckFailure;
using kernel::Graph;
using kernel::HiddenParam;
using kernel::HostBuffer;
using kernel::Id;
using kernel::Lowered;
using kernel::Scalar;

Result<std::optional<CheckFailure>> run_on_cpu(Graph& graph, Id kernel,
                                               std::span<const Argument> arguments) {
  const Result<Lowered> lowered = lower(graph, kernel, render::kLlvm);
  if (!lowered.ok()) return lowered.error();
  const Result<LoadedObject> loaded = compile_for_cpu(graph, *lowered);
  if (!loaded.ok()) return loaded.error();

  std::vector<uint32_t> status(kernel::kCheckCodes, UINT32_MAX);
  std::vector<uint64_t> values(arguments.size() + lowered->hidden.size());
  std::vector<void*> args;
  for (const Argument& argument : arguments) {
    if (const auto* buffer = std::get_if<HostBuffer>(&argument)) {
      args.push_back(buffer->data);
      continue;
    }
    uint64_t& value = values[args.size()];
    value = std::get<Scalar>(argument).bits;
    args.push_back(&value);
  }
  for (const HiddenParam& hidden : lowered->hidden) {
    if (hidden.kind == HiddenParam::Kind::Status) {
      args.push_back(status.data());
      continue;
    }
    const kernel::Type type = graph.type(graph.params(kernel)[hidden.of]);
    uint64_t& value = values[args.size()];
    value = std::get<HostBuffer>(arguments[hidden.of]).bytes / size_of(type);
    args.push_back(&value);
  }
  const auto n = lowered->size_param == Lowered::kNoParam
                     ? lowered->size_constant
                     : static_cast<uint32_t>(values[lowered->size_param]);
  loaded->entry()(0, n / 2, args.data());
  loaded->entry()(n / 2, n, args.data());
  for (uint32_t code = 0; code < kernel::kCheckCodes; ++code) {
    if (status[code] != UINT32_MAX) return std::optional(CheckFailure{code, status[code]});
  }
  return std::optional<CheckFailure>();
}

kernel::RandomOptions options_for(uint64_t seed, bool groups) {
  kernel::RandomOptions options;
  options.groups = groups;
  options.statements = 5 + static_cast<uint32_t>(seed % 30);
  return options;
}

TEST(LlvmRandom, GridKernelsDoWhatTheOracleDoes) {
  for (uint64_t seed = 1; seed <= 150 / kPartOfWork; ++seed) {
    Graph graph;
    const Id kernel = random_kernel(graph, seed, options_for(seed, false));
    const auto arguments = random_arguments(graph, kernel, seed, 100);
    ASSERT_EQ(compare(graph, kernel, arguments, run_on_cpu), "") << "seed " << seed;
  }
}

TEST(LlvmRandom, GroupKernelsDoWhatTheOracleDoes) {
  for (uint64_t seed = 1; seed <= 100 / kPartOfWork; ++seed) {
    Graph graph;
    const Id kernel = random_kernel(graph, seed, options_for(seed, true));
    const auto arguments = random_arguments(graph, kernel, seed, 5);
    ASSERT_EQ(compare(graph, kernel, arguments, run_on_cpu), "") << "seed " << seed;
  }
}

// Every kernel of tests/kernel, for both targets.
TEST(LlvmFiles, CompileAndAssemble) {
  PtxAssembler assembler;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/kernel")) {
    if (entry.path().extension() == ".ir") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  size_t kernels = 0;
  for (const std::string& file : files) {
    std::ifstream in(file);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    Graph graph;
    const Result<std::vector<Id>> parsed = kernel::parse(graph, text, file);
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    for (Id id : *parsed) {
      if (graph.op(id) != kernel::Op::Kernel) continue;
      ++kernels;
      SCOPED_TRACE(file + ": " + graph.kernel_info(id).name);
      const Result<Lowered> for_cpu = lower(graph, id, render::kLlvm);
      ASSERT_TRUE(for_cpu.ok()) << for_cpu.error().text();
      const Result<LoadedObject> loaded = compile_for_cpu(graph, *for_cpu);
      ASSERT_TRUE(loaded.ok()) << loaded.error().text();
      const Result<Lowered> for_gpu = lower(graph, id, render::kPtx);
      ASSERT_TRUE(for_gpu.ok()) << for_gpu.error().text();
      const Result<std::string> ptx =
          llvm_to_ptx(render::render_llvm_ptx(graph, *for_gpu), "sm_90");
      ASSERT_TRUE(ptx.ok()) << ptx.error().text();
      assembler.add(*ptx);
    }
  }
  EXPECT_GT(kernels, 10u);
  if (PtxAssembler::program().empty()) GTEST_SKIP() << "no ptxas here: the PTX was not assembled";
  EXPECT_EQ(assembler.run("sm_90"), "");
}

TEST(LlvmRandom, PtxAssembles) {
  if (PtxAssembler::program().empty()) GTEST_SKIP() << "no ptxas here";
  PtxAssembler assembler;
  for (uint64_t seed = 1; seed <= 60 / kPartOfWork; ++seed) {
    Graph graph;
    const Id kernel = random_kernel(graph, seed, options_for(seed, seed % 2 == 0));
    const Result<Lowered> lowered = lower(graph, kernel, render::kPtx);
    ASSERT_TRUE(lowered.ok()) << lowered.error().text() << "\nseed " << seed;
    const Result<std::string> ptx = llvm_to_ptx(render::render_llvm_ptx(graph, *lowered), "sm_90");
    ASSERT_TRUE(ptx.ok()) << ptx.error().text() << "\nseed " << seed;
    EXPECT_EQ(ptx->find(".ftz"), std::string::npos) << "seed " << seed;
    assembler.add(*ptx);
  }
  EXPECT_EQ(assembler.run("sm_90"), "");
}

}  // namespace
}  // namespace xlog::device
