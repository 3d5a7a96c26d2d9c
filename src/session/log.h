// An append-only file of numbered records that survives the end of the process at any moment.
//
// The file starts with a line that names its format. A record is a header of 44 bytes
// (little-endian) and a payload:
//
//   u64 length of the payload      u32 kind            u64 number
//   u64 check of the payload       u64 check of the header before it (0 for the first)
//   u64 check of these 36 bytes
//
// A batch has the number after the one before it, starting at 0; other records have the number of
// the batch that they speak of. Checks are XXH3 (64 bits); that of a header covers the one before
// it, so a record cannot be moved, repeated or left out unseen.
//
// What lies behind the last good record is a torn write when nothing good follows it: then it is
// not part of the log. Otherwise the log is damaged, which is an error: records that were
// acknowledged are never dropped in silence.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace xlog::session {

enum class RecordKind : uint32_t { Batch = 1, Answer = 2 };

struct Record {
  RecordKind kind = RecordKind::Batch;
  uint64_t number = 0;
  std::string payload;
};

// Between two records.
struct LogPosition {
  uint64_t offset = 0;
  uint64_t next_batch = 0;
  uint64_t check = 0;  // of the header before; 0 at the beginning
};

class Log {
 public:
  // A new log with one batch, number 0. It appears complete or not at all.
  static Status create(const std::string& path, std::string_view first_payload);
  // Reads what follows `from` (the beginning where it is empty). To write, the caller must be the
  // only one.
  static Result<Log> open(const std::string& path, bool writable, LogPosition from = {});

  Log(Log&& other) noexcept;
  Log& operator=(Log&&) = delete;
  ~Log();

  // On disk when it returns, or not there at all. An `Answer` need not be on disk at once.
  Status append(RecordKind kind, std::string_view payload);

  LogPosition end() const { return end_; }
  // Bytes of a torn write behind the end; a log that is open for writing has cut them off, and kept
  // them in a file beside it (`log-torn-1`).
  uint64_t torn_bytes() const { return torn_bytes_; }
  const std::string& torn_copy() const { return torn_copy_; }
  const std::string& path() const { return path_; }

  // Each record from `from` to the end, as long as `visit` returns true. `skip` may say that a
  // record's payload is not needed: then it is not read.
  using Visit = std::function<Result<bool>(const Record& record, const LogPosition& before)>;
  using Skip = std::function<bool(RecordKind kind, uint64_t number)>;
  Status read(LogPosition from, const Visit& visit, const Skip& skip = nullptr) const;

 private:
  Log(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  Status find_end(LogPosition from, bool writable);
  Status keep_torn_bytes();

  std::string path_;
  int fd_ = -1;
  LogPosition end_;
  uint64_t torn_bytes_ = 0;
  std::string torn_copy_;
  bool broken_ = false;  // a failed write could not be taken back
};

}  // namespace xlog::session
