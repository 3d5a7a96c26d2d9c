#include "cli/session_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "io/csv_scan.h"

namespace xlog::cli {
namespace {

using incremental::RowChange;
using io::Format;
using logic::RowStatus;

bool is_json(Format format) { return format == Format::Json || format == Format::Ndjson; }

bool is_uncertain(const std::optional<RowStatus>& status) {
  return status && !io::is_certain(*status);
}

bool shows_status(const std::vector<RowChange>& rows) {
  return std::ranges::any_of(rows, [](const RowChange& row) {
    return is_uncertain(row.before) || is_uncertain(row.after);
  });
}

std::string status_text(const RowChange& row) {
  if (row.before && row.after) {
    return fmt::format("{} -> {}", logic::spelling(*row.before), logic::spelling(*row.after));
  }
  return std::string(logic::spelling(row.before ? *row.before : *row.after));
}

char sign(const RowChange& row) { return !row.before ? '+' : !row.after ? '-' : '~'; }

// Of a query without variables.
std::string truth_after(const RowChange& row) {
  if (!row.after) return "false";
  return std::string(io::is_certain(*row.after) ? "true" : logic::spelling(*row.after));
}

std::string rows_text(size_t n) { return fmt::format("{} row{}", n, n == 1 ? "" : "s"); }

// ---- For people ----

std::string closing_line(const std::vector<RowChange>& rows) {
  const auto count = [&](char wanted) {
    return static_cast<size_t>(
        std::ranges::count_if(rows, [&](const RowChange& row) { return sign(row) == wanted; }));
  };
  std::vector<std::string> parts;
  if (const size_t n = count('+'); n > 0) parts.push_back(rows_text(n) + " came");
  if (const size_t n = count('-'); n > 0) parts.push_back(rows_text(n) + " went");
  if (const size_t n = count('~'); n > 0) parts.push_back(rows_text(n) + " changed status");
  return parts.empty() ? "no changes" : fmt::format("{}", fmt::join(parts, ", "));
}

struct TextColumn {
  std::vector<std::string> cells;  // the title first
  size_t width = 0;
  bool right = false;

  void add(std::string cell) {
    width = std::max(width, display_width(cell));
    cells.push_back(std::move(cell));
  }
};

void append_line(std::string& out, char mark, const std::vector<TextColumn>& columns, size_t line) {
  std::string text(1, mark);
  text += "  ";
  for (size_t c = 0; c < columns.size(); ++c) {
    const std::string& cell = columns[c].cells[line];
    const std::string padding(columns[c].width - display_width(cell), ' ');
    text += columns[c].right ? padding + cell : cell + padding;
    if (c + 1 < columns.size()) text += "  ";
  }
  text.erase(text.find_last_not_of(' ') + 1);
  out += text + '\n';
}

void append_table(std::string& out, const ShownChanges& shown, const session::QueryChanges& query) {
  const lang::Query& asked = shown.program.queries[query.query];
  const std::string heading = fmt::format("?- {}.", printable(asked.text));
  out += shown.bold ? fmt::format("\x1b[1m{}\x1b[0m\n", heading) : heading + "\n";
  if (asked.columns.empty()) {
    out += query.rows.empty() ? "no changes\n"
                              : fmt::format("now {}\n", truth_after(query.rows.front()));
    return;
  }
  std::vector<TextColumn> columns(asked.columns.size());
  for (size_t c = 0; c < columns.size(); ++c) {
    columns[c].add(printable(shown.names.symbols.text(asked.columns[c])));
    columns[c].right = true;
    for (const RowChange& row : query.rows) {
      columns[c].add(printable(lang::to_raw(row.values[c], shown.names)));
      columns[c].right = columns[c].right && lang::is_numeric(row.values[c].kind);
    }
  }
  if (shows_status(query.rows)) {
    TextColumn& status = columns.emplace_back();
    status.add("status");
    for (const RowChange& row : query.rows) status.add(status_text(row));
  }
  if (!query.rows.empty()) {
    append_line(out, ' ', columns, 0);
    out += "   ";
    for (size_t c = 0; c < columns.size(); ++c) {
      out += std::string(columns[c].width, '-') + (c + 1 < columns.size() ? "  " : "\n");
    }
  }
  for (size_t r = 0; r < query.rows.size(); ++r) {
    append_line(out, sign(query.rows[r]), columns, r + 1);
  }
  out += closing_line(query.rows) + "\n";
}

// ---- For programs ----

void append_json_status(std::string& out, const std::optional<RowStatus>& status) {
  out += status ? fmt::format("\"{}\"", logic::spelling(*status)) : "null";
}

// NDJSON is one value a line; JSON has lines for people too.
std::string json_text(const ShownChanges& shown, Format format) {
  const bool has_lines = format == Format::Json;
  const std::string_view first_query = has_lines ? "\n  " : "",
                         next_query = has_lines ? ",\n  " : ", ";
  const std::string_view first_row = has_lines ? "\n    " : "",
                         next_row = has_lines ? ",\n    " : ", ";
  std::string out = fmt::format("{{\"from\": {}, \"to\": {}, \"queries\": [", shown.from, shown.to);
  bool first = true;
  for (const session::QueryChanges& query : shown.queries) {
    const lang::Query& asked = shown.program.queries[query.query];
    out.append(first ? first_query : next_query).append("{\"query\": ");
    first = false;
    io::append_json_string(out, asked.text);
    out += ", \"columns\": [";
    for (size_t c = 0; c < asked.columns.size(); ++c) {
      if (c > 0) out += ", ";
      io::append_json_string(out, shown.names.symbols.text(asked.columns[c]));
    }
    out += "], \"rows\": [";
    for (size_t r = 0; r < query.rows.size(); ++r) {
      out.append(r == 0 ? first_row : next_row).append("{\"values\": [");
      for (size_t c = 0; c < query.rows[r].values.size(); ++c) {
        if (c > 0) out += ", ";
        io::append_json(out, query.rows[r].values[c], shown.names);
      }
      out += "], \"before\": ";
      append_json_status(out, query.rows[r].before);
      out += ", \"after\": ";
      append_json_status(out, query.rows[r].after);
      out += "}";
    }
    out += "]}";
  }
  return out + "]}\n";
}

class FieldLine {
 public:
  FieldLine(std::string& out, char delimiter) : out_(out), delimiter_(delimiter) {}
  ~FieldLine() { out_ += '\n'; }
  FieldLine(const FieldLine&) = delete;
  FieldLine& operator=(const FieldLine&) = delete;
  void add(std::string_view field) {
    if (!first_) out_ += delimiter_;
    first_ = false;
    io::append_field(out_, field, delimiter_);
  }

