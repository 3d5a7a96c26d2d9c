#include "session/replay.h"

#include <fmt/format.h>

#include <filesystem>

#include "session/log.h"

namespace xlog::session {

std::string log_path(const std::string& file_or_folder) {
  std::error_code error;
  return std::filesystem::is_directory(file_or_folder, error) ? file_or_folder + "/log"
                                                              : file_or_folder;
}

Result<Replayed> replay(Session& session, const Options& options, const ReplayVisitor& visitor) {
  Result<Log> log = Log::open(options.log, false);
  if (!log.ok()) return log.error();
  Replayed replayed{0, log->torn_bytes()};
  const auto take = [&](const Record& record, const LogPosition&) -> Result<bool> {
    if (record.kind == RecordKind::Answer) {
      const std::optional<uint64_t> digest = decode_answer(record.payload);
      if (!digest) return Error{fmt::format("commit {}: no digest", record.number), ""};
      Status status = visitor.on_recorded_answer(record.number, *digest);
      return status.ok() ? Result<bool>(true) : status.error();
    }
    if (record.kind != RecordKind::Batch) return true;
    Result<LoggedBatch> logged = decode_batch(record, session.program(), session.language().names);
    if (!logged.ok()) return logged.error();
    if (logged->digest != session.digest() && !options.accept_program) {
      return Error{fmt::format("commit {} of `{}` was made under another program: its rules or the "
                               "types of its predicates differ",
                               record.number, options.log),
                   "use the program of that time, or add --accept-program"};
    }
    Commit commit = summary(logged->batch);
    if (record.number > 0) {
      Result<Commit> done = session.apply(std::move(logged->batch));
      if (!done.ok()) return done.error();
      ++replayed.batches;
    }
    Status status = visitor.on_batch(commit);
    return status.ok() ? Result<bool>(true) : status.error();
  };
  if (Status status = log->read({}, take); !status.ok()) return status.error();
  return replayed;
}

}  // namespace xlog::session
