#include "device/record.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "device/record_log.h"
#include "device/replay.h"
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

Id square_kernel(Graph& graph) {
  KernelBuilder k(graph, "square");
  Value n = k.val(Type::U32, "n");
  kernel::Buffer in = k.in(Type::U32, "source"), out = k.out(Type::I64, "squares");
  Value i = k.grid(n);
  Value v = k.cast(Type::I64, in[i]);
  k.check(3, in[i] != 77);
  k.store(out, i, v * v);
  return k.finish();
}

class RecordTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() /
            fmt::format("xlog_record_{}_{}", ::getpid(),
                        ::testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // Three launches: two by hand, one of a sequence.
  void record(RecordLevel level) {
    Result<std::unique_ptr<Device>> opened =
        record_device(open_for_test("interp"), {.path = path_, .level = level});
    ASSERT_TRUE(good(opened));
    Device& device = **opened;
    Graph graph;
    KernelHandle kernel = *device.compile(graph, square_kernel(graph));
    std::vector<uint32_t> in{1, 2, 3, 4, 70, 75, 77, 80};
    Buffer x = upload(device, in);
    { Buffer gone = *device.allocate(64); }
    Buffer y = *device.allocate(64);
    std::vector<Argument> arguments{Scalar::u32(8), View{x}, View{y}};
    ASSERT_TRUE(good(device.launch(kernel, arguments)));
    EXPECT_EQ((*device.checks())->instance, 6u);
    ASSERT_TRUE(good(device.fill({x, 0, 4}, std::byte{1})));
    ASSERT_TRUE(good(device.launch(kernel, arguments)));
    ASSERT_TRUE(good(device.begin_sequence()));
    ASSERT_TRUE(good(device.copy({x, 4, 4}, {x, 0, 4})));
    ASSERT_TRUE(good(device.launch(kernel, arguments)));
    Result<SequenceHandle> sequence = device.end_sequence();
    ASSERT_TRUE(good(sequence));
    ASSERT_TRUE(good(device.run(*sequence)));
    EXPECT_EQ(download<int64_t>(device, {y}, 2)[1], int64_t{0x01010101} * 0x01010101);
    Counters counters = device.counters();
    EXPECT_EQ(counters.launches, 3u);
    EXPECT_EQ(counters.bytes_from_device, 16u) << "what recording reads does not count";
  }

  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  }
  void replace(const std::string& all) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << all;
  }

  std::string path_;
};

TEST_F(RecordTest, EveryDeviceReplaysTheSame) {
  for (RecordLevel level : {RecordLevel::Calls, RecordLevel::Digests, RecordLevel::Bytes}) {
    record(level);
    for (const std::string& name : test_device_names()) {
      std::unique_ptr<Device> device = open_for_test(name);
      Result<ReplayReport> report = replay(path_, *device);
      ASSERT_TRUE(good(report)) << name;
      EXPECT_FALSE(report->difference) << name << ": " << report->difference->text();
      EXPECT_EQ(report->launches, 3u);
      EXPECT_EQ(report->compared, level == RecordLevel::Calls ? 0u : 3u);
      EXPECT_TRUE(report->complete);
      EXPECT_EQ(report->recorded_on, "interp");
    }
  }
}

// Changes one value of a result in the log, with checksums that fit again.
void tamper(const std::string& path, uint64_t launch, uint64_t index) {
  Result<LogReader> reader = LogReader::open(path);
  ASSERT_TRUE(reader.ok());
  Result<LogWriter> writer = LogWriter::create(path + ".other");
  ASSERT_TRUE(writer.ok());
  for (;;) {
    Result<std::optional<LogRecord>> record = reader->next();
    ASSERT_TRUE(record.ok());
    if (!record->has_value()) break;
    LogRecord& r = **record;
    std::vector<std::byte> changed(r.bytes.begin(), r.bytes.end());
    if (r.words[0] == "result" && r.words[1] == fmt::format("{}", launch)) {
      int64_t value = 12345;
      if (changed.size() >= index * 8 + 8) std::memcpy(&changed[index * 8], &value, 8);
      r.words[4] = digest_text(changed);
    }
    ASSERT_TRUE(writer->add(fmt::format("{}", fmt::join(r.words, " ")), changed).ok());
  }
  std::filesystem::rename(path + ".other", path);
}

