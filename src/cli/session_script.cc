#include "cli/session_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/session_output.h"
#include "cli/statements.h"
#include "cli/terminal.h"
#include "incremental/fact_set.h"
#include "lang/lexer.h"

namespace xlog::cli {

struct SessionScript::Words {
  std::vector<lang::Token> tokens;  // without the period
  std::vector<std::string> texts;   // of strings without quotes, of others as written

  size_t size() const { return tokens.size(); }
  bool is_number(size_t i) const {
    return i < size() && tokens[i].kind == lang::TokenKind::Integer;
  }
  bool is_string(size_t i) const { return i < size() && tokens[i].kind == lang::TokenKind::String; }
  // The largest one for those past 64 bits, of which there is nothing.
  uint64_t number(size_t i) const { return tokens[i].magnitude; }
  // What is written from word i on, without spaces: `reach/2`, `-p`.
  std::string joined(size_t i, size_t end) const {
    std::string out;
    for (; i < end; ++i) out += texts[i];
    return out;
  }
  // Whether something else than one name is written from word i on: two words stand side by side.
  bool are_several(size_t i) const {
    const auto is_word = [](const std::string& text) {
      return text.empty() || text[0] == '_' || std::isalnum(static_cast<uint8_t>(text[0])) != 0;
    };
    for (++i; i < size(); ++i) {
      if (is_word(texts[i - 1]) && is_word(texts[i])) return true;
    }
    return false;
  }
};

struct SessionScript::Command {
  std::string_view name, arguments, help;
  bool (SessionScript::*act)(const Words&);
};

const std::vector<SessionScript::Command> SessionScript::kCommands = {
    {"commit", "", "make the pending facts a batch; on disk when it says so",
     &SessionScript::commit},
    {"changes", "[PRED]", "what the last commit changed in the queries, or in those about PRED",
     &SessionScript::changes},
    {"answer", "[at N]", "the answers now, or as they were after commit N", &SessionScript::answer},
    {"difference", "N M [PRED]", "how the answers of commit M differ from those of commit N",
     &SessionScript::difference},
    {"undo", "N", "take back what commit N changed, as a new commit", &SessionScript::undo},
    {"cost", "", "how long the last commit took, and what was evaluated afresh for it",
     &SessionScript::cost},
    {"log", "", "the commits and how many facts each changed", &SessionScript::log},
    {"pending", "", "what the next commit will change", &SessionScript::pending},
    {"rollback", "", "forget what is pending", &SessionScript::rollback},
    {"load", "PRED \"FILE\" [weight K]",
     "add the rows of a CSV or TSV file to what is pending; column K, or the one called weight, "
     "says "
     "how often each comes (1) or goes (-1)",
     &SessionScript::load},
    {"checkpoint", "[\"FILE\"]", "write all facts, so that a restart need not read the whole log",
     &SessionScript::checkpoint},
    {"help", "", "this text", &SessionScript::help},
    {"quit", "", "leave; what is pending is forgotten", &SessionScript::quit},
};

namespace {

constexpr size_t kRememberedWarnings = 1000;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

bool is_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

}  // namespace

session::Options session_options(const PipelineOptions& pipeline) {
  return {.load = pipeline.load,
          .inputs = pipeline.inputs,
          .mode = pipeline.mode,
          .well_founded = pipeline.well_founded,
          .answer = pipeline.answer,
          .reference_only = pipeline.reference_only,
          .device = pipeline.device};
}

SessionScript::SessionScript(session::Session& session, ScriptOptions options)
    : session_(session), options_(std::move(options)) {}

// ---- Lines ----

bool SessionScript::feed(std::string_view line) {
  left_ = false;
  ++line_number_;
  if (typed_.empty()) {
    if (trimmed(line).empty()) return true;
    typed_place_ = {line_number_, 0};
  }
  typed_ += line;
  typed_ += '\n';
  const std::string text = std::exchange(typed_, {});
  TypedText split = split_statements(text);
  typed_ = std::move(split.rest);
  // Goes on from the place before, so that many facts on one line do not each look at all of it.
  TypedPlace place = typed_place_;
  size_t seen = 0;
  const auto place_of = [&](size_t at) {
    const std::string_view between = std::string_view(text).substr(seen, at - seen);
    const size_t newline = between.rfind('\n');
    seen = at;
    if (newline == std::string_view::npos) {
      place.column += between.size();
    } else {
      place.line += static_cast<uint64_t>(std::ranges::count(between, '\n'));
      place.column = between.size() - newline - 1;
    }
    return place;
  };
  for (size_t i = 0; i < split.statements.size(); ++i) {
    place_ = place_of(split.statements[i].begin);
    const bool ok = run(split.statements[i].text);
    line_.reset();
    flush_stdout();
    if (ok && !left_) continue;
    const bool is_last = i + 1 == split.statements.size() && typed_.empty();
    if (!left_ && options_.by_line) {
      if (!is_last) write_all(stderr, "note: what follows on this line was not done\n");
      typed_.clear();
      return true;
    }
    if (left_ || !options_.keep_going) {
      typed_.clear();
      return false;
    }
  }
  typed_place_ = place_of(text.size() - typed_.size());
  return true;
}

void SessionScript::finish() {
  if (!typed_.empty()) {
    place_ = typed_place_;
    typed_.clear();
    fail({"a command that does not end", "every command ends with a period"});
    return;
  }
  const auto waiting = session_.pending();
  if (waiting.ok() && !waiting->empty() && !options_.report.quiet) {
    fmt::print(stderr,
               "note: facts were pending and are forgotten; `commit.` would have kept them\n");
  }
}

bool SessionScript::run(const std::string& statement) {
  if (progress_) line_ = progress_();
  if (statement.front() == '+') return add_facts(statement, 1);
  if (statement.front() == '-') return add_facts(statement, -1);
  return command(statement);
}

bool SessionScript::add_facts(const std::string& statement, int64_t weight) {
  // The sign is left out by a space, so that columns stay right.
  const std::string text = " " + statement.substr(1);
  const auto read = [&](const std::string& padding, bool report_errors) {
    SourceMap sources;
    Diagnostics diagnostics;
    if (sources.add(options_.name, "", padding + text) == nullptr) {
      return fail({"this fact does not fit: a text holds 4 GiB", ""});
    }
    const bool ok = session_.add(sources, weight, diagnostics);
    if (!ok && report_errors) report(diagnostics, sources);
    return ok;
  };
  if (read("", false)) return true;
  // Once more behind as much white space as the script has before it, for the places.
  read(std::string(place_.line - 1, '\n') + std::string(place_.column, ' '), true);
  exit_code_ = std::max<int>(exit_code_, kProgramError);
  return false;
}

const SessionScript::Command* SessionScript::find_command(const std::string& name) const {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : &*found;
}

bool SessionScript::command(const std::string& statement) {
  SourceMap sources;
  Interner names;
  Diagnostics diagnostics;
  Words words;
  const SourceFile* file = sources.add("", "", statement);
  lang::Lexer lexer(*file, names, diagnostics, nullptr);
  const std::deque<Diagnostic>& wrong = diagnostics.all();
  for (lang::Token token = lexer.next(); token.kind != lang::TokenKind::End; token = lexer.next()) {
    if (token.kind == lang::TokenKind::Period) break;
    // A number past 64 bits is well written: the command says that there is nothing of that number.
    const bool is_wrong = !wrong.empty() && wrong.back().span.begin == token.span.begin;
    if (is_wrong && is_digits(lexer.text(token.span))) token.magnitude = UINT64_MAX;
    words.texts.emplace_back(token.kind == lang::TokenKind::String ? names.text(token.name)
                                                                   : lexer.text(token.span));
    words.tokens.push_back(token);
  }
  for (const Diagnostic& each : wrong) {
    if (!is_digits(sources.text(each.span))) return fail({each.message, each.help_text});
  }
  if (words.tokens.empty()) return true;
  if (words.tokens[0].kind == lang::TokenKind::QueryMark) {
    return fail({"queries belong to the program", "`answer.` answers those of the program"});
  }
  const Command* known = find_command(words.texts[0]);
  if (known == nullptr) {
    std::vector<std::string_view> all;
    for (const Command& each : kCommands) all.push_back(each.name);
    const auto near = did_you_mean(words.texts[0], all);
    return fail({fmt::format("there is no command `{}`", words.texts[0]),
                 near ? fmt::format("did you mean `{}.`?", *near)
                      : "`help.` lists the commands; facts begin with `+` or `-`"});
  }
  return (this->*known->act)(words);
}

// Whether there is a commit of this number yet; says so if not.
bool SessionScript::is_commit(const Words& words, size_t i) {
  if (words.number(i) <= session_.last()) return true;
  return fail({fmt::format("there is no commit {}", words.texts[i]),
               session_.last() == 0 ? "nothing was committed yet"
                                    : fmt::format("the last one is {}", session_.last())});
}

// ---- What is said ----

bool SessionScript::fail(const Error& error, int code) {
  exit_code_ = std::max(exit_code_ == kNoWorldView ? kAnswered : exit_code_, code);
  flush_stdout();
  line_.reset();
  if (options_.report.json) {
    nlohmann::ordered_json item;
    item["severity"] = "error";
    item["message"] = error.message;
    item["file"] = options_.name;
    item["line"] = place_.line;
    if (!error.help.empty()) item["help"] = error.help;
    write_all(stderr, nlohmann::ordered_json::array({item}).dump() + "\n");
    return false;
  }
  std::string text = fmt::format("error: {}\n", error.message);
  if (!options_.at_terminal) text += fmt::format("  --> {}:{}\n", options_.name, place_.line);
  if (!error.help.empty()) text += fmt::format("  = help: {}\n", error.help);
  write_all(stderr, text);
  return false;
}

bool SessionScript::usage(const Command& command) {
  return fail({fmt::format("this is not how `{}` is used", command.name),
               fmt::format("write `{}{}{}.`", command.name, command.arguments.empty() ? "" : " ",
                           command.arguments)});
}

void SessionScript::report(const Diagnostics& diagnostics, const SourceMap& sources) {
  flush_stdout();
  Diagnostics fresh;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::Error) {
      const std::string text = render_text(diagnostic, sources);
      if (std::ranges::find(shown_warnings_, text) != shown_warnings_.end()) continue;
      if (shown_warnings_.size() == kRememberedWarnings) shown_warnings_.clear();
      shown_warnings_.push_back(text);
    }
    fresh.report(diagnostic.code, diagnostic.span, diagnostic.message) = diagnostic;
  }
  if (fresh.all().empty()) return;
  write_all(stderr, options_.report.json
                        ? render_json(fresh, sources, options_.report.quiet) + "\n"
                        : render_text(fresh, sources,
                                      {.color = use_color(options_.report.color, stderr),
                                       .width = terminal_width(stderr),
                                       .errors_only = options_.report.quiet}));
}

