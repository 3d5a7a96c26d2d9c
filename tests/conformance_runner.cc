// Runs the cases of one file against xlog: tests/README.md describes the files.
//
//   conformance_runner --xlog build/xlog tests/conformance/language/lists.test [--case NAME]
//   conformance_runner --xlog build/xlog --markdown README.md
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/runner/case.h"
#include "tests/runner/check.h"

namespace xlog::conformance {
namespace {

namespace fs = std::filesystem;

struct Options {
  CheckOptions check;
  std::string file;
  std::string only;  // part of a case's name
  bool markdown = false;
};

// The nearest folder above the file that has tests/conformance: the root of the project.
std::string find_root(const fs::path& file) {
  for (fs::path folder = fs::absolute(file).parent_path();; folder = folder.parent_path()) {
    if (fs::is_directory(folder / "tests" / "conformance")) return folder.string();
    if (folder == folder.parent_path()) return fs::current_path().string();
  }
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    auto value = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (argument == "--xlog") {
      options.check.xlog = fs::absolute(value()).string();
    } else if (argument == "--root") {
      options.check.root = fs::absolute(value()).string();
    } else if (argument == "--case") {
      options.only = value();
    } else if (argument == "--markdown") {
      options.markdown = true;
    } else if (argument.empty() || argument[0] == '-' || !options.file.empty()) {
      return false;
    } else {
      options.file = argument;
    }
  }
  if (options.check.xlog.empty() || options.file.empty()) return false;
  if (options.check.root.empty()) options.check.root = find_root(options.file);
  options.check.test_file = options.file;
  return true;
}

std::string indent(const std::string& text) {
  std::istringstream lines(text);
  std::string line, result;
  while (std::getline(lines, line)) result += "    " + line + "\n";
  return result;
}

void report(const Options& options, const Case& test, const std::vector<std::string>& failures,
            const char* self) {
  fmt::print("FAILED {}:{}: {}\n", options.file, test.line, test.name);
  fmt::print("  program:\n{}",
             test.program_path.empty() ? indent(test.program) : "    " + test.program_path + "\n");
  for (const auto& [name, text] : test.files) fmt::print("  file {}:\n{}", name, indent(text));
  for (const std::string& failure : failures) fmt::print("{}", failure);
  fmt::print("  replay: {} --xlog {}{} {} --case \"{}\"\n\n", self, options.check.xlog,
             options.markdown ? " --markdown" : "", options.file, test.name);
}

int run(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    fmt::print(stderr, "usage: {} --xlog PROGRAM [--root FOLDER] [--case NAME] [--markdown] FILE\n",
               argv[0]);
    return 2;
  }
  std::ifstream in(options.file, std::ios::binary);
  if (!in) {
    fmt::print(stderr, "cannot read {}\n", options.file);
    return 2;
  }
  std::ostringstream text;
  text << in.rdbuf();
  Cases cases = options.markdown ? parse_markdown(text.str()) : parse_test_file(text.str());

  for (const std::string& error : cases.errors) fmt::print("{}: {}\n", options.file, error);
  size_t failed = cases.errors.size(), passed = 0;
  for (const Case& test : cases.cases) {
    if (test.name.find(options.only) == std::string::npos) continue;
    std::vector<std::string> failures = check_case(test, options.check);
    if (failures.empty()) {
      ++passed;
    } else {
      ++failed;
      report(options, test, failures, argv[0]);
    }
  }
  if (passed + failed == 0) fmt::print("no case to run\n");
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace xlog::conformance

int main(int argc, char** argv) { return xlog::conformance::run(argc, argv); }
