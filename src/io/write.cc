#include "io/write.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/check.h"

namespace xlog::io {

namespace {

struct FormatInfo {
  std::string_view spelling, ending;
};

constexpr FormatInfo kFormats[] = {
#define X(name, spelling, ending) {spelling, ending},
    XLOG_FORMATS(X)
#undef X
};

}  // namespace

std::string_view spelling(Format format) { return kFormats[static_cast<size_t>(format)].spelling; }

std::string_view file_ending(Format format) { return kFormats[static_cast<size_t>(format)].ending; }

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const FormatInfo& info : kFormats) names.emplace_back(info.spelling);
  return names;
}

std::optional<Format> find_format(std::string_view text) {
  for (size_t i = 0; i < std::size(kFormats); ++i) {
    if (kFormats[i].spelling == text) return static_cast<Format>(i);
  }
  return std::nullopt;
}

std::optional<Format> format_of_file(std::string_view path) {
  for (const Format format : {Format::Csv, Format::Tsv, Format::Json, Format::Ndjson}) {
    if (path.ends_with(file_ending(format))) return format;
  }
  for (const std::string_view ending : {".db", ".sqlite", ".sqlite3"}) {
    if (path.ends_with(ending)) return Format::Sqlite;
  }
  return std::nullopt;
}

void Output::flush() {
  if (stream == nullptr || text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), stream);
  text.clear();
}

std::vector<uint32_t> all_queries(const lang::Program& program) {
  std::vector<uint32_t> all(program.queries.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Section> sections(const logic::Answer& answer) {
  if (answer.unfinished) return {{0, &answer.settled_queries}};
  if (answer.well_founded || answer.view_count == 0) return {{0, &answer.well_founded_queries}};
  std::vector<Section> all;
  for (size_t v = 0; v < answer.views.size(); ++v) all.push_back({v + 1, &answer.views[v].queries});
  return all;
}

TableShape table_shape(const Results& results, uint32_t query) {
  const std::vector<Section> all = sections(results.answer);
  const bool no_view = !results.answer.well_founded && results.answer.view_count == 0;
  const auto has_uncertain_row = [&](const Section& section) {
    return std::ranges::any_of((*section.queries)[query].rows,
                               [](const logic::Row& row) { return !is_certain(row.status); });
  };
  TableShape shape;
  shape.has_view = all.size() > 1;
  shape.is_truth_value = results.program.queries[query].columns.empty();
  shape.has_status =
      !shape.is_truth_value && (no_view || std::ranges::any_of(all, has_uncertain_row));
  return shape;
}

bool is_certain(logic::RowStatus status) {
  return status == logic::RowStatus::Known || status == logic::RowStatus::True;
}

std::string_view truth(const logic::QueryAnswer& answer) {
  if (answer.rows.empty()) return "false";
  const logic::RowStatus status = answer.rows.front().status;
  return is_certain(status) ? "true" : logic::spelling(status);
}

void write(Format format, const Results& results, Output& out) {
  const logic::Answer& answer = results.answer;
  const bool is_finished = !answer.unfinished && !answer.well_founded;
  if (is_finished && answer.ask == logic::Ask::Counts) return write_counts(format, results, out);
  if (is_finished && answer.view_count > 0 && logic::is_over_views(answer.ask)) {
    return write_over_views(format, results, out);
  }
  switch (format) {
    case Format::Table:
      return write_table(results, out);
    case Format::Csv:
      return write_csv(results, ',', out);
    case Format::Tsv:
      return write_csv(results, '\t', out);
    case Format::Json:
      return write_json(results, out);
    case Format::Ndjson:
      return write_ndjson(results, out);
    case Format::Sqlite:
      XLOG_UNREACHABLE("a database is no text");
  }
}

}  // namespace xlog::io
