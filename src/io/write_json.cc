#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "io/write.h"

namespace xlog::io {
namespace {

using lang::TypeKind;
using lang::Value;

void append_scalar(std::string& out, const Value& value, const lang::Names& names) {
  const auto text = [&] { return lang::to_raw(value, names); };
  switch (value.kind) {
    case TypeKind::U32:
    case TypeKind::U64:
    case TypeKind::I32:
    case TypeKind::I64:
    case TypeKind::Bool:
      out += text();
      return;
    case TypeKind::F32:
    case TypeKind::F64:
      // JSON has no infinities and no NaN.
      if (std::isfinite(value.as_double())) {
        out += text();
      } else {
        append_json_string(out, text());
      }
      return;
    default:
      append_json_string(out, text());
  }
}

void append_list(std::string& out, const std::vector<std::string>& texts) {
  out += '[';
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ", ";
    append_json_string(out, texts[i]);
  }
  out += ']';
}

void write_queries(const Results& results, const std::vector<logic::QueryAnswer>& answers,
                   std::string_view indent, Output& out) {
  const lang::Names& names = results.session.names;
  out.text += "\"queries\": [";
  bool first_query = true;
  for (const uint32_t q : results.queries) {
    out.text += fmt::format("{}\n{}{{\"query\": ", first_query ? "" : ",", indent);
    first_query = false;
    append_json_string(out.text, results.program.queries[q].text);
    out.text += ", \"columns\": ";
    append_json_columns(out.text, results.program.queries[q], names);
    out.text += ", \"rows\": [";
    bool first_row = true;
    for (const logic::Row& row : answers[q].rows) {
      out.text += fmt::format("{}\n{}  {{\"values\": [", first_row ? "" : ",", indent);
      first_row = false;
      for (size_t c = 0; c < row.values.size(); ++c) {
        if (c > 0) out.text += ", ";
        append_json(out.text, row.values[c], names);
      }
      out.text += fmt::format("], \"status\": \"{}\"}}", logic::spelling(row.status));
      out.pass_on();
    }
    out.text += "]}";
  }
  out.text += "]";
}

void write_diagnostics(const Results& results, Output& out) {
  out.text +=
      "\"diagnostics\": " + render_json(results.session.diagnostics, results.session.sources) +
      "}\n";
}

void write_unfinished(const Results& results, Output& out) {
  out.text += fmt::format("{{\"mode\": \"{}\",\n \"finished\": false,\n \"settled\": {{",
                          logic::spelling(results.answer.mode));
  write_queries(results, results.answer.settled_queries, "   ", out);
  out.text += "},\n ";
  write_diagnostics(results, out);
}

void write_view(const Results& results, const logic::WorldView& view, Output& out) {
  out.text += fmt::format("\n   {{\"world_count\": \"{}\",\n    ", view.world_count.get_str());
  write_queries(results, view.queries, "      ", out);
  if (results.worlds) {
    out.text += ",\n    \"worlds\": [";
    for (size_t w = 0; w < view.worlds.size(); ++w) {
      out.text += w > 0 ? ",\n      " : "\n      ";
      append_list(out.text, view.worlds[w]);
      out.pass_on();
    }
    out.text += "]";
  }
  out.text += "}";
}

}  // namespace

void append_json_columns(std::string& out, const lang::Query& query, const lang::Names& names) {
  std::vector<std::string> columns;
  columns.reserve(query.columns.size());
  for (const Symbol column : query.columns) columns.emplace_back(names.symbols.text(column));
  append_list(out, columns);
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (static_cast<unsigned char>(c) < 0x80) {
      out += c;
    } else {
      const CodePoint point = decode_utf8(text, at);
      if (point.valid) {
        out += text.substr(at, point.bytes);
      } else {
        out += "\xEF\xBF\xBD";  // U+FFFD
      }
      at += point.bytes;
      continue;
    }
    ++at;
  }
  out += '"';
}

// A stack of its own: rules can build lists of any depth.
void append_json(std::string& out, const Value& value, const lang::Names& names) {
  struct Open {
    std::span<const Value> elements;
    size_t next;
  };
  std::vector<Open> stack;
  const auto append = [&](const Value& v) {
    if (v.kind == TypeKind::List) {
      out += '[';
      stack.push_back({names.terms.elements(v), 0});
    } else {
      append_scalar(out, v, names);
    }
  };
  append(value);
  while (!stack.empty()) {
    Open& top = stack.back();
    if (top.next == top.elements.size()) {
      out += ']';
      stack.pop_back();
      continue;
    }
    if (top.next > 0) out += ", ";
    append(top.elements[top.next++]);
  }
}

void write_json(const Results& results, Output& out) {
  const logic::Answer& answer = results.answer;
  if (answer.unfinished) return write_unfinished(results, out);
  const bool has_views = !answer.well_founded && answer.view_count > 0;
  out.text +=
      fmt::format("{{\"mode\": \"{}\",\n \"world_view_count\": \"{}\",\n ",
                  logic::spelling(answer.mode), has_views ? answer.view_count.get_str() : "0");
  if (!answer.all_found) out.text += "\"all_world_views_found\": false,\n ";
  out.text += "\"world_views\": [";
  if (has_views) {
    for (size_t v = 0; v < answer.views.size(); ++v) {
      if (v > 0) out.text += ',';
      write_view(results, answer.views[v], out);
    }
  }
  out.text += "],\n ";
  if (!has_views) {
    out.text += "\"well_founded\": {";
    write_queries(results, answer.well_founded_queries, "   ", out);
    out.text += "},\n ";
  }
  write_diagnostics(results, out);
}

void write_ndjson(const Results& results, Output& out) {
  const lang::Names& names = results.session.names;
  for (const Section& section : sections(results.answer)) {
    for (const uint32_t q : results.queries) {
      const lang::Query& query = results.program.queries[q];
      for (const logic::Row& row : (*section.queries)[q].rows) {
        out.text += "{\"query\": ";
        append_json_string(out.text, query.text);
        out.text += fmt::format(", \"world_view\": {}, \"status\": \"{}\", \"values\": {{",
                                section.view == 0 ? "null" : std::to_string(section.view),
                                logic::spelling(row.status));
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
}

}  // namespace xlog::io