// Formats of rows alone have no place for other lines.
void SessionScript::say(const std::string& json, const std::string& text) {
  switch (options_.format) {
    case io::Format::Table:
      write_all(stdout, text + "\n");
      return;
    case io::Format::Json:
    case io::Format::Ndjson:
      write_all(stdout, json + "\n");
      return;
    default:
      if (!options_.report.quiet) write_all(stderr, text + "\n");
  }
}

// ---- Commands ----

// "1.2 ms; evaluated afresh: ..." where the change was not worked into what is kept.
std::string SessionScript::cost_text() const {
  const incremental::Effort& effort = session_.effort();
  if (effort.reasons.empty()) return time_text(seconds_);
  return fmt::format("{}; evaluated afresh: {}", time_text(seconds_),
                     fmt::join(effort.reasons, "; "));
}

bool SessionScript::cost(const Words& words) {
  if (words.size() != 1) return usage(*find_command("cost"));
  if (seconds_ < 0) return fail({"no commit was made since the session was opened", ""});
  const incremental::Effort& effort = session_.effort();
  const nlohmann::ordered_json json = {{"seconds", seconds_},
                                       {"instances", effort.instances},
                                       {"units", effort.units},
                                       {"evaluated_afresh", effort.reasons}};
  const std::string followed = fmt::format(
      "{} rule instance{} looked at{}", effort.instances, effort.instances == 1 ? "" : "s",
      effort.units > 0 ? fmt::format(", {} unit{} of what worlds differ in solved", effort.units,
                                     effort.units == 1 ? "" : "s")
                       : "");
  say(json.dump(), fmt::format("{}\n{}", cost_text(), followed));
  return true;
}

