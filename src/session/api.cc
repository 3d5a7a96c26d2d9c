// The public API over session::Session: values and errors in the forms of include/xlog/session.h.
#include <algorithm>

#include "io/input.h"
#include "io/write.h"
#include "lang/value.h"
#include "logic/modes.h"
#include "session/session.h"
#include "xlog/session.h"

namespace xlog::api {
namespace {

Error public_error(const xlog::Error& error) { return {error.message, error.help}; }

// Everything reported, as one text.
Error reported(const Diagnostics& diagnostics, const SourceMap& sources) {
  return {render_text(diagnostics, sources, {.errors_only = true}), ""};
}

// ---- Values ----

Value public_value(const lang::Value& value, const lang::Names& names) {
  const auto parts_of = [&](std::span<const lang::Value> from) {
    std::vector<Value> parts;
    for (const lang::Value& part : from) parts.push_back(public_value(part, names));
    return parts;
  };
  switch (value.kind) {
    case lang::TypeKind::U32:
    case lang::TypeKind::U64:
      return value.bits;
    case lang::TypeKind::I32:
    case lang::TypeKind::I64:
      return value.as_signed();
    case lang::TypeKind::F32:
    case lang::TypeKind::F64:
      return value.as_double();
    case lang::TypeKind::Bool:
      return value.bits != 0;
    case lang::TypeKind::List:
      return parts_of(names.terms.elements(value));
    case lang::TypeKind::Compound:
      return Compound{std::string(names.symbols.text(names.terms.functor(value))),
                      parts_of(names.terms.args(value))};
    default:
      return names.symbols.text(value.as_symbol());
  }
}

// As a literal; the column's type is looked at later.
lang::Value literal(const Value& value, lang::Names& names) {
  const auto parts_of = [&](const std::vector<Value>& from) {
    std::vector<lang::Value> parts;
    for (const Value& part : from) parts.push_back(literal(part, names));
    return parts;
  };
  struct Visitor {
    lang::Names& names;
    decltype(parts_of)& parts;
    lang::Value operator()(int64_t v) const { return lang::Value::i64(v); }
    lang::Value operator()(uint64_t v) const { return lang::Value::u64(v); }
    lang::Value operator()(double v) const { return lang::Value::f64(v); }
    lang::Value operator()(bool v) const { return lang::Value::boolean(v); }
    lang::Value operator()(const std::string& v) const {
      return lang::Value::symbol(names.symbols.intern(v));
    }
    lang::Value operator()(const Value::List& v) const { return names.terms.list(parts(v)); }
    lang::Value operator()(const Compound& v) const {
      return names.terms.compound(names.symbols.intern(v.name), parts(v.arguments));
    }
  };
  return std::visit(Visitor{names, parts_of}, value.data);
}

RowStatus public_status(logic::RowStatus status) {
  switch (status) {
    case logic::RowStatus::Known:
      return RowStatus::Known;
    case logic::RowStatus::Possible:
      return RowStatus::Possible;
    case logic::RowStatus::True:
      return RowStatus::True;
    case logic::RowStatus::Undefined:
      return RowStatus::Undefined;
  }
  return RowStatus::Known;
}

std::optional<RowStatus> public_status(const std::optional<logic::RowStatus>& status) {
  return status ? std::optional(public_status(*status)) : std::nullopt;
}

}  // namespace

std::string Value::text() const {
  lang::Names names;
  return lang::to_source(literal(*this, names), names);
}

// ---- Opening ----

struct Session::State {
  session::Session session;

  Error last_error() {
    return reported(session.language().diagnostics, session.language().sources);
  }

  std::vector<Value> values(const std::vector<lang::Value>& from) {
    std::vector<Value> out;
    for (const lang::Value& value : from) {
      out.push_back(public_value(value, session.language().names));
    }
    return out;
  }

  std::vector<std::string> columns(uint32_t query) {
    std::vector<std::string> out;
    for (const Symbol column : session.program().queries[query].columns) {
      out.emplace_back(session.language().names.symbols.text(column));
    }
    return out;
  }

  std::vector<Table> tables(const std::vector<logic::QueryAnswer>& answers) {
    std::vector<Table> out;
    for (uint32_t q = 0; q < answers.size() && q < session.program().queries.size(); ++q) {
      Table& table = out.emplace_back();
      table.query = session.program().queries[q].text;
      table.columns = columns(q);
      for (const logic::Row& row : answers[q].rows) {
        table.rows.push_back({values(row.values), public_status(row.status)});
      }
    }
    return out;
  }

  Result<Answer> answer(const std::optional<logic::Answer>& from) {
    if (!from || from->constraint_error) return last_error();
    Answer out;
    const bool has_views = !from->well_founded && from->view_count > 0;
    out.world_views = has_views ? from->view_count.get_str() : "0";
    if (!has_views) {
      out.well_founded = tables(from->well_founded_queries);
      return out;
    }
    for (const logic::WorldView& view : from->views) {
      out.views.push_back({view.world_count.get_str(), tables(view.queries)});
    }
    return out;
  }

  Result<std::vector<QueryChanges>> changes(
      const xlog::Result<std::vector<session::QueryChanges>>& from) {
    if (!from.ok()) {
      return session.language().diagnostics.has_errors() ? last_error()
                                                         : public_error(from.error());
    }
    std::vector<QueryChanges> out;
    for (const session::QueryChanges& query : *from) {
      QueryChanges& changes = out.emplace_back();
      changes.query = session.program().queries[query.query].text;
      changes.columns = columns(query.query);
      for (const incremental::RowChange& row : query.rows) {
        changes.rows.push_back(
            {values(row.values), public_status(row.before), public_status(row.after)});
      }
    }
    return out;
  }

