#include "session/log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>
#include <vector>

#include "session/test_folder.h"

namespace xlog::session {
namespace {

struct Contents {
  std::vector<std::string> records;
  uint64_t torn_bytes = 0;
  std::string error;
  std::string torn_copy = {};
};

Contents contents(const std::string& path, bool writable = false) {
  Contents out;
  Result<Log> log = Log::open(path, writable);
  if (!log.ok()) return {{}, 0, log.error().message};
  out.torn_bytes = log->torn_bytes();
  out.torn_copy = log->torn_copy();
  const Status status =
      log->read({}, [&](const Record& record, const LogPosition&) -> Result<bool> {
        out.records.push_back(std::to_string(record.number) +
                              (record.kind == RecordKind::Answer ? "a" : ":") + record.payload);
        return true;
      });
  EXPECT_TRUE(status.ok());
  return out;
}

// Batches 0 to 3 with an answer after batch 1.
class LogFile : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Log::create(path_, "zero").ok());
    Result<Log> log = Log::open(path_, true);
    ASSERT_TRUE(log.ok());
    ends_.push_back(log->end().offset);
    const auto append = [&](RecordKind kind, std::string_view payload) {
      EXPECT_TRUE(log->append(kind, payload).ok());
      ends_.push_back(log->end().offset);
    };
    append(RecordKind::Batch, "one");
    append(RecordKind::Answer, "digest");
    append(RecordKind::Batch, "");
    append(RecordKind::Batch, "three");
    whole_ = read_bytes(path_);
    ASSERT_EQ(ends_.back(), whole_.size());
  }

  // How many records end at or before `offset`.
  size_t records_before(uint64_t offset) const {
    size_t n = 0;
    while (n < ends_.size() && ends_[n] <= offset) ++n;
    return n;
  }

  TestFolder folder_;
  std::string path_ = folder_.file("log");
  std::string whole_;
  std::vector<uint64_t> ends_;
  const std::vector<std::string> records_ = {"0:zero", "1:one", "1adigest", "2:", "3:three"};
};

TEST_F(LogFile, IsReadAsItWasWritten) {
  const Contents found = contents(path_);
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.records, records_);
  EXPECT_EQ(found.torn_bytes, 0u);
}

TEST_F(LogFile, EveryTruncationIsAPrefixOrAnError) {
  for (size_t size = 0; size < whole_.size(); ++size) {
    write_bytes(path_, std::string_view(whole_).substr(0, size));
    const Contents found = contents(path_, true);
    const size_t expected = records_before(size);
    if (expected == 0) {
      EXPECT_NE(found.error, "") << size;
      continue;
    }
    ASSERT_EQ(found.error, "") << size;
    EXPECT_EQ(found.records,
              std::vector(records_.begin(), records_.begin() + static_cast<ptrdiff_t>(expected)))
        << size;
    EXPECT_EQ(found.torn_bytes, size - ends_[expected - 1]) << size;
    // It was cut off, and the log goes on.
    EXPECT_EQ(read_bytes(path_).size(), ends_[expected - 1]);
  }
}

TEST_F(LogFile, NoFlippedBitIsAcceptedAsSomethingElse) {
  const uint64_t last = ends_[ends_.size() - 2];  // where the last record begins
  std::string torn_before;
  for (size_t at = 0; at < whole_.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string bytes = whole_;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      write_bytes(path_, bytes);
      const Contents found = contents(path_, true);
      if (at < last) {
        EXPECT_NE(found.error, "") << "byte " << at << " bit " << bit;
        EXPECT_EQ(read_bytes(path_), bytes) << "a damaged log must stay as it is";
        continue;
      }
      // Nothing tells a last record that was damaged from one that was never finished.
      ASSERT_EQ(found.error, "");
      EXPECT_EQ(found.records, std::vector(records_.begin(), records_.end() - 1));
      EXPECT_EQ(found.torn_bytes, bytes.size() - last);
      EXPECT_EQ(read_bytes(found.torn_copy), bytes.substr(last));
      EXPECT_NE(found.torn_copy, torn_before) << "an earlier copy must stay";
      torn_before = found.torn_copy;
    }
  }
}

TEST_F(LogFile, DamageNamesFilePlaceAndRecord) {
  std::string bytes = whole_;
  bytes[ends_[2] + 5] ^= 1;
  write_bytes(path_, bytes);
  const std::string error = contents(path_).error;
  EXPECT_NE(error.find(path_), std::string::npos) << error;
  EXPECT_NE(error.find("byte " + std::to_string(ends_[2])), std::string::npos) << error;
  EXPECT_NE(error.find("after that of commit 1"), std::string::npos) << error;
}

TEST_F(LogFile, WhatIsWrittenTwiceOrMovedIsNotRead) {
  // The tail once more, from any place.
  for (size_t from = 0; from < whole_.size(); ++from) {
    write_bytes(path_, whole_ + whole_.substr(from));
    const Contents found = contents(path_, true);
    ASSERT_EQ(found.error, "") << from;
    EXPECT_EQ(found.records, records_) << from;
  }
  // A record left out.
  for (size_t i = 0; i + 2 < ends_.size(); ++i) {
    write_bytes(path_, whole_.substr(0, ends_[i]) + whole_.substr(ends_[i + 1]));
    EXPECT_NE(contents(path_).error, "") << i;
  }
  // Zeros, as a file system may leave them.
  write_bytes(path_, whole_ + std::string(100, '\0'));
  EXPECT_EQ(contents(path_, true).records, records_);
}

TEST_F(LogFile, GoesOnAfterATornWrite) {
  write_bytes(path_, whole_.substr(0, whole_.size() - 1));
  {
    Result<Log> log = Log::open(path_, true);
    ASSERT_TRUE(log.ok());
    EXPECT_TRUE(log->append(RecordKind::Batch, "other three").ok());
  }
  EXPECT_EQ(contents(path_).records.back(), "3:other three");
}

TEST_F(LogFile, ReadsFromAPositionAndSkipsPayloads) {
  Result<Log> log = Log::open(path_, false);
  ASSERT_TRUE(log.ok());
  LogPosition second;
  std::vector<std::string> payloads;
  const auto visit = [&](const Record& record, const LogPosition& before) -> Result<bool> {
    if (record.kind == RecordKind::Batch && record.number == 2) second = before;
    payloads.push_back(record.payload);
    return true;
  };
  ASSERT_TRUE(log->read({}, visit, [](RecordKind, uint64_t number) { return number == 1; }).ok());
  EXPECT_EQ(payloads, (std::vector<std::string>{"zero", "", "", "", "three"}));
  payloads.clear();
  ASSERT_TRUE(log->read(second, visit).ok());
  EXPECT_EQ(payloads, (std::vector<std::string>{"", "three"}));
  EXPECT_TRUE(Log::open(path_, false, second).ok());
}

// A file that may not grow stands for a full disk.
TEST_F(LogFile, AWriteThatFailsLeavesTheFileAsItWas) {
  Result<Log> log = Log::open(path_, true);
  ASSERT_TRUE(log.ok());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{whole_.size() + 60, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  const Status failed = log->append(RecordKind::Batch, std::string(1000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(read_bytes(path_), whole_);
  EXPECT_TRUE(log->append(RecordKind::Batch, "four").ok());
  EXPECT_EQ(contents(path_).records.back(), "4:four");
}

TEST(Log, OtherFilesAreRefused) {
  TestFolder folder;
  write_bytes(folder.file("other"), "a,b\n1,2\n");
  EXPECT_NE(contents(folder.file("other")).error.find("no log"), std::string::npos);
  EXPECT_NE(contents(folder.file("missing")).error.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace xlog::session
