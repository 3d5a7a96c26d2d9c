#include "session/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "io/file.h"
#include "session/codec.h"

namespace xlog::session {
namespace {

constexpr std::string_view kFormat = "xlog session log 1\n";
constexpr uint64_t kHeaderBytes = 44;

struct Header {
  uint64_t length = 0;
  uint32_t kind = 0;
  uint64_t number = 0;
  uint64_t payload_check = 0;
  uint64_t previous_check = 0;
  uint64_t check = 0;
};

uint64_t check_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string header_bytes(RecordKind kind, uint64_t number, std::string_view payload,
                         uint64_t previous_check) {
  std::string out;
  append_u64(out, payload.size());
  append_u32(out, static_cast<uint32_t>(kind));
  append_u64(out, number);
  append_u64(out, check_of(payload));
  append_u64(out, previous_check);
  append_u64(out, check_of(out));
  return out;
}

// nullopt when these are not the bytes of a header.
std::optional<Header> parse_header(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  ByteReader in(bytes);
  Header header;
  header.length = in.u64();
  header.kind = in.u32();
  header.number = in.u64();
  header.payload_check = in.u64();
  header.previous_check = in.u64();
  header.check = in.u64();
  if (header.check != check_of(bytes.substr(0, kHeaderBytes - 8))) return std::nullopt;
  return header;
}

Error failure(const std::string& doing, const std::string& path) {
  return {fmt::format("cannot {} `{}`: {}", doing, path, std::strerror(errno)), ""};
}

// All of `size` bytes, or fewer at the end of the file. False with errno when it cannot.
bool read_at(int fd, uint64_t offset, uint64_t size, std::string& out) {
  out.resize(size);
  uint64_t done = 0;
  while (done < size) {
    const ssize_t got =
        pread(fd, out.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    done += static_cast<uint64_t>(got);
  }
  out.resize(done);
  return true;
}

bool write_at(int fd, uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return true;
}

uint64_t file_size(int fd) {
  struct stat status = {};
  return fstat(fd, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

bool is_next(const Header& header, const LogPosition& at) {
  if (header.previous_check != at.check) return false;
  if (header.kind == static_cast<uint32_t>(RecordKind::Batch))
    return header.number == at.next_batch;
  return at.next_batch > 0 && header.number == at.next_batch - 1;
}

LogPosition behind(const Header& header, const LogPosition& at) {
  return {at.offset + kHeaderBytes + header.length,
          at.next_batch + (header.kind == static_cast<uint32_t>(RecordKind::Batch) ? 1 : 0),
          header.check};
}

// What stands at a place in the file.
enum class Found : uint8_t {
  Good,
  Cut,      // a record that the file ends in
  Damaged,  // a record whose payload is another one than its header says
  Nothing,  // no record of this place
};

struct Look {
  Found found = Found::Nothing;
  Header header;
  std::string payload;
};

// False with errno when the file cannot be read.
bool look_at(int fd, const LogPosition& at, uint64_t size, bool with_payload, Look& look) {
  std::string bytes;
  if (!read_at(fd, at.offset, kHeaderBytes, bytes)) return false;
  const std::optional<Header> header = parse_header(bytes);
  look = {};
  if (!header || !is_next(*header, at)) return true;
  look.header = *header;
  const uint64_t begin = at.offset + kHeaderBytes;
  if (header->length > size - std::min(size, begin)) {
    look.found = Found::Cut;
    return true;
  }
  look.found = Found::Good;
  if (!with_payload) return true;
  if (!read_at(fd, begin, header->length, look.payload)) return false;
  if (look.payload.size() != header->length || check_of(look.payload) != header->payload_check) {
    look.found = Found::Damaged;
  }
  return true;
}

// Whether a record of a later batch than those before `at` can be found behind it. (One that was
// written twice is no later one.)
bool good_record_follows(int fd, const LogPosition& at, uint64_t size) {
  constexpr uint64_t kBlock = uint64_t{1} << 20;
  std::string block;
  for (uint64_t offset = at.offset; offset + kHeaderBytes <= size; offset += kBlock) {
    if (!read_at(fd, offset, kBlock + kHeaderBytes - 1, block)) return false;
    for (size_t i = 0; i + kHeaderBytes <= block.size() && i < kBlock; ++i) {
      const auto header = parse_header(std::string_view(block).substr(i, kHeaderBytes));
      if (!header) continue;
      const uint64_t begin = offset + i + kHeaderBytes;
      if (header->number < at.next_batch || header->length > size - std::min(size, begin)) continue;
      std::string payload;
      if (!read_at(fd, begin, header->length, payload)) return false;
      if (check_of(payload) == header->payload_check) return true;
    }
  }
  return false;
}

std::string record_name(const LogPosition& at) {
  return at.next_batch == 0 ? "its first record"
                            : fmt::format("the record after that of commit {}", at.next_batch - 1);
}

Error damaged(const std::string& path, const LogPosition& at) {
  return {fmt::format("`{}` is damaged at byte {}, in {}, and good records follow", path, at.offset,
                      record_name(at)),
          fmt::format("restore the file from a copy; or keep only what comes before the damage: "
                      "truncate -s {} '{}'",
                      at.offset, path)};
}

// Removes what was not there before a write that failed.
bool take_back(int fd, uint64_t size) {
  return ftruncate(fd, static_cast<off_t>(size)) == 0 && fsync(fd) == 0;
}

}  // namespace

Status Log::create(const std::string& path, std::string_view first_payload) {
  io::AtomicFile file;
  if (!file.open(path)) return Error{fmt::format("cannot write `{}`: {}", path, file.reason()), ""};
  const std::string header = header_bytes(RecordKind::Batch, 0, first_payload, 0);
  for (const std::string_view part : {kFormat, std::string_view(header), first_payload}) {
    std::fwrite(part.data(), 1, part.size(), file.stream());
  }
  if (!file.finish() || !file.commit()) {
    return Error{fmt::format("cannot write `{}`: {}", path, file.reason()),
                 "make room on the disk"};
  }
  return Done{};
}

Result<Log> Log::open(const std::string& path, bool writable, LogPosition from) {
  const int fd = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd < 0) return failure("open", path);
  Log log(path, fd);
  std::string format;
  if (!read_at(fd, 0, kFormat.size(), format)) return failure("read", path);
  if (format != kFormat) {
    return Error{fmt::format("`{}` is no log of a session of this version", path),
                 "name the `log` in the folder that --state made"};
  }
  if (from.offset == 0) from.offset = kFormat.size();
  if (Status status = log.find_end(from, writable); !status.ok()) return status.error();
  return log;
}

Log::Log(Log&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      end_(other.end_),
      torn_bytes_(other.torn_bytes_),
      torn_copy_(std::move(other.torn_copy_)),
      broken_(other.broken_) {}

Log::~Log() {
  if (fd_ >= 0) close(fd_);
}

Status Log::find_end(LogPosition from, bool writable) {
  const uint64_t size = file_size(fd_);
  if (from.offset > size) {
    return Error{fmt::format("`{}` has {} bytes, but a checkpoint says that it had {}", path_, size,
                             from.offset),
                 "restore the file from a copy"};
  }
  end_ = from;
  Look look;
  while (end_.offset < size) {
    if (!look_at(fd_, end_, size, true, look)) return failure("read", path_);
    if (look.found != Found::Good) break;
    end_ = behind(look.header, end_);
  }
  if (end_.next_batch == 0) {
    return Error{
        fmt::format("`{}` is damaged at byte {}, in {}", path_, end_.offset, record_name(end_)),
        "restore the file from a copy"};
  }
  if (end_.offset == size) return Done{};
  const bool ends_in_it = look.found == Found::Cut || look.found == Found::Nothing ||
                          end_.offset + kHeaderBytes + look.header.length == size;
  if (!ends_in_it || good_record_follows(fd_, end_, size)) return damaged(path_, end_);
  torn_bytes_ = size - end_.offset;
  if (!writable) return Done{};
  if (Status status = keep_torn_bytes(); !status.ok()) return status;
  if (!take_back(fd_, end_.offset)) return failure("cut off a torn write of", path_);
  return Done{};
}

// Nothing tells a last record that was never finished from one that was damaged since, and then
// somebody may want what is left of it.
Status Log::keep_torn_bytes() {
  std::string bytes;
  if (!read_at(fd_, end_.offset, torn_bytes_, bytes)) return failure("read", path_);
  std::error_code error;
  for (size_t n = 1; torn_copy_.empty(); ++n) {
    std::string name = fmt::format("{}-torn-{}", path_, n);
    if (!std::filesystem::exists(name, error)) torn_copy_ = std::move(name);
  }
  const std::string reason = io::replace_file(torn_copy_, bytes);
  if (reason.empty()) return Done{};
  return Error{
      fmt::format("`{}` ends in {} bytes that are no whole record, and they cannot be kept "
                  "in `{}`: {}",
                  path_, torn_bytes_, torn_copy_, reason),
      "make room on the disk"};
}

Status Log::append(RecordKind kind, std::string_view payload) {
  if (broken_) {
    return Error{fmt::format("`{}` could not be restored after a failed write", path_),
                 "make room on the disk and start the session again"};
  }
  const bool is_batch = kind == RecordKind::Batch;
  const uint64_t number = is_batch ? end_.next_batch : end_.next_batch - 1;
  std::string bytes = header_bytes(kind, number, payload, end_.check);
  const std::optional<Header> header = parse_header(bytes);
  bytes += payload;
  if (!write_at(fd_, end_.offset, bytes) || (is_batch && fdatasync(fd_) != 0)) {
    Error error = failure("write", path_);
    error.help = "nothing was changed; make room on the disk and try again";
    broken_ = !take_back(fd_, end_.offset);
    return error;
  }
  end_ = behind(*header, end_);
  return Done{};
}

Status Log::read(LogPosition from, const Visit& visit, const Skip& skip) const {
  if (from.offset == 0) from.offset = kFormat.size();
  Record record;
  Look look;
  while (from.offset < end_.offset) {
    if (!look_at(fd_, from, end_.offset, false, look)) return failure("read", path_);
    record.kind = static_cast<RecordKind>(look.header.kind);
    record.number = look.header.number;
    record.payload.clear();
    const bool wanted = skip == nullptr || !skip(record.kind, record.number);
    if (look.found == Found::Good && wanted) {
      if (!look_at(fd_, from, end_.offset, true, look)) return failure("read", path_);
      record.payload = std::move(look.payload);
    }
    if (look.found != Found::Good) return damaged(path_, from);
    Result<bool> go_on = visit(record, from);
    if (!go_on.ok()) return go_on.error();
    if (!*go_on) return Done{};
    from = behind(look.header, from);
  }
  return Done{};
}

}  // namespace xlog::session
