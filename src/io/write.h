// Answers as text: one writer a format, all over the common logic::Answer.
//
// table   for people: each query with its rows; a status column only where some row is not known
// json    one object, the contract for programs
// ndjson  one object a row: {"query", "world_view", "status", "values": {column: value}}
// csv     the rows alone under a header of column names; columns world_view (first) and status
// (last) only where there are tsv     several views or rows that are not known. Several queries are
// separated by an empty line. A query without
//         variables has one column `answer` (true, false, possible, undefined).
//         Rows over all views have the columns known_in and possible_in instead.
// sqlite  the same as tables of a database (sqlite_write.h); only into files
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/answer.h"

namespace xlog::io {

// One table: enumerator, spelling, ending of files.
#define XLOG_FORMATS(X)          \
  X(Table, "table", ".csv")      \
  X(Csv, "csv", ".csv")          \
  X(Tsv, "tsv", ".tsv")          \
  X(Json, "json", ".json")       \
  X(Ndjson, "ndjson", ".ndjson") \
  X(Sqlite, "sqlite", ".db")

enum class Format : uint8_t {
#define X(name, spelling, ending) name,
  XLOG_FORMATS(X)
#undef X
};
std::string_view spelling(Format format);
std::string_view file_ending(Format format);  // a table is for people: as a file it is CSV
std::optional<Format> find_format(std::string_view spelling);
std::vector<std::string> format_names();
// By the ending of a file's name: .csv, .tsv, .json, .ndjson, .db, .sqlite, .sqlite3.
std::optional<Format> format_of_file(std::string_view path);

// Collects text; with a stream it passes on what it has now and then, so that a long answer needs
// no memory.
struct Output {
  std::string text;
  std::FILE* stream = nullptr;

  void pass_on() {
    if (stream != nullptr && text.size() >= kBlock) flush();
  }
  void flush();  // a failed write shows in ferror(stream)

 private:
  static constexpr size_t kBlock = size_t{1} << 16;
};

struct Results {
  const lang::Program& program;
  const logic::Answer& answer;
  const lang::Session& session;
  std::vector<uint32_t> queries;  // which ones, by index
  bool worlds = false;            // list the worlds (table, json)
  bool bold = false;              // headings for a terminal (table)
  bool query_texts = true;        // each answer under its query (table)
};
std::vector<uint32_t> all_queries(const lang::Program& program);

void write(Format format, const Results& results, Output& out);  // all but sqlite
void write_table(const Results& results, Output& out);
void write_json(const Results& results, Output& out);
void write_ndjson(const Results& results, Output& out);
void write_csv(const Results& results, char delimiter, Output& out);
// Counts, or rows over all views (write_over_views.cc): all but sqlite.
void write_counts(Format format, const Results& results, Output& out);
void write_over_views(Format format, const Results& results, Output& out);

// ---- What the writers share ----

// The answers of one world view, or of the well-founded model (view = 0).
struct Section {
  size_t view = 0;  // from 1
  const std::vector<logic::QueryAnswer>* queries = nullptr;
};
std::vector<Section> sections(const logic::Answer& answer);

// Which columns the rows of a query have beside its variables (csv, tsv, sqlite).
struct TableShape {
  bool has_view = false;
  bool has_status = false;
  bool is_truth_value = false;  // no variables: one column `answer`
};
TableShape table_shape(const Results& results, uint32_t query);

// One line of CSV or TSV, field by field.
class Line {
 public:
  Line(Output& out, char delimiter) : out_(out), delimiter_(delimiter) {}
  ~Line();
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  void add(std::string_view field);

 private:
  Output& out_;
  char delimiter_;
  size_t fields_ = 0;
  size_t start_ = out_.text.size();
};

// A table for people, in two passes over its rows: widths first.
struct TableColumn {
  std::string title;
  size_t width = 0;
  bool right = false;  // numbers
};
void append_cell(std::string& out, std::string_view text, const TableColumn& column, bool last);
void write_table_header(const std::vector<TableColumn>& columns, bool bold, Output& out);
std::string cell_text(const lang::Value& value, const lang::Names& names);
std::string counted(const mpz_class& n, std::string_view noun);  // "1 row", "3 rows"

bool is_certain(logic::RowStatus status);  // known or true
// Of a query without variables: "true", "false", "possible", "undefined".
std::string_view truth(const logic::QueryAnswer& answer);

void append_json_string(std::string& out, std::string_view text);
void append_json(std::string& out, const lang::Value& value, const lang::Names& names);
void append_json_columns(std::string& out, const lang::Query& query, const lang::Names& names);

}  // namespace xlog::io
