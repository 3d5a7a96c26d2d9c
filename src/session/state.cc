#include "session/state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "io/file.h"
#include "session/codec.h"

namespace xlog::session {
namespace {

namespace fs = std::filesystem;
using incremental::FactChanges;

constexpr std::string_view kCheckpointFormat = "xlog session checkpoint 1\n";
constexpr std::string_view kCheckpointName = "checkpoint-";

Error system_failure(const std::string& doing, const std::string& path, int error) {
  return {fmt::format("cannot {} `{}`: {}", doing, path, std::strerror(error)), ""};
}

// A new folder is on disk once the one that it is in is.
void sync_parent(const std::string& path) {
  const std::string parent = (fs::path(path) / "..").string();
  const int fd = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

// A process that was killed may have left files that were not yet in their place
// (io::AtomicFile), which nobody will finish.
void remove_unfinished(const std::string& folder) {
  constexpr size_t kSuffix = 7;  // ".XXXXXX"
  std::error_code error;
  std::vector<fs::path> unfinished;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.starts_with("log.") || name.starts_with("log-torn-") ||
                      name.starts_with(kCheckpointName);
    if (ours && name.size() > kSuffix && name[name.size() - kSuffix] == '.') {
      unfinished.push_back(entry.path());
    }
  }
  for (const fs::path& path : unfinished) fs::remove(path, error);
}

}  // namespace

// ---- Payloads ----

std::string encode_batch(const Batch& batch, uint64_t digest, const lang::Program& program,
                         const lang::Names& names) {
  std::string head;
  append_u64(head, digest);
  append_u64(head, batch.undo_of);
  std::string out = encode(batch.changes, program, names);
  return std::move(out.insert(0, head));
}

Result<LoggedBatch> decode_batch(const Record& record, const lang::Program& program,
                                 lang::Names& names) {
  ByteReader in(record.payload);
  LoggedBatch out;
  out.digest = in.u64();
  out.batch.number = record.number;
  out.batch.undo_of = in.u64();
  Result<std::vector<FactChanges>> changes = decode(in.rest(), program, names);
  if (!changes.ok()) {
    return Error{fmt::format("commit {} of the log: {}", record.number, changes.error().message),
                 "use the program that the log was written with"};
  }
  out.batch.changes = std::move(*changes);
  return out;
}

std::string encode_answer(uint64_t answer_digest) {
  std::string out;
  append_u64(out, answer_digest);
  return out;
}

std::optional<uint64_t> decode_answer(std::string_view payload) {
  ByteReader in(payload);
  const uint64_t digest = in.u64();
  if (!in.ok() || in.left() > 0) return std::nullopt;
  return digest;
}

// ---- Checkpoints ----

Status write_checkpoint(const std::string& path, const Checkpoint& checkpoint,
                        const lang::Program& program, const lang::Names& names) {
  std::string payload;
  append_u64(payload, checkpoint.position.offset);
  append_u64(payload, checkpoint.position.next_batch);
  append_u64(payload, checkpoint.position.check);
  append_u64(payload, checkpoint.digest);
  payload += encode(checkpoint.facts, program, names);
  std::string head(kCheckpointFormat);
  append_u64(head, payload.size());
  append_u64(head, XXH3_64bits(payload.data(), payload.size()));
  io::AtomicFile file;
  const auto failed = [&] {
    return Error{fmt::format("cannot write `{}`: {}", path, file.reason()), ""};
  };
  if (!file.open(path)) return failed();
  std::fwrite(head.data(), 1, head.size(), file.stream());
  std::fwrite(payload.data(), 1, payload.size(), file.stream());
  if (!file.finish() || !file.commit()) return failed();
  return Done{};
}

bool may_hold_checkpoint(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  // Writing says what is wrong with what is no file.
  if (status.type() != std::filesystem::file_type::regular) return true;
  std::string head(kCheckpointFormat.size(), '\0');
  std::ifstream(path, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == kCheckpointFormat;
}

Result<Checkpoint> read_checkpoint(const std::string& path, const lang::Program& program,
                                   lang::Names& names) {
  std::string reason;
  const std::optional<std::string> bytes = io::read_file(path, reason);
  if (!bytes) return Error{fmt::format("cannot read `{}`: {}", path, reason), ""};
  if (!bytes->starts_with(kCheckpointFormat)) {
    return Error{fmt::format("`{}` is no checkpoint of a session of this version", path), ""};
  }
  ByteReader head(std::string_view(*bytes).substr(kCheckpointFormat.size()));
  const uint64_t length = head.u64();
  const uint64_t check = head.u64();
  const std::string_view payload = head.rest();
  if (!head.ok() || payload.size() != length ||
      XXH3_64bits(payload.data(), payload.size()) != check) {
    return Error{fmt::format("`{}` is damaged", path), "use an older checkpoint"};
  }
  ByteReader in(payload);
  Checkpoint out;
  out.position.offset = in.u64();
  out.position.next_batch = in.u64();
  out.position.check = in.u64();
  out.digest = in.u64();
  Result<std::vector<FactChanges>> facts = decode(in.rest(), program, names);
  if (!facts.ok()) {
    return Error{fmt::format("`{}`: {}", path, facts.error().message),
                 "use the program that it was written with"};
  }
  out.facts = std::move(*facts);
  return out;
}

// ---- The folder ----

Result<StateFolder> StateFolder::open(const std::string& path) {
  std::error_code error;
  const bool is_new = fs::create_directories(path, error);
  if (error) return system_failure("make the folder", path, error.value());
  if (is_new) sync_parent(path);
  const std::string lock_path = path + "/lock";
  const int fd = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return system_failure("open", lock_path, errno);
  StateFolder state(path, fd);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
    remove_unfinished(path);
    return state;
  }
  if (errno != EWOULDBLOCK) return system_failure("lock", lock_path, errno);
  return Error{fmt::format("another process works on the state folder `{}`", path),
               "end it first, or give this session a folder of its own"};
}

StateFolder::StateFolder(StateFolder&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      log_(std::move(other.log_)),
      anchors_(std::move(other.anchors_)) {}

StateFolder::~StateFolder() {
  if (lock_ >= 0) close(lock_);
}

bool StateFolder::exists() const {
  std::error_code error;
  return fs::exists(log_path(), error);
}

Status StateFolder::create(const std::vector<FactChanges>& facts, uint64_t digest,
                           const lang::Program& program, const lang::Names& names) {
  // A checkpoint without a log belongs to a log that somebody removed.
  if (!checkpoint_numbers().empty()) {
    return Error{fmt::format("`{}` has checkpoints but no log", path_),
                 "restore the log from a copy, or give the session an empty folder"};
  }
  const std::string payload = encode_batch({0, 0, facts}, digest, program, names);
  if (Status status = Log::create(log_path(), payload); !status.ok()) return status;
  Result<Log> log = Log::open(log_path(), true);
  if (!log.ok()) return log.error();
  log_.emplace(std::move(*log));
  return Done{};
}

std::vector<uint64_t> StateFolder::checkpoint_numbers() const {
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kCheckpointName)) continue;
    uint64_t number = 0;
    const char* const begin = name.data() + kCheckpointName.size();
    const char* const end = name.data() + name.size();
    const auto [rest, parse_error] = std::from_chars(begin, end, number);
    if (parse_error == std::errc() && rest == end) numbers.push_back(number);
  }
  std::ranges::sort(numbers, std::greater());
  return numbers;
}

