#include "io/fact_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/memory.h"
#include "base/text.h"
#include "logic/memory_report.h"

namespace xlog::io {
namespace {

constexpr size_t kShownText = 40;

}  // namespace

std::string shown(std::string_view text) {
  std::string out = printable(text.substr(0, kShownText));
  if (text.size() > kShownText) out += "...";
  return out;
}

FactLoader::FactLoader(std::string name, lang::PredId pred, lang::Program& program,
                       lang::Session& session, uint64_t memory_limit)
    : name_(std::move(name)),
      predicate_(program[pred]),
      session_(session),
      memory_limit_(memory_limit) {}

std::string FactLoader::signature() const {
  return lang::predicate_signature(predicate_, session_.names);
}

bool FactLoader::begin() {
  if (!columns_can_be_read()) return false;
  if (!predicate_.facts) {
    predicate_.facts = std::make_unique<lang::FactTable>();
    table().name = predicate_.name;
    table().strong_negation = predicate_.strong_negation;
    table().arity = predicate_.arity;
    table().columns.resize(predicate_.arity);
  }
  for (size_t c = 0; c < arity(); ++c) column(c).convert(type(c), session_.names);
  rows_before_ = table().rows;
  return true;
}

bool FactLoader::columns_can_be_read() {
  if (predicate_.arity == 0) {
    session_.diagnostics
        .report(Code::NotSupportedByEngine, predicate_.span,
                fmt::format("`{}` has no columns to load from a file", signature()))
        .at(name_)
        .help("state it as a fact in the program");
    return false;
  }
  for (size_t c = 0; c < arity(); ++c) {
    if (type(c).kind != lang::TypeKind::List && type(c).kind != lang::TypeKind::Compound) continue;
    session_.diagnostics
        .report(Code::NotSupportedByEngine, predicate_.columns[c].type_span,
                fmt::format("{} of `{}` is of type {}, which cannot be read from a data file",
                            column_name(c), signature(), lang::to_string(type(c))))
        .at(name_)
        .help("write these rows as facts in the program, or load their parts into other relations");
    return false;
  }
  return true;
}

void FactLoader::check_memory() {
  unchecked_rows_ = 0;
  const uint64_t used = own_memory();
  if (used <= memory_limit_) return;
  uint64_t row_bytes = 0;
  for (size_t c = 0; c < arity(); ++c) row_bytes += lang::width(type(c).kind);
  logic::report_memory_shortage(
      {.limit = memory_limit_,
       .doing = fmt::format("rows of `{}` were loaded", signature()),
       .place = name_,
       .details = fmt::format("the process takes {}", size_text(used)),
       .largest = logic::RelationSize{signature(), rows(), rows() * row_bytes}},
      session_);
  errors_ = kMaxErrors;
}

bool FactLoader::finish() {
  if (memory_limit_ > 0 && errors_ == 0) check_memory();
  if (errors_ == 0) {
    for (lang::FactColumn& c : table().columns) c.shrink_to_fit();
    if (table().rows > rows_before_) table().runs.push_back({rows_before_, 0});
    return true;
  }
  table().rows = rows_before_;
  drop_unfinished_row();
  return false;
}

void FactLoader::drop_unfinished_row() {
  for (lang::FactColumn& c : table().columns) c.truncate(table().rows);
}

bool FactLoader::map_columns(const std::vector<std::string>& given, bool any_case,
                             const std::string& place, const std::string& what_names_them,
                             std::vector<size_t>& positions) {
  const auto fault = header().map_columns(given, any_case, what_names_them, positions);
  if (!fault) return true;
  Diagnostic& diagnostic = row_error(place, fault->message);
  for (const std::string& note : fault->notes) diagnostic.note(note);
  return false;
}

// ---- Errors ----

Diagnostic& FactLoader::row_error(const std::string& place, std::string message) {
  ++errors_;
  Diagnostic& diagnostic = session_.diagnostics.report(Code::BadDataRow, {}, std::move(message));
  diagnostic.at(place);
  if (errors_ == kMaxErrors) {
    diagnostic.note("the rest of the file was not read: too many errors");
  }
  return diagnostic;
}

Diagnostic& FactLoader::bad_value(const std::string& place, size_t column,
                                  const std::string& shown_value) {
  return row_error(place, fmt::format("{} of `{}`: {} is not a {}", column_name(column),
                                      signature(), shown_value, lang::to_string(type(column))));
}

void FactLoader::cannot_read(const std::string& reason) {
  ++errors_;
  session_.diagnostics.report(Code::CannotReadFile, {},
                              fmt::format("cannot read `{}`: {}", name_, reason));
}

}  // namespace xlog::io