bool SessionScript::committed(const Result<session::Commit>& done, std::string_view what) {
  if (!done.ok())
    return fail(done.error(), done.error().kind == ErrorKind::Failure ? kProgramError : kLimit);
  if (done->number == 0) {
    say(R"({"commit": null})", "nothing to commit");
    return true;
  }
  say(fmt::format("{{\"commit\": {}, \"inserted\": {}, \"retracted\": {}}}", done->number,
                  done->inserted, done->retracted),
      fmt::format("commit {}{}: {}{}", done->number, what, commit_text(*done),
                  options_.at_terminal ? fmt::format(" ({})", cost_text()) : ""));
  return true;
}

bool SessionScript::commit(const Words& words) {
  if (words.size() != 1) return usage(*find_command("commit"));
  const double begin = now();
  const Result<session::Commit> done = session_.commit();
  if (done.ok() && done->number > 0) seconds_ = now() - begin;
  return committed(done, "");
}

bool SessionScript::undo(const Words& words) {
  if (words.size() != 2 || !words.is_number(1)) return usage(*find_command("undo"));
  if (!is_commit(words, 1)) return false;
  const double begin = now();
  const Result<session::Commit> done = session_.undo(words.number(1));
  if (done.ok() && done->number > 0) seconds_ = now() - begin;
  return committed(done, fmt::format(" (undo of {})", words.number(1)));
}

