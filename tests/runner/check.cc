#include "tests/runner/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "tests/runner/answer.h"
#include "tests/runner/process.h"

namespace xlog::conformance {

namespace {

namespace fs = std::filesystem;

// A folder for the files of one case, gone afterwards.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "xlog-case-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  void write(const std::string& name, const std::string& text) const {
    fs::path file = fs::path(path_) / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Spaces outside quotes do not count.
std::string without_spaces(std::string_view text) {
  std::string result;
  bool quoted = false;
  for (char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted || (c != ' ' && c != '\n' && c != '\t')) result += c;
  }
  return result;
}

bool same_answer(const ViewAnswer& expected, const ViewAnswer& actual) {
  if (expected.size() != actual.size()) return false;
  std::vector<bool> used(actual.size());
  for (const QueryRows& query : expected) {
    size_t i = 0;
    while (i < actual.size() && (used[i] || !names_query(query.query, actual[i].query))) ++i;
    if (i == actual.size() || query.rows != actual[i].rows) return false;
    used[i] = true;
  }
  return true;
}

// World views come in an order of the program's choosing.
bool same_answers(const std::vector<ViewAnswer>& expected, const std::vector<ViewAnswer>& actual) {
  if (expected.size() != actual.size()) return false;
  std::vector<bool> used(actual.size());
  for (const ViewAnswer& view : expected) {
    size_t i = 0;
    while (i < actual.size() && (used[i] || !same_answer(view, actual[i]))) ++i;
    if (i == actual.size()) return false;
    used[i] = true;
  }
  return true;
}

bool matches(const ExpectedDiagnostic& expected, const ActualDiagnostic& actual) {
  if (actual.code.empty() || expected.code.find(actual.code) == std::string::npos) return false;
  if (expected.line != 0 && expected.line != actual.line) return false;
  if (expected.column != 0 && expected.column != actual.column) return false;
  std::string_view file = actual.file;
  bool file_fits = file.size() >= expected.file.size() &&
                   file.substr(file.size() - expected.file.size()) == expected.file;
  return file_fits && actual.message.find(expected.text) != std::string::npos;
}

// The views with only the atoms of the shown predicates.
std::vector<View> project(std::vector<View> views, const std::vector<std::string>& shown) {
  if (!shown.empty()) {
    for (View& view : views) {
      for (World& world : view) {
        std::erase_if(world, [&](const std::string& atom) {
          return std::find(shown.begin(), shown.end(), atom.substr(0, atom.find('('))) ==
                 shown.end();
        });
      }
      std::sort(view.begin(), view.end());
      view.erase(std::unique(view.begin(), view.end()), view.end());
    }
  }
  std::sort(views.begin(), views.end());
  return views;
}

class Checker {
 public:
  Checker(const Case& test, const CheckOptions& options) : test_(test), options_(options) {}

  std::vector<std::string> check() {
    if (!test_.covers.empty()) {
      check_coverage();
      return failures_;
    }
    prepare();
    for (const ViewsBlock& block : test_.views) {
      for (const std::string& mode : block.modes) check_views(block, mode);
    }
    // Diagnostics and the exit code are those of a plain run. A case with views alone needs none.
    bool plain = test_.views.empty() || !test_.answers.empty() || !test_.diagnostics.empty() ||
                 !test_.json.empty();
    if (plain) check_plain_run();
    for (const OutputBlock& block : test_.outputs) check_output(block);
    return failures_;
  }

 private:
  void prepare() {
    if (!test_.program_path.empty()) {
      folder_ = options_.root;
      file_ = test_.program_path;
      return;
    }
    if (test_.files.empty() && test_.outputs.empty()) {
      file_ = "-";
      input_ = test_.program;
      return;
    }
    scratch_.emplace();
    scratch_->write("main.xlog", test_.program);
    for (const auto& [name, text] : test_.files) scratch_->write(name, text);
    folder_ = scratch_->path();
    file_ = "main.xlog";
  }

