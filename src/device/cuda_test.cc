// The CUDA device against a driver that is not there: what it asks for, and what it does when the
// driver fails. device_test.cc runs it on real GPUs.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "device/cuda_device.h"
#include "device/fake_cuda.h"
#include "device/llvm_compile.h"
#include "device/test_devices.h"
#include "kernel/builder.h"

namespace xlog::device {
namespace {

using kernel::Graph;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Type;
using kernel::Value;
using ::testing::HasSubstr;
using ::testing::Not;

// The fake driver, compiled once.
class FakeDriver {
 public:
  explicit FakeDriver(int version) {
    std::string base = std::filesystem::temp_directory_path() /
                       fmt::format("xlog_fake_cuda_{}_{}", ::getpid(), version);
    std::ofstream(base + ".c") << kFakeCuda;
    path = base + ".so";
    std::string command =
        fmt::format("cc -shared -fPIC -O1 -DFAKE_VERSION={} -o {} {}.c", version, path, base);
    ready = std::system(command.c_str()) == 0;
    std::filesystem::remove(base + ".c");
    if (!ready) return;
    void* library = ::dlopen(path.c_str(), RTLD_NOW);
    auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    };
    find(calls, "fake_calls");
    find(reset, "fake_reset");
    find(fail, "fake_fail");
    find(pools, "fake_pools");
    find(parameters, "fake_parameters");
    find(limit, "fake_limit");
    find(live_blocks, "fake_live_blocks");
    find(live_bytes, "fake_live_bytes");
  }
  ~FakeDriver() { std::filesystem::remove(path); }

  std::string path;
  bool ready = false;
  const char* (*calls)() = nullptr;
  void (*reset)() = nullptr;
  void (*fail)(const char* name, int after, int code) = nullptr;
  void (*pools)(int on) = nullptr;
  void (*parameters)(int n) = nullptr;
  void (*limit)(unsigned long long bytes) = nullptr;
  unsigned long long (*live_blocks)() = nullptr;
  unsigned long long (*live_bytes)() = nullptr;
};

Id fill_kernel(Graph& graph, uint32_t group = 0) {
  KernelBuilder k(graph, "number", group);
  Value n = k.val(Type::U32, "n");
  Value base = k.val(Type::U8, "base");
  kernel::Buffer out = k.out(Type::U32, "out");
  Value i = group == 0 ? k.grid(n) : k.group(n) * group + k.lane();
  k.check(4, i < k.len(out));
  k.store(out, i, i + k.cast(Type::U32, base));
  return k.finish();
}

class CudaTest : public ::testing::Test {
 protected:
  static FakeDriver& driver() {
    static FakeDriver fake(12040);
    return fake;
  }
  void SetUp() override {
    if (!driver().ready) GTEST_SKIP() << "no C compiler for the fake driver";
    driver().reset();
  }
  std::unique_ptr<Device> open(int index = 0) {
    Result<std::unique_ptr<Device>> device =
        open_cuda_device(index, {.cache_folder = "none"}, driver().path);
    return good(device) ? std::move(*device) : nullptr;
  }
  // nullptr where there is no LLVM to make PTX.
  static KernelHandle compile(Device& device, Graph& graph, Id kernel) {
    if (!llvm_version_for_cache().ok()) return nullptr;
    Result<KernelHandle> handle = device.compile(graph, kernel);
    return good(handle) ? *handle : nullptr;
  }
  static std::string calls() { return driver().calls(); }
};

TEST_F(CudaTest, DescribesTheGpu) {
  std::unique_ptr<Device> device = open(1);
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->info().name, "cuda:1");
  EXPECT_EQ(device->info().hardware, "Fake GPU 1");
  EXPECT_THAT(device->info().software, HasSubstr("CUDA 12.4, sm_90"));
  EXPECT_EQ(device->info().compute_units, 132u);
  EXPECT_TRUE(device->info().has_groups);
  EXPECT_THAT(calls(), HasSubstr("keep all"));
  Result<std::unique_ptr<Device>> third =
      open_cuda_device(2, {.cache_folder = "none"}, driver().path);
  ASSERT_FALSE(third.ok());
  EXPECT_THAT(third.error().message, HasSubstr("from cuda:0 to cuda:1"));
}

TEST_F(CudaTest, AnOldOrMissingDriverIsToldSo) {
  FakeDriver old(10020);
  Result<std::unique_ptr<Device>> device = open_cuda_device(0, {}, old.path);
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().text(), HasSubstr("supports CUDA 10.2"));
  EXPECT_THAT(device.error().text(), HasSubstr("11.0 or newer"));
  Result<std::unique_ptr<Device>> none = open_cuda_device(0, {}, "/nowhere/libcuda.so.1");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().text(), HasSubstr("install NVIDIA's driver"));
}

