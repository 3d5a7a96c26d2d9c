#include "io/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "io/column_reader.h"
#include "io/csv_scan.h"
#include "io/field.h"

namespace xlog::io {
namespace {

constexpr size_t kRowsTogether = 1024;  // their fields stay in the processor's cache

std::string fields_text(size_t n) { return fmt::format("{} field{}", n, n == 1 ? "" : "s"); }

class CsvLoader {
 public:
  CsvLoader(ByteSource& source, FactLoader& loader) : scanner_(source), loader_(loader) {}

  bool load(const ByteSource& source) {
    if (!loader_.begin()) return false;
    field_of_.resize(loader_.arity());
    std::iota(field_of_.begin(), field_of_.end(), 0);
    fields_per_row_ = loader_.arity();
    scanner_.begin(loader_.name());
    ScanStatus status = scanner_.next(1);
    if (status == ScanStatus::Rows && is_header()) {
      if (!map_header()) return loader_.finish();
      status = scanner_.next(kRowsTogether);
    }
    for (; status != ScanStatus::End; status = scanner_.next(kRowsTogether)) {
      if (status == ScanStatus::Unreadable) {
        loader_.cannot_read(source.reason());
        break;
      }
      if (status == ScanStatus::Rows) {
        add_rows();
      } else {
        row_fault(status);
      }
      if (loader_.too_many_errors()) break;
    }
    return loader_.finish();
  }

 private:
  std::string place(size_t row) const {
    return fmt::format("{}:{}", loader_.name(), scanner_.line(row));
  }

  void row_fault(ScanStatus status) {
    if (status == ScanStatus::OpenQuote) {
      loader_.row_error(place(0), "a quoted field does not end")
          .help("a field that starts with `\"` ends with `\"`; write a quote inside it as `\"\"`");
    } else if (status == ScanStatus::TextAfterQuote) {
      loader_.row_error(place(0), "text after the closing quote of a field")
          .help("write a quote inside a quoted field as `\"\"`");
    } else {
      loader_
          .row_error(place(0), fmt::format("a row of more than {} MB",
                                           CsvScanner::kMaxRowBytes / (1024 * 1024)))
          .help("is a quote open? a field that starts with `\"` ends with `\"`");
    }
  }

  // ---- The first line ----

  bool is_header() {
    first_line_.clear();
    for (size_t i = 0; i < scanner_.width(); ++i) first_line_.emplace_back(scanner_.field(0, i));
    bool could_be_row = first_line_.size() == loader_.arity();
    for (size_t c = 0; c < loader_.arity() && could_be_row; ++c) {
      lang::Value ignored;
      could_be_row = parse_field(first_line_[c], loader_.type(c), loader_.names(), ignored);
    }
    return loader_.header().is_header(first_line_, could_be_row);
  }

  // With named columns the header says which field goes where; without, it is only skipped.
  bool map_header() {
    fields_per_row_ = first_line_.size();
    if (loader_.header().all_columns_named()) {
      return loader_.map_columns(first_line_, false, place(0), "the header in the first line",
                                 field_of_);
    }
    if (fields_per_row_ == loader_.arity()) return true;
    loader_.row_error(place(0), fmt::format("{}, but `{}` needs {}", fields_text(fields_per_row_),
                                            loader_.signature(), loader_.arity()));
    return false;
  }

  // ---- Rows ----

  void wrong_field_count(size_t row) {
    const std::string needed =
        first_line_is_wider() ? fmt::format("the header has {}", fields_per_row_)
                              : fmt::format("`{}` needs {}", loader_.signature(), fields_per_row_);
    loader_.row_error(place(row), fmt::format("{}, but {}", fields_text(scanner_.width()), needed));
  }
  bool first_line_is_wider() const { return fields_per_row_ != loader_.arity(); }

  void add_rows() {
    const size_t rows = scanner_.rows();
    if (scanner_.width() != fields_per_row_) {
      for (size_t row = 0; row < rows && !loader_.too_many_errors(); ++row) wrong_field_count(row);
      return;
    }
    bool all_fit = true;
    for (size_t c = 0; c < loader_.arity() && all_fit; ++c) {
      const FieldColumn fields{scanner_.fields() + field_of_[c], scanner_.width(), rows,
                               scanner_.is_ascii()};
      all_fit = reader_.append(fields, loader_.column(c), loader_.names());
    }
    if (all_fit) return loader_.end_rows(rows);
    loader_.drop_unfinished_row();
    for (size_t row = 0; row < rows; ++row) find_bad_fields(row);
  }

  void find_bad_fields(size_t row) {
    for (size_t c = 0; c < loader_.arity() && !loader_.too_many_errors(); ++c) {
      const std::string_view field = scanner_.field(row, field_of_[c]);
      lang::Value value;
      if (!parse_field(field, loader_.type(c), loader_.names(), value)) bad_field(row, c, field);
    }
  }

  void bad_field(size_t row, size_t column, std::string_view field) {
    Diagnostic& diagnostic =
        is_utf8(field)
            ? loader_.bad_value(place(row), column, fmt::format("`{}`", shown(field)))
            : loader_.row_error(place(row),
                                fmt::format("{} of `{}`: the text is not valid UTF-8",
                                            loader_.column_name(column), loader_.signature()));
    if (!loader_.is_declared()) {
      diagnostic.help(
          fmt::format("nothing declares `{}`, so its types come from the rules and from the data; "
                      "`{}` would fit "
                      "this row",
                      loader_.signature(), fitting_declaration(row)));
    }
  }

  // A declaration under which the row at hand could be read.
  std::string fitting_declaration(size_t row) {
    std::string types;
    for (size_t c = 0; c < loader_.arity(); ++c) {
      const std::string_view field = scanner_.field(row, field_of_[c]);
      lang::Value value;
      if (c > 0) types += ", ";
      if (parse_field(field, loader_.type(c), loader_.names(), value)) {
        types += lang::to_string(loader_.type(c));
      } else if (parse_field(field, {lang::TypeKind::I64, nullptr}, loader_.names(), value)) {
        types += "i64";
      } else {
        types += is_number(field) ? "f64" : "symbol";
      }
    }
    const std::string signature = loader_.signature();
    return fmt::format("pred {}({}).", signature.substr(0, signature.rfind('/')), types);
  }

  CsvScanner scanner_;
  FactLoader& loader_;
  ColumnReader reader_;
  std::vector<std::string> first_line_;
  std::vector<size_t> field_of_;  // by column
  size_t fields_per_row_ = 0;
};

}  // namespace

bool load_csv(ByteSource& source, FactLoader& loader) {
  return CsvLoader(source, loader).load(source);
}

}  // namespace xlog::io
