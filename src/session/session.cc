#include "session/session.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "incremental/fact_set.h"
#include "incremental/fresh.h"
#include "incremental/incremental.h"
#include "incremental/row_changes.h"
#include "io/survey.h"
#include "io/write.h"
#include "logic/analysis.h"
#include "logic/modes.h"
#include "session/codec.h"
#include "session/delta_file.h"

namespace xlog::session {

using incremental::FactChanges;
using incremental::FactSet;
using incremental::Maintained;

namespace {

constexpr size_t kRowsTogether = size_t{1} << 20;  // of batches that are applied as one

bool mentions(const std::vector<lang::Literal>& body, lang::PredId pred) {
  return std::ranges::any_of(body, [&](const lang::Literal& literal) {
    return (literal.kind == lang::LiteralKind::Atom && literal.pred == pred) ||
           mentions(literal.body, pred);
  });
}

size_t rows_of(const std::vector<FactChanges>& changes) {
  size_t rows = 0;
  for (const FactChanges& part : changes) rows += part.weights.size();
  return rows;
}

void append(std::vector<FactChanges>& to, std::vector<FactChanges> from) {
  std::ranges::move(from, std::back_inserter(to));
}

}  // namespace

Commit summary(const Batch& batch) {
  Commit commit{batch.number, 0, 0};
  for (const FactChanges& part : batch.changes) {
    for (const int64_t weight : part.weights) {
      (weight > 0 ? commit.inserted : commit.retracted) +=
          weight > 0 ? static_cast<uint64_t>(weight) : uint64_t{0} - static_cast<uint64_t>(weight);
    }
  }
  return commit;
}

uint64_t answer_digest(const logic::Answer& answer, const lang::Program& program,
                       const lang::Session& language) {
  io::Output out;
  io::write_ndjson({.program = program,
                    .answer = answer,
                    .session = language,
                    .queries = io::all_queries(program)},
                   out);
  out.text += fmt::format("{} {} {} {}", answer.view_count.get_str(), answer.all_found,
                          answer.well_founded, answer.constraint_error);
  return XXH3_64bits(out.text.data(), out.text.size());
}

Session::Session() = default;
Session::~Session() = default;

// ---- Opening ----

bool Session::fail(const Error& error) {
  language_.diagnostics.report(Code::CannotReadFile, {}, error.message).help(error.help);
  return false;
}

bool Session::open(const std::string& path, Options options) {
  options_ = std::move(options);
  return load_program(lang::read_source(path, language_)) && open_device() && start();
}

bool Session::open_text(std::string name, std::string text, Options options) {
  options_ = std::move(options);
  const SourceFile* file = language_.sources.add(std::move(name), "", std::move(text));
  if (file == nullptr) return fail({"source texts hold 4 GiB in all", ""});
  return load_program(file) && open_device() && start();
}

bool Session::load_program(const SourceFile* file) {
  if (file == nullptr) return false;
  for (const io::Input& input : options_.inputs) options_.load.inputs.push_back(input.relation);
  options_.load.survey = [this](size_t input, uint32_t arity) {
    return io::survey(options_.inputs[input], arity);
  };
  reader_.emplace(*file, language_, options_.load);
  loaded_ = lang::load(*file, language_, options_.load);
  if (!loaded_ || language_.diagnostics.has_errors()) return false;
  digest_ = program_digest(*loaded_, language_.names);
  logic::override_pragmas(loaded_->pragmas, options_.mode, options_.well_founded);
  options_.answer =
      logic::with_pragmas(options_.answer, options_.mode, options_.well_founded, loaded_->pragmas);
  // What is wrong with the rules is said now, not with the first answer.
  const auto analysis = logic::analyze(*loaded_, language_);
  return analysis.has_value() && !language_.diagnostics.has_errors();
}

bool Session::open_device() {
  if (options_.reference_only) return true;
  device::OpenOptions open;
  open.memory_limit = options_.answer.memory_limit;
  Result<std::unique_ptr<device::Device>> device = device::open_device(options_.device, open);
  if (!device.ok()) {
    language_.diagnostics.report(Code::DeviceMissing, {}, device.error().message)
        .help(device.error().help);
    return false;
  }
  device_ = std::move(*device);
  return true;
}

bool Session::start() {
  lang::Program program = std::move(*loaded_);
  loaded_.reset();
  if (!options_.state.empty()) {
    Result<StateFolder> state = StateFolder::open(options_.state);
    if (!state.ok()) return fail(state.error());
    state_.emplace(std::move(*state));
    if (state_->exists()) return start_from_state(program);
  }
  if (!options_.checkpoint.empty() || !options_.log.empty()) {
    Result<std::vector<FactChanges>> facts = first_facts(program);
    if (!facts.ok()) return fail(facts.error());
    for (lang::Predicate& predicate : program.predicates) predicate.facts.reset();
    maintained_ = make_maintained(std::move(program));
    if (!maintained_) return false;
    if (Status status = maintained_->apply(*facts); !status.ok()) return fail(status.error());
  } else {
    if (!io::load_inputs(options_.inputs, program, language_, options_.answer.memory_limit)) {
      return false;
    }
    maintained_ = make_maintained(std::move(program));
    if (!maintained_) return false;
  }
  if (!state_) return true;
  const Status status =
      state_->create(all_facts(), digest_, maintained_->program(), language_.names);
  return status.ok() || fail(status.error());
}

// Of a checkpoint or a log that is not this session's own.
Result<std::vector<FactChanges>> Session::first_facts(const lang::Program& program) {
  if (!options_.checkpoint.empty()) {
    Result<Checkpoint> checkpoint = read_checkpoint(options_.checkpoint, program, language_.names);
    if (!checkpoint.ok()) return checkpoint.error();
    return std::move(checkpoint->facts);
  }
  Result<Log> log = Log::open(options_.log, false);
  if (!log.ok()) return log.error();
  std::vector<FactChanges> facts;
  const Status status =
      log->read({}, [&](const Record& record, const LogPosition&) -> Result<bool> {
        Result<LoggedBatch> first = decode_batch(record, program, language_.names);
        if (!first.ok()) return first.error();
        facts = std::move(first->batch.changes);
        return false;
      });
  if (!status.ok()) return status.error();
  return facts;
}

bool Session::start_from_state(lang::Program& program) {
  Result<StateFolder::Restored> restored =
      state_->restore(program, language_.names, digest_, options_.accept_program);
  if (!restored.ok()) return fail(restored.error());
  notices_ = std::move(restored->notices);
  if (!options_.inputs.empty()) {
    notices_.push_back(
        "--input counts for the first start alone: the facts are those of the folder");
  }
  if (!options_.checkpoint.empty()) {
    notices_.push_back(
        "--checkpoint counts for the first start alone: the facts are those of the folder");
  }
  last_ = state_->log().end().next_batch - 1;
  if (restored->answer_recorded) recorded_answer_ = last_ + 1;
  restored->facts.write_tables(program, language_.names);
  const std::vector<FactChanges> repeated = restored->facts.repeated();
  maintained_ = make_maintained(std::move(program));
  if (!maintained_) return false;
  if (!repeated.empty()) {
    if (Status status = maintained_->apply(repeated); !status.ok()) return fail(status.error());
  }
  if (restored->last) {
    const Status status = maintained_->apply(restored->last->changes);
    if (!status.ok()) return fail(status.error());
  } else {
    changes_known_ = last_ == 0;
  }
  return true;
}

// The one place that decides who follows the facts.
std::unique_ptr<Maintained> Session::make_maintained(lang::Program program) {
  if (options_.recompute) return make_fresh(std::move(program));
  return incremental::keep_current(std::move(program), language_, options_.answer, device_.get());
}

std::unique_ptr<Maintained> Session::make_fresh(lang::Program program) {
  return incremental::make_fresh(std::move(program), language_,
                                 {.answer = options_.answer, .device = device_.get()});
}

// ---- Pending facts ----

bool Session::add(const SourceMap& sources, int64_t weight, Diagnostics& diagnostics) {
  return reader_->read(sources, weight, program(), diagnostics, pending_);
}

Status Session::add(lang::PredId pred, std::span<lang::Value> row, int64_t weight) {
  const lang::Predicate& predicate = program()[pred];
  if (row.size() != predicate.arity) {
    return Error{fmt::format("{} values for `{}`", row.size(),
                             lang::predicate_signature(predicate, language_.names)),
                 ""};
  }
  if (Status status = convert_row(pred, row, program(), language_); !status.ok()) return status;
  if (pending_.empty() || pending_.back().pred != pred) pending_.push_back({pred, {}, {}});
  FactChanges& last = pending_.back();
  last.values.insert(last.values.end(), row.begin(), row.end());
  last.weights.push_back(weight);
  return Done{};
}

std::optional<uint64_t> Session::load(lang::PredId pred, const std::string& path,
                                      std::optional<size_t> weight_column) {
  language_.diagnostics.clear();
  std::optional<FactChanges> rows =
      read_delta_file(path, pred, weight_column, program(), language_);
  if (!rows) return std::nullopt;
  const uint64_t count = rows->weights.size();
  if (count > 0) pending_.push_back(std::move(*rows));
  return count;
}

Result<std::vector<FactChanges>> Session::pending() const {
  return incremental::net_changes(pending_, program(), language_.names);
}

// ---- Batches ----

Result<Commit> Session::commit() {
  Result<std::vector<FactChanges>> net = pending();
  if (!net.ok()) return net.error();
  Result<Commit> done = apply({last_ + 1, 0, std::move(*net)});
  if (done.ok()) pending_.clear();
  return done;
}

Result<Commit> Session::undo(uint64_t number) {
  if (number == 0) {
    return Error{"commit 0 is what the program states and cannot be undone",
                 "retract single facts"};
  }
  if (Status status = check_number(number); !status.ok()) return status.error();
  std::vector<FactChanges> inverse;
  const Status status = each_batch(number, number, [&](const Batch& batch) -> Status {
    inverse = incremental::negated(batch.changes);
    return Done{};
  });
  if (!status.ok()) return status.error();
  Result<Commit> done = apply({last_ + 1, number, std::move(inverse)});
  if (!done.ok()) {
    return Error{fmt::format("commit {} cannot be undone: {}", number, done.error().message),
                 done.error().help, done.error().kind};
  }
  return done;
}

// Memory first, then the disk: a batch that cannot be applied must never be in the log, and one
// that cannot be logged is taken back.
Result<Commit> Session::apply(Batch batch) {
  if (batch.changes.empty()) return Commit{};
  if (is_broken_) return broken();
  language_.diagnostics.clear();
  if (Status status = maintained_->apply(batch.changes); !status.ok()) return status.error();
  if (state_) {
    const std::string payload = encode_batch(batch, digest_, program(), language_.names);
    const Status logged = state_->log().append(RecordKind::Batch, payload);
    if (!logged.ok()) {
      changes_known_ = false;
      if (options_.answer.interrupt != nullptr) *options_.answer.interrupt = false;
      // Only a limit can keep it from being taken back; then memory has what the log has not.
      is_broken_ = !maintained_->apply(incremental::negated(batch.changes)).ok();
      return logged.error();
    }
  }
  changes_known_ = true;
  last_ = batch.number;
  const Commit commit = summary(batch);
  if (!state_ && options_.log.empty()) history_.push_back(std::move(batch));
  return commit;
}

Error Session::broken() const {
  return {"the last commit could neither be logged nor taken back",
          "start the session again: the log is as it was before that commit"};
}

Status Session::check_number(uint64_t number) const {
  if (is_broken_) return broken();
  if (number <= last_) return Done{};
  return Error{fmt::format("there is no commit {}", number),
               last_ == 0 ? "nothing was committed yet" : fmt::format("the last one is {}", last_)};
}

Status Session::each_batch(uint64_t first, uint64_t last, const Visit& visit) {
  if (!state_) {
    for (uint64_t n = std::max<uint64_t>(first, 1); n <= last && n <= history_.size(); ++n) {
      if (Status status = visit(history_[n - 1]); !status.ok()) return status;
    }
    return Done{};
  }
  const auto wanted = [&](RecordKind kind, uint64_t number) {
    return kind == RecordKind::Batch && number >= std::max<uint64_t>(first, 1) && number <= last;
  };
  return state_->log().read(
      state_->before(first),
      [&](const Record& record, const LogPosition&) -> Result<bool> {
        if (record.number > last) return false;
        if (!wanted(record.kind, record.number)) return true;
        Result<LoggedBatch> logged = decode_batch(record, program(), language_.names);
        if (!logged.ok()) return logged.error();
        if (Status status = visit(logged->batch); !status.ok()) return status.error();
        return true;
      },
      [&](RecordKind kind, uint64_t number) { return !wanted(kind, number); });
}

// ---- Answers ----

std::optional<logic::Answer> Session::answer() {
  language_.diagnostics.clear();
  if (is_broken_) {
    fail(broken());
    return std::nullopt;
  }
  std::optional<logic::Answer> answer = maintained_->answer();
  if (answer) record_answer(*answer);
  return answer;
}

// A digest in the log is for `xlog replay --verify`; that it cannot be written is no reason to keep
// the answer back.
void Session::record_answer(const logic::Answer& answer) {
  if (!state_ || recorded_answer_ == last_ + 1) return;
  const uint64_t digest = answer_digest(answer, program(), language_);
  if (state_->log().append(RecordKind::Answer, encode_answer(digest)).ok()) {
    recorded_answer_ = last_ + 1;
  }
}

std::vector<FactChanges> Session::all_facts() const {
  std::vector<FactChanges> facts;
  for (uint32_t p = 0; p < program().predicates.size(); ++p) {
    FactChanges rows = maintained_->facts({p});
    if (!rows.weights.empty()) facts.push_back(std::move(rows));
  }
  return facts;
}

// The facts of then are those of now without what came since.
Result<std::unique_ptr<Maintained>> Session::at(uint64_t number) {
  if (Status status = check_number(number); !status.ok()) return status.error();
  FactSet facts(program(), language_.names);
  if (Status status = facts.apply(all_facts()); !status.ok()) return status.error();
  // On the way back a fact may be missing that an earlier batch brings again: only the sum counts.
  std::vector<FactChanges> since;
  const auto sum_up = [&]() -> Status {
    Result<std::vector<FactChanges>> net =
        incremental::net_changes(since, program(), language_.names);
    if (!net.ok()) return net.error();
    since = std::move(*net);
    return Done{};
  };
  size_t limit = kRowsTogether;
  const Status read = each_batch(number + 1, last_, [&](const Batch& batch) -> Status {
    append(since, incremental::negated(batch.changes));
    if (rows_of(since) < limit) return Done{};
    Status status = sum_up();
    limit = std::max(kRowsTogether, 2 * rows_of(since));
    return status;
  });
  if (!read.ok()) return read.error();
  if (Status status = facts.apply(since); !status.ok()) return status.error();
  lang::Program then = incremental::copy_without_facts(program());
  facts.write_tables(then, language_.names);
  return make_fresh(std::move(then));
}

std::optional<logic::Answer> Session::answer_at(uint64_t number) {
  if (number == last_) return answer();
  language_.diagnostics.clear();
  Result<std::unique_ptr<Maintained>> then = at(number);
  if (!then.ok()) {
    const Code code = number > last_ ? Code::InvalidArgument : Code::CannotReadFile;
    language_.diagnostics.report(code, {}, then.error().message).help(then.error().help);
    return std::nullopt;
  }
  return (*then)->answer();
}

Result<std::vector<QueryChanges>> Session::changes(std::span<const uint32_t> queries) {
  language_.diagnostics.clear();
  if (is_broken_) return broken();
  if (last_ == 0) return Error{"nothing was committed yet, so nothing has changed", ""};
  if (!changes_known_) {
    return Error{"the changes of the last commit are not at hand",
                 fmt::format("`difference {} {}.` computes them", last_ - 1, last_)};
  }
  const incremental::Violated violated = maintained_->violated();
  Status has_answers = Done{};
  for (const uint64_t number : {last_ - 1, last_}) {
    if (number == last_ ? !violated.now : !violated.before) continue;
    const Result<logic::Answer> answer = comparable_answer(number);
    if (!answer.ok()) has_answers = answer.error();
  }
  if (!has_answers.ok()) return has_answers.error();
  std::vector<QueryChanges> out;
  for (const uint32_t query : queries) {
    Result<std::vector<incremental::RowChange>> rows = maintained_->changes(query);
    if (!rows.ok()) return rows.error();
    out.push_back({query, std::move(*rows)});
  }
  return out;
}

Result<std::vector<QueryChanges>> Session::difference(uint64_t from, uint64_t to,
                                                      std::span<const uint32_t> queries) {
  language_.diagnostics.clear();
  const Result<logic::Answer> before = comparable_answer(from);
  if (!before.ok() && !language_.diagnostics.has_errors()) return before.error();
  const Result<logic::Answer> after = from == to ? before : comparable_answer(to);
  if (!before.ok()) return before.error();
  if (!after.ok()) return after.error();
  std::vector<QueryChanges> out;
  for (const uint32_t query : queries) {
    out.push_back(
        {query, incremental::row_changes(incremental::first_rows(*before, query),
                                         incremental::first_rows(*after, query), language_.names)});
  }
  return out;
}

// The answer after a commit, if there is one. What is reported instead says which commit it is of.
Result<logic::Answer> Session::comparable_answer(uint64_t number) {
  if (Status status = check_number(number); !status.ok()) return status.error();
  Diagnostics reported = std::exchange(language_.diagnostics, {});
  std::optional<logic::Answer> answer;
  if (number == last_) {
    answer = maintained_->answer();
  } else {
    Result<std::unique_ptr<Maintained>> then = at(number);
    if (!then.ok()) return then.error();
    answer = (*then)->answer();
  }
  const bool has_answer = answer && !answer->constraint_error;
  for (const Diagnostic& each : language_.diagnostics.all()) {
    Diagnostic& copy = reported.report(each.code, each.span, each.message);
    copy = each;
    if (!has_answer && each.severity == Severity::Error) {
      copy.note(fmt::format("so it is after commit {}, which has no rows to compare", number));
    }
  }
  language_.diagnostics = std::move(reported);
  if (!has_answer) return Error{fmt::format("commit {} has no answer", number), ""};
  return std::move(*answer);
}

Result<std::vector<uint32_t>> Session::queries_about(std::string_view name) const {
  const Result<lang::PredId> pred = find_predicate(name, program(), language_.names);
  if (!pred.ok()) return pred.error();
  std::vector<uint32_t> found;
  for (uint32_t q = 0; q < program().queries.size(); ++q) {
    for (const lang::Rule& rule : program().rules) {
      const bool is_query = rule.origin == lang::RuleOrigin::Query && !rule.head.empty() &&
                            rule.head[0].pred == program().queries[q].pred;
      if (is_query && mentions(rule.body, *pred)) {
        found.push_back(q);
        break;
      }
    }
  }
  if (!found.empty()) return found;
  const lang::Predicate& predicate = program()[*pred];
  std::string arguments;
  for (uint32_t c = 0; c < predicate.arity; ++c) {
    arguments += fmt::format("{}X{}", c == 0 ? "(" : ", ", c + 1);
  }
  if (predicate.arity > 0) arguments += ")";
  return Error{fmt::format("no query of the program asks for `{}`",
                           lang::predicate_signature(predicate, language_.names)),
               fmt::format("add `?- {}{}.` to the program",
                           lang::predicate_name(predicate, language_.names), arguments)};
}

// ---- Checkpoints ----

Result<std::string> Session::checkpoint() {
  if (!state_) {
    return Error{"this session keeps no state",
                 "start it with --state DIR, or name a file: `checkpoint \"facts.checkpoint\".`"};
  }
  const std::string path = state_->checkpoint_path(last_);
  if (Status status = write_facts(path); !status.ok()) return status.error();
  state_->remember(state_->log().end());
  return path;
}

Status Session::checkpoint_to(const std::string& path) {
  if (may_hold_checkpoint(path)) return write_facts(path);
  return Error{fmt::format("`{}` is there already, and it is no checkpoint", path),
               "choose another name, or remove it first"};
}

Status Session::write_facts(const std::string& path) {
  const LogPosition position = state_ ? state_->log().end() : LogPosition{};
  return write_checkpoint(path, {position, digest_, all_facts()}, program(), language_.names);
}

}  // namespace xlog::session
