// Finds, reads and parses the files that a program imports, each once, and puts them in dependency
// order.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unordered_map>

#include "lang/load.h"

namespace xlog::lang {

namespace fs = std::filesystem;

namespace {

std::string path_text(const ast::UseDecl& use, const Interner& names) {
  std::string text;
  for (const Symbol part : use.path) {
    if (!text.empty()) text += '/';
    text += names.text(part);
  }
  return text;
}

// A place to look for a module: where it is, and how that is shown.
struct Place {
  fs::path file;
  std::string shown;
};

class Linker {
 public:
  Linker(Session& session, const LoadOptions& options) : session_(session), options_(options) {}

  bool run(Module main, LinkedModules& out) {
    const size_t errors_before = session_.diagnostics.error_count();
    open(std::move(main), "");
    while (!stack_.empty()) step();
    for (const uint32_t file : finished_) out.units.push_back(std::move(files_[file].unit));
    // Imports were noted by file; units stand in the order in which files were finished.
    std::vector<uint32_t> unit_of(files_.size());
    for (uint32_t unit = 0; unit < finished_.size(); ++unit) unit_of[finished_[unit]] = unit;
    for (LinkedModules::Unit& unit : out.units) {
      for (auto& import : unit.imports) import.unit = unit_of[import.unit];
    }
    return session_.diagnostics.error_count() == errors_before;
  }

 private:
  enum class State { Open, Done };
  struct File {
    LinkedModules::Unit unit;
    State state = State::Open;
    size_t next_statement = 0;
    Span imported_at;
  };

  uint32_t open(Module module, const std::string& name, Span imported_at = {}) {
    const auto index = static_cast<uint32_t>(files_.size());
    File file;
    file.unit.path = module.file->path;
    file.unit.name = name.empty() ? module.file->name : name;
    file.unit.module = std::move(module);
    file.imported_at = imported_at;
    if (!file.unit.path.empty()) by_path_.emplace(file.unit.path, index);
    files_.push_back(std::move(file));
    stack_.push_back(index);
    return index;
  }

  // Goes on in the innermost open file: up to its next import that needs loading, or to its end.
  void step() {
    const uint32_t current = stack_.back();
    File& file = files_[current];
    const auto& statements = file.unit.module.statements;
    while (file.next_statement < statements.size()) {
      const auto* use = std::get_if<ast::UseDecl>(&statements[file.next_statement++].node);
      if (use == nullptr) continue;
      const size_t open_before = stack_.size();
      import(current, *use);
      if (stack_.size() != open_before) return;
    }
    file.state = State::Done;
    finished_.push_back(current);
    stack_.pop_back();
  }

  void import(uint32_t importer, const ast::UseDecl& use) {
    const std::string name = path_text(use, session_.names.symbols);
    const std::vector<Place> places = places_of(files_[importer].unit, name);
    for (const Place& place : places) {
      std::error_code error;
      const fs::path canonical = fs::canonical(place.file, error);
      if (error || fs::is_directory(canonical, error)) continue;
      const auto known = by_path_.find(canonical.string());
      if (known == by_path_.end()) {
        load_file(importer, use, name, place);
      } else if (files_[known->second].state == State::Open) {
        report_cycle(known->second, name, use);
      } else {
        add_import(importer, known->second, use);
      }
      return;
    }
    report_not_found(name, places, use);
  }

  // The reference above into files_ does not survive open(): take what is needed by index.
  void load_file(uint32_t importer, const ast::UseDecl& use, const std::string& name,
                 const Place& place) {
    const SourceFile* source = read_source(place.shown, session_);
    if (source == nullptr) return;
    const Span at = use.path_span;
    add_import(importer, static_cast<uint32_t>(files_.size()), use);
    open(parse(*source, session_.names.symbols, session_.diagnostics), name, at);
  }

  void add_import(uint32_t importer, uint32_t imported, const ast::UseDecl& use) {
    files_[importer].unit.imports.push_back({imported, use.selective, use.names, use.path_span});
  }

  std::vector<Place> places_of(const LinkedModules::Unit& importer, const std::string& name) const {
    const std::string file = name + ".xlog";
    std::vector<Place> places;
    // Shown relative to the importing file as the user named it, found by its canonical folder.
    const fs::path shown_folder = fs::path(importer.module.file->name).parent_path();
    const fs::path folder =
        importer.path.empty() ? fs::path() : fs::path(importer.path).parent_path();
    const fs::path beside = importer.path.empty() ? fs::path(file) : folder / file;
    const fs::path shown = importer.path.empty() ? fs::path(file) : shown_folder / file;
    std::error_code error;
    // A symbolic link may lead elsewhere: then only the canonical path is right.
    const bool same = fs::equivalent(shown, beside, error) && !error;
    places.push_back({beside, (same || !fs::exists(beside, error) ? shown : beside).string()});
    for (const std::string& path : options_.module_path) {
      const fs::path at = fs::path(path) / file;
      places.push_back({at, at.string()});
    }
    return places;
  }

  void report_not_found(const std::string& name, const std::vector<Place>& places,
                        const ast::UseDecl& use) {
    Diagnostic& diagnostic = session_.diagnostics.report(
        Code::ModuleNotFound, use.path_span, fmt::format("there is no module `{}`", name));
    for (const Place& place : places) diagnostic.note("looked for " + place.shown);
    const std::vector<std::string> siblings = sibling_modules(name, places);
    const std::vector<std::string_view> candidates(siblings.begin(), siblings.end());
    if (const auto near = did_you_mean(name, candidates)) {
      diagnostic.help(fmt::format("did you mean `{}`?", *near));
    } else {
      diagnostic.help("check the path, or name another folder with --module-path");
    }
  }

  // Modules in the folders that were searched, spelled as `use` would spell them.
  static std::vector<std::string> sibling_modules(const std::string& name,
                                                  const std::vector<Place>& places) {
    const fs::path prefix = fs::path(name).parent_path();
    std::vector<std::string> found;
    for (const Place& place : places) {
      std::error_code error;
      const fs::path folder = place.file.parent_path();
      fs::directory_iterator entries(folder.empty() ? fs::path(".") : folder, error);
      if (error) continue;
      for (const fs::directory_iterator end; entries != end && !error; entries.increment(error)) {
        if (entries->path().extension() != ".xlog") continue;
        found.push_back((prefix / entries->path().stem()).string());
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  void report_cycle(uint32_t reached, const std::string& name, const ast::UseDecl& use) {
    const auto from = std::find(stack_.begin(), stack_.end(), reached);
    std::string circle;
    for (auto it = from; it != stack_.end(); ++it) circle += files_[*it].unit.name + " -> ";
    circle += files_[reached].unit.name;
    Diagnostic& diagnostic = session_.diagnostics.report(
        Code::ImportCycle, use.path_span,
        fmt::format("importing `{}` closes a circle: {}", name, circle));
    for (auto it = std::next(from); it != stack_.end(); ++it) {
      diagnostic.label(files_[*it].imported_at,
                       fmt::format("`{}` is imported here", files_[*it].unit.name));
    }
    diagnostic.help("move what both need into a third module");
  }

  Session& session_;
  const LoadOptions& options_;
  std::vector<File> files_;
  std::vector<uint32_t> stack_;     // open files, the main one first
  std::vector<uint32_t> finished_;  // dependencies first
  std::unordered_map<std::string, uint32_t> by_path_;
};

}  // namespace

bool link(Module main, Session& session, const LoadOptions& options, LinkedModules& out) {
  return Linker(session, options).run(std::move(main), out);
}

}  // namespace xlog::lang