std::optional<std::vector<uint32_t>> SessionScript::chosen_queries(const Words& words, size_t at) {
  if (words.size() == at) return io::all_queries(session_.program());
  if (words.are_several(at)) {
    usage(*find_command(words.texts[0]));
    return std::nullopt;
  }
  Result<std::vector<uint32_t>> found = session_.queries_about(words.joined(at, words.size()));
  if (found.ok()) return *found;
  fail(found.error());
  return std::nullopt;
}

bool SessionScript::print_changes(const Result<std::vector<session::QueryChanges>>& changes,
                                  uint64_t from, uint64_t to) {
  line_.reset();
  lang::Session& language = session_.language();
  report(language.diagnostics, language.sources);
  if (!changes.ok()) {
    if (!language.diagnostics.has_errors()) return fail(changes.error());
    exit_code_ = std::max(exit_code_, failure_code(language));
    return false;
  }
  write_all(stdout,
            changes_text(options_.format, {.program = session_.program(),
                                           .names = language.names,
                                           .from = from,
                                           .to = to,
                                           .queries = *changes,
                                           .bold = use_color(options_.report.color, stdout)}));
  return true;
}

bool SessionScript::changes(const Words& words) {
  const auto queries = chosen_queries(words, 1);
  if (!queries) return false;
  const uint64_t last = session_.last();
  return print_changes(session_.changes(*queries), last == 0 ? 0 : last - 1, last);
}

bool SessionScript::difference(const Words& words) {
  if (!words.is_number(1) || !words.is_number(2)) return usage(*find_command("difference"));
  if (!is_commit(words, 1) || !is_commit(words, 2)) return false;
  const auto queries = chosen_queries(words, 3);
  if (!queries) return false;
  return print_changes(session_.difference(words.number(1), words.number(2), *queries),
                       words.number(1), words.number(2));
}

bool SessionScript::answer(const Words& words) {
  const bool of_then = words.size() == 3 && words.texts[1] == "at" && words.is_number(2);
  if (words.size() != 1 && !of_then) return usage(*find_command("answer"));
  if (of_then && !is_commit(words, 2)) return false;
  const std::optional<logic::Answer> answer =
      of_then ? session_.answer_at(words.number(2)) : session_.answer();
  line_.reset();
  lang::Session& language = session_.language();
  if (answer && !answer->constraint_error) {
    io::Output out{.text = {}, .stream = stdout};
    io::write(options_.format,
              {.program = session_.program(),
               .answer = *answer,
               .session = language,
               .queries = io::all_queries(session_.program()),
               .bold = use_color(options_.report.color, stdout)},
              out);
    out.flush();
    if (!answer->well_founded && answer->view_count == 0 && exit_code_ == kAnswered) {
      exit_code_ = kNoWorldView;
    }
  }
  report(language.diagnostics, language.sources);
  if (answer && !answer->constraint_error) return true;
  if (options_.format == io::Format::Json) {
    write_all(stdout, fmt::format("{{\"diagnostics\": {}}}\n",
                                  render_json(language.diagnostics, language.sources)));
  }
  exit_code_ =
      std::max(exit_code_ == kNoWorldView ? kAnswered : exit_code_, failure_code(language));
  return false;
}

