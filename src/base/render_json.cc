// Diagnostics as JSON, for editors and other tools.
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/line_index.h"

namespace xlog {
namespace {

using Json = nlohmann::ordered_json;

void add_place(Json& object, Span span, LineIndex& lines) {
  const Place begin = lines.place(span.begin);
  const Place end = lines.place(std::max(span.begin, span.end));
  object["file"] = begin.file;
  object["line"] = begin.line;
  object["column"] = begin.column;
  object["end_line"] = end.line;
  object["end_column"] = end.column;
}

// "data.csv:17" -> file and line; anything else is a file name alone.
void add_outside_place(Json& object, std::string_view place) {
  for (const char* key : {"file", "line", "column", "end_line", "end_column"})
    object[key] = nullptr;
  if (place.empty()) return;
  object["file"] = place;
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == place.size()) return;
  uint32_t line = 0;
  const char* const end = place.data() + place.size();
  const auto [rest, error] = std::from_chars(place.data() + colon + 1, end, line);
  if (error != std::errc() || rest != end) return;
  object["file"] = place.substr(0, colon);
  object["line"] = line;
}

Json to_json(const Diagnostic& d, LineIndex& lines) {
  Json object;
  object["code"] = code_info(d.code).name;
  object["severity"] = spelling(d.severity);
  object["message"] = d.message;
  if (d.span.empty() || lines.file_at(d.span.begin) == nullptr) {
    add_outside_place(object, d.place);
  } else {
    add_place(object, d.span, lines);
  }
  object["labels"] = Json::array();
  for (const Label& label : d.labels) {
    if (label.span.empty()) continue;
    Json entry;
    add_place(entry, label.span, lines);
    entry["text"] = label.text;
    object["labels"].push_back(std::move(entry));
  }
  object["notes"] = d.notes;
  object["help"] = d.help_text.empty() ? Json(nullptr) : Json(d.help_text);
  return object;
}

}  // namespace

std::string render_json(const Diagnostics& diagnostics, const SourceMap& sources,
                        bool errors_only) {
  LineIndex lines(sources);
  Json array = Json::array();
  for (const Diagnostic* d : in_order_of_place(diagnostics)) {
    if (!errors_only || d->severity == Severity::Error) array.push_back(to_json(*d, lines));
  }
  return array.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xlog
