#include "device/record_log.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace xlog::device {

namespace {

std::string checksum(std::string_view words, std::span<const std::byte> bytes) {
  XXH64_hash_t hash = XXH3_64bits(words.data(), words.size());
  return fmt::format("{:016x}", XXH3_64bits_withSeed(bytes.data(), bytes.size(), hash));
}

}  // namespace

std::string digest_text(std::span<const std::byte> bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Result<LogWriter> LogWriter::create(const std::string& path) {
  LogWriter log;
  log.path_ = path;
  log.file_.reset(std::fopen(path.c_str(), "wb"));
  if (log.file_ == nullptr ||
      std::fwrite(kLogHead.data(), 1, kLogHead.size(), log.file_.get()) != kLogHead.size()) {
    return log.failed().error();
  }
  return log;
}

Status LogWriter::failed() const {
  return Error{fmt::format("cannot write the recording {}: {}", path_, std::strerror(errno)), ""};
}

Status LogWriter::add(std::string_view words, std::span<const std::byte> bytes) {
  std::string line = fmt::format("{} # {} {}\n", words, bytes.size(), checksum(words, bytes));
  std::FILE* file = file_.get();
  bool good = std::fwrite(line.data(), 1, line.size(), file) == line.size();
  if (good && !bytes.empty()) {
    good = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
           std::fputc('\n', file) != EOF;
  }
  if (!good || std::fflush(file) != 0) return failed();
  return Done{};
}

Result<LogReader> LogReader::open(const std::string& path) {
  LogReader log;
  log.path_ = path;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return Error{fmt::format("cannot read the recording {}: {}", path, std::strerror(errno)), ""};
  }
  char part[1 << 16];
  for (size_t got = 0; (got = std::fread(part, 1, sizeof(part), file)) > 0;) {
    log.text_.append(part, got);
  }
  bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) return Error{fmt::format("cannot read the recording {}", path), ""};
  if (log.text_.compare(0, kLogHead.size(), kLogHead) != 0) {
    return Error{fmt::format("{} is not a recording of this version of xlog", path),
                 "its first line must be: xlog-record 1"};
  }
  log.at_ = kLogHead.size();
  return log;
}

Error LogReader::damaged(std::string_view how) const {
  return Error{fmt::format("the recording {} is damaged at byte {}, record {}: {}", path_, at_,
                           number_ + 1, how),
               "record the run again"};
}

Result<std::optional<LogRecord>> LogReader::next() {
  if (at_ == text_.size()) return std::optional<LogRecord>();
  std::string_view rest = std::string_view(text_).substr(at_);
  size_t end = rest.find('\n');
  if (end == std::string_view::npos) return damaged("it is cut off inside a line");
  std::string_view line = rest.substr(0, end);
  size_t mark = line.rfind(" # ");
  if (mark == std::string_view::npos) return damaged("a line without a checksum");
  std::string_view words = line.substr(0, mark);
  std::string_view tail = line.substr(mark + 3);
  uint64_t size = 0;
  auto [after, problem] = std::from_chars(tail.data(), tail.data() + tail.size(), size);
  if (problem != std::errc()) return damaged("a line without a size");
  std::string_view sum = tail.substr(static_cast<size_t>(after - tail.data()));
  size_t begin = at_ + end + 1;
  // Bytes are followed by a line end of their own.
  if (size != 0 && (size >= text_.size() || begin + size + 1 > text_.size())) {
    return damaged("it is cut off inside the bytes of a record");
  }
  std::span<const std::byte> bytes = std::as_bytes(std::span(text_).subspan(begin, size));
  if (sum != " " + checksum(words, bytes)) return damaged("the checksum does not fit");
  if (size != 0 && text_[begin + size] != '\n') return damaged("a record without an end");

  LogRecord record;
  record.number = ++number_;
  record.bytes = bytes;
  for (size_t from = 0; from <= words.size();) {
    size_t to = std::min(words.find(' ', from), words.size());
    record.words.emplace_back(words.substr(from, to - from));
    from = to + 1;
  }
  at_ = begin + size + (size != 0 ? 1 : 0);
  return std::optional(std::move(record));
}

}  // namespace xlog::device
