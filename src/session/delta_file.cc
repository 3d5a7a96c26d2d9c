#include "session/delta_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "io/csv_scan.h"
#include "io/fact_loader.h"
#include "io/field.h"
#include "io/header.h"

namespace xlog::session {
namespace {

using incremental::FactChanges;
using lang::Value;

// The first that is there counts: results that are loaded again may have a column `weight`.
constexpr std::string_view kWeightNames[] = {"__weight", "weight"};
constexpr std::string_view kHeader = "the header in the first line";
constexpr size_t kRowsTogether = 1024;
constexpr size_t kMaxErrors = 10;

class DeltaReader {
 public:
  DeltaReader(const std::string& path, lang::PredId pred, std::optional<size_t> weight_column,
              const lang::Program& program, lang::Session& session)
      : path_(path),
        predicate_(program[pred]),
        session_(session),
        header_(predicate_, session.names),
        scanner_(source_) {
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
    width_ = first.size();
    if (weight_field_ && *weight_field_ >= first.size()) {
      error(0, fmt::format("there is no column {}: the file has {}", *weight_field_ + 1,
                           first.size()));
      return false;
    }
    const bool is_header = header_.is_header(without_weight(first), could_be_row(first)) ||
                           names_weight_and_column(first);
    if (is_header && !weight_field_ && !find_weight(first)) return true;
    field_of_.resize(first.size());
    std::iota(field_of_.begin(), field_of_.end(), 0);
    if (weight_field_) field_of_.erase(field_of_.begin() + static_cast<ptrdiff_t>(*weight_field_));
    if (is_header && header_.all_columns_named()) {
      map_columns(without_weight(first));
    } else if (field_of_.size() != predicate_.arity) {
      wrong_width(first.size());
    }
    return is_header;
  }

  // A field that says how often is none of the predicate's, whatever stands above it.
  std::vector<std::string> without_weight(std::vector<std::string> first) const {
    if (weight_field_) first.erase(first.begin() + static_cast<ptrdiff_t>(*weight_field_));
    return first;
  }

  void wrong_width(size_t fields) {
    error(0, fmt::format("{} fields, but `{}` has {} columns{}", fields, signature(),
                         predicate_.arity, weight_field_ ? " and there is the weight" : ""))
        .help(weight_field_ ? ""
                            : "if one of them is the weight, call it `weight` in a header, or say "
                              "which: `load relation \"file\" weight 3.`");
  }

  bool is_column_name(std::string_view text) const {
    return std::ranges::any_of(predicate_.columns, [&](const lang::PredicateColumn& column) {
      return !column.name.empty() && session_.names.symbols.text(column.name) == text;
    });
  }

  // A column that the program calls `weight` holds values.
  bool is_weight_name(std::string_view text) const {
    return std::ranges::find(kWeightNames, text) != std::end(kWeightNames) && !is_column_name(text);
  }

  // Texts alone could be a row, but one of names is none. (Where the predicate lacks a name, the
  // header is wrong, which is better said than loaded.)
  bool names_weight_and_column(const std::vector<std::string>& first) const {
    const auto any = [&](auto test) {
      return std::ranges::any_of(
          first, [&](const std::string& field) { return test(io::trimmed_name(field)); });
    };
    return any([&](std::string_view name) { return is_weight_name(name); }) &&
           any([&](std::string_view name) { return is_column_name(name); }) &&
           std::ranges::none_of(first, io::starts_like_number);
  }

  // The weight by its name in the header, where there is one. False after an error.
  bool find_weight(const std::vector<std::string>& first) {
    for (const std::string_view name : kWeightNames) {
      const auto is_it = [&](const std::string& field) { return io::trimmed_name(field) == name; };
      const auto copies = std::ranges::count_if(first, is_it);
      if (copies == 0 || !is_weight_name(name)) continue;
      if (copies > 1) {
        error(0, fmt::format("{} names the weight `{}` {} times", kHeader, name, copies));
        return false;
      }
      weight_field_ = static_cast<size_t>(std::ranges::find_if(first, is_it) - first.begin());
      return true;
    }
    return true;
  }

  // `names` are those of the fields in field_of_.
  void map_columns(const std::vector<std::string>& names) {
    std::vector<size_t> positions;
    const auto fault = header_.map_columns(names, false, std::string(kHeader), positions);
    if (fault) {
      Diagnostic& diagnostic = error(0, fault->message);
      for (const std::string& note : fault->notes) diagnostic.note(note);
      return;
    }
    for (size_t& position : positions) position = field_of_[position];
    field_of_ = std::move(positions);
  }

  bool could_be_row(const std::vector<std::string>& first) const {
    const std::vector<std::string> fields = without_weight(first);
    int64_t weight = 0;
    if (fields.size() != predicate_.arity) return false;
    if (weight_field_ && !parse_weight(first[*weight_field_], weight)) return false;
    Value ignored;
    for (size_t c = 0; c < fields.size(); ++c) {
      if (!io::parse_field(fields[c], predicate_.columns[c].type, session_.names, ignored)) {
        return false;
      }
    }
    return true;
  }

  // ---- Rows ----

  void add_row(size_t row) {
    if (scanner_.width() != width_) {
      error(row, fmt::format("{} fields, but the first line has {}", scanner_.width(), width_));
      return;
    }
    int64_t weight = 1;
    if (weight_field_ && !parse_weight(scanner_.field(row, *weight_field_), weight)) {
      error(row, fmt::format("the weight `{}` is no integer of 64 bits",
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
  io::Header header_;
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
