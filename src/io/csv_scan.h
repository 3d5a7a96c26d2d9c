// CSV and TSV text -> rows of fields (RFC 4180). Fields are separated by the delimiter, rows by a
// line feed or CR LF. A field that starts with `"` ends at the next single `"`; inside, `""` is one
// quote, and delimiters and line ends are text. Empty lines are no rows. TSV is the same with a
// tab.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"

namespace xlog::io {

// `path` ending in .csv: comma; .tsv, .tab: tab; otherwise tab when the first line has one, else
// comma. An ending .gz or .zst does not count.
char delimiter_of(std::string_view path, std::string_view text);

enum class ScanStatus : uint8_t {
  Rows,
  End,
  OpenQuote,       // a quoted field without end; nothing follows
  TextAfterQuote,  // the row is skipped
  TooLong,         // a row of more than kMaxRowBytes; nothing follows
  Unreadable,      // the source failed; nothing follows
};

// Gives rows in batches of equal width, so that a reader can take them column by column.
//
//   CsvScanner scanner(source);
//   scanner.begin("edges.tsv");
//   while (scanner.next(1000) == ScanStatus::Rows)
//     for (size_t row = 0; row < scanner.rows(); ++row) use(scanner.field(row, 0));
//
// A batch ends where the number of fields changes, at an error and at the end of what has been read
// from the source. Fields are valid until the next call. Behind each field kPadding bytes can be
// read, whatever they are.
class CsvScanner {
 public:
  static constexpr size_t kPadding = 64;
  static constexpr size_t kMaxRowBytes = size_t{256} << 20;

  explicit CsvScanner(ByteSource& source);

  // Reads the first block and chooses the delimiter for a file of this name.
  void begin(std::string_view name);

  ScanStatus next(size_t max_rows);
  size_t rows() const { return lines_.size(); }
  size_t width() const { return width_; }
  std::string_view field(size_t row, size_t i) const { return fields_[row * width_ + i]; }
  const std::string_view* fields() const { return fields_.data(); }
  // Where a row starts, from 1; after an error row 0 is the row at fault.
  uint64_t line(size_t row) const { return lines_[row]; }
  bool is_ascii() const { return is_ascii_; }  // all fields of the batch

 private:
  enum class Stop : uint8_t { RowsDone, NeedsMore, TextAfterQuote };

  bool refill();
  void skip_line();
  Stop scan_rows(size_t max_rows);
  Stop quoted_field(const char* begin);
  bool end_row();
  ScanStatus fault(ScanStatus status);

  ByteSource& source_;
  char delimiter_ = ',';
  std::unique_ptr<char[]> window_;  // what is in memory of the text, and kPadding bytes
  size_t capacity_ = 0;
  const char* at_ = nullptr;   // the next byte
  const char* end_ = nullptr;  // of the bytes read; behind the last byte of the text a line feed
  const char* behind_quoted_ = nullptr;  // where quoted_field() stopped
  uint64_t lines_in_quotes_ = 0;         // of the row being scanned
  bool source_done_ = false;
  uint64_t line_ = 1;
  size_t width_ = 0;
  bool is_ascii_ = true;
  std::vector<std::string_view> fields_;
  std::vector<uint64_t> lines_;
  std::deque<std::string> unquoted_;  // texts of fields that held "", with padding
};

// A field as it must be written: in quotes when it holds the delimiter, a quote or a line end.
void append_field(std::string& out, std::string_view field, char delimiter);

}  // namespace xlog::io