  xlog::Result<std::vector<uint32_t>> queries(std::string_view predicate) {
    if (predicate.empty()) return io::all_queries(session.program());
    return session.queries_about(predicate);
  }

  Result<Done> add(std::string_view facts, int64_t weight) {
    SourceMap sources;
    Diagnostics diagnostics;
    if (sources.add("facts", "", std::string(facts)) == nullptr) {
      return Error{"a text of facts holds 4 GiB at most", "insert them in parts"};
    }
    if (session.add(sources, weight, diagnostics)) return Done{};
    return reported(diagnostics, sources);
  }

  Result<Done> add(std::string_view predicate, const std::vector<Value>& row, int64_t weight) {
    lang::Names& names = session.language().names;
    if (!last_.pred.valid() || last_.name != predicate || last_.arity != row.size()) {
      // A name stands for the predicate with as many columns as the row, where there are several.
      const std::string with_arity = std::string(predicate) + "/" + std::to_string(row.size());
      auto pred = session::find_predicate(with_arity, session.program(), names);
      if (!pred.ok()) pred = session::find_predicate(predicate, session.program(), names);
      if (!pred.ok()) return public_error(pred.error());
      last_ = {std::string(predicate), row.size(), *pred};
    }
    literals_.clear();
    for (const Value& value : row) literals_.push_back(literal(value, names));
    const xlog::Status status = session.add(last_.pred, literals_, weight);
    if (!status.ok()) return public_error(status.error());
    return Done{};
  }

 private:
  // Many rows of one predicate come one after another: it is looked for once.
  struct Named {
    std::string name;
    size_t arity = 0;
    lang::PredId pred;
  } last_;
  std::vector<lang::Value> literals_;  // of a row, kept for their memory
};

namespace {

Result<session::Options> session_options(const Options& options) {
  session::Options out;
  for (const auto& [relation, path] : options.inputs) {
    out.inputs.push_back(io::parse_input(relation, path));
  }
  out.load.module_path = options.module_path;
  out.load.constants = options.constants;
  if (!options.mode.empty()) {
    out.mode = logic::find_mode(options.mode);
    if (!out.mode) {
      return Error{"there is no mode `" + options.mode + "`", "modes are faeel, g91, faeel19"};
    }
  }
  out.device = options.device;
  out.state = options.state;
  out.accept_program = options.accept_program;
  out.recompute = options.recompute;
  out.answer.timeout_seconds = options.timeout_seconds;
  out.answer.memory_limit = options.memory_limit;
  return out;
}

Commit public_commit(const session::Commit& commit) {
  const auto narrow = [](session::FactCount n) {
    return static_cast<uint64_t>(std::min<session::FactCount>(n, UINT64_MAX));
  };
  return {commit.number, narrow(commit.inserted), narrow(commit.retracted)};
}

}  // namespace

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open_file(const std::string& path, const Options& options) {
  Result<session::Options> chosen = session_options(options);
  if (!chosen.ok()) return chosen.error();
  auto state = std::make_unique<State>();
  if (!state->session.open(path, std::move(*chosen))) return state->last_error();
  return Session(std::move(state));
}

Result<Session> Session::open_text(std::string_view program, const Options& options) {
  Result<session::Options> chosen = session_options(options);
  if (!chosen.ok()) return chosen.error();
  auto state = std::make_unique<State>();
  if (!state->session.open_text("program", std::string(program), std::move(*chosen))) {
    return state->last_error();
  }
  return Session(std::move(state));
}

// ---- Facts ----

Result<Done> Session::insert(std::string_view facts) { return state_->add(facts, 1); }
Result<Done> Session::retract(std::string_view facts) { return state_->add(facts, -1); }
Result<Done> Session::insert(std::string_view predicate, const std::vector<Value>& row) {
  return state_->add(predicate, row, 1);
}
Result<Done> Session::retract(std::string_view predicate, const std::vector<Value>& row) {
  return state_->add(predicate, row, -1);
}
void Session::rollback() { state_->session.rollback(); }

Result<Commit> Session::commit() {
  const xlog::Result<session::Commit> done = state_->session.commit();
  if (!done.ok()) return public_error(done.error());
  return public_commit(*done);
}

uint64_t Session::last_commit() const { return state_->session.last(); }

Result<Commit> Session::undo(uint64_t commit) {
  const xlog::Result<session::Commit> done = state_->session.undo(commit);
  if (!done.ok()) return public_error(done.error());
  return public_commit(*done);
}

// ---- Answers ----

Result<Answer> Session::answer() { return state_->answer(state_->session.answer()); }

Result<Answer> Session::answer_at(uint64_t commit) {
  return state_->answer(state_->session.answer_at(commit));
}

Result<std::vector<QueryChanges>> Session::changes(std::string_view predicate) {
  const auto queries = state_->queries(predicate);
  if (!queries.ok()) return public_error(queries.error());
  return state_->changes(state_->session.changes(*queries));
}

Result<std::vector<QueryChanges>> Session::difference(uint64_t from, uint64_t to,
                                                      std::string_view predicate) {
  const auto queries = state_->queries(predicate);
  if (!queries.ok()) return public_error(queries.error());
  return state_->changes(state_->session.difference(from, to, *queries));
}

Result<std::string> Session::checkpoint() {
  const xlog::Result<std::string> path = state_->session.checkpoint();
  if (!path.ok()) return public_error(path.error());
  return *path;
}

}  // namespace xlog::api
