// xlog completion bash|zsh|fish: written from the app itself, so it always knows exactly what the
// program takes.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>

#include "cli/cli.h"
#include "cli/terminal.h"

namespace xlog::cli {
namespace {

struct OptionInfo {
  std::vector<std::string> names;   // "--format", "-D"
  std::vector<std::string> values;  // the words it takes, when it takes only those
  bool takes_value = false;
  bool takes_file = false;
  std::vector<std::string> forms;  // of a flag that may be given as --stats=json: "json"
  std::string help;
};

struct CommandInfo {
  std::string name, help;
  std::vector<OptionInfo> options;
  std::vector<std::string> words;  // what its argument can be besides files
  bool takes_files = false;
};

// CLI11 shows a fixed choice as TYPE:{a,b,c}.
std::vector<std::string> choices(const std::string& type) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

// A command with commands of its own (kernel) takes their names, then the options of any of them.
CommandInfo describe(const CLI::App& command) {
  CommandInfo info{command.get_name(), command.get_description(), {}, {}, false};
  for (const CLI::App* inner : command.get_subcommands({})) {
    info.words.push_back(inner->get_name());
    for (OptionInfo& option : describe(*inner).options) {
      const bool known = std::ranges::any_of(
          info.options, [&](const OptionInfo& have) { return have.names == option.names; });
      if (!known) info.options.push_back(std::move(option));
    }
  }
  for (const CLI::Option* option : command.get_options()) {
    const std::string type = option->get_type_name();
    if (option->get_positional()) {
      info.words = choices(type);
      info.takes_files = info.words.empty();
      continue;
    }
    OptionInfo entry;
    for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
    entry.values = choices(type);
    entry.takes_value = option->get_items_expected_max() > 0;
    entry.takes_file =
        type.find("DIR") != std::string::npos || type.find("FILE") != std::string::npos;
    entry.help = option->get_description();
    // Its help says so.
    if (!entry.takes_value && entry.help.find(entry.names[0] + "=json") != std::string::npos) {
      entry.forms = {"json"};
    }
    info.options.push_back(std::move(entry));
  }
  return info;
}

std::vector<CommandInfo> describe_all(const CLI::App& app) {
  std::vector<CommandInfo> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(describe(*command));
  return commands;
}

// ---- bash ----

std::string bash_script(const std::vector<CommandInfo>& commands) {
  std::string names, cases;
  for (const CommandInfo& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    std::string flags, values;
    for (const OptionInfo& option : command.options) {
      flags += (flags.empty() ? "" : " ") + fmt::format("{}", fmt::join(option.names, " "));
      for (const std::string& form : option.forms) flags += " " + option.names[0] + "=" + form;
      if (!option.takes_value) continue;
      const std::string reply =
          option.values.empty()
              ? (option.takes_file ? "COMPREPLY=($(compgen -f -- \"$word\"))" : "COMPREPLY=()")
              : fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))",
                            fmt::join(option.values, " "));
      values += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"), reply);
    }
    const std::string rest = command.takes_files
                                 ? "COMPREPLY=($(compgen -f -- \"$word\"))"
                                 : fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))",
                                               fmt::join(command.words, " "));
    cases += fmt::format("    {})\n", command.name);
    if (!values.empty())
      cases += fmt::format("      case \"$previous\" in\n{}      esac\n", values);
    cases += fmt::format(
        "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); else {}; "
        "fi ;;\n",
        flags, rest);
  }
  return fmt::format(R"txt(# bash completion for xlog: eval "$(xlog completion bash)"
_xlog() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "{}" -- "$word") $(compgen -f -X '!*.xlog' -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
}}
complete -o filenames -F _xlog xlog
)txt",
                     names, cases);
}

// ---- zsh ----

// Inside single quotes and brackets.
std::string zsh_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::string zsh_script(const std::vector<CommandInfo>& commands) {
  std::string names, cases;
  for (const CommandInfo& command : commands) {
    names += fmt::format("    '{}:{}'\n", command.name, zsh_quoted(command.help));
    cases += fmt::format("        {})\n          _arguments -S \\\n", command.name);
    for (const OptionInfo& option : command.options) {
      for (const std::string& name : option.names) {
        std::string value;
        if (option.takes_value) {
          value = option.values.empty() ? (option.takes_file ? ":file:_files" : ":value:")
                                        : fmt::format(":value:({})", fmt::join(option.values, " "));
        }
        // A flag with forms: the form follows `=`, or nothing does.
        const bool has_forms = !option.forms.empty();
        if (has_forms) value = fmt::format("::form:({})", fmt::join(option.forms, " "));
        cases += fmt::format("            '*{}{}[{}]{}' \\\n", name, has_forms ? "=-" : "",
                             zsh_quoted(option.help), value);
      }
    }
    cases += command.takes_files ? "            '*:file:_files' ;;\n"
             : command.words.empty()
                 ? "            && return ;;\n"
                 : fmt::format("            '*:value:({})' ;;\n", fmt::join(command.words, " "));
  }
  return fmt::format(R"(#compdef xlog
# zsh completion for xlog: put it into a folder of $fpath as _xlog
_xlog() {{
  local -a commands
  commands=(
{}  )
  _arguments -C '1: :->command' '*:: :->argument' && return
  case $state in
    command) _describe 'command' commands; _files -g '*.xlog' ;;
    argument)
      case $words[1] in
{}      esac ;;
  esac
}}
if [ "$funcstack[1]" = "_xlog" ]; then _xlog "$@"; else compdef _xlog xlog; fi
)",
                     names, cases);
}

// ---- fish ----

std::string fish_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return "'" + out + "'";
}

std::string fish_script(const std::vector<CommandInfo>& commands) {
  std::string out = "# fish completion for xlog: xlog completion fish | source\n";
  for (const CommandInfo& command : commands) {
    out += fmt::format("complete -c xlog -n __fish_use_subcommand -a {} -d {}\n", command.name,
                       fish_quoted(command.help));
  }
  for (const CommandInfo& command : commands) {
    const std::string when =
        fmt::format("complete -c xlog -n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionInfo& option : command.options) {
      out += when;
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.values.empty()) {
        out += fmt::format(" -x -a '{}'", fmt::join(option.values, " "));
      } else if (option.takes_value) {
        out += option.takes_file ? " -r" : " -x";
      } else if (!option.forms.empty()) {
        out += fmt::format(" -a '{}'", fmt::join(option.forms, " "));
      }
      out += fmt::format(" -d {}\n", fish_quoted(option.help));
    }
    if (!command.words.empty())
      out += fmt::format("{} -f -a '{}'\n", when, fmt::join(command.words, " "));
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "Which shell")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(R"txt(Examples:
  eval "$(xlog completion bash)"
  xlog completion zsh > ~/.zfunc/_xlog
  xlog completion fish > ~/.config/fish/completions/xlog.fish)txt");
  command->callback([&app, shell, &exit_code] {
    const std::vector<CommandInfo> commands = describe_all(app);
    const std::string script = *shell == "bash"  ? bash_script(commands)
                               : *shell == "zsh" ? zsh_script(commands)
                                                 : fish_script(commands);
    exit_code = write_all(stdout, script) && flush_stdout() ? kAnswered : kProgramError;
  });
}

}  // namespace xlog::cli
