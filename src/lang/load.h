// The front end as one call: files in, checked Program out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "lang/parser.h"
#include "lang/program.h"

namespace xlog::lang {

// Everything a run shares: texts, names, what was reported.
struct Session {
  SourceMap sources;
  Names names;
  Diagnostics diagnostics;
};

struct LoadOptions {
  std::vector<std::string> module_path;                        // --module-path folders, in order
  std::vector<std::pair<std::string, std::string>> constants;  // -D name=value
  std::vector<std::string> inputs;  // relations that --input will fill: "edge" or "edge/2"
  // What the data of the input with this number holds, for relations that nothing declares.
  std::function<std::vector<DataColumn>(size_t input, uint32_t arity)> survey;
  bool implicit_queries = true;  // answer every defined predicate when there is no query
  std::string goal;              // an atom to be asked about, or empty (lang/goal.h)
};

// Reads a file ("-" is standard input) into session.sources. nullptr and a diagnostic when it
// cannot.
const SourceFile* read_source(const std::string& path, Session& session);

// Loads the program whose main file is `file`, with everything it imports. Steps, in order: parse,
// modules, lower (constants, functions, flattening, names), infer (types). On errors the
// diagnostics say so and the result is what could be built (or nothing when parsing failed): do not
// run it.
std::optional<Program> load(const SourceFile& file, Session& session,
                            const LoadOptions& options = {});

// The steps, for tests and for `xlog explain`.
struct LinkedModules {  // modules.h: all files of the program, the main one last
  struct Unit {
    Module module;
    std::string name;
    std::string path;
    struct Import {
      uint32_t unit;
      bool selective;
      std::vector<Symbol> names;
      Span span;
    };
    std::vector<Import> imports;
  };
  std::vector<Unit> units;
};
bool link(Module main, Session& session, const LoadOptions& options,
          LinkedModules& out);  // modules.cc
std::optional<Program> lower(LinkedModules modules, Session& session,
                             const LoadOptions& options);  // lower.cc
void infer_types(Program& program, Session& session);      // infer.cc

}  // namespace xlog::lang
