// The tables of the language, for `xlog explain codes|pragmas|builtins|types`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "logic/analysis.h"

namespace xlog::cli {

// Nothing when there is no such table. There is no Dot form: it is the text.
std::optional<std::string> table_text(std::string_view topic, logic::ExplainFormat format);

// The long text of one code.
std::string code_text(const CodeInfo& info);

}  // namespace xlog::cli