std::string StateFolder::checkpoint_path(uint64_t number) const {
  return fmt::format("{}/{}{}", path_, kCheckpointName, number);
}

// Of the last batch behind `from`.
Result<uint64_t> StateFolder::last_digest(const LogPosition& from, uint64_t otherwise) const {
  uint64_t digest = otherwise;
  const uint64_t last = log_->end().next_batch - 1;
  const auto is_last = [&](RecordKind kind, uint64_t number) {
    return kind == RecordKind::Batch && number == last;
  };
  const Status status = log_->read(
      from,
      [&](const Record& record, const LogPosition&) -> Result<bool> {
        if (is_last(record.kind, record.number)) digest = ByteReader(record.payload).u64();
        return true;
      },
      [&](RecordKind kind, uint64_t number) { return !is_last(kind, number); });
  if (!status.ok()) return status.error();
  return digest;
}

Result<StateFolder::Restored> StateFolder::restore(const lang::Program& program, lang::Names& names,
                                                   uint64_t digest, bool accept_program) {
  Restored out{incremental::FactSet(program, names), {}, false, {}};
  incremental::FactSet& facts = out.facts;
  LogPosition from;
  uint64_t checkpoint_digest = 0;
  for (const uint64_t number : checkpoint_numbers()) {
    Result<Checkpoint> checkpoint = read_checkpoint(checkpoint_path(number), program, names);
    if (!checkpoint.ok()) {
      out.notices.push_back(checkpoint.error().message + "; it is left out");
      continue;
    }
    if (Status status = facts.apply(checkpoint->facts); !status.ok()) return status.error();
    from = checkpoint->position;
    checkpoint_digest = checkpoint->digest;
    remember(from);
    break;
  }
  Result<Log> log = Log::open(log_path(), true, from);
  if (!log.ok()) return log.error();
  log_.emplace(std::move(*log));
  const Result<uint64_t> made_with = last_digest(from, checkpoint_digest);
  if (!made_with.ok()) return made_with.error();
  if (*made_with != digest && !accept_program) {
    return Error{fmt::format("the state folder `{}` belongs to another program: its rules or the "
                             "types of its predicates differ",
                             path_),
                 "start it with the program that it was made with, or add --accept-program to go "
                 "on with its facts under this one"};
  }
  if (log_->torn_bytes() > 0) {
    out.notices.push_back(
        fmt::format("`{}` ended in {} bytes that are no whole record: the last commit was never "
                    "acknowledged, or is damaged; they are cut off and kept in `{}`",
                    log_path(), log_->torn_bytes(), log_->torn_copy()));
  }
  const auto skip = [](RecordKind kind, uint64_t) { return kind != RecordKind::Batch; };
  const auto take = [&](const Record& record, const LogPosition&) -> Result<bool> {
    out.answer_recorded = record.kind == RecordKind::Answer;
    if (record.kind != RecordKind::Batch) return true;
    Result<LoggedBatch> logged = decode_batch(record, program, names);
    if (!logged.ok()) return logged.error();
    if (out.last) {
      if (Status status = facts.apply(out.last->changes); !status.ok()) return status.error();
    }
    out.last = std::move(logged->batch);
    return true;
  };
  if (Status status = log_->read(from, take, skip); !status.ok()) return status.error();
  if (out.last && out.last->number == 0) {
    if (Status status = facts.apply(out.last->changes); !status.ok()) return status.error();
    out.last.reset();
  }
  return out;
}

LogPosition StateFolder::before(uint64_t number) const {
  LogPosition best;
  for (const LogPosition& anchor : anchors_) {
    if (anchor.next_batch <= number && anchor.next_batch > best.next_batch) best = anchor;
  }
  return best;
}

}  // namespace xlog::session
