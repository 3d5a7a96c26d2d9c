// What the stages of `xlog explain` share.
#pragma once

#include <string>
#include <string_view>

#include "logic/analysis.h"

namespace xlog::logic {

// Inside a Graphviz string: quotes and backslashes escaped, line breaks as \n.
std::string dot_text(std::string_view text);
// Inside a field of a Graphviz record: also { } | < > and blanks.
std::string dot_record_text(std::string_view text);

// The style attribute of an edge: solid, dashed for negation, dotted for modal, bold for
// aggregates.
std::string_view dot_style(EdgeKind kind);

// "one rule", "3 rules".
std::string counted(size_t count, std::string_view noun);

}  // namespace xlog::logic
