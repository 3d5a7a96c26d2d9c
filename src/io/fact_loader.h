// Fills the facts of one predicate from a data file, whatever its format: checks that the predicate
// can be filled, finds columns by name, words the errors, and keeps all rows or none.
//
//   FactLoader loader("edges.csv", pred, program, session);
//   if (!loader.begin()) return false;
//   for (each row) { for (each column) loader.append(column, value); loader.end_rows(1); }
//   return loader.finish();
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/header.h"
#include "lang/load.h"
#include "lang/program.h"

namespace xlog::io {

class FactLoader {
 public:
  FactLoader(std::string name, lang::PredId pred, lang::Program& program, lang::Session& session,
             uint64_t memory_limit = 0);

  bool begin();
  // Without errors the rows stay, else all of them go.
  bool finish();

  size_t arity() const { return predicate_.arity; }
  const lang::Type& type(size_t column) const { return predicate_.columns[column].type; }
  bool is_declared() const { return predicate_.declared; }
  Header header() const { return {predicate_, session_.names}; }
  std::string column_name(size_t column) const { return header().column_name(column); }
  std::string signature() const;  // "edge/2"
  lang::Names& names() { return session_.names; }

  // By the header, as there. Reports a fault at `place` and returns false.
  bool map_columns(const std::vector<std::string>& given, bool any_case, const std::string& place,
                   const std::string& what_names_them, std::vector<size_t>& positions);

  lang::FactColumn& column(size_t c) { return table().columns[c]; }
  void end_rows(size_t n) {
    table().rows += n;
    unchecked_rows_ += n;
    if (memory_limit_ > 0 && unchecked_rows_ >= kRowsPerLook) check_memory();
  }
  size_t rows() { return table().rows; }
  void drop_unfinished_row();  // values that were appended since the last end_rows()

  // `place` is "edges.csv:17". After kMaxErrors the caller stops, and where memory runs out.
  static constexpr size_t kMaxErrors = 10;
  Diagnostic& row_error(const std::string& place, std::string message);
  Diagnostic& bad_value(const std::string& place, size_t column, const std::string& shown_value);
  void cannot_read(const std::string& reason);
  bool has_errors() const { return errors_ > 0; }
  bool too_many_errors() const { return errors_ >= kMaxErrors; }

  const std::string& name() const { return name_; }

 private:
  static constexpr size_t kRowsPerLook = 100'000;  // at the memory of the process
  bool columns_can_be_read();
  void check_memory();
  lang::FactTable& table() { return *predicate_.facts; }

  std::string name_;  // of the file
  lang::Predicate& predicate_;
  lang::Session& session_;
  size_t rows_before_ = 0;
  size_t errors_ = 0;
  uint64_t memory_limit_;
  size_t unchecked_rows_ = 0;
};

// A text in an error message: printable, and not too much of it.
std::string shown(std::string_view text);

}  // namespace xlog::io