TEST_F(CudaTest, PacksArgumentsInOrderWithTheHiddenOnes) {
  std::unique_ptr<Device> device = open();
  Graph graph;
  KernelHandle kernel = compile(*device, graph, fill_kernel(graph));
  if (kernel == nullptr) GTEST_SKIP() << "no LLVM";
  EXPECT_THAT(calls(), HasSubstr("link number kind 1 zero 0"));
  Buffer out = *device->allocate(4000);
  driver().parameters(5);
  // A thread runs 8 instances of a kernel that moves columns of 4 bytes.
  ASSERT_TRUE(good(device->launch(
      kernel, std::vector<Argument>{Scalar::u32(6145), Scalar::u8(200), View{out, 400, 3600}})));
  // n, base, the buffer's part, then the length and the status words.
  ASSERT_THAT(calls(),
              ::testing::ContainsRegex("launch 4x1x1 by 256x1x1 shared 0: 1801 c8 [0-9a-f]+ "));
  std::string line = calls().substr(calls().rfind("launch 4x1x1"));
  line = line.substr(0, line.find('\n'));
  EXPECT_THAT(line, HasSubstr(" 384 ")) << "900 elements";
  EXPECT_EQ(device->counters().instances, 6145u);
  EXPECT_EQ(device->counters().compiled, 1u);
}

TEST_F(CudaTest, GroupsBecomeBlocksAndTooManyAreRefused) {
  std::unique_ptr<Device> device = open();
  Graph graph;
  KernelHandle kernel = compile(*device, graph, fill_kernel(graph, 64));
  if (kernel == nullptr) GTEST_SKIP() << "no LLVM";
  Buffer out = *device->allocate(4000);
  driver().parameters(2);
  auto launch = [&](uint32_t n) {
    return device->launch(kernel, std::vector<Argument>{Scalar::u32(n), Scalar::u8(1), View{out}});
  };
  ASSERT_TRUE(good(launch(7)));
  EXPECT_THAT(calls(), HasSubstr("launch 7x1x1 by 64x1x1 shared 0: 7 1"));
  EXPECT_TRUE(good(launch(0x03ffffffu)));
  Status many = launch(0x04000000u);
  ASSERT_FALSE(many.ok());
  EXPECT_THAT(many.error().message,
              HasSubstr("kernel number: 67108864 groups of 64 lanes are more lanes than a launch"));
  ASSERT_TRUE(good(launch(0))) << "nothing to do";
  kernel = compile(*device, graph, fill_kernel(graph, 1));
  many = launch(0x80000000u);
  ASSERT_FALSE(many.ok());
  EXPECT_THAT(many.error().message, HasSubstr("kernel number: 2147483648 groups are more than a"));
}

TEST_F(CudaTest, WaitsForWhatIsQueuedBeforeItTakesThingsAway) {
  std::unique_ptr<Device> device = open();
  Graph graph;
  KernelHandle kernel = compile(*device, graph, fill_kernel(graph));
  if (kernel == nullptr) GTEST_SKIP() << "no LLVM";
  Buffer out = *device->allocate(4000);
  driver().parameters(0);
  ASSERT_TRUE(good(
      device->launch(kernel, std::vector<Argument>{Scalar::u32(10), Scalar::u8(1), View{out}})));
  device.reset();
  kernel.reset();
  std::string after = calls().substr(calls().rfind("cuLaunchKernel"));
  const size_t waited = after.find("cuStreamSynchronize");
  ASSERT_NE(waited, std::string::npos) << after;
  EXPECT_LT(waited, after.find("cuMemFreeAsync")) << after;
  EXPECT_LT(waited, after.find("cuModuleUnload")) << after;
}

TEST_F(CudaTest, ACodeThatGoesWaitsForItsLaunches) {
  std::unique_ptr<Device> device = open();
  Graph graph;
  KernelHandle kernel = compile(*device, graph, fill_kernel(graph));
  if (kernel == nullptr) GTEST_SKIP() << "no LLVM";
  Buffer out = *device->allocate(4000);
  driver().parameters(0);
  ASSERT_TRUE(good(
      device->launch(kernel, std::vector<Argument>{Scalar::u32(10), Scalar::u8(1), View{out}})));
  kernel.reset();
  device.reset();
  EXPECT_THAT(calls(), HasSubstr("cuStreamSynchronize\ncuModuleUnload"));
}

