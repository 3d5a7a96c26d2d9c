// Many fields of one column -> values of its type, appended to the column. The same results as
// parse_field (field.h) one by one, only faster: the type is looked at once, integers are read
// eight digits at a time, symbols are interned together.
#pragma once

#include <string_view>
#include <vector>

#include "lang/facts.h"

namespace xlog::io {

// Every `stride`-th text of an array, behind each of which eight bytes can be read
// (CsvScanner::kPadding).
struct FieldColumn {
  const std::string_view* first;
  size_t stride;
  size_t rows;
  bool is_ascii;  // all of them

  std::string_view operator[](size_t row) const { return first[row * stride]; }
};

class ColumnReader {
 public:
  // False when a field cannot be read; then some values may have been appended.
  bool append(const FieldColumn& fields, lang::FactColumn& column, lang::Names& names);

 private:
  bool read_integers(const FieldColumn& fields, const lang::Type& type, lang::Names& names);
  bool read_symbols(const FieldColumn& fields, lang::Names& names);

  std::vector<uint64_t> bits_;  // the values, as a column stores them
  std::vector<std::string_view> texts_;
  std::vector<Symbol> symbols_;
};

}  // namespace xlog::io
