#include "tests/runner/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace xlog::conformance {

namespace {

using nlohmann::json;

std::string canonical_json(const json& value) {
  if (value.is_number_float()) return canonical_float(value.get<double>());
  if (value.is_string()) return canonical_symbol(value.get<std::string>());
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const json& element : value) parts.push_back(canonical_json(element));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  }
  return value.dump();
}

class Reader {
 public:
  explicit Reader(ActualAnswer& answer) : answer_(answer) {}

  void read(const json& root) {
    if (!root.is_object()) return problem("the output is not a JSON object");
    read_diagnostics(root);
    bool well_founded = root.contains("well_founded");
    if (!root.contains("world_views") && !well_founded) return;
    answer_.has_answer = true;
    if (!root.contains("mode") || !root["mode"].is_string()) problem("\"mode\" is missing");
    if (root.contains("world_views")) read_views(root);
    if (well_founded) {
      answer_.has_well_founded = true;
      answer_.well_founded = read_queries(root["well_founded"], {"true", "undefined"});
    }
  }

 private:
  void problem(std::string text) { answer_.problems.push_back(std::move(text)); }

  void read_diagnostics(const json& root) {
    if (!root.contains("diagnostics") || !root["diagnostics"].is_array()) {
      return problem("\"diagnostics\" is missing or not an array");
    }
    for (const json& item : root["diagnostics"]) {
      ActualDiagnostic diagnostic;
      diagnostic.code = item.value("code", "");
      diagnostic.severity = item.value("severity", "");
      diagnostic.message = item.value("message", "");
      if (item.contains("file") && item["file"].is_string())
        diagnostic.file = item["file"].get<std::string>();
      if (item.contains("line") && item["line"].is_number())
        diagnostic.line = item["line"].get<int>();
      if (item.contains("column") && item["column"].is_number())
        diagnostic.column = item["column"].get<int>();
      answer_.diagnostics.push_back(std::move(diagnostic));
    }
  }

  // A count is a string of decimal digits.
  std::string read_count(const json& parent, const char* key) {
    bool good = parent.contains(key) && parent[key].is_string();
    std::string count = good ? parent[key].get<std::string>() : "";
    if (count.empty() || count.find_first_not_of("0123456789") != std::string::npos) {
      problem(fmt::format("\"{}\" is not a decimal string", key));
    }
    return count;
  }

  void read_views(const json& root) {
    answer_.view_count = read_count(root, "world_view_count");
    for (const json& view : root["world_views"]) {
      answer_.world_counts.push_back(read_count(view, "world_count"));
      answer_.views.push_back(read_queries(view, {"known", "possible"}));
      if (view.contains("worlds")) answer_.worlds.push_back(read_worlds(view["worlds"]));
    }
  }

  View read_worlds(const json& worlds) {
    View view;
    for (const json& atoms : worlds) {
      World world = atoms.get<World>();
      if (!std::is_sorted(world.begin(), world.end()))
        problem("the atoms of a world are not sorted");
      view.push_back(std::move(world));
    }
    std::sort(view.begin(), view.end());
    return view;
  }

  // statuses: the one for certain rows, the one for the others.
  ViewAnswer read_queries(const json& parent, const std::pair<std::string, std::string>& statuses) {
    ViewAnswer result;
    if (!parent.contains("queries") || !parent["queries"].is_array()) {
      problem("\"queries\" is missing or not an array");
      return result;
    }
    for (const json& query : parent["queries"]) {
      QueryRows rows;
      rows.query = query.value("query", "");
      size_t columns = query.contains("columns") ? query["columns"].size() : SIZE_MAX;
      if (columns == SIZE_MAX) problem("\"columns\" is missing");
      for (const json& row : query.value("rows", json::array())) {
        std::vector<std::string> values;
        for (const json& value : row.value("values", json::array()))
          values.push_back(canonical_json(value));
        if (values.size() != columns)
          problem("a row has more or fewer values than the query has columns");
        std::string status = row.value("status", "");
        if (status != statuses.first && status != statuses.second)
          problem("unexpected status `" + status + "`");
        rows.rows.push_back(
            fmt::format("({}){}", fmt::join(values, ", "), status == statuses.first ? "" : "?"));
      }
      result.push_back(std::move(rows));
    }
    return result;
  }

  ActualAnswer& answer_;
};

// "error[E0301]: message" and below it "  --> file:3:7".
void read_diagnostics_text(const std::string& text, std::vector<ActualDiagnostic>& out) {
  size_t at = 0;
  while (at < text.size()) {
    size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    size_t open = line.find('['), close = line.find("]: ");
    bool heading = open != std::string::npos && close == open + 6 &&
                   (line.rfind("error[", 0) == 0 || line.rfind("warning[", 0) == 0 ||
                    line.rfind("note[", 0) == 0);
    if (heading) {
      out.push_back(
          {line.substr(open + 1, 5), line.substr(0, open), line.substr(close + 3), "", 0, 0});
      continue;
    }
    size_t arrow = line.find("--> ");
    if (arrow == std::string::npos || out.empty() || out.back().line != 0) continue;
    std::string place = line.substr(arrow + 4);
    size_t column = place.rfind(':');
    size_t row = column == std::string::npos || column == 0 ? std::string::npos
                                                            : place.rfind(':', column - 1);
    if (row == std::string::npos) continue;
    out.back().file = place.substr(0, row);
    out.back().line = std::atoi(place.c_str() + row + 1);
    out.back().column = std::atoi(place.c_str() + column + 1);
  }
}

}  // namespace

ActualAnswer read_answer(const ProcessResult& process) {
  ActualAnswer answer;
  if (!trim(process.out).empty()) {
    json root = json::parse(process.out, nullptr, false);
    if (root.is_discarded()) {
      answer.problems.push_back("the output is not JSON");
    } else {
      Reader(answer).read(root);
    }
  }
  if (answer.diagnostics.empty()) read_diagnostics_text(process.err, answer.diagnostics);
  return answer;
}

std::string show(const ViewAnswer& answer) {
  std::string text;
  for (const QueryRows& query : answer) {
    text += fmt::format("    {}: {}\n", query.query,
                        query.rows.empty() ? "no" : fmt::format("{}", fmt::join(query.rows, " ")));
  }
  return text.empty() ? "    (no query)\n" : text;
}

std::string show(const std::vector<ViewAnswer>& views) {
  if (views.empty()) return "    (no world view)\n";
  if (views.size() == 1) return show(views[0]);
  std::string text;
  for (const ViewAnswer& view : views) text += "    view\n" + show(view);
  return text;
}

std::string show(const std::vector<View>& views) {
  if (views.empty()) return "    none\n";
  std::string text;
  for (const View& view : views) {
    text += "   ";
    for (const World& world : view) text += fmt::format(" {{{}}}", fmt::join(world, ", "));
    text += "\n";
  }
  return text;
}

std::string show(const ActualDiagnostic& diagnostic) {
  return fmt::format("    {} {}:{}:{} {}\n", diagnostic.code, diagnostic.file, diagnostic.line,
                     diagnostic.column, diagnostic.message);
}

std::string show(const ExpectedDiagnostic& diagnostic) {
  std::string place = diagnostic.file;
  if (diagnostic.line > 0) place += fmt::format("{}{}", place.empty() ? "" : ":", diagnostic.line);
  if (diagnostic.column > 0) place += fmt::format(":{}", diagnostic.column);
  return fmt::format("    {}{} {} {}\n", diagnostic.code, diagnostic.several ? "*" : "", place,
                     diagnostic.text);
}

}  // namespace xlog::conformance
