#include "io/write.h"

#include <numeric>

namespace xlog::io {

std::string_view spelling(Format format) {
  switch (format) {
#define X(name, text, ending) \
  case Format::name:          \
    return text;
    XLOG_FORMATS(X)
#undef X
  }
  return "";
}

std::string_view file_ending(Format format) {
  switch (format) {
#define X(name, text, ending) \
  case Format::name:          \
    return ending;
    XLOG_FORMATS(X)
#undef X
  }
  return "";
}

std::vector<std::string> format_names() {
  return {
#define X(name, text, ending) text,
      XLOG_FORMATS(X)
#undef X
  };
}

std::optional<Format> find_format(std::string_view text) {
#define X(name, known, ending) \
  if (text == known) return Format::name;
  XLOG_FORMATS(X)
#undef X
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
  if (answer.well_founded || answer.view_count == 0) return {{0, &answer.well_founded_queries}};
  std::vector<Section> all;
  for (size_t v = 0; v < answer.views.size(); ++v) all.push_back({v + 1, &answer.views[v].queries});
  return all;
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
  }
}

}  // namespace xlog::io
