// Columns of a predicate by the names that a data file gives its own: a header line, or the columns
// of a table.
//
//   Header header(predicate, names);
//   if (header.all_columns_named()) fault = header.map_columns(first_line, false, "it", positions);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/program.h"

namespace xlog::io {

class Header {
 public:
  Header(const lang::Predicate& predicate, const lang::Names& names)
      : predicate_(predicate), names_(names) {}

  bool all_columns_named() const;
  // Whether the first line of a file is none of its rows: it holds all names, or cannot be a row
  // and holds no number.
  bool is_header(const std::vector<std::string>& first_line, bool could_be_row) const;
  std::string column_name(size_t column) const;  // "column `src`", "column 2"

  // The position of the name of a column among `given`, or its size.
  size_t find_column(size_t column, const std::vector<std::string>& given, bool any_case) const;

  // Which of the given columns goes into which of ours. A fault is a name that is missing or there
  // twice; further names are none.
  struct Fault {
    std::string message;
    std::vector<std::string> notes;
  };
  std::optional<Fault> map_columns(const std::vector<std::string>& given, bool any_case,
                                   const std::string& what_names_them,
                                   std::vector<size_t>& positions) const;

 private:
  const lang::Predicate& predicate_;
  const lang::Names& names_;
};

// A name in a header may have spaces around it.
std::string_view trimmed_name(std::string_view text);

}  // namespace xlog::io
