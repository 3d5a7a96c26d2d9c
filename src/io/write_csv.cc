#include "io/csv_scan.h"
#include "io/write.h"

namespace xlog::io {

// A lone empty field would be an empty line, which is no row.
Line::~Line() {
  if (fields_ == 1 && out_.text.size() == start_) out_.text += "\"\"";
  out_.text += '\n';
  out_.pass_on();
}

void Line::add(std::string_view field) {
  if (fields_++ > 0) out_.text += delimiter_;
  append_field(out_.text, field, delimiter_);
}

namespace {

void write_query(const Results& results, uint32_t q, char delimiter, Output& out) {
  const lang::Query& query = results.program.queries[q];
  const lang::Names& names = results.session.names;
  const TableShape shape = table_shape(results, q);
  {
    Line header(out, delimiter);
    if (shape.has_view) header.add("world_view");
    for (const Symbol column : query.columns) header.add(names.symbols.text(column));
    if (shape.is_truth_value) header.add("answer");
    if (shape.has_status) header.add("status");
  }
  for (const Section& section : sections(results.answer)) {
    const logic::QueryAnswer& answer = (*section.queries)[q];
    const std::string view = std::to_string(section.view);
    if (shape.is_truth_value) {
      Line line(out, delimiter);
      if (shape.has_view) line.add(view);
      line.add(truth(answer));
      continue;
    }
    for (const logic::Row& row : answer.rows) {
      Line line(out, delimiter);
      if (shape.has_view) line.add(view);
      for (const lang::Value& value : row.values) line.add(lang::to_raw(value, names));
      if (shape.has_status) line.add(logic::spelling(row.status));
    }
  }
}

}  // namespace

void write_csv(const Results& results, char delimiter, Output& out) {
  bool first = true;
  for (const uint32_t q : results.queries) {
    if (!first) out.text += '\n';
    first = false;
    write_query(results, q, delimiter, out);
  }
}

}  // namespace xlog::io
