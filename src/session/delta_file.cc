#include "session/delta_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "io/csv_scan.h"
#include "io/fact_loader.h"
#include "io/field.h"

namespace xlog::session {
namespace {

using incremental::FactChanges;
using lang::Value;

constexpr std::string_view kWeightNames[] = {"weight", "__weight"};
constexpr size_t kRowsTogether = 1024;
constexpr size_t kMaxErrors = 10;

bool is_weight_name(std::string_view text) {
  return std::ranges::find(kWeightNames, text) != std::end(kWeightNames);
}

class DeltaReader {
 public:
  DeltaReader(const std::string& path, lang::PredId pred, std::optional<size_t> weight_column,
              const lang::Program& program, lang::Session& session)
      : path_(path), predicate_(program[pred]), session_(session), scanner_(source_) {
    out_.pred = pred;
    if (weight_column) weight_field_ = *weight_column - 1;
  }

  std::optional<FactChanges> run() {
    if (!columns_can_be_read()) return std::nullopt;
    if (!source_.open(path_)) return unreadable();
    scanner_.begin(path_);
    io::ScanStatus status = scanner_.next(1);
    if (status == io::ScanStatus::Rows) {
      const bool is_header = read_header();
      if (errors_ > 0) return std::nullopt;
      if (!is_header) add_row(0);
      status = scanner_.next(kRowsTogether);
    }
    for (; status == io::ScanStatus::Rows && errors_ < kMaxErrors;
         status = scanner_.next(kRowsTogether)) {
      for (size_t row = 0; row < scanner_.rows() && errors_ < kMaxErrors; ++row) add_row(row);
    }
    if (status == io::ScanStatus::Unreadable) return unreadable();
    if (status != io::ScanStatus::Rows && status != io::ScanStatus::End) {
      error(0, "a quoted field that does not end, or text behind its end")
          .help("a field that starts with `\"` ends with `\"`; write a quote inside it as `\"\"`");
    }
    if (errors_ > 0) return std::nullopt;
    return std::move(out_);
  }

 private:
  std::optional<FactChanges> unreadable() {
    session_.diagnostics.report(Code::CannotReadFile, {},
                                fmt::format("cannot read `{}`: {}", path_, source_.reason()));
    return std::nullopt;
  }

  Diagnostic& error(size_t row, std::string message) {
    ++errors_;
    Diagnostic& diagnostic = session_.diagnostics.report(Code::BadDataRow, {}, std::move(message));
    diagnostic.at(fmt::format("{}:{}", path_, scanner_.line(row)));
    return diagnostic;
  }

  std::string signature() const { return lang::predicate_signature(predicate_, session_.names); }

  bool columns_can_be_read() {
    for (size_t c = 0; c < predicate_.arity; ++c) {
      const lang::Type& type = predicate_.columns[c].type;
      if (type.kind != lang::TypeKind::List && type.kind != lang::TypeKind::Compound) continue;
      session_.diagnostics
          .report(Code::NotSupportedByEngine, {},
                  fmt::format("column {} of `{}` is of type {}, which cannot be read from a data "
                              "file",
                              c + 1, signature(), lang::to_string(type)))
          .at(path_)
          .help("state these facts one by one: `+fact.`");
      return false;
    }
    return true;
  }

  // ---- The first line ----

  // Whether there is a header; also says which field is which.
  bool read_header() {
    std::vector<std::string> first;
    for (size_t i = 0; i < scanner_.width(); ++i) first.emplace_back(scanner_.field(0, i));
    const auto weight = std::ranges::find_if(first, is_weight_name);
    const bool has_columns = find_columns(first);
    const bool header = weight != first.end() || has_columns || is_no_row(first);
    if (!weight_field_ && weight != first.end()) {
      weight_field_ = static_cast<size_t>(weight - first.begin());
    }
    if (weight_field_ && *weight_field_ >= first.size()) {
      error(0, fmt::format("there is no column {}: the file has {}", *weight_field_ + 1,
                           first.size()));
      return header;
    }
    if (!has_columns) {
      field_of_.clear();
      for (size_t i = 0; i < first.size(); ++i) {
        if (i != weight_field_) field_of_.push_back(i);
      }
      if (field_of_.size() != predicate_.arity) wrong_width(first.size());
    }
    width_ = first.size();
    return header;
  }

  void wrong_width(size_t fields) {
    error(0, fmt::format("{} fields, but `{}` has {} columns{}", fields, signature(),
                         predicate_.arity, weight_field_ ? " and there is the weight" : ""))
        .help(weight_field_ ? ""
                            : "if one of them is the weight, call it `weight` in a header, or say "
                              "which: `load relation \"file\" weight 3.`");
  }

  // By the names that the program gives all columns.
  bool find_columns(const std::vector<std::string>& first) {
    field_of_.clear();
    for (const lang::PredicateColumn& column : predicate_.columns) {
      const auto found = column.name.empty()
                             ? first.end()
                             : std::ranges::find(first, session_.names.symbols.text(column.name));
      if (found == first.end()) return false;
      field_of_.push_back(static_cast<size_t>(found - first.begin()));
    }
    return !field_of_.empty();
  }

  bool is_no_row(const std::vector<std::string>& first) {
    if (std::ranges::any_of(first, io::starts_like_number)) return false;
    size_t column = 0;
    Value ignored;
    for (size_t i = 0; i < first.size() && column < predicate_.arity; ++i) {
      if (i == weight_field_) continue;
      if (!io::parse_field(first[i], predicate_.columns[column++].type, session_.names, ignored)) {
        return true;
      }
    }
    return weight_field_.has_value();
  }

  // ---- Rows ----

  void add_row(size_t row) {
    if (scanner_.width() != width_) {
      error(row, fmt::format("{} fields, but the first line has {}", scanner_.width(), width_));
      return;
    }
    int64_t weight = 1;
    if (weight_field_ && !parse_weight(scanner_.field(row, *weight_field_), weight)) {
      error(row, fmt::format("the weight `{}` is no integer",
                             io::shown(scanner_.field(row, *weight_field_))));
      return;
    }
    for (size_t c = 0; c < predicate_.arity; ++c) {
      const std::string_view field = scanner_.field(row, field_of_[c]);
      Value value;
      if (!io::parse_field(field, predicate_.columns[c].type, session_.names, value)) {
        error(row, fmt::format("column {} of `{}`: `{}` is not a {}", c + 1, signature(),
                               io::shown(field), lang::to_string(predicate_.columns[c].type)));
        return;
      }
      out_.values.push_back(value);
    }
    out_.weights.push_back(weight);
  }

  static bool parse_weight(std::string_view text, int64_t& out) {
    bool negative = false;
    uint64_t magnitude = 0;
    if (!io::parse_magnitude(text, negative, magnitude) || magnitude > INT64_MAX) return false;
    out = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
    return true;
  }

  const std::string& path_;
  const lang::Predicate& predicate_;
  lang::Session& session_;
  io::ByteSource source_;
  io::CsvScanner scanner_;
  FactChanges out_;
  std::vector<size_t> field_of_;  // by column
  std::optional<size_t> weight_field_;
  size_t width_ = 0;
  size_t errors_ = 0;
};

}  // namespace

std::optional<FactChanges> read_delta_file(const std::string& path, lang::PredId pred,
                                           std::optional<size_t> weight_column,
                                           const lang::Program& program, lang::Session& session) {
  return DeltaReader(path, pred, weight_column, program, session).run();
}

}  // namespace xlog::session
