#include "cli/repl_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/explain_ast.h"
#include "cli/progress.h"

namespace xlog::cli {
namespace {

struct CommandHelp {
  std::string_view name, argument, help;
};

constexpr CommandHelp kCommands[] = {
    {":load", "FILE", "add the statements of a file, answer its queries"},
    {":list", "", "show the program so far"},
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

bool ReplSession::feed(std::string_view line) {
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
  } else if (name == ":schema") {
    explain("types");
  } else if (name == ":explain") {
    explain(argument.empty() ? "components" : argument);
  } else if (name == ":mode") {
    set_mode(argument);
  } else if (name == ":reset") {
    statements_.clear();
    predicates_.clear();
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
    return;
  }
  fmt::print(stderr, "modes are {}\n", fmt::join(mode_names(), ", "));
  had_errors_ = true;
}

void ReplSession::help() const {
  fmt::print(
      "Facts, rules and declarations are added to the program; a statement ends with a period.\n"
      "`?- body.` answers at once over everything entered.\n\n");
  for (const CommandHelp& command : kCommands) {
    fmt::print("  {:<16} {}\n", fmt::format("{} {}", command.name, command.argument), command.help);
  }
}

std::vector<std::string> ReplSession::completions(std::string_view line) const {
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
