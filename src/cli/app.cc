#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Error.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <new>
#include <span>

#include "base/diagnostic.h"
#include "base/ending_signals.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/terminal.h"

namespace xlog::cli {
namespace {

struct Command {
  const char* name;
  void (*add)(CLI::App&, int& exit_code);
};

// As the help lists them.
constexpr Command kCommands[] = {{"run", add_run},         {"check", add_check},
                                 {"fmt", add_fmt},         {"explain", add_explain},
                                 {"why", add_why},         {"why-not", add_why_not},
                                 {"repl", add_repl},       {"watch", add_watch},
                                 {"session", add_session}, {"replay", add_replay},
                                 {"solve", add_solve},     {"kernel", add_kernel},
                                 {"version", add_version}, {"completion", add_completion}};

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

// With one command, which alone will be called, or with all of them. Describing a command takes a
// fifth of a millisecond.
std::unique_ptr<CLI::App> make_app(int& exit_code, const std::string& only) {
  auto app = std::make_unique<CLI::App>(
      "A logic engine: Datalog, and what is known and what is possible over all worlds.", "xlog");
  app->set_version_flag("--version", fmt::format("xlog {}", kVersion), "Print the version");
  app->require_subcommand(0, 1);
  app->get_formatter()->column_width(32);
  app->get_formatter()->label("SUBCOMMAND", "COMMAND");
  app->get_formatter()->label("Subcommands", "Commands");
  app->get_formatter()->label("REQUIRED", "");
  for (const Command& command : kCommands) {
    if (only.empty() || only == command.name) command.add(*app, exit_code);
  }
  app->footer(
      R"(`xlog FILE.xlog` is short for `xlog run FILE.xlog`; `xlog COMMAND --help` says more.)");
  return app;
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& names) {
  return did_you_mean(word, {names.begin(), names.end()});
}

int usage_error(const std::string& command, const std::string& message, const std::string& hint) {
  fmt::print(stderr, "{}: {}\n", command, printable(message));
  if (!hint.empty()) fmt::print(stderr, "{}\n", hint);
  fmt::print(stderr, "Try `{} --help`.\n", command);
  return kUsage;
}

// The subcommand that was being read when the error came, however deep.
const CLI::App& active(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : active(*chosen.front());
}

// "xlog kernel run"
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::string hint_for_option(const CLI::App& command, const std::string& message) {
  const size_t dashes = message.find("--");
  if (dashes == std::string::npos) return "";
  const std::string word = message.substr(dashes, message.find_first_of(" =", dashes) - dashes);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const auto near = nearest(word, names);
  return near ? fmt::format("did you mean `{}`?", *near) : "";
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = active(app);
  const std::string name = full_name(command);
  const bool unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  return usage_error(name, error.what(), unexpected ? hint_for_option(command, error.what()) : "");
}

// `xlog a.xlog ...` means `xlog run a.xlog ...`.
bool is_shorthand(const std::string& word) {
  if (word == "-" || word.ends_with(".xlog")) return true;
  std::error_code error;
  return std::filesystem::is_regular_file(word, error);
}

// `xlog why -p FILE` asks about an atom with strong negation. CLI11 would take the word for
// options; with a space before it, which atoms may have, it does not.
void keep_negated_atoms(std::vector<std::string>& words) {
  if (words.front() != "why" && words.front() != "why-not") return;
  for (std::string& word : std::span(words).subspan(1)) {
    if (word == "--") return;
    const bool is_name = word.size() > 1 && word[0] == '-' &&
                         (std::islower(static_cast<unsigned char>(word[1])) != 0);
    if (is_name && word != "-h" && word != "-q") word.insert(0, " ");
  }
}

int run_app(std::vector<std::string> words) {
  int exit_code = kAnswered;
  if (words.empty()) {
    fmt::print("{}", make_app(exit_code, "")->help());
    return flush_stdout() ? kAnswered : kProgramError;
  }
  const std::vector<std::string> names = command_names();
  const auto is_command = [&] { return std::ranges::find(names, words.front()) != names.end(); };
  if (!is_command() && (words.front() == "-" || !words.front().starts_with("-"))) {
    if (!is_shorthand(words.front())) {
      const auto near = nearest(words.front(), names);
      return usage_error("xlog", fmt::format("there is no command `{}`", words.front()),
                         near ? fmt::format("did you mean `{}`?", *near) : "");
    }
    words.insert(words.begin(), "run");
  }
  // Completion speaks of all others.
  const bool alone = is_command() && words.front() != "completion";
  const std::unique_ptr<CLI::App> app = make_app(exit_code, alone ? words.front() : "");
  keep_negated_atoms(words);
  std::ranges::reverse(words);  // CLI11 takes them from the back
  try {
    app->parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const CLI::App& command = active(*app);
    const CLI::App* parent = command.get_parent();
    fmt::print("{}", command.help(parent == nullptr ? "" : full_name(*parent)));
    return flush_stdout() ? kAnswered : kProgramError;
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return flush_stdout() ? kAnswered : kProgramError;
  } catch (const CLI::ParseError& error) {
    return report_parse_error(*app, error);
  }
  return exit_code;
}

}  // namespace

int run_cli(int argc, char** argv) {
  let_large_files_fail();
  try {
    return run_app({argv + std::min(argc, 1), argv + argc});
  } catch (const std::bad_alloc&) {
    std::fputs("xlog: out of memory\n", stderr);
    return kLimit;
  }
}

}  // namespace xlog::cli
