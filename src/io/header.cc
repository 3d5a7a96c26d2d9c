#include "io/header.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/fact_loader.h"
#include "io/field.h"

namespace xlog::io {
namespace {

constexpr size_t kShownNames = 20;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same_name(std::string_view a, std::string_view b, bool any_case) {
  return std::ranges::equal(
      a, b, [&](char x, char y) { return x == y || (any_case && lower(x) == lower(y)); });
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kShownNames); ++i) {
    out += (i == 0 ? "" : ", ") + shown(names[i]);
  }
  return names.size() > kShownNames ? out + ", ..." : out;
}

}  // namespace

std::string_view trimmed_name(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool Header::all_columns_named() const {
  return std::none_of(predicate_.columns.begin(), predicate_.columns.end(),
                      [](const lang::PredicateColumn& column) { return column.name.empty(); });
}

bool Header::is_header(const std::vector<std::string>& first_line, bool could_be_row) const {
  if (all_columns_named()) {
    bool holds_all_names = true;
    for (size_t c = 0; c < predicate_.arity && holds_all_names; ++c) {
      holds_all_names = find_column(c, first_line, false) < first_line.size();
    }
    if (holds_all_names) return true;
  }
  return !could_be_row && std::ranges::none_of(first_line, starts_like_number);
}

std::string Header::column_name(size_t column) const {
  const Symbol name = predicate_.columns[column].name;
  return name.empty() ? fmt::format("column {}", column + 1)
                      : fmt::format("column `{}`", names_.symbols.text(name));
}

size_t Header::find_column(size_t column, const std::vector<std::string>& given,
                           bool any_case) const {
  const std::string_view name = names_.symbols.text(predicate_.columns[column].name);
  const auto found = std::ranges::find_if(given, [&](const std::string& candidate) {
    return same_name(trimmed_name(candidate), name, any_case);
  });
  return static_cast<size_t>(found - given.begin());
}

std::optional<Header::Fault> Header::map_columns(const std::vector<std::string>& given,
                                                 bool any_case, const std::string& what_names_them,
                                                 std::vector<size_t>& positions) const {
  const std::string signature = lang::predicate_signature(predicate_, names_);
  positions.assign(predicate_.arity, 0);
  std::vector<std::string> declared;
  std::vector<std::string> missing;
  for (size_t c = 0; c < predicate_.arity; ++c) {
    const std::string_view name = names_.symbols.text(predicate_.columns[c].name);
    declared.emplace_back(name);
    positions[c] = find_column(c, given, any_case);
    if (positions[c] == given.size()) {
      missing.push_back(column_name(c));
      continue;
    }
    const auto copies = std::ranges::count_if(given, [&](const std::string& candidate) {
      return same_name(trimmed_name(candidate), name, any_case);
    });
    if (copies > 1) {
      return Fault{fmt::format("{} names {} of `{}` {} times", what_names_them, column_name(c),
                               signature, copies),
                   {}};
    }
  }
  if (missing.empty()) return std::nullopt;
  return Fault{
      fmt::format("{} does not name {} of `{}`", what_names_them, joined(missing), signature),
      {fmt::format("`{}` has the columns: {}", signature, joined(declared)),
       fmt::format("the file has the columns: {}", joined(given))}};
}

}  // namespace xlog::io
