#include "io/survey.h"

#include <algorithm>

#include "io/byte_source.h"
#include "io/csv_scan.h"
#include "io/field.h"
#include "io/sqlite.h"
#include "io/sqlite_read.h"

namespace xlog::io {

using lang::DataColumn;

namespace {

void add_integer(DataColumn& column, bool negative, uint64_t magnitude) {
  column.integers = true;
  if (!negative) column.most = std::max(column.most, magnitude);
  const uint64_t bits = negative ? 0 - magnitude : std::min<uint64_t>(magnitude, INT64_MAX);
  column.least = std::min(column.least, static_cast<int64_t>(bits));
}

// `true` and `false` may be meant as such: another name says more.
void add_name(DataColumn& column, std::string_view text) {
  if (column.name.empty() || column.name == "true" || column.name == "false") column.name = text;
}

void add_field(DataColumn& column, std::string_view text) {
  bool negative = false;
  uint64_t magnitude = 0;
  if (parse_magnitude(text, negative, magnitude) && (!negative || magnitude <= 1ull << 63)) {
    add_integer(column, negative, magnitude);
  } else if (is_number(text)) {
    column.floats = true;
  } else {
    add_name(column, text.empty() ? " " : text);
  }
}

void join(DataColumn& into, const DataColumn& from) {
  into.integers |= from.integers;
  into.floats |= from.floats;
  into.least = std::min(into.least, from.least);
  into.most = std::max(into.most, from.most);
  if (!from.name.empty()) add_name(into, from.name);
}

bool holds_numbers(const DataColumn& column) {
  return column.name.empty() && (column.integers || column.floats);
}

std::vector<DataColumn> survey_csv(ByteSource& source, const Input& input, uint32_t arity) {
  CsvScanner scanner(source);
  scanner.begin(input.path);
  std::vector<DataColumn> columns(arity), first(arity);
  constexpr size_t kRowsTogether = 1000;
  bool is_first = true, first_has_numbers = false;
  while (true) {
    const ScanStatus status = scanner.next(is_first ? 1 : kRowsTogether);
    if (status == ScanStatus::TextAfterQuote) continue;
    if (status != ScanStatus::Rows) break;
    if (scanner.width() != arity) return {};
    for (size_t row = 0; row < scanner.rows(); ++row) {
      for (uint32_t c = 0; c < arity; ++c) {
        const std::string_view text = scanner.field(row, c);
        add_field(is_first ? first[c] : columns[c], text);
        first_has_numbers |= is_first && starts_like_number(text);
      }
    }
    is_first = false;
  }
  // Names above numbers are a header.
  bool is_header = false;
  for (uint32_t c = 0; c < arity; ++c) {
    is_header |= !first_has_numbers && !first[c].name.empty() && holds_numbers(columns[c]);
  }
  for (uint32_t c = 0; c < arity && !is_header; ++c) join(columns[c], first[c]);
  return columns;
}

std::vector<DataColumn> survey_sqlite(const Input& input, uint32_t arity) {
  std::string reason;
  const Database database = open_sqlite(input.path, SqliteUse::Read, reason);
  if (database == nullptr) return {};
  const std::string from =
      input.table.empty() ? input.relation.substr(0, input.relation.find('/')) : input.table;
  sqlite3_stmt* handle = nullptr;
  const int prepared =
      sqlite3_prepare_v2(database.get(), select_from(from).c_str(), -1, &handle, nullptr);
  const Statement statement(handle);
  if (prepared != SQLITE_OK || sqlite3_stmt_readonly(handle) == 0 ||
      sqlite3_column_count(handle) != static_cast<int>(arity)) {
    return {};
  }
  std::vector<DataColumn> columns(arity);
  while (sqlite3_step(handle) == SQLITE_ROW) {
    for (uint32_t c = 0; c < arity; ++c) {
      const int i = static_cast<int>(c);
      switch (sqlite3_column_type(handle, i)) {
        case SQLITE_INTEGER: {
          const auto bits = static_cast<uint64_t>(sqlite3_column_int64(handle, i));
          const bool negative = bits > INT64_MAX;
          add_integer(columns[c], negative, negative ? 0 - bits : bits);
          break;
        }
        case SQLITE_FLOAT:
          columns[c].floats = true;
          break;
        case SQLITE_TEXT:
          add_name(columns[c], reinterpret_cast<const char*>(sqlite3_column_text(handle, i)));
          break;
        default:
          break;
      }
    }
  }
  return columns;
}

}  // namespace

std::vector<DataColumn> survey(Input& input, uint32_t arity) {
  if (input.path == "-") return {};
  if (input.copy == nullptr && is_pipe(input.path)) {
    input.copy = std::make_shared<const PipeCopy>(input.path);
  }
  ByteSource source;
  if (!source.open(input.copy != nullptr ? input.copy->path() : input.path)) return {};
  if (is_sqlite(source.head())) {
    return input.copy == nullptr ? survey_sqlite(input, arity) : std::vector<DataColumn>();
  }
  return input.table.empty() ? survey_csv(source, input, arity) : std::vector<DataColumn>();
}

}  // namespace xlog::io
