// The cpu climbs from the interpreter to machine code, and nobody sees it in the results.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "device/llvm_api.h"
#include "device/test_devices.h"
#include "kernel/builder.h"

namespace xlog::device {
namespace {

using kernel::Fold;
using kernel::Graph;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Type;
using kernel::Value;

constexpr uint32_t kMostLaunches = 100'000;

// out[i] = (in[i] ^ salt) * 5 + i
Id salted_kernel(Graph& graph, uint32_t salt) {
  KernelBuilder k(graph, fmt::format("salted_{}", salt));
  Value n = k.val(Type::U32, "n");
  kernel::Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  k.store(out, i, (in[i] ^ salt) * 5 + i);
  return k.finish();
}

// A kernel over `rows` rows of `in` and `out`, on a device.
class Rows {
 public:
  Rows(Device& device, uint32_t rows) : device_(device), rows_(rows) {
    std::vector<uint32_t> in(rows);
    for (uint32_t i = 0; i < rows; ++i) in[i] = i * 2654435761u;
    in_ = upload(device, in);
    out_ = upload(device, std::vector<uint32_t>(rows, 0));
  }

  void launch(const KernelHandle& kernel) {
    ASSERT_TRUE(good(
        device_.launch(kernel, std::vector<Argument>{Scalar::u32(rows_), View{in_}, View{out_}})));
  }
  // Launches until something goes through the compiler; gives how often.
  uint32_t launch_until_compiled(const KernelHandle& kernel) {
    const uint64_t before = device_.counters().compiled;
    for (uint32_t k = 1; k <= kMostLaunches; ++k) {
      launch(kernel);
      if (device_.counters().compiled > before) return k;
    }
    ADD_FAILURE() << "never compiled";
    return 0;
  }
  std::vector<uint32_t> out() { return download<uint32_t>(device_, {out_}, rows_); }
  bool holds_salted(uint32_t salt) {
    std::vector<uint32_t> got = out();
    for (uint32_t i = 0; i < rows_; ++i) {
      if (got[i] != ((i * 2654435761u) ^ salt) * 5 + i) return false;
    }
    return true;
  }

 private:
  Device& device_;
  uint32_t rows_;
  Buffer in_, out_;
};

// In a process of its own, since LLVM stays open once it is.
TEST(TiersDeathTest, ManySmallKernelsNeedNoLlvm) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto run_all = [] {
    std::unique_ptr<Device> device = open_for_test("auto");
    Graph graph;
    Rows rows(*device, 10);
    bool right = true;
    for (uint32_t salt = 0; salt < 30; ++salt) {
      rows.launch(*device->compile(graph, salted_kernel(graph, salt)));
      right = right && rows.holds_salted(salt);
    }
    std::fprintf(stderr, "right %d, compiled %d, open %d\n", right,
                 static_cast<int>(device->counters().compiled), llvm_is_open());
    std::exit(0);
  };
  EXPECT_EXIT(run_all(), testing::ExitedWithCode(0), "right 1, compiled 0, open 0");
}

TEST(TiersDeathTest, WithoutLlvmTheInterpreterDoesAll) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto run_all = [] {
    ::setenv("XLOG_LLVM_LIBRARY", "/nowhere/libLLVM.so", 1);
    std::unique_ptr<Device> device = open_for_test("cpu");
    Graph graph;
    KernelHandle kernel = *device->compile(graph, salted_kernel(graph, 7));
    Rows rows(*device, 1'000'000);
    for (uint32_t k = 0; k < 100; ++k) rows.launch(kernel);
    std::unique_ptr<Device> native = open_for_test("native");
    Result<KernelHandle> refused = native->compile(graph, salted_kernel(graph, 7));
    std::string listed;
    for (const DeviceListing& listing : list_devices()) {
      if (listing.name == "cpu" && listing.info) listed = listing.info->software;
      if (listing.name == "native") listed += "; native: " + listing.problem;
    }
    std::fprintf(stderr, "right %d, compiled %d, refused %d\n%s\n%s\n", rows.holds_salted(7),
                 static_cast<int>(device->counters().compiled), !refused.ok(),
                 device->info().software.c_str(), listed.c_str());
    std::exit(0);
  };
  EXPECT_EXIT(run_all(), testing::ExitedWithCode(0),
              "right 1, compiled 0, refused 1\n"
              ".*there is none: cannot open LLVM: /nowhere/libLLVM.so.*\n"
              "interpreter alone: cannot open LLVM.*\n.*native: cannot open LLVM");
}