bool SessionScript::log(const Words& words) {
  if (words.size() != 1) return usage(*find_command("log"));
  std::string out = batches_head(options_.format);
  bool is_first = true;
  const Status status =
      session_.each_batch(1, session_.last(), [&](const session::Batch& batch) -> Status {
        out += batch_text(options_.format, batch, is_first);
        is_first = false;
        if (out.size() > (size_t{1} << 16)) write_all(stdout, std::exchange(out, {}));
        return Done{};
      });
  if (!status.ok()) return fail(status.error());
  if (is_first && options_.format == io::Format::Table) out = "no commits yet\n";
  write_all(stdout, out + batches_tail(options_.format));
  return true;
}

bool SessionScript::pending(const Words& words) {
  if (words.size() != 1) return usage(*find_command("pending"));
  const auto net = session_.pending();
  if (!net.ok()) return fail(net.error());
  const lang::Program& program = session_.program();
  const lang::Names& names = session_.language().names;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text;
  for (const incremental::FactChanges& part : *net) {
    const uint32_t arity = program[part.pred].arity;
    for (size_t row = 0; row < part.weights.size(); ++row) {
      const std::string fact = incremental::fact_text(
          part.pred, std::span(part.values).subspan(row * arity, arity), program, names);
      const int64_t weight = part.weights[row];
      const uint64_t times =
          weight > 0 ? static_cast<uint64_t>(weight) : uint64_t{0} - static_cast<uint64_t>(weight);
      text += fmt::format("{}{}.{}\n", weight > 0 ? '+' : '-', fact,
                          times > 1 ? fmt::format("  // {} times", times) : "");
      list.push_back({{"fact", fact}, {"weight", weight}});
    }
  }
  if (text.empty()) text = "nothing is pending\n";
  text.pop_back();
  say(nlohmann::ordered_json{{"pending", list}}.dump(), text);
  return true;
}

bool SessionScript::rollback(const Words& words) {
  if (words.size() != 1) return usage(*find_command("rollback"));
  session_.rollback();
  return true;
}

bool SessionScript::load(const Words& words) {
  size_t file = 1;
  while (file < words.size() && !words.is_string(file)) ++file;
  const bool has_weight = words.size() == file + 3 && words.texts[file + 1] == "weight" &&
                          words.is_number(file + 2) && words.number(file + 2) > 0;
  if (file == 1 || file >= words.size() || (words.size() != file + 1 && !has_weight)) {
    return usage(*find_command("load"));
  }
  const Result<lang::PredId> pred =
      session::find_predicate(words.joined(1, file), session_.program(), session_.language().names);
  if (!pred.ok()) return fail(pred.error());
  const std::optional<uint64_t> rows =
      session_.load(*pred, words.texts[file],
                    has_weight ? std::optional<size_t>(words.number(file + 2)) : std::nullopt);
  if (!rows) {
    report(session_.language().diagnostics, session_.language().sources);
    exit_code_ = std::max<int>(exit_code_, kProgramError);
    return false;
  }
  if (options_.at_terminal) say("", fmt::format("{} rows are pending", *rows));
  return true;
}

bool SessionScript::checkpoint(const Words& words) {
  if (words.size() > 2 || (words.size() == 2 && !words.is_string(1))) {
    return usage(*find_command("checkpoint"));
  }
  std::string path = words.size() == 2 ? words.texts[1] : "";
  if (path.empty()) {
    Result<std::string> written = session_.checkpoint();
    if (!written.ok()) return fail(written.error());
    path = *written;
  } else if (Status status = session_.checkpoint_to(path); !status.ok()) {
    return fail(status.error());
  }
  say(nlohmann::ordered_json{{"checkpoint", path}}.dump(), fmt::format("wrote {}", path));
  return true;
}

bool SessionScript::help(const Words&) {
  std::string text =
      "  +FACT.                       insert a fact with the next commit: +edge(1, 2).\n"
      "  -FACT.                       retract it\n";
  for (const Command& command : kCommands) {
    const std::string head = fmt::format("{}{}{}.", command.name,
                                         command.arguments.empty() ? "" : " ", command.arguments);
    text += fmt::format("  {:<28} {}\n", head, command.help);
  }
  write_all(stdout, text);
  return true;
}

bool SessionScript::quit(const Words&) {
  left_ = true;
  return true;
}

std::vector<std::string> SessionScript::completions() const {
  std::vector<std::string> words;
  for (const Command& command : kCommands) words.emplace_back(command.name);
  for (const lang::Predicate& predicate : session_.program().predicates) {
    if (!predicate.helper) {
      words.emplace_back(session_.language().names.symbols.text(predicate.name));
    }
  }
  return words;
}

}  // namespace xlog::cli
