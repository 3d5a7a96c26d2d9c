// CSV and TSV text -> rows of fields (RFC 4180). Fields are separated by the delimiter, rows by a
// line feed or CR LF. A field that starts with `"` ends at the next single `"`; inside, `""` is one
// quote, and delimiters and line ends are text. Empty lines are no rows. TSV is the same with a
// tab.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace xlog::io {

// `path` ending in .csv: comma; .tsv, .tab: tab; otherwise tab when the first line has one, else
// comma.
char delimiter_of(std::string_view path, std::string_view text);

enum class ScanStatus : uint8_t { Row, End, OpenQuote, TextAfterQuote };

//   CsvScanner scanner(text, ',');
//   while (scanner.next() == ScanStatus::Row) use(scanner.fields(), scanner.line());
//
// After an error in a row the scanner goes on behind it.
class CsvScanner {
 public:
  CsvScanner(std::string_view text, char delimiter);

  ScanStatus next();
  // The fields of the row; they are valid until the next call.
  const std::vector<std::string_view>& fields() const { return fields_; }
  uint64_t line() const { return row_line_; }  // where the row starts, from 1

 private:
  ScanStatus quoted_field();
  void skip_line();

  const char* at_;
  const char* end_;
  char delimiter_;
  uint64_t line_ = 1;
  uint64_t row_line_ = 1;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  // texts of fields that held ""
};

// A field as it must be written: in quotes when it holds the delimiter, a quote or a line end.
void append_field(std::string& out, std::string_view field, char delimiter);

}  // namespace xlog::io
