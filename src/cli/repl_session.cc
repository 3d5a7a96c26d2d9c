#include "cli/repl_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/explain_ast.h"
#include "cli/progress.h"
#include "cli/session_script.h"
#include "incremental/fact_set.h"
#include "session/session.h"

namespace xlog::cli {
namespace {

struct CommandHelp {
  std::string_view name, argument, help;
};

constexpr CommandHelp kCommands[] = {
    {":load", "FILE", "add the statements of a file, answer its queries"},
    {":list", "", "show the program so far"},
    {":session", "[COMMANDS]",
     "facts come and go: `:session -p(1). commit. changes.`; alone: until `quit.`"},
    {":schema", "", "show the predicates with their types"},
    {":explain", "STAGE", "show a stage: ast, types, components, eir"},
    {":mode", "MODE", "which sets of worlds are world views: faeel, g91, faeel19"},
    {":reset", "", "forget everything"},
    {":help", "", "this text"},
    {":quit", "", "leave (also Ctrl-D)"},
};

constexpr std::string_view kWords[] = {"know", "not", "possible", "pred", "domain", "func", "use"};

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

}  // namespace

struct ReplSession::Session {
  explicit Session(ScriptOptions options) : script(session, std::move(options)) {}
  session::Session session;
  SessionScript script;
};

ReplSession::~ReplSession() = default;

ReplSession::ReplSession(PipelineOptions pipeline, ReportOptions report)
    : pipeline_(std::move(pipeline)), report_(report) {
  pipeline_.load.implicit_queries = false;
  pipeline_.load.module_path.insert(pipeline_.load.module_path.begin(), ".");
}

std::string ReplSession::program_text() const {
  std::string text;
  for (const std::string& statement : statements_) {
    text += statement;
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

bool ReplSession::in_statement() const {
  return in_session_ ? session_->script.in_statement() : !typed_.empty();
}

void ReplSession::drop_unfinished() {
  typed_.clear();
  if (in_session_) session_->script.drop_unfinished();
}

bool ReplSession::feed(std::string_view line) {
  if (in_session_) {
    feed_session(line);
    return true;
  }
  if (typed_.empty()) {
    const std::string_view first = trimmed(line);
    if (first.empty()) return true;
    if (first.front() == ':' && !first.starts_with(":-")) return command(first);
  }
  typed_ += line;
  typed_ += '\n';
  TypedText split = split_statements(typed_);
  typed_ = std::move(split.rest);
  take(std::move(split.statements));
  return true;
}

void ReplSession::take(std::vector<TypedStatement> statements) {
  for (TypedStatement& statement : statements) {
    if (!statement.is_query) {
      waiting_.push_back(std::move(statement.text));
      continue;
    }
    add_waiting();
    query(statement.text);
  }
  if (!batching_) add_waiting();
}

void ReplSession::finish() {
  if (in_session_) leave_session();
  // The loader says best what is missing.
  if (!typed_.empty()) waiting_.push_back(std::move(typed_));
  typed_.clear();
  add_waiting();
}

void ReplSession::add_waiting() { add(std::exchange(waiting_, {})); }

bool ReplSession::check(const std::string& text, Outcome& outcome) const {
  const SourceFile* file = outcome.session.sources.add("repl", "", text);
  if (file != nullptr) check_pipeline(*file, pipeline_, outcome);
  return outcome.exit_code == kAnswered;
}

// Keeps what the program accepts. When a batch is refused its halves are tried, so a single bad
// statement among many costs a logarithm of checks.
void ReplSession::add(std::vector<std::string> statements) {
  if (statements.empty()) return;
  std::string text = program_text();
  for (const std::string& statement : statements) text += statement + "\n";
  Outcome outcome;
  if (check(text, outcome)) {
    session_.reset();
    std::ranges::move(statements, std::back_inserter(statements_));
    predicates_.clear();
    for (const lang::Predicate& predicate : outcome.program->predicates) {
      if (!predicate.helper) {
        predicates_.emplace_back(outcome.session.names.symbols.text(predicate.name));
      }
    }
    return;
  }
  if (statements.size() == 1) return report(outcome.session, true);
  const auto middle = statements.begin() + static_cast<ptrdiff_t>(statements.size() / 2);
  std::vector<std::string> second(std::make_move_iterator(middle),
                                  std::make_move_iterator(statements.end()));
  statements.erase(middle, statements.end());
  add(std::move(statements));
  add(std::move(second));
}

void ReplSession::query(const std::string& text) {
  Outcome outcome;
  const SourceFile* file =
      outcome.session.sources.add("repl", "", program_text() + std::string(trimmed(text)) + "\n");
  if (file == nullptr) return;
  PipelineOptions options = pipeline_;
  std::unique_ptr<ProgressLine> line = progress_on_terminal(report_);
  if (line != nullptr) {
    options.answer.progress = [&line](const logic::Progress& now) { line->show(now); };
  }
  run_pipeline(*file, options, outcome);
  line.reset();
  if (outcome.answer && !outcome.answer->constraint_error) {
    io::Output out{.text = {}, .stream = stdout};
    io::write_table({.program = *outcome.program,
                     .answer = *outcome.answer,
                     .session = outcome.session,
                     .queries = io::all_queries(*outcome.program),
                     .worlds = false,
                     .bold = use_color(report_.color, stdout),
                     .query_texts = batching_},
                    out);
    out.flush();
    const std::string asked(trimmed(text));
    if (std::ranges::find(queries_, asked) == queries_.end()) {
      queries_.push_back(asked);
      session_.reset();
    }
  }
  report(outcome.session, report_.quiet);
}

void ReplSession::report(const lang::Session& session, bool errors_only) {
  had_errors_ = had_errors_ || session.diagnostics.has_errors();
  flush_stdout();
  ReportOptions options = report_;
  options.quiet = errors_only;
  print_diagnostics(session, options);
}

bool ReplSession::load(const std::string& path) {
  add_waiting();
  lang::Session session;
  const SourceFile* file = lang::read_source(path, session);
  if (file == nullptr) {
    report(session, true);
    return false;
  }
  // Its imports are found beside it, as when it runs by itself.
  std::string folder = std::filesystem::path(path).parent_path().string();
  std::vector<std::string>& module_path = pipeline_.load.module_path;
  if (!folder.empty() && std::ranges::find(module_path, folder) == module_path.end()) {
    module_path.push_back(std::move(folder));
  }
  TypedText split = split_statements(file->text);
  if (!split.rest.empty()) split.statements.push_back({std::move(split.rest)});
  const size_t before = statements_.size();
  take(std::move(split.statements));
  add_waiting();
  const size_t added = statements_.size() - before;
  fmt::print("{}: {} statement{} added\n", path, added, added == 1 ? "" : "s");
  return true;
}

bool ReplSession::command(std::string_view line) {
  add_waiting();
  const size_t space = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view name = line.substr(0, space);
  const std::string argument(trimmed(line.substr(space)));
  if (name == ":quit" || name == ":q" || name == ":exit") return false;
  if (name == ":help" || name == ":h") {
    help();
  } else if (name == ":list") {
    fmt::print("{}", program_text());
    if (!pipeline_.changed_facts.empty()) fmt::print("// Since then:\n");
    for (const auto& [fact, weight] : pipeline_.changed_facts) {
      fmt::print("// {}{}.{}\n", weight > 0 ? '+' : '-', fact,
                 weight > 1 || weight < -1 ? fmt::format(" ({} times)", std::abs(weight)) : "");
    }
  } else if (name == ":session") {
    open_session(argument);
  } else if (name == ":schema") {
    explain("types");
  } else if (name == ":explain") {
    explain(argument.empty() ? "components" : argument);
  } else if (name == ":mode") {
    set_mode(argument);
  } else if (name == ":reset") {
    statements_.clear();
    predicates_.clear();
    queries_.clear();
    pipeline_.changed_facts.clear();
    session_.reset();
  } else if (name == ":load" && !argument.empty()) {
    load(argument);
  } else if (name == ":load") {
    fmt::print(stderr, ":load needs a file\n");
    had_errors_ = true;
  } else {
    std::vector<std::string_view> names;
    for (const CommandHelp& known : kCommands) names.push_back(known.name);
    const auto near = did_you_mean(name, names);
    fmt::print(stderr, "there is no command `{}`; {}\n", name,
               near ? fmt::format("did you mean `{}`?", *near) : "`:help` lists them");
    had_errors_ = true;
  }
  flush_stdout();
  return true;
}

void ReplSession::explain(const std::string& stage) {
  Outcome outcome;
  if (!check(program_text(), outcome)) return report(outcome.session, true);
  using logic::ExplainFormat;
  if (stage == "ast") {
    const SourceFile& file = *outcome.session.sources.files().front();
    const lang::Module module = lang::parse(file, outcome.session.names.symbols,
                                            outcome.session.diagnostics, {.bulk_facts = false});
    fmt::print("{}", explain_ast(module, outcome.session, ExplainFormat::Text));
  } else if (stage == "types") {
    fmt::print("{}", logic::explain_types(*outcome.program, outcome.session, ExplainFormat::Text));
  } else if (stage == "components") {
    fmt::print("{}", logic::explain_components(*outcome.program, *outcome.analysis, outcome.session,
                                               ExplainFormat::Text));
  } else if (stage == "eir") {
    fmt::print("{}", logic::explain_eir(*outcome.program, *outcome.analysis, outcome.session,
                                        ExplainFormat::Text));
  } else {
    fmt::print(stderr, "stages are ast, types, components, eir\n");
    had_errors_ = true;
  }
}

void ReplSession::set_mode(const std::string& mode) {
  if (mode.empty()) {
    fmt::print("{}\n", pipeline_.mode ? logic::spelling(*pipeline_.mode) : "as the program says");
    return;
  }
  const auto found = find_mode(mode);
  if (found) {
    pipeline_.mode = found;
    session_.reset();
    return;
  }
  fmt::print(stderr, "modes are {}\n", fmt::join(mode_names(), ", "));
  had_errors_ = true;
}

// ---- Facts that come and go ----

bool ReplSession::start_session() {
  session_ = std::make_unique<Session>(
      ScriptOptions{.name = "repl", .report = report_, .at_terminal = !batching_, .by_line = true});
  SessionScript& script = session_->script;
  session::Options options = session_options(pipeline_);
  options.load.implicit_queries = queries_.empty();
  options.answer.progress = [&script](const logic::Progress& now) {
    if (script.progress() != nullptr) script.progress()->show(now);
  };
  std::string text = program_text();
  for (const std::string& query : queries_) text += query + "\n";
  session::Session& session = session_->session;
  bool ok = session.open_text("repl", std::move(text), std::move(options));
  report(session.language(), true);
  // What earlier sessions changed is the first batch of this one.
  for (auto it = pipeline_.changed_facts.begin(); ok && it != pipeline_.changed_facts.end(); ++it) {
    SourceMap sources;
    Diagnostics diagnostics;
    ok = sources.add("repl", "", it->first + ".") != nullptr &&
         session.add(sources, it->second, diagnostics);
    if (!ok) script.report(diagnostics, sources);
  }
  if (ok) {
    if (const Result<session::Commit> done = session.commit(); !done.ok()) {
      fmt::print(stderr, "error: {}\n", done.error().text());
      ok = false;
    }
  }
  if (ok) {
    script.set_progress([this] { return progress_on_terminal(report_); });
    return true;
  }
  had_errors_ = true;
  session_.reset();
  return false;
}

void ReplSession::open_session(const std::string& commands) {
  if (session_ == nullptr && !start_session()) return;
  in_session_ = true;
  if (!commands.empty()) {
    feed_session(commands);
    if (in_session_) leave_session();
  } else if (!batching_) {
    fmt::print("`help.` lists the commands of a session, `quit.` or Ctrl-D goes back\n");
  }
}

void ReplSession::feed_session(std::string_view line) {
  if (!session_->script.feed(line)) leave_session();
}

void ReplSession::leave_session() {
  in_session_ = false;
  SessionScript& script = session_->script;
  session::Session& session = session_->session;
  script.finish();
  const int code = script.exit_code();
  had_errors_ = had_errors_ || (code != kAnswered && code != kNoWorldView);
  if (const auto pending = session.pending(); pending.ok() && !pending->empty()) {
    fmt::print(stderr, "note: what was not committed is forgotten\n");
  }
  session.rollback();
  std::map<std::string, int64_t>& changed = pipeline_.changed_facts;
  changed.clear();
  const lang::Program& program = session.program();
  const Status status = session.each_batch(1, session.last(), [&](const session::Batch& batch) {
    for (const incremental::FactChanges& part : batch.changes) {
      const uint32_t arity = program[part.pred].arity;
      for (size_t row = 0; row < part.weights.size(); ++row) {
        changed[incremental::fact_text(part.pred,
                                       std::span(part.values).subspan(row * arity, arity), program,
                                       session.language().names)] += part.weights[row];
      }
    }
    return Status(Done{});
  });
  XLOG_CHECK(status.ok(), "batches without a state folder are in memory");
  std::erase_if(changed, [](const auto& each) { return each.second == 0; });
}

void ReplSession::help() const {
  fmt::print(
      "Facts, rules and declarations are added to the program; a statement ends with a period.\n"
      "`?- body.` answers at once over everything entered.\n\n");
  for (const CommandHelp& command : kCommands) {
    fmt::print("  {:<20} {}\n", fmt::format("{} {}", command.name, command.argument), command.help);
  }
}

std::vector<std::string> ReplSession::completions(std::string_view line) const {
  if (in_session_) return session_->script.completions();
  std::vector<std::string> words;
  if (trimmed(line).starts_with(":")) {
    for (const CommandHelp& command : kCommands) words.emplace_back(command.name);
    if (trimmed(line).starts_with(":mode")) words = mode_names();
    if (trimmed(line).starts_with(":explain")) words = {"ast", "types", "components", "eir"};
    return words;
  }
  words = predicates_;
  words.insert(words.end(), std::begin(kWords), std::end(kWords));
  return words;
}

}  // namespace xlog::cli
