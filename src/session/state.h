// A folder that a session lives in: `log` (every batch, from the first), `checkpoint-N` (all facts
// as they were after batch N) and `lock` (held while a process works on it).
//
//   Result<StateFolder> state = StateFolder::open("state");
//   if (state->exists()) state->restore(...);        newest good checkpoint + the batches after it
//   else state->create(...);                         batch 0
//   state->log().append(...)                         on disk when it returns
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "incremental/fact_set.h"
#include "lang/program.h"
#include "session/batch.h"
#include "session/log.h"

namespace xlog::session {

// ---- Payloads of records ----

std::string encode_batch(const Batch& batch, uint64_t digest, const lang::Program& program,
                         const lang::Names& names);
struct LoggedBatch {
  Batch batch;
  uint64_t digest = 0;  // of the program that it was committed under
};
Result<LoggedBatch> decode_batch(const Record& record, const lang::Program& program,
                                 lang::Names& names);
std::string encode_answer(uint64_t answer_digest);
std::optional<uint64_t> decode_answer(std::string_view payload);

// ---- Checkpoints ----

struct Checkpoint {
  LogPosition position;  // in the log that it belongs to
  uint64_t digest = 0;   // of the program
  std::vector<incremental::FactChanges> facts;
};
Status write_checkpoint(const std::string& path, const Checkpoint& checkpoint,
                        const lang::Program& program, const lang::Names& names);
// Whether there is a checkpoint at this path, or nothing.
bool may_hold_checkpoint(const std::string& path);
Result<Checkpoint> read_checkpoint(const std::string& path, const lang::Program& program,
                                   lang::Names& names);

// ---- The folder ----

class StateFolder {
 public:
  // Makes the folder where there is none, and takes the lock.
  static Result<StateFolder> open(const std::string& path);
  StateFolder(StateFolder&& other) noexcept;
  StateFolder& operator=(StateFolder&&) = delete;
  ~StateFolder();

  bool exists() const;  // whether it holds a session
  Status create(const std::vector<incremental::FactChanges>& facts, uint64_t digest,
                const lang::Program& program, const lang::Names& names);

  struct Restored {
    incremental::FactSet facts;        // before the last batch; refers to program and names
    std::optional<Batch> last;         // none where it is number 0, or in the checkpoint
    bool answer_recorded = false;      // of the last batch
    std::vector<std::string> notices;  // what was cut off or left out
  };
  // `digest` is that of the program; an error when the last batch was committed under another one,
  // unless that is accepted.
  Result<Restored> restore(const lang::Program& program, lang::Names& names, uint64_t digest,
                           bool accept_program);

  // After create() or restore().
  Log& log() { return *log_; }
  std::string checkpoint_path(uint64_t number) const;
  // Where reading of batch `number` can begin.
  LogPosition before(uint64_t number) const;
  void remember(const LogPosition& checkpoint) { anchors_.push_back(checkpoint); }

 private:
  StateFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string log_path() const { return path_ + "/log"; }
  std::vector<uint64_t> checkpoint_numbers() const;  // newest first
  Result<uint64_t> last_digest(const LogPosition& from, uint64_t otherwise) const;

  std::string path_;
  int lock_ = -1;
  std::optional<Log> log_;
  std::vector<LogPosition> anchors_;  // of checkpoints of this run
};

}  // namespace xlog::session