  ProcessResult run(const std::vector<std::string>& more) {
    std::vector<std::string> argv = {options_.xlog, test_.command, file_};
    argv.insert(argv.end(), more.begin(), more.end());
    argv.insert(argv.end(), test_.args.begin(), test_.args.end());
    last_command_ = fmt::format("{}", fmt::join(argv, " "));
    ProcessResult result = run_process(argv, input_, folder_, options_.timeout_seconds);
    if (result.timed_out)
      fail("stopped", "", fmt::format("    after {} s\n", options_.timeout_seconds));
    return result;
  }

  void fail(std::string_view what, const std::string& expected, const std::string& actual) {
    std::string text = fmt::format("  {} ({})\n", what, last_command_);
    if (!expected.empty()) text += "  expected:\n" + expected;
    text += "  actual:\n" + (actual.empty() ? std::string("    nothing\n") : actual);
    failures_.push_back(std::move(text));
  }

  static std::string all_diagnostics(const ActualAnswer& answer, const ProcessResult& process) {
    std::string text;
    for (const ActualDiagnostic& diagnostic : answer.diagnostics) text += show(diagnostic);
    if (text.empty() && !process.err.empty()) text = "    " + process.err.substr(0, 2000) + "\n";
    return text;
  }

  void check_contract(const ActualAnswer& answer) {
    for (const std::string& problem : answer.problems)
      fail("JSON contract", "", "    " + problem + "\n");
  }

  void check_views(const ViewsBlock& block, const std::string& mode) {
    ProcessResult process = run(
        {"--format", "json", "--worlds", "all", "--world-views", "all", "--epistemic-mode", mode});
    ActualAnswer answer = read_answer(process);
    check_contract(answer);
    std::string title = "world views, mode " + mode;
    if (!answer.has_answer) return fail(title, show(block.views), all_diagnostics(answer, process));

    std::vector<View> views = project(answer.worlds, block.shown);
    if (views != block.views) fail(title, show(block.views), show(views));
    if (answer.view_count != std::to_string(answer.views.size())) {
      fail(title, fmt::format("    world_view_count {}\n", answer.views.size()),
           "    " + answer.view_count + "\n");
    }
    for (size_t i = 0; i < answer.worlds.size() && i < answer.world_counts.size(); ++i) {
      std::string count = std::to_string(answer.worlds[i].size());
      if (answer.world_counts[i] != count) {
        fail(title, "    world_count " + count + "\n", "    " + answer.world_counts[i] + "\n");
      }
    }
    int exit_code = block.views.empty() ? 3 : 0;
    if (test_.exit_code) exit_code = *test_.exit_code;
    if (process.exit_code != exit_code) {
      fail(title, fmt::format("    exit {}\n", exit_code),
           fmt::format("    exit {}\n", process.exit_code));
    }
  }

  void check_plain_run() {
    ProcessResult process = run({"--format", "json"});
    ActualAnswer answer = read_answer(process);
    check_contract(answer);
    check_diagnostics(answer, process);
    for (const AnswerBlock& block : test_.answers) check_answer(block, answer, process);
    for (const JsonLine& line : test_.json) check_json(line, process.out);

    bool errors = std::any_of(test_.diagnostics.begin(), test_.diagnostics.end(),
                              [](const ExpectedDiagnostic& d) { return d.code[0] == 'E'; });
    bool no_view = std::any_of(test_.diagnostics.begin(), test_.diagnostics.end(),
                               [](const ExpectedDiagnostic& d) { return d.code == "W0902"; });
    int exit_code = test_.exit_code.value_or(errors ? 1 : no_view ? 3 : 0);
    if (process.exit_code != exit_code) {
      fail("exit code", fmt::format("    exit {}\n", exit_code),
           fmt::format("    exit {}\n", process.exit_code) + all_diagnostics(answer, process));
    }
  }

  void check_answer(const AnswerBlock& block, const ActualAnswer& answer,
                    const ProcessResult& process) {
    if (block.well_founded) {
      bool same = answer.has_well_founded && same_answer(block.views[0], answer.well_founded);
      if (!same) {
        fail(
            "well-founded answer", show(block.views),
            answer.has_well_founded ? show(answer.well_founded) : all_diagnostics(answer, process));
      }
      return;
    }
    if (!answer.has_answer)
      return fail("answer", show(block.views), all_diagnostics(answer, process));
    if (!same_answers(block.views, answer.views))
      fail("answer", show(block.views), show(answer.views));
  }