TEST_F(CudaTest, MemoryComesFromThePoolAndGoesBack) {
  uint64_t before = driver().live_blocks();
  {
    std::unique_ptr<Device> device = open();
    std::vector<uint8_t> bytes(11'000'000);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 31 + i / 777);
    Buffer x = upload(*device, bytes);
    EXPECT_EQ(download<uint8_t>(*device, {x}, bytes.size()), bytes);
    Buffer y = *device->allocate(bytes.size());
    ASSERT_TRUE(good(device->copy({y}, {x})));
    EXPECT_EQ(download<uint8_t>(*device, {y, 5'000'001}, 10),
              std::vector<uint8_t>(bytes.begin() + 5'000'001, bytes.begin() + 5'000'011));
    EXPECT_THAT(calls(), Not(HasSubstr("cuMemAlloc\n")));
    device.reset();  // buffers may outlive their device
  }
  EXPECT_EQ(driver().live_blocks(), before);
  EXPECT_THAT(calls(), HasSubstr("release"));
}

TEST_F(CudaTest, WithoutPoolsBlocksAreKeptAndUsedAgain) {
  driver().pools(0);
  uint64_t before = driver().live_blocks();
  {
    std::unique_ptr<Device> device = open();
    for (int round = 0; round < 10; ++round) {
      Buffer x = *device->allocate(100'000);
    }
    EXPECT_EQ(driver().live_blocks(), before + 2) << "the status words and one block";
    // A block of another size does not fit beside the one that is kept.
    driver().limit(driver().live_bytes() + 1000);
    Result<Buffer> other = device->allocate(60'000);
    ASSERT_TRUE(good(other));
    EXPECT_EQ(driver().live_blocks(), before + 2) << "what was kept went back first";
  }
  EXPECT_EQ(driver().live_blocks(), before);
}

TEST_F(CudaTest, OutOfMemoryIsAnErrorOnce) {
  std::unique_ptr<Device> device = open();
  Buffer x = *device->allocate(1000);
  driver().limit(driver().live_bytes() + 100'000);
  Result<Buffer> huge = device->allocate(200'000);
  ASSERT_FALSE(huge.ok());
  EXPECT_THAT(huge.error().message,
              HasSubstr("out of memory on cuda:0 (Fake GPU 0): 200000 bytes were asked for, 1000"));
  EXPECT_EQ(huge.error().kind, ErrorKind::OutOfMemory);
  EXPECT_THAT(calls(), HasSubstr("cuMemPoolTrimTo"));
  EXPECT_TRUE(device->allocate(50'000).ok()) << "the device goes on";
  driver().fail("cuMemAllocAsync", 2, 2);
  std::vector<Buffer> buffers;
  for (int k = 0; k < 4; ++k) {
    Result<Buffer> buffer = device->allocate(100);
    EXPECT_TRUE(good(buffer)) << "the third try fails at first, and succeeds after a trim";
    if (buffer.ok()) buffers.push_back(*buffer);
  }
}

TEST_F(CudaTest, AFailedLaunchNamesItsKernel) {
  std::unique_ptr<Device> device = open();
  Graph graph;
  KernelHandle kernel = compile(*device, graph, fill_kernel(graph));
  if (kernel == nullptr) GTEST_SKIP() << "no LLVM";
  Buffer out = *device->allocate(4000);
  std::vector<Argument> arguments{Scalar::u32(10), Scalar::u8(1), View{out}};
  driver().fail("cuLaunchKernel", 0, 701);
  driver().parameters(0);
  Status failed = device->launch(kernel, arguments);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("cuda:0: launch of kernel number: "
                                                "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
  EXPECT_TRUE(good(device->launch(kernel, arguments))) << "the device goes on";
}

TEST_F(CudaTest, ALostDeviceSaysSoFromThenOn) {
  uint64_t before = driver().live_blocks();
  std::unique_ptr<Device> device = open();
  Graph graph;
  KernelHandle kernel = compile(*device, graph, fill_kernel(graph));
  if (kernel == nullptr) GTEST_SKIP() << "no LLVM";
  Buffer out = *device->allocate(4000);
  ASSERT_TRUE(good(
      device->launch(kernel, std::vector<Argument>{Scalar::u32(10), Scalar::u8(1), View{out}})));
  driver().fail("cuStreamSynchronize", 0, 700);
  Status waited = device->wait();
  ASSERT_FALSE(waited.ok());
  std::string message = waited.error().message;
  EXPECT_THAT(message, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(message, HasSubstr("the last kernel launched was number"));
  EXPECT_THAT(message, HasSubstr("lost"));
  std::byte bytes[4];
  EXPECT_EQ(device->allocate(4).error().message, message);
  EXPECT_EQ(device->write({out}, bytes).error().message, message);
  EXPECT_EQ(device->read({out}, bytes).error().message, message);
  EXPECT_EQ(device->fill({out}, std::byte{0}).error().message, message);
  EXPECT_EQ(device->checks().error().message, message);
  EXPECT_EQ(device->wait().error().message, message);
  EXPECT_EQ(device->begin_sequence().error().message, message);
  EXPECT_EQ(device->record_event().error().message, message);
  EXPECT_EQ(device->launch(kernel, {}).error().message, message);
  EXPECT_EQ(device->compile(graph, fill_kernel(graph)).error().message, message);
  std::string calls_before = calls();
  out.reset();
  EXPECT_EQ(calls(), calls_before) << "a dead context is not asked to free";
  EXPECT_GT(driver().live_blocks(), before);
}

TEST_F(CudaTest, ALinkErrorShowsTheLog) {
  if (!llvm_version_for_cache().ok()) GTEST_SKIP() << "no LLVM";
  std::unique_ptr<Device> device = open();
  Graph graph;
  driver().fail("cuLinkAddData", 0, 218);
  Result<KernelHandle> kernel = device->compile(graph, fill_kernel(graph));
  ASSERT_FALSE(kernel.ok());
  EXPECT_THAT(kernel.error().message, HasSubstr("kernel number does not link"));
  EXPECT_THAT(kernel.error().message, HasSubstr("ptxas: line 1: no such thing"));
  EXPECT_TRUE(device->compile(graph, fill_kernel(graph)).ok()) << "the device goes on";
}

TEST_F(CudaTest, SequencesAreCapturedAndLaunchedAsOne) {
  std::unique_ptr<Device> device = open();
  Graph graph;
  KernelHandle kernel = compile(*device, graph, fill_kernel(graph));
  if (kernel == nullptr) GTEST_SKIP() << "no LLVM";
  Buffer out = *device->allocate(4000), copy = *device->allocate(4000);
  driver().parameters(1);
  ASSERT_TRUE(good(device->begin_sequence()));
  ASSERT_TRUE(good(
      device->launch(kernel, std::vector<Argument>{Scalar::u32(4096), Scalar::u8(1), View{out}})));
  ASSERT_TRUE(good(device->copy({copy}, {out})));
  ASSERT_TRUE(good(device->fill({out}, std::byte{0})));
  {
    Result<SequenceHandle> sequence = device->end_sequence();
    ASSERT_TRUE(good(sequence));
    EXPECT_THAT(calls(),
                HasSubstr("begin capture\ncaptured launch 2x1x1 by 256x1x1 shared 0: 1000\n"
                          "cuLaunchKernel\ncaptured copy\ncaptured fill\nend capture\n"
                          "prepare graph\n"));
    for (int round = 0; round < 3; ++round) ASSERT_TRUE(good(device->run(*sequence)));
    EXPECT_THAT(calls(), HasSubstr("launch graph\nlaunch graph\nlaunch graph\n"));
    EXPECT_EQ(device->counters().instances, 12288u);
  }
  EXPECT_THAT(calls(), HasSubstr("destroy graph"));
}

TEST_F(CudaTest, TheCacheKeepsMachineCodeAndDropsWhatDoesNotLoad) {
  if (!llvm_version_for_cache().ok()) GTEST_SKIP() << "no LLVM";
  std::string pattern = std::filesystem::temp_directory_path() / "xlog_cuda_cache_XXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  auto compiled_and_cached = [&] {
    Result<std::unique_ptr<Device>> device =
        open_cuda_device(0, {.cache_folder = pattern}, driver().path);
    Graph graph;
    EXPECT_TRUE(good((*device)->compile(graph, fill_kernel(graph))));
    Counters counters = (*device)->counters();
    return std::pair(counters.compiled, counters.cached);
  };
  EXPECT_EQ(compiled_and_cached(), std::pair(uint64_t{1}, uint64_t{0}));
  EXPECT_EQ(compiled_and_cached(), std::pair(uint64_t{0}, uint64_t{1}));
  driver().fail("cuModuleLoadDataEx", 0, 200);
  EXPECT_EQ(compiled_and_cached(), std::pair(uint64_t{1}, uint64_t{0}));
  EXPECT_EQ(compiled_and_cached(), std::pair(uint64_t{0}, uint64_t{1}));
  std::filesystem::remove_all(pattern);
}

}  // namespace
}  // namespace xlog::device
