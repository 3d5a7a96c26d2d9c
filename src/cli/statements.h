// Text as it is typed -> whole statements and the rest that still waits for its period.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlog::cli {

struct TypedStatement {
  std::string text;  // with its period
  bool is_query = false;
  size_t begin = 0;  // where it starts in the text that was split
};

struct TypedText {
  std::vector<TypedStatement> statements;
  std::string rest;  // empty, or the start of a statement
};

// A `#pragma` line may end without a period.
TypedText split_statements(std::string_view text);

}  // namespace xlog::cli