TEST_F(RecordTest, ADifferenceIsNamedByLaunchBufferAndIndex) {
  record(RecordLevel::Bytes);
  tamper(path_, 2, 5);
  std::unique_ptr<Device> device = open_for_test("oracle");
  Result<ReplayReport> report = replay(path_, *device);
  ASSERT_TRUE(good(report));
  ASSERT_TRUE(report->difference.has_value());
  EXPECT_EQ(report->difference->launch, 2u);
  EXPECT_EQ(report->difference->kernel, "square");
  EXPECT_EQ(report->difference->parameter, "squares");
  EXPECT_EQ(report->difference->index, 5u);
  EXPECT_EQ(report->difference->text(),
            "launch 2, kernel square, buffer squares[5]: 12345:i64 was recorded, 5625:i64 is "
            "computed");
}

TEST_F(RecordTest, WithDigestsAloneTheBufferIsNamed) {
  record(RecordLevel::Digests);
  tamper(path_, 3, 0);
  std::unique_ptr<Device> device = open_for_test("cpu");
  Result<ReplayReport> report = replay(path_, *device);
  ASSERT_TRUE(good(report));
  ASSERT_TRUE(report->difference.has_value());
  EXPECT_EQ(report->difference->launch, 3u);
  EXPECT_FALSE(report->difference->index.has_value());
  EXPECT_THAT(report->difference->text(), HasSubstr("squares"));
}

TEST_F(RecordTest, DamageIsFoundWhereverItIs) {
  record(RecordLevel::Bytes);
  std::string good_log = bytes();
  std::unique_ptr<Device> device = open_for_test("interp");
  for (size_t at = 0; at < good_log.size(); at += 7) {
    std::string bad = good_log;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    replace(bad);
    Result<ReplayReport> report = replay(path_, *device);
    ASSERT_FALSE(report.ok()) << "byte " << at;
    ASSERT_THAT(report.error().message, HasSubstr(path_)) << "byte " << at;
  }
}

TEST_F(RecordTest, ACutLogIsAnErrorOrIncomplete) {
  record(RecordLevel::Bytes);
  std::string whole = bytes();
  std::unique_ptr<Device> device = open_for_test("interp");
  size_t errors = 0;
  for (size_t size = 0; size < whole.size(); size += 5) {
    replace(whole.substr(0, size));
    Result<ReplayReport> report = replay(path_, *device);
    if (report.ok()) {
      EXPECT_FALSE(report->complete) << size;
    } else {
      ++errors;
      EXPECT_THAT(report.error().message, HasSubstr(path_)) << size;
    }
  }
  EXPECT_GT(errors, whole.size() / 5 * 9 / 10);
}

TEST_F(RecordTest, ALogThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(record_device(open_for_test("interp"), {.path = "/nowhere/at/all"}).ok());
  Result<std::unique_ptr<Device>> full =
      record_device(open_for_test("interp"), {.path = "/dev/full"});
  ASSERT_FALSE(full.ok());
  EXPECT_THAT(full.error().message, HasSubstr("No space left"));
  std::unique_ptr<Device> device = open_for_test("interp");
  EXPECT_FALSE(replay("/nowhere/at/all", *device).ok());
}

TEST_F(RecordTest, BuffersOfModeRaceAreNotCompared) {
  {
    Result<std::unique_ptr<Device>> opened =
        record_device(open_for_test("interp"), {.path = path_});
    Device& device = **opened;
    Graph graph;
    KernelBuilder k(graph, "append");
    Value n = k.val(Type::U32, "n");
    kernel::Buffer count = k.race(Type::U32, "count"), rows = k.race(Type::U32, "rows");
    Value i = k.grid(n);
    Value at = k.atomic(kernel::Fold::Add, count, k.u32(0), k.u32(1));
    k.atomic(kernel::Fold::Exch, rows, at, i);
    KernelHandle kernel = *device.compile(graph, k.finish());
    Buffer c = *device.allocate(4), r = *device.allocate(400);
    ASSERT_TRUE(
        good(device.launch(kernel, std::vector<Argument>{Scalar::u32(100), View{c}, View{r}})));
  }
  tamper(path_, 1, 0);
  std::unique_ptr<Device> device = open_for_test("interp");
  Result<ReplayReport> report = replay(path_, *device);
  ASSERT_TRUE(good(report));
  EXPECT_FALSE(report->difference);
  EXPECT_EQ(report->not_compared, 2u);
}

}  // namespace
}  // namespace xlog::device
