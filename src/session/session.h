// A program whose facts are inserted and retracted in batches, with answers of now and of every
// moment before, and a log on disk where it is asked for.
//
//   Session session;
//   if (!session.open("reach.xlog", {.state = "state"})) print(session.language().diagnostics);
//   session.add(text_with_facts, 1, diagnostics);       // pending
//   Result<Commit> commit = session.commit();           // all or nothing, on disk when it returns
//   session.changes({0});                               // what it changed in the first query
//   session.answer();
//
// A commit costs what the incremental engine needs for the change, and its record in the log:
// nothing here looks at all facts. With a state folder the history is on disk only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "incremental/maintained.h"
#include "io/input.h"
#include "lang/load.h"
#include "logic/answer.h"
#include "session/batch.h"
#include "session/read_facts.h"
#include "session/state.h"

namespace xlog::session {

struct Options {
  lang::LoadOptions load = {};
  std::vector<io::Input> inputs = {};
  std::optional<logic::Mode> mode = {};  // instead of the pragma's
  std::optional<bool> well_founded = {};
  logic::AnswerOptions answer = {};
  bool reference_only = false;  // the reference evaluator instead of the engine
  std::string device = "auto";
  bool recompute = false;       // every answer afresh, by incremental/fresh.h
  std::string state = {};       // a folder; empty: nothing is kept
  std::string checkpoint = {};  // start from its facts instead of those that the program states
  bool accept_program = false;  // go on with a state folder of another program
  std::string log = {};         // start from batch 0 of this log; no history is kept (replay.h)
};

// A weight goes up to 2^63 - 1, so rows of one commit may add up to more than 64 bits hold.
using FactCount = unsigned __int128;

struct Commit {
  uint64_t number = 0;                    // 0: there was nothing to commit
  FactCount inserted = 0, retracted = 0;  // facts, counted with their weights
};
Commit summary(const Batch& batch);

struct QueryChanges {
  uint32_t query;  // by Program::queries
  std::vector<incremental::RowChange> rows;
};

class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // False on errors, which language().diagnostics has. Once only.
  bool open(const std::string& path, Options options);
  bool open_text(std::string name, std::string text, Options options);

  // Names, texts, and what the last call reported. Each call that can report clears it first.
  lang::Session& language() { return language_; }
  const lang::Program& program() const { return maintained_->program(); }
  const incremental::Effort& effort() const { return maintained_->effort(); }
  const std::vector<std::string>& notices() const { return notices_; }  // of opening
  uint64_t digest() const { return digest_; }  // of the program (session/codec.h)

  // ---- Pending facts ----

  // Facts as text, the only file of `sources`; errors have their places in it.
  bool add(const SourceMap& sources, int64_t weight, Diagnostics& diagnostics);
  // One row of values, which are converted to the types of the columns in place.
  Status add(lang::PredId pred, std::span<lang::Value> row, int64_t weight);
  // The rows of a file (session/delta_file.h). How many, or nullopt after reporting.
  std::optional<uint64_t> load(lang::PredId pred, const std::string& path,
                               std::optional<size_t> weight_column);
  Result<std::vector<incremental::FactChanges>> pending() const;  // net
  void rollback() { pending_.clear(); }

  // ---- Batches ----

  uint64_t last() const { return last_; }
  // After an error nothing has changed, and the pending facts are still pending.
  Result<Commit> commit();
  // Takes back what a batch changed, as a new batch. Pending facts stay pending.
  Result<Commit> undo(uint64_t number);
  // A batch of a log: its number is the next one.
  Result<Commit> apply(Batch batch);
  using Visit = std::function<Status(const Batch&)>;
  Status each_batch(uint64_t first, uint64_t last, const Visit& visit);

  // ---- Answers ----

  // nullopt after reporting.
  std::optional<logic::Answer> answer();
  std::optional<logic::Answer> answer_at(uint64_t number);
  // What the last batch changed in some queries. An error, reported with the commit that it is of,
  // where one side has no answer because constraints are violated.
  Result<std::vector<QueryChanges>> changes(std::span<const uint32_t> queries);
  Result<std::vector<QueryChanges>> difference(uint64_t from, uint64_t to,
                                               std::span<const uint32_t> queries);
  // The queries about a predicate ("reach", "reach/2"): those with an atom of it in their body.
  Result<std::vector<uint32_t>> queries_about(std::string_view predicate) const;

  // ---- Checkpoints ----

  // In the state folder; its path.
  Result<std::string> checkpoint();
  // Replaces nothing but a checkpoint.
  Status checkpoint_to(const std::string& path);

 private:
  bool load_program(const SourceFile* file);
  bool open_device();
  bool start();
  bool start_from_state(lang::Program& program);
  Result<std::vector<incremental::FactChanges>> first_facts(const lang::Program& program);
  bool fail(const Error& error);
  std::unique_ptr<incremental::Maintained> make_maintained(lang::Program program);
  std::unique_ptr<incremental::Maintained> make_fresh(lang::Program program);
  Result<std::unique_ptr<incremental::Maintained>> at(uint64_t number);
  std::vector<incremental::FactChanges> all_facts() const;
  Result<logic::Answer> comparable_answer(uint64_t number);
  Status check_number(uint64_t number) const;
  Error broken() const;
  Status write_facts(const std::string& path);
  void record_answer(const logic::Answer& answer);

  Options options_;
  lang::Session language_;
  std::optional<FactReader> reader_;
  std::optional<lang::Program> loaded_;  // until it is handed over
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<incremental::Maintained> maintained_;
  std::optional<StateFolder> state_;
  std::vector<Batch> history_;  // only without a state folder
  std::vector<incremental::FactChanges> pending_;
  std::vector<std::string> notices_;
  uint64_t last_ = 0;
  uint64_t digest_ = 0;
  bool is_broken_ = false;        // memory and log no longer agree
  bool changes_known_ = true;     // false after a commit that had to be taken back
  uint64_t recorded_answer_ = 0;  // one more than the batch whose answer is in the log
};

// Of everything that an answer says, for comparing runs.
uint64_t answer_digest(const logic::Answer& answer, const lang::Program& program,
                       const lang::Session& language);

}  // namespace xlog::session
