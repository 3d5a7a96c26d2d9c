#include "io/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/text.h"
#include "io/csv_scan.h"
#include "io/field.h"
#include "io/file.h"

namespace xlog::io {
namespace {

using lang::Predicate;
using lang::PredId;
using lang::Program;
using lang::Session;

constexpr size_t kMaxErrorsPerFile = 10;
constexpr size_t kShownText = 40;  // of a field that does not fit

std::string shown(std::string_view text) {
  std::string out = printable(text.substr(0, kShownText));
  if (text.size() > kShownText) out += "...";
  return out;
}

std::string fields_text(size_t n) { return fmt::format("{} field{}", n, n == 1 ? "" : "s"); }

// Reads one file into one predicate.
class Loader {
 public:
  Loader(std::string_view text, const std::string& name, PredId pred, Program& program,
         Session& session)
      : scanner_(text, delimiter_of(name, text)),
        name_(name),
        predicate_(program[pred]),
        session_(session) {}

  bool load() {
    if (!columns_can_be_read()) return false;
    prepare_table();
    const size_t rows_before = table().rows;
    ScanStatus status = scanner_.next();
    if (status == ScanStatus::Row && is_header()) {
      if (!map_header()) return false;
      status = scanner_.next();
    }
    for (; status != ScanStatus::End; status = scanner_.next()) {
      if (status == ScanStatus::Row) {
        add_row();
      } else {
        quote_error(status);
      }
      if (errors_ >= kMaxErrorsPerFile) break;
    }
    if (errors_ == 0) {
      for (lang::FactColumn& column : table().columns) column.shrink_to_fit();
      if (table().rows > rows_before) table().runs.push_back({rows_before, 0});
      return true;
    }
    for (lang::FactColumn& column : table().columns) column.truncate(rows_before);
    table().rows = rows_before;
    return false;
  }

 private:
  lang::FactTable& table() { return *predicate_.facts; }
  const lang::Type& type(size_t column) const { return predicate_.columns[column].type; }

  std::string column_name(size_t column) const {
    const Symbol name = predicate_.columns[column].name;
    return name.empty() ? fmt::format("column {}", column + 1)
                        : fmt::format("column `{}`", session_.names.symbols.text(name));
  }
  std::string signature() const { return lang::predicate_signature(predicate_, session_.names); }

  Diagnostic& row_error(std::string message) {
    ++errors_;
    Diagnostic& diagnostic = session_.diagnostics.report(Code::BadDataRow, {}, std::move(message));
    diagnostic.at(fmt::format("{}:{}", name_, scanner_.line()));
    if (errors_ == kMaxErrorsPerFile) {
      diagnostic.note("the rest of the file was not read: too many errors");
    }
    return diagnostic;
  }

  void quote_error(ScanStatus status) {
    if (status == ScanStatus::OpenQuote) {
      row_error("a quoted field does not end")
          .help("a field that starts with `\"` ends with `\"`; write a quote inside it as `\"\"`");
    } else {
      row_error("text after the closing quote of a field")
          .help("write a quote inside a quoted field as `\"\"`");
    }
  }

  bool columns_can_be_read() {
    if (predicate_.arity == 0) {
      session_.diagnostics
          .report(Code::NotSupportedByEngine, predicate_.span,
                  fmt::format("`{}` has no columns to load from a file", signature()))
          .at(name_)
          .help("state it as a fact in the program");
      return false;
    }
    for (size_t c = 0; c < predicate_.arity; ++c) {
      if (type(c).kind != lang::TypeKind::List && type(c).kind != lang::TypeKind::Compound)
        continue;
      session_.diagnostics
          .report(
              Code::NotSupportedByEngine, predicate_.columns[c].type_span,
              fmt::format("{} of `{}` is of type {}, which cannot be read from a CSV or TSV file",
                          column_name(c), signature(), lang::to_string(type(c))))
          .at(name_)
          .help(
              "write these rows as facts in the program, or load their parts into other relations");
      return false;
    }
    return true;
  }

  void prepare_table() {
    if (!predicate_.facts) {
      predicate_.facts = std::make_unique<lang::FactTable>();
      table().name = predicate_.name;
      table().strong_negation = predicate_.strong_negation;
      table().arity = predicate_.arity;
      table().columns.resize(predicate_.arity);
    }
    for (size_t c = 0; c < predicate_.arity; ++c)
      table().columns[c].convert(type(c), session_.names);
    field_of_.resize(predicate_.arity);
    for (size_t c = 0; c < predicate_.arity; ++c) field_of_[c] = c;
  }

  bool all_columns_named() const {
    return std::none_of(predicate_.columns.begin(), predicate_.columns.end(),
                        [](const lang::PredicateColumn& column) { return column.name.empty(); });
  }

  // The field of the header with the name of a column, or the number of fields.
  size_t header_field(size_t column) const {
    const std::string_view name = session_.names.symbols.text(predicate_.columns[column].name);
    const auto& fields = scanner_.fields();
    const auto found = std::find_if(fields.begin(), fields.end(), [&](std::string_view field) {
      while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
      while (!field.empty() && field.back() == ' ') field.remove_suffix(1);
      return field == name;
    });
    return static_cast<size_t>(found - fields.begin());
  }

