#include "cli/explain_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "lang/pragmas.h"
#include "lang/program.h"
#include "lang/types.h"

namespace xlog::cli {
namespace {

using Row = std::vector<std::string>;

struct Table {
  Row titles;
  std::vector<Row> rows;
};

Table codes() {
  Table table{{"code", "severity", "meaning"}, {}};
  for (const CodeInfo& info : all_codes()) {
    table.rows.push_back(
        {std::string(info.name), std::string(spelling(info.severity)), std::string(info.title)});
  }
  return table;
}

Table pragmas() {
  Table table{{"pragma", "values", "default", "meaning"}, {}};
  for (const lang::PragmaInfo& info : lang::all_pragmas()) {
    table.rows.push_back(
        {std::string(info.name), std::string(info.values), info.initial, std::string(info.help)});
  }
  return table;
}

Table builtins() {
  Table table{{"built-in", "modes", "meaning"}, {}};
#define XLOG_BUILTIN(name, text, arity, modes, help) \
  table.rows.push_back({fmt::format("{}/{}", text, arity), modes, help});
#include "lang/builtins.def"
#undef XLOG_BUILTIN
  return table;
}

std::string_view spelling(lang::TypeClass type_class) {
  switch (type_class) {
    case lang::TypeClass::Unsigned:
      return "unsigned integer";
    case lang::TypeClass::Signed:
      return "signed integer";
    case lang::TypeClass::Float:
      return "float";
    case lang::TypeClass::Other:
      return "other";
    case lang::TypeClass::Structured:
      return "structured";
  }
  return "";
}

Table types() {
  constexpr lang::TypeKind kKinds[] = {
#define X(name, text, width, klass) lang::TypeKind::name,
      XLOG_TYPES(X)
#undef X
  };
  Table table{{"type", "bytes", "class"}, {}};
  for (const lang::TypeKind kind : kKinds) {
    const std::string_view name = kind == lang::TypeKind::List ? "list<T>" : lang::spelling(kind);
    table.rows.push_back({std::string(name), std::to_string(lang::width(kind)),
                          std::string(spelling(lang::type_class(kind)))});
  }
  return table;
}

std::string as_text(const Table& table) {
  std::vector<size_t> widths;
  for (const std::string& title : table.titles) widths.push_back(title.size());
  for (const Row& row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  const auto line = [&](const Row& row) {
    std::string text;
    for (size_t c = 0; c < row.size(); ++c) text += fmt::format("{:<{}}  ", row[c], widths[c]);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line(table.titles);
  Row rule;
  for (const size_t width : widths) rule.push_back(std::string(width, '-'));
  line(rule);
  for (const Row& row : table.rows) line(row);
  return out;
}

std::string as_json(const Table& table) {
  auto array = nlohmann::ordered_json::array();
  for (const Row& row : table.rows) {
    nlohmann::ordered_json object;
    for (size_t c = 0; c < row.size(); ++c) object[table.titles[c]] = row[c];
    array.push_back(std::move(object));
  }
  return array.dump(1) + "\n";
}

}  // namespace

std::optional<std::string> table_text(std::string_view topic, logic::ExplainFormat format) {
  Table table;
  if (topic == "codes") {
    table = codes();
  } else if (topic == "pragmas") {
    table = pragmas();
  } else if (topic == "builtins") {
    table = builtins();
  } else if (topic == "types") {
    table = types();
  } else {
    return std::nullopt;
  }
  return format == logic::ExplainFormat::Json ? as_json(table) : as_text(table);
}

std::string code_text(const CodeInfo& info) {
  return fmt::format("{} ({}): {}\n\n{}\n", info.name, spelling(info.severity), info.title,
                     info.text);
}

}  // namespace xlog::cli
