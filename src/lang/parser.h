// Text -> surface syntax. Hand-written, recursive descent with a depth limit, recovers at the end
// of a statement, so one run reports several errors and always returns every statement it could
// read.
#pragma once

#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "base/symbol.h"
#include "lang/ast.h"
#include "lang/facts.h"

namespace xlog::lang {

// One parsed file.
struct Module {
  const SourceFile* file = nullptr;
  std::vector<ast::Statement> statements;
  std::vector<FactTable> facts;  // plain facts, by predicate; statements hold FactRuns into it
  std::vector<ast::Comment> comments;  // in order; only collected when ParseOptions::keep_comments
};

struct ParseOptions {
  bool bulk_facts = true;      // false: every fact becomes an ast::Rule (printer, tests)
  bool keep_comments = false;  // for `xlog fmt`
};

Module parse(const SourceFile& file, Interner& names, Diagnostics& diagnostics,
             const ParseOptions& options = {});

// A single body `p(X), not q(X)` without ?- and period (REPL, `why`). Empty on error.
std::vector<ast::Literal> parse_body(const SourceFile& file, Interner& names,
                                     Diagnostics& diagnostics);

// The place of one row of a bulk-loaded fact table, found by reading its run again.
Span fact_span(const FactTable& table, size_t row, const SourceMap& sources);

}  // namespace xlog::lang