TEST(Tiers, ANameOrAnOptionChooses) {
  EXPECT_EQ(open_for_test("cpu")->info().name, "cpu");
  EXPECT_EQ(open_for_test("auto")->info().name, "cpu");
  EXPECT_EQ(open_for_test("cpu", {.tier = Tier::Interpreted})->info().name, "interp");
  EXPECT_EQ(open_for_test("auto", {.tier = Tier::Native})->info().name, "native");
  std::unique_ptr<Device> native = open_for_test("native");
  Graph graph;
  ASSERT_TRUE(good(native->compile(graph, salted_kernel(graph, 1))));
  EXPECT_EQ(native->counters().compiled, 1u);
}

TEST(Tiers, EnoughWorkClimbsAtTheSameLaunchEachTime) {
  std::vector<uint32_t> at;
  for (uint32_t run = 0; run < 2; ++run) {
    std::unique_ptr<Device> device = open_for_test("cpu", {.threads = 2});
    Graph graph;
    KernelHandle kernel = *device->compile(graph, salted_kernel(graph, 3));
    Rows rows(*device, 50'000);
    at.push_back(rows.launch_until_compiled(kernel));
    EXPECT_TRUE(rows.holds_salted(3));
    for (uint32_t k = 0; k < 5; ++k) rows.launch(kernel);
    EXPECT_EQ(device->counters().compiled, 1u) << "it climbs once";
    // LLVM is open now; a kernel with little work stays where it is.
    Rows few(*device, 10);
    few.launch(*device->compile(graph, salted_kernel(graph, 4)));
    EXPECT_TRUE(few.holds_salted(4));
    EXPECT_EQ(device->counters().compiled, 1u);
  }
  EXPECT_GT(at[0], 10u);
  EXPECT_EQ(at[0], at[1]);
}

// Each instance walks over its chunk: there are few of them, and the arguments say how long.
TEST(Tiers, ALaunchThatIsLargeByItselfClimbsBefore) {
  std::unique_ptr<Device> device = open_for_test("cpu", {.threads = 2});
  Graph graph;
  KernelBuilder k(graph, "chunks");
  Value n = k.val(Type::U32, "n"), chunk = k.val(Type::U32, "chunk");
  kernel::Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  kernel::Values sum = k.for_range(i * chunk, i * chunk + chunk, {k.u32(0)},
                                   [&](Value j, const kernel::Values& carried) {
                                     return kernel::Values{carried[0] * 3 + in[j & 255u]};
                                   });
  k.store(out, i, sum[0]);
  KernelHandle kernel = *device->compile(graph, k.finish());
  std::vector<uint32_t> values(256);
  for (uint32_t v = 0; v < 256; ++v) values[v] = v * v;
  Buffer x = upload(*device, values), y = upload(*device, std::vector<uint32_t>(4, 0));
  for (uint32_t length : {100u, 1'000'000u}) {
    ASSERT_TRUE(good(device->launch(
        kernel, std::vector<Argument>{Scalar::u32(4), Scalar::u32(length), View{x}, View{y}})));
    EXPECT_EQ(device->counters().compiled, length == 100 ? 0u : 1u);
    std::vector<uint32_t> expected(4, 0);
    for (uint32_t c = 0; c < 4; ++c) {
      for (uint32_t j = c * length; j < c * length + length; ++j) {
        expected[c] = expected[c] * 3 + values[j & 255u];
      }
    }
    EXPECT_EQ(download<uint32_t>(*device, {y}, 4), expected);
  }
}

// Only data knows how long: found out in the first parts of the launch.
TEST(Tiers, LoopsOfUnknownLengthClimbInsideALaunch) {
  std::unique_ptr<Device> device = open_for_test("cpu", {.threads = 2});
  Graph graph;
  KernelBuilder k(graph, "rounds");
  Value n = k.val(Type::U32, "n");
  kernel::Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  kernel::Buffer total = k.acc(Type::U64, "total"), seen = k.race(Type::U32, "seen");
  Value i = k.grid(n);
  kernel::Values sum = k.for_range(
      k.u32(0), in[i] & 8191u, {i},
      [&](Value j, const kernel::Values& carried) { return kernel::Values{carried[0] * 3 + j}; });
  k.check(6, i != 50'001);
  k.store(out, i, sum[0]);
  k.atomic(Fold::Add, total, k.u32(0), k.cast(Type::U64, sum[0]));
  k.atomic(Fold::Add, seen, k.u32(0), k.u32(1));
  constexpr uint32_t kRows = 60'000;
  KernelHandle kernel = *device->compile(graph, k.finish());
  std::vector<uint32_t> in_values(kRows), expected(kRows);
  uint64_t expected_total = 0;
  for (uint32_t r = 0; r < kRows; ++r) {
    in_values[r] = r * 2654435761u >> 8;
    expected[r] = r;
    for (uint32_t j = 0; j < (in_values[r] & 8191u); ++j) expected[r] = expected[r] * 3 + j;
    expected_total += expected[r];
  }
  Buffer x = upload(*device, in_values), y = upload(*device, std::vector<uint32_t>(kRows, 0));
  Buffer sum_at = upload(*device, std::vector<uint64_t>{0});
  Buffer count_at = upload(*device, std::vector<uint32_t>{0});
  ASSERT_TRUE(
      good(device->launch(kernel, std::vector<Argument>{Scalar::u32(kRows), View{x}, View{y},
                                                        View{sum_at}, View{count_at}})));
  EXPECT_EQ(device->counters().compiled, 1u);
  EXPECT_EQ(device->counters().launches, 1u);
  EXPECT_EQ(download<uint32_t>(*device, {y}, kRows), expected);
  EXPECT_EQ(download<uint64_t>(*device, {sum_at}, 1)[0], expected_total);
  EXPECT_EQ(download<uint32_t>(*device, {count_at}, 1)[0], kRows) << "each instance runs once";
  Result<std::optional<CheckFailure>> failed = device->checks();
  ASSERT_TRUE(good(failed) && failed->has_value());
  EXPECT_EQ((*failed)->instance, 50'001u);
}

TEST(Tiers, ASequenceClimbsWhenItRuns) {
  std::unique_ptr<Device> device = open_for_test("cpu");
  Graph graph;
  KernelBuilder k(graph, "tile", 64);
  Value groups = k.val(Type::U32, "groups");
  kernel::Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Value at = k.group(groups) * 64 + k.lane();
  kernel::Buffer shared = k.local(Type::U32, 64);
  k.check(5, at < k.len(out));  // so there is a hidden length, and a status
  k.store(shared, k.lane(), in[at]);
  k.barrier();
  k.store(out, at, k.gscan(Fold::Add, shared[k.u32(63) - k.lane()]));
  KernelHandle kernel = *device->compile(graph, k.finish());
  constexpr uint32_t kGroups = 100;
  std::vector<uint32_t> values(kGroups * 64), expected(kGroups * 64);
  for (uint32_t v = 0; v < values.size(); ++v) values[v] = v * 2654435761u;
  for (uint32_t g = 0; g < kGroups; ++g) {
    uint32_t sum = 0;
    for (uint32_t lane = 0; lane < 64; ++lane) {
      expected[g * 64 + lane] = sum;
      sum += values[g * 64 + 63 - lane];
    }
  }
  Buffer x = upload(*device, values);
  Buffer y = upload(*device, std::vector<uint32_t>(values.size(), 0));
  ASSERT_TRUE(good(device->begin_sequence()));
  ASSERT_TRUE(good(device->fill({y}, std::byte{1})));
  ASSERT_TRUE(
      good(device->launch(kernel, std::vector<Argument>{Scalar::u32(kGroups), View{x}, View{y}})));
  Result<SequenceHandle> sequence = device->end_sequence();
  ASSERT_TRUE(good(sequence));
  uint32_t runs = 0;
  while (device->counters().compiled == 0 && runs < kMostLaunches) {
    ASSERT_TRUE(good(device->run(*sequence)));
    ++runs;
    ASSERT_EQ(download<uint32_t>(*device, {y}, values.size()), expected) << "run " << runs;
  }
  EXPECT_GT(runs, 1u);
  EXPECT_EQ(device->counters().compiled, 1u);
  EXPECT_EQ(download<uint32_t>(*device, {y}, values.size()), expected);
  ASSERT_TRUE(good(device->run(*sequence)));
  EXPECT_EQ(download<uint32_t>(*device, {y}, values.size()), expected);
  EXPECT_FALSE((*device->checks()).has_value());
}

class StoredTiers : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / "xlog_tiers_XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Device> open(const std::string& name) {
    return open_for_test(name, {.threads = 1, .cache_folder = folder_});
  }
  // One run of a program with one small kernel.
  Counters run_small(uint32_t salt) {
    std::unique_ptr<Device> device = open("cpu");
    Graph graph;
    Rows rows(*device, 50'000);
    KernelHandle kernel = *device->compile(graph, salted_kernel(graph, salt));
    for (uint32_t k = 0; k < 20; ++k) rows.launch(kernel);
    EXPECT_TRUE(rows.holds_salted(salt));
    return device->counters();
  }

  std::string folder_;
};

TEST_F(StoredTiers, TakeAtOnceWhatNativeLeftOnDisk) {
  Graph graph;
  ASSERT_TRUE(good(open("native")->compile(graph, salted_kernel(graph, 1))));
  std::unique_ptr<Device> device = open("cpu");
  Rows rows(*device, 10);
  rows.launch(*device->compile(graph, salted_kernel(graph, 1)));
  EXPECT_TRUE(rows.holds_salted(1));
  EXPECT_EQ(device->counters().cached, 1u);
  rows.launch(*device->compile(graph, salted_kernel(graph, 2)));
  EXPECT_TRUE(rows.holds_salted(2));
  EXPECT_EQ(device->counters().cached, 1u);
  EXPECT_EQ(device->counters().compiled, 0u);
}

TEST_F(StoredTiers, InterpretWhatIsDamagedOnDisk) {
  Graph graph;
  ASSERT_TRUE(good(open("native")->compile(graph, salted_kernel(graph, 1))));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x5a');
  }
  std::unique_ptr<Device> device = open("cpu");
  Rows rows(*device, 10);
  rows.launch(*device->compile(graph, salted_kernel(graph, 1)));
  EXPECT_TRUE(rows.holds_salted(1));
  EXPECT_EQ(device->counters().cached, 0u);
  EXPECT_TRUE(std::filesystem::is_empty(folder_)) << "what is damaged goes";
}

TEST_F(StoredTiers, SmallWorkThatComesAgainClimbsInALaterRun) {
  uint32_t runs = 1;
  while (run_small(5).compiled == 0 && runs < 30) ++runs;
  EXPECT_GT(runs, 1u) << "one run alone is not worth it";
  EXPECT_LT(runs, 20u);
  const Counters later = run_small(5);
  EXPECT_EQ(later.compiled, 0u);
  EXPECT_EQ(later.cached, 1u);
}

TEST_F(StoredTiers, DamagedNotesCountAsNone) {
  run_small(6);
  ASSERT_FALSE(std::filesystem::is_empty(folder_));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) - 1);
  }
  EXPECT_EQ(run_small(6).compiled, 0u);
}

TEST(Tiers, WhatLlvmDeclinesStaysInterpreted) {
  std::unique_ptr<Device> device = open_for_test("cpu");
  Graph graph;
  KernelBuilder k(graph, "large_array");
  Value n = k.val(Type::U32, "n");
  kernel::Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  kernel::Buffer array = k.private_array(Type::U64, 200'000);
  Value i = k.grid(n);
  k.for_range(k.u32(0), k.u32(200'000),
              [&](Value j) { k.store(array, j, k.cast(Type::U64, in[i] + j)); });
  k.store(out, i, k.cast(Type::U32, array[i * 7919 % 200'000]));
  Id kernel = k.finish();
  std::unique_ptr<Device> native = open_for_test("native");
  EXPECT_FALSE(native->compile(graph, kernel).ok());
  Rows rows(*device, 64);
  rows.launch(*device->compile(graph, kernel));
  EXPECT_EQ(device->counters().compiled, 0u);
  std::vector<uint32_t> out_rows = rows.out();
  for (uint32_t r = 0; r < 64; ++r) {
    EXPECT_EQ(out_rows[r], r * 2654435761u + r * 7919 % 200'000);
  }
}

}  // namespace
}  // namespace xlog::device
