// The file of a recording: lines of words, each with bytes behind it if it says so.
//
//   xlog-record 1
//   launch 3 2 v:u32:64 b:1:0:4096 # 0 5f0c...       words, # bytes that follow, checksum
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace xlog::device {

inline constexpr std::string_view kLogHead = "xlog-record 1\n";

// 32 hex digits.
std::string digest_text(std::span<const std::byte> bytes);

class LogWriter {
 public:
  static Result<LogWriter> create(const std::string& path);
  // Reaches the disk's cache at once: a log of a process that died still tells.
  Status add(std::string_view words, std::span<const std::byte> bytes = {});

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  Status failed() const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

struct LogRecord {
  uint64_t number = 0;  // in the log, from 1
  std::vector<std::string> words;
  std::span<const std::byte> bytes;  // part of the reader's memory
};

class LogReader {
 public:
  static Result<LogReader> open(const std::string& path);
  // The next record; nullopt at the end. An error names the place where the log is damaged.
  Result<std::optional<LogRecord>> next();
  Error damaged(std::string_view how) const;

 private:
  std::string path_;
  std::string text_;
  size_t at_ = 0;
  uint64_t number_ = 0;
};

}  // namespace xlog::device
