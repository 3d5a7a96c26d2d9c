// Facts as text -> rows of the predicates of a program, with the language's own parser: constants
// of the program mean in a fact what they mean in the program, and values are converted to the
// types of the columns.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "incremental/maintained.h"
#include "lang/load.h"
#include "lang/program.h"

namespace xlog::session {

class FactReader {
 public:
  // Remembers the constants and functions of a program before it is loaded. Refers to the session.
  FactReader(const SourceFile& main, lang::Session& session, const lang::LoadOptions& options);

  // Facts such as `edge(1, 2). edge(2, 3).`, the only text in `sources`, each with this weight.
  // On errors the diagnostics say so, with places in `sources`, and `out` is unchanged.
  bool read(const SourceMap& sources, int64_t weight, const lang::Program& program,
            Diagnostics& diagnostics, std::vector<incremental::FactChanges>& out);

 private:
  void apply_constants(lang::Module& module);

  lang::Session& session_;
  lang::LoadOptions options_;
  std::optional<lang::LinkedModules> definitions_;  // the #const statements of each module
  std::unordered_set<Symbol> functions_;
};

// "edge" or "edge/2". The error says what there is instead.
Result<lang::PredId> find_predicate(std::string_view name, const lang::Program& program,
                                    const lang::Names& names);

// Converts the values of a row to the types of the columns, from literals (integers as I64 or U64,
// floats as F64) or values that have them. The error names the column.
Status convert_row(lang::PredId pred, std::span<lang::Value> row, const lang::Program& program,
                   lang::Session& session);

}  // namespace xlog::session
