// A log run again from its beginning, batch by batch: on another device the answers must be the
// same to the last byte.
//
//   Options options{.log = log_path(argument)};
//   session.open(program, options);
//   replay(session, options, {...});
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "session/session.h"

namespace xlog::session {

// The log that is meant: of a state folder, or the file itself.
std::string log_path(const std::string& file_or_folder);

struct ReplayVisitor {
  // After each batch, also after batch 0.
  std::function<Status(const Commit& commit)> on_batch;
  // An answer was recorded for the batch that is there now.
  std::function<Status(uint64_t number, uint64_t digest)> on_recorded_answer;
};

struct Replayed {
  uint64_t batches = 0;     // after batch 0
  uint64_t torn_bytes = 0;  // behind the last record
};

// The session must have been opened with options.log. An error where a batch was committed under
// another program, unless options.accept_program.
Result<Replayed> replay(Session& session, const Options& options, const ReplayVisitor& visitor);

}  // namespace xlog::session