  void check_json(const JsonLine& line, const std::string& output) {
    nlohmann::json root = nlohmann::json::parse(output, nullptr, false);
    bool size = line.pointer.ends_with("/#");
    nlohmann::json::json_pointer pointer(size ? line.pointer.substr(0, line.pointer.size() - 2)
                                              : line.pointer);
    std::string actual = "missing";
    if (root.contains(pointer))
      actual = size ? std::to_string(root[pointer].size()) : root[pointer].dump();
    nlohmann::json wanted = nlohmann::json::parse(line.value, nullptr, false);
    if (wanted.is_discarded() ? actual != line.value : actual != wanted.dump()) {
      fail("JSON", fmt::format("    {} = {}\n", line.pointer, line.value), "    " + actual + "\n");
    }
  }

  // Each expected one is there, and nothing else but notes.
  void check_diagnostics(const ActualAnswer& answer, const ProcessResult& process) {
    std::vector<bool> used(answer.diagnostics.size());
    std::string expected, missing;
    for (const ExpectedDiagnostic& wanted : test_.diagnostics) {
      expected += show(wanted);
      size_t i = 0;
      while (i < used.size() && (used[i] || !matches(wanted, answer.diagnostics[i]))) ++i;
      if (i == used.size()) missing += show(wanted);
      for (bool more = true; more && i < used.size(); ++i) {
        if (!used[i] && matches(wanted, answer.diagnostics[i])) {
          used[i] = true;
          more = wanted.several;
        }
      }
    }
    bool surplus = false;
    for (size_t i = 0; i < used.size(); ++i)
      surplus |= !used[i] && answer.diagnostics[i].severity != "note";
    if (missing.empty() && !surplus) return;
    fail("diagnostics", expected.empty() ? "    nothing\n" : expected,
         all_diagnostics(answer, process));
  }

  void check_output(const OutputBlock& block) {
    std::vector<std::string> more;
    if (!block.format.empty()) more = {"--format", block.format};
    ProcessResult process = run(more);
    const std::string& actual = process.out.empty() ? process.err : process.out;
    if (trim(actual) != trim(block.text) &&
        without_trailing_spaces(actual) != without_trailing_spaces(block.text)) {
      fail("output", block.text, actual);
    }
  }

  static std::string without_trailing_spaces(const std::string& text) {
    std::istringstream lines(text);
    std::string line, result;
    while (std::getline(lines, line))
      result += line.substr(0, line.find_last_not_of(" \r") + 1) + "\n";
    return result.substr(0, result.find_last_not_of('\n') + 1);
  }

  // The programs of all cases beside this one, against the .xlog files of the folder.
  void check_coverage() {
    std::set<std::string> covered;
    for (const auto& entry : fs::directory_iterator(fs::path(options_.test_file).parent_path())) {
      if (entry.path().extension() != ".test") continue;
      for (const Case& other : parse_test_file(read_file(entry.path())).cases)
        covered.insert(other.program_path);
    }
    std::string missing;
    size_t programs = 0;
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(options_.root) / test_.covers)) {
      if (entry.path().extension() != ".xlog") continue;
      ++programs;
      std::string name = fs::relative(entry.path(), options_.root).generic_string();
      if (covered.count(name) == 0) missing += "    " + name + "\n";
    }
    if (!missing.empty()) fail("programs without a case", "", missing);
    if (programs == 0) fail("no program in the folder", "", "    " + test_.covers + "\n");
  }

  const Case& test_;
  const CheckOptions& options_;
  std::optional<Scratch> scratch_;
  std::string folder_, file_, input_, last_command_ = "xlog";
  std::vector<std::string> failures_;
};

}  // namespace

bool names_query(std::string_view expected, std::string_view actual) {
  std::string wanted = without_spaces(expected), given = without_spaces(actual);
  if (wanted == given) return true;
  bool bare = wanted.find_first_of("(,") == std::string::npos;
  return bare && given.substr(0, given.find_first_of("(/")) == wanted;
}

std::vector<std::string> check_case(const Case& test, const CheckOptions& options) {
  return Checker(test, options).check();
}

}  // namespace xlog::conformance
