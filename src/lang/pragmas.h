// `#pragma key = value`: one table (pragmas.def), one struct with a field for each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "lang/ast.h"

namespace xlog::lang {

struct Pragmas {
  using Word = std::string;
  using Natural = uint64_t;
  using Fraction = double;
#define XLOG_PRAGMA(field, type, initial, values, help) type field = initial;
#include "lang/pragmas.def"
#undef XLOG_PRAGMA
};

struct PragmaInfo {
  std::string_view name, values, help;
  std::string initial;
};
const std::vector<PragmaInfo>& all_pragmas();

// Sets one field; reports UnknownPragma or InvalidPragmaValue and leaves `pragmas` unchanged when
// it cannot.
bool apply_pragma(const ast::PragmaDecl& pragma, const Interner& names, Pragmas& pragmas,
                  Diagnostics& diagnostics);

}  // namespace xlog::lang
