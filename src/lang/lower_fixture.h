// Programs for tests: text or a folder of files in, the lowered program and what was reported out.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "lang/load.h"

namespace xlog::lang {

inline LoadOptions with_constant(std::string name, std::string value) {
  LoadOptions options;
  options.constants.emplace_back(std::move(name), std::move(value));
  return options;
}
inline LoadOptions with_inputs(std::vector<std::string> inputs) {
  LoadOptions options;
  options.inputs = std::move(inputs);
  return options;
}
inline LoadOptions with_module_path(std::vector<std::string> folders) {
  LoadOptions options;
  options.module_path = std::move(folders);
  return options;
}

// A folder that is removed at the end of the test.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "xlog_test_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(path_); }

  std::string write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Parses, links and lowers, without types.
struct Lowered {
  Session session;
  std::optional<Program> program;

  explicit Lowered(std::string text, LoadOptions options = {}) {
    start(session.sources.add("test.xlog", "", std::move(text)), options);
  }
  Lowered(const TempFolder& folder, const std::string& main, LoadOptions options = {}) {
    start(read_source((std::filesystem::path(folder.path()) / main).string(), session), options);
  }

  // Codes in order of report: "E0503 W0211".
  std::string codes() const {
    std::string out;
    for (const Diagnostic& diagnostic : session.diagnostics.all()) {
      if (!out.empty()) out += ' ';
      out += code_info(diagnostic.code).name;
    }
    return out;
  }
  const Diagnostic& first() const { return session.diagnostics.all().front(); }

  // The rules as text, one a line. Queries and coherence constraints only when asked for.
  std::string rules(bool all = false) const {
    std::string out;
    for (const Rule& rule : program->rules) {
      if (!all && rule.origin != RuleOrigin::Source) continue;
      out += to_source(rule, *program, session.names) + "\n";
    }
    return out;
  }
  const Rule& rule(size_t i) const { return program->rules.at(i); }

  const Predicate* find(std::string_view signature) const {
    for (const Predicate& predicate : program->predicates) {
      if (predicate_signature(predicate, session.names) == signature) return &predicate;
    }
    return nullptr;
  }
  // "(1, a) (2, b)"
  std::string facts(std::string_view signature) const {
    const Predicate* predicate = find(signature);
    if (predicate == nullptr || !predicate->facts) return "none";
    std::string out;
    for (size_t row = 0; row < predicate->facts->rows; ++row) {
      out += row == 0 ? "(" : " (";
      for (size_t c = 0; c < predicate->facts->columns.size(); ++c) {
        if (c > 0) out += ", ";
        out += to_source(predicate->facts->columns[c].at(row), session.names);
      }
      out += ")";
    }
    return out;
  }

 private:
  void start(const SourceFile* file, const LoadOptions& options) {
    if (file == nullptr) return;
    Module main = parse(*file, session.names.symbols, session.diagnostics);
    LinkedModules modules;
    if (session.diagnostics.has_errors()) return;
    if (!link(std::move(main), session, options, modules)) return;
    program = lower(std::move(modules), session, options);
  }
};

}  // namespace xlog::lang
