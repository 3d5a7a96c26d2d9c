// `xlog explain --stage types`: every predicate with its columns, their types and what fixed them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "logic/components.h"
#include "logic/explain.h"

namespace xlog::logic {

using Json = nlohmann::ordered_json;
using lang::Predicate;
using lang::PredicateColumn;
using lang::Program;

namespace {

constexpr size_t kShownBytes = 40;  // of the source text that fixed a type

size_t fact_count(const Predicate& predicate) {
  return predicate.facts == nullptr ? 0 : predicate.facts->rows;
}

// The text that fixed the column's type, on one line; empty when there is none.
std::string origin_text(const PredicateColumn& column, const SourceMap& sources) {
  if (sources.file_of(column.type_span) == nullptr) return "";
  std::string_view text = sources.text(column.type_span);
  text = text.substr(0, text.find('\n'));
  if (text.size() <= kShownBytes) return std::string(text);
  size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // whole characters
  return std::string(text.substr(0, end)) + "...";
}

std::string column_name(const PredicateColumn& column, const lang::Session& session) {
  return std::string(session.names.symbols.text(column.name));
}

std::vector<std::string> traits(const Predicate& predicate) {
  std::vector<std::string> words;
  if (predicate.declared) words.emplace_back("declared");
  if (predicate.is_private) words.emplace_back("private");
  if (predicate.is_input) words.emplace_back("input");
  if (predicate.neural) words.emplace_back("neural");
  return words;
}

std::string text_form(const Program& program, const lang::Session& session) {
  std::string out;
  for (const Predicate& predicate : program.predicates) {
    if (predicate.helper) continue;
    out += predicate_signature(predicate, session.names);
    for (const std::string& word : traits(predicate)) out += " " + word;
    out += fmt::format("  ({}, {})\n", counted(fact_count(predicate), "fact"),
                       counted(predicate.rules.size(), "rule"));
    for (size_t i = 0; i < predicate.columns.size(); ++i) {
      const PredicateColumn& column = predicate.columns[i];
      const std::string name = column_name(column, session);
      out +=
          fmt::format("  {}{} : {}", i + 1, name.empty() ? "" : " " + name, to_string(column.type));
      const std::string origin = origin_text(column, session.sources);
      if (!origin.empty()) {
        out += fmt::format("   from {}: {}", place_text(column.type_span, session.sources), origin);
      }
      out += '\n';
    }
  }
  return out;
}

Json json_form(const Program& program, const lang::Session& session) {
  Json predicates = Json::array();
  for (const Predicate& predicate : program.predicates) {
    if (predicate.helper) continue;
    Json columns = Json::array();
    for (const PredicateColumn& column : predicate.columns) {
      const std::string origin = origin_text(column, session.sources);
      Json entry;
      entry["name"] = column_name(column, session);
      entry["type"] = to_string(column.type);
      entry["from"] = origin.empty() ? Json() : Json(place_text(column.type_span, session.sources));
      entry["text"] = origin.empty() ? Json() : Json(origin);
      columns.push_back(std::move(entry));
    }
    Json entry;
    entry["predicate"] = predicate_signature(predicate, session.names);
    entry["traits"] = traits(predicate);
    entry["columns"] = std::move(columns);
    entry["facts"] = fact_count(predicate);
    entry["rules"] = predicate.rules.size();
    predicates.push_back(std::move(entry));
  }
  Json json;
  json["stage"] = "types";
  json["predicates"] = std::move(predicates);
  return json;
}

std::string dot_form(const Program& program, const lang::Session& session) {
  std::string out = "digraph types {\n  node [shape=record];\n";
  for (size_t i = 0; i < program.predicates.size(); ++i) {
    const Predicate& predicate = program.predicates[i];
    if (predicate.helper) continue;
    std::string label = dot_record_text(predicate_signature(predicate, session.names));
    for (size_t c = 0; c < predicate.columns.size(); ++c) {
      const std::string name = column_name(predicate.columns[c], session);
      label +=
          fmt::format("|{} : {}", name.empty() ? fmt::format("{}", c + 1) : dot_record_text(name),
                      dot_record_text(to_string(predicate.columns[c].type)));
    }
    out += fmt::format("  p{} [label=\"{{{}|{}, {}}}\"];\n", i, label,
                       counted(fact_count(predicate), "fact"),
                       counted(predicate.rules.size(), "rule"));
  }
  return out + "}\n";
}

}  // namespace

std::string explain_types(const Program& program, const lang::Session& session,
                          ExplainFormat format) {
  switch (format) {
    case ExplainFormat::Text:
      return text_form(program, session);
    case ExplainFormat::Json:
      return json_form(program, session).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    case ExplainFormat::Dot:
      return dot_form(program, session);
  }
  return "";
}

}  // namespace xlog::logic