  bool is_header() {
    const auto& fields = scanner_.fields();
    if (all_columns_named()) {
      bool holds_all_names = true;
      for (size_t c = 0; c < predicate_.arity && holds_all_names; ++c) {
        holds_all_names = header_field(c) < fields.size();
      }
      if (holds_all_names) return true;
    }
    bool could_be_row = fields.size() == predicate_.arity;
    for (size_t c = 0; c < predicate_.arity && could_be_row; ++c) {
      lang::Value ignored;
      could_be_row = parse_field(fields[c], type(c), session_.names, ignored);
    }
    return !could_be_row && std::none_of(fields.begin(), fields.end(), starts_like_number);
  }

  // With named columns the header says which field goes where; without, it is only skipped.
  bool map_header() {
    fields_per_row_ = scanner_.fields().size();
    if (!all_columns_named()) {
      if (fields_per_row_ == predicate_.arity) return true;
      wrong_field_count();
      return false;
    }
    std::string given;
    for (const std::string_view field : scanner_.fields()) {
      given += (given.empty() ? "" : ", ") + shown(field);
    }
    for (size_t c = 0; c < predicate_.arity; ++c) {
      field_of_[c] = header_field(c);
      if (field_of_[c] < fields_per_row_) continue;
      row_error(
          fmt::format("the first line is a header without {} of `{}`", column_name(c), signature()))
          .note(fmt::format("the line reads: {}", given))
          .help("name the columns as in the `pred` declaration, in any order");
    }
    return errors_ == 0;
  }

  void wrong_field_count() {
    row_error(fmt::format("{}, but `{}` needs {}", fields_text(scanner_.fields().size()),
                          signature(), fields_per_row_ == 0 ? predicate_.arity : fields_per_row_));
  }

  void add_row() {
    const auto& fields = scanner_.fields();
    const size_t needed = fields_per_row_ == 0 ? predicate_.arity : fields_per_row_;
    if (fields.size() != needed) return wrong_field_count();
    for (size_t c = 0; c < predicate_.arity; ++c) {
      const std::string_view field = fields[field_of_[c]];
      lang::Value value;
      if (!parse_field(field, type(c), session_.names, value)) {
        bad_field(c, field);
        value.bits = 0;  // keeps the columns of equal length; everything is dropped in the end
      }
      table().columns[c].append_typed(value);
    }
    ++table().rows;
  }

  void bad_field(size_t column, std::string_view field) {
    if (errors_ >= kMaxErrorsPerFile) return;
    const std::string type_name = lang::to_string(type(column));
    std::string message = is_utf8(field)
                              ? fmt::format("{} of `{}`: `{}` is not a {}", column_name(column),
                                            signature(), shown(field), type_name)
                              : fmt::format("{} of `{}`: the text is not valid UTF-8",
                                            column_name(column), signature());
    Diagnostic& diagnostic = row_error(std::move(message));
    if (!predicate_.declared) {
      diagnostic.help(
          fmt::format("nothing declares `{}`, so its types come from the rules; `{}` would fit "
                      "this row",
                      signature(), fitting_declaration()));
    }
  }

  // A declaration under which the row at hand could be read.
  std::string fitting_declaration() {
    std::string types;
    for (size_t c = 0; c < predicate_.arity; ++c) {
      const std::string_view field = scanner_.fields()[field_of_[c]];
      lang::Value value;
      if (c > 0) types += ", ";
      if (parse_field(field, type(c), session_.names, value)) {
        types += lang::to_string(type(c));
      } else if (parse_field(field, {lang::TypeKind::I64, nullptr}, session_.names, value)) {
        types += "i64";
      } else {
        types += is_number(field) ? "f64" : "symbol";
      }
    }
    return fmt::format("pred {}({}).", session_.names.symbols.text(predicate_.name), types);
  }

  CsvScanner scanner_;
  const std::string& name_;
  Predicate& predicate_;
  Session& session_;
  std::vector<size_t> field_of_;  // by column
  size_t fields_per_row_ = 0;     // 0: the number of columns
  size_t errors_ = 0;
};

// "edge" or "edge/2" -> the predicate that loading the program marked for it.
PredId find_relation(const Input& input, const Program& program, const Session& session) {
  for (uint32_t i = 0; i < program.predicates.size(); ++i) {
    const Predicate& predicate = program.predicates[i];
    if (!predicate.is_input) continue;
    const bool named = input.relation == lang::predicate_name(predicate, session.names) ||
                       input.relation == lang::predicate_signature(predicate, session.names);
    if (named) return {i};
  }
  XLOG_UNREACHABLE("loading the program checked that each --input has one relation");
}

}  // namespace

bool load_csv(std::string_view text, const std::string& name, PredId pred, Program& program,
              Session& session) {
  return Loader(text, name, pred, program, session).load();
}

bool load_inputs(const std::vector<Input>& inputs, Program& program, Session& session) {
  bool ok = true;
  for (const Input& input : inputs) {
    const PredId pred = find_relation(input, program, session);
    std::string reason;
    const std::optional<std::string> text = read_file(input.path, reason);
    if (!text) {
      session.diagnostics.report(Code::CannotReadFile, {},
                                 fmt::format("cannot read `{}`: {}", input.path, reason));
      ok = false;
      continue;
    }
    ok = load_csv(*text, input.path, pred, program, session) && ok;
  }
  return ok;
}

}  // namespace xlog::io
