// What is asked of all world views together: how many they are, and rows over them.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "io/write.h"

namespace xlog::io {
namespace {

using logic::Answer;
using logic::RowOverViews;

std::string_view spelling_of(logic::Ask ask) {
  return ask == logic::Ask::Cautious    ? "cautious"
         : ask == logic::Ask::Credulous ? "credulous"
                                        : "all";
}

void write_diagnostics(const Results& results, Output& out) {
  out.text +=
      "\"diagnostics\": " + render_json(results.session.diagnostics, results.session.sources) +
      "}\n";
}

// ---- counts ----

std::string counts_text(const Answer& answer) {
  if (!answer.worlds) return "0 world views\n";
  const logic::WorldCounts& worlds = *answer.worlds;
  if (worlds.least == worlds.most) {
    return fmt::format("{} with {}{}\n", counted(answer.view_count, "world view"),
                       counted(worlds.most, "world"), answer.view_count == 1 ? "" : " each");
  }
  return fmt::format("{} with {} to {} each, {} in all\n", counted(answer.view_count, "world view"),
                     logic::short_text(worlds.least), counted(worlds.most, "world"),
                     logic::short_text(worlds.all));
}

struct Figure {
  std::string_view name;
  std::string value;
};

std::vector<Figure> figures(const Answer& answer) {
  const logic::WorldCounts worlds = answer.worlds.value_or(logic::WorldCounts{0, 0, 0});
  return {{"world_view_count", answer.view_count.get_str()},
          {"world_count", worlds.all.get_str()},
          {"least_world_count", worlds.least.get_str()},
          {"most_world_count", worlds.most.get_str()}};
}

void write_counts_line(const Answer& answer, char delimiter, Output& out) {
  {
    Line header(out, delimiter);
    for (const Figure& figure : figures(answer)) header.add(figure.name);
  }
  Line line(out, delimiter);
  for (const Figure& figure : figures(answer)) line.add(figure.value);
}

// ---- rows ----

void write_rows_table(const Results& results, uint32_t q, Output& out) {
  const lang::Names& names = results.session.names;
  const lang::Query& query = results.program.queries[q];
  const std::vector<RowOverViews>& rows = results.answer.over_views[q];
  std::vector<TableColumn> columns;
  for (const Symbol column : query.columns) {
    columns.push_back({printable(names.symbols.text(column)), 0, !rows.empty()});
  }
  columns.push_back({"known in", 0, true});
  columns.push_back({"possible in", 0, true});
  for (TableColumn& column : columns) column.width = display_width(column.title);
  const auto cells = [&](const RowOverViews& row) {
    std::vector<std::string> texts;
    for (const lang::Value& value : row.values) texts.push_back(cell_text(value, names));
    texts.push_back(logic::short_text(*row.known_in));
    texts.push_back(logic::short_text(*row.possible_in));
    return texts;
  };
  for (const RowOverViews& row : rows) {
    const std::vector<std::string> texts = cells(row);
    for (size_t c = 0; c < texts.size(); ++c) {
      columns[c].width = std::max(columns[c].width, display_width(texts[c]));
      if (c < row.values.size()) columns[c].right &= lang::is_numeric(row.values[c].kind);
    }
  }
  if (!rows.empty()) write_table_header(columns, results.bold, out);
  for (const RowOverViews& row : rows) {
    const std::vector<std::string> texts = cells(row);
    for (size_t c = 0; c < texts.size(); ++c) {
      append_cell(out.text, texts[c], columns[c], c + 1 == texts.size());
    }
    out.text += '\n';
    out.pass_on();
  }
  out.text += counted(mpz_class(static_cast<unsigned long>(rows.size())), "row") + "\n";
}

void write_as_table(const Results& results, Output& out) {
  const Answer& answer = results.answer;
  const std::string_view wanted = answer.ask == logic::Ask::Cautious ? "known in all of them"
                                  : answer.ask == logic::Ask::Credulous
                                      ? "known in some of them"
                                      : "possible in some of them";
  out.text +=
      fmt::format("over {}: rows that are {}\n", counted(answer.view_count, "world view"), wanted);
  for (const uint32_t q : results.queries) {
    const std::string heading = fmt::format("?- {}.", printable(results.program.queries[q].text));
    out.text += results.bold ? fmt::format("\n\x1b[1m{}\x1b[0m\n", heading) : "\n" + heading + "\n";
    write_rows_table(results, q, out);
  }
}

void write_as_json(const Results& results, Output& out) {
  const lang::Names& names = results.session.names;
  const Answer& answer = results.answer;
  out.text += fmt::format(
      "{{\"mode\": \"{}\",\n \"world_view_count\": \"{}\",\n \"over_world_views\": \"{}\",\n "
      "\"queries\": [",
      logic::spelling(answer.mode), answer.view_count.get_str(), spelling_of(answer.ask));
  for (size_t i = 0; i < results.queries.size(); ++i) {
    const uint32_t q = results.queries[i];
    out.text += i > 0 ? ",\n   {\"query\": " : "\n   {\"query\": ";
    append_json_string(out.text, results.program.queries[q].text);
    out.text += ", \"columns\": ";
    append_json_columns(out.text, results.program.queries[q], names);
    out.text += ", \"rows\": [";
    bool first = true;
    for (const RowOverViews& row : answer.over_views[q]) {
      out.text += first ? "\n     {\"values\": [" : ",\n     {\"values\": [";
      first = false;
      for (size_t c = 0; c < row.values.size(); ++c) {
        if (c > 0) out.text += ", ";
        append_json(out.text, row.values[c], names);
      }
      out.text += fmt::format("], \"known_in\": \"{}\", \"possible_in\": \"{}\"}}",
                              row.known_in->get_str(), row.possible_in->get_str());
      out.pass_on();
    }
    out.text += "]}";
  }
  out.text += "],\n ";
  write_diagnostics(results, out);
}

void write_as_ndjson(const Results& results, Output& out) {
  const lang::Names& names = results.session.names;
  for (const uint32_t q : results.queries) {
    const lang::Query& query = results.program.queries[q];
    for (const RowOverViews& row : results.answer.over_views[q]) {
      out.text += "{\"query\": ";
      append_json_string(out.text, query.text);
      out.text += fmt::format(", \"known_in\": \"{}\", \"possible_in\": \"{}\", \"values\": {{",
                              row.known_in->get_str(), row.possible_in->get_str());
      for (size_t c = 0; c < row.values.size(); ++c) {
        if (c > 0) out.text += ", ";
        append_json_string(out.text, names.symbols.text(query.columns[c]));
        out.text += ": ";
        append_json(out.text, row.values[c], names);
      }
      out.text += "}}\n";
      out.pass_on();
    }
  }
}

void write_as_csv(const Results& results, char delimiter, Output& out) {
  const lang::Names& names = results.session.names;
  for (size_t i = 0; i < results.queries.size(); ++i) {
    const uint32_t q = results.queries[i];
    if (i > 0) out.text += '\n';
    {
      Line header(out, delimiter);
      for (const Symbol column : results.program.queries[q].columns) {
        header.add(names.symbols.text(column));
      }
      header.add("known_in");
      header.add("possible_in");
    }
    for (const RowOverViews& row : results.answer.over_views[q]) {
      Line line(out, delimiter);
      for (const lang::Value& value : row.values) line.add(lang::to_raw(value, names));
      line.add(row.known_in->get_str());
      line.add(row.possible_in->get_str());
    }
  }
}

}  // namespace

void write_counts(Format format, const Results& results, Output& out) {
  const Answer& answer = results.answer;
  switch (format) {
    case Format::Table:
      out.text += counts_text(answer);
      return;
    case Format::Csv:
      return write_counts_line(answer, ',', out);
    case Format::Tsv:
      return write_counts_line(answer, '\t', out);
    case Format::Json:
    case Format::Ndjson: {
      out.text += fmt::format("{{\"mode\": \"{}\", ", logic::spelling(answer.mode));
      for (const Figure& figure : figures(answer)) {
        out.text += fmt::format("\"{}\": \"{}\", ", figure.name, figure.value);
      }
      return write_diagnostics(results, out);
    }
    case Format::Sqlite:
      XLOG_UNREACHABLE("a database is no text");
  }
}

void write_over_views(Format format, const Results& results, Output& out) {
  switch (format) {
    case Format::Table:
      return write_as_table(results, out);
    case Format::Csv:
      return write_as_csv(results, ',', out);
    case Format::Tsv:
      return write_as_csv(results, '\t', out);
    case Format::Json:
      return write_as_json(results, out);
    case Format::Ndjson:
      return write_as_ndjson(results, out);
    case Format::Sqlite:
      XLOG_UNREACHABLE("a database is no text");
  }
}

}  // namespace xlog::io