 private:
  std::string& out_;
  char delimiter_;
  bool first_ = true;
};

void append_csv(std::string& out, const ShownChanges& shown, const session::QueryChanges& query,
                char delimiter) {
  const lang::Query& asked = shown.program.queries[query.query];
  const bool with_status = shows_status(query.rows);
  {
    FieldLine header(out, delimiter);
    for (const Symbol column : asked.columns) header.add(shown.names.symbols.text(column));
    if (asked.columns.empty()) header.add("answer");
    header.add("__weight");
    if (with_status) {
      header.add("before");
      header.add("after");
    }
  }
  for (const RowChange& row : query.rows) {
    FieldLine line(out, delimiter);
    for (const lang::Value& value : row.values) line.add(lang::to_raw(value, shown.names));
    if (asked.columns.empty()) line.add(truth_after(row));
    line.add(!row.before ? "1" : !row.after ? "-1" : "0");
    if (!with_status) continue;
    line.add(row.before ? logic::spelling(*row.before) : "");
    line.add(row.after ? logic::spelling(*row.after) : "");
  }
}

}  // namespace

std::string changes_text(Format format, const ShownChanges& shown) {
  if (is_json(format)) return json_text(shown, format);
  std::string out;
  for (const session::QueryChanges& query : shown.queries) {
    if (!out.empty()) out += '\n';
    if (format == Format::Table) {
      append_table(out, shown, query);
    } else {
      append_csv(out, shown, query, format == Format::Tsv ? '\t' : ',');
    }
  }
  return out;
}

std::string batches_head(Format format) {
  if (format == Format::Json) return "[";
  if (format == Format::Table || format == Format::Ndjson) return "";
  return fmt::format("commit{0}inserted{0}retracted{0}undo_of\n",
                     format == Format::Tsv ? '\t' : ',');
}

std::string batch_text(Format format, const session::Batch& batch, bool is_first) {
  const session::Commit commit = session::summary(batch);
  if (is_json(format)) {
    const bool is_line = format == Format::Ndjson;
    return fmt::format("{}{{\"commit\": {}, \"inserted\": {}, \"retracted\": {}{}}}{}",
                       is_first || is_line ? "" : ",\n ", commit.number, commit.inserted,
                       commit.retracted,
                       batch.undo_of > 0 ? fmt::format(", \"undo_of\": {}", batch.undo_of) : "",
                       is_line ? "\n" : "");
  }
  if (format == Format::Table) {
    return fmt::format("commit {}: {}{}\n", commit.number, commit_text(commit),
                       batch.undo_of > 0 ? fmt::format(" (undo of {})", batch.undo_of) : "");
  }
  return fmt::format("{1}{0}{2}{0}{3}{0}{4}\n", format == Format::Tsv ? '\t' : ',', commit.number,
                     commit.inserted, commit.retracted,
                     batch.undo_of > 0 ? std::to_string(batch.undo_of) : "");
}

std::string batches_tail(Format format) { return format == Format::Json ? "]\n" : ""; }

std::string commit_text(const session::Commit& commit) {
  const auto facts = [](session::FactCount n) {
    return fmt::format("{} fact{}", n, n == 1 ? "" : "s");
  };
  if (commit.retracted == 0) return facts(commit.inserted) + " inserted";
  if (commit.inserted == 0) return facts(commit.retracted) + " retracted";
  return fmt::format("{} inserted, {} retracted", facts(commit.inserted), commit.retracted);
}

}  // namespace xlog::cli
