#include "lang/pragmas.h"

#include <fmt/format.h>

namespace xlog::lang {

namespace {

std::string initial_text(const char* word) { return word; }
std::string initial_text(int number) { return fmt::format("{}", number); }
std::string initial_text(double number) { return fmt::format("{}", number); }

// "a|b|c" holds word as one of its parts.
bool is_listed(std::string_view values, std::string_view word) {
  while (!values.empty()) {
    const size_t bar = values.find('|');
    if (values.substr(0, bar) == word) return true;
    if (bar == std::string_view::npos) return false;
    values.remove_prefix(bar + 1);
  }
  return false;
}

struct Setter {
  const ast::Expr& value;
  const Interner& names;
  std::string_view values;

  bool set(std::string& field) const {
    if (value.kind != ast::ExprKind::Name && value.kind != ast::ExprKind::String) return false;
    const std::string_view word = names.text(value.name);
    if (!is_listed(values, word)) return false;
    field = word;
    return true;
  }

  bool set(uint64_t& field) const {
    if (value.kind != ast::ExprKind::Integer || value.negative) return false;
    const bool from_one = values.starts_with("1..");
    if (from_one && value.magnitude == 0) return false;
    field = value.magnitude;
    return true;
  }

  bool set(double& field) const {
    if (value.kind != ast::ExprKind::Float) return false;
    if (!(value.number > 0 && value.number < 1)) return false;
    field = value.number;
    return true;
  }
};

std::string what_fits(std::string_view values) {
  if (values == "0..1") return "a number between 0 and 1, both excluded";
  if (values.ends_with("..")) {
    return fmt::format("an integer from {}", values.substr(0, values.size() - 2));
  }
  std::string words(values);
  for (size_t at = words.find('|'); at != std::string::npos; at = words.find('|', at)) {
    words.replace(at, 1, ", ");
  }
  return "one of " + words;
}

bool refuse_value(const ast::PragmaDecl& pragma, std::string_view key, std::string_view values,
                  Diagnostics& diagnostics) {
  diagnostics
      .report(Code::InvalidPragmaValue, pragma.value.span,
              fmt::format("`{}` cannot have this value", key))
      .help(fmt::format("it takes {}", what_fits(values)));
  return false;
}

}  // namespace

const std::vector<PragmaInfo>& all_pragmas() {
  static const std::vector<PragmaInfo> pragmas = {
#define XLOG_PRAGMA(field, type, initial, values, help) \
  {#field, values, help, initial_text(initial)},
#include "lang/pragmas.def"
#undef XLOG_PRAGMA
  };
  return pragmas;
}

bool apply_pragma(const ast::PragmaDecl& pragma, const Interner& names, Pragmas& pragmas,
                  Diagnostics& diagnostics) {
  const std::string_view key = names.text(pragma.key);
#define XLOG_PRAGMA(field, type, initial, values, help)                      \
  if (key == #field) {                                                       \
    if (Setter{pragma.value, names, values}.set(pragmas.field)) return true; \
    return refuse_value(pragma, key, values, diagnostics);                   \
  }
#include "lang/pragmas.def"
#undef XLOG_PRAGMA

  std::vector<std::string_view> known;
  for (const PragmaInfo& info : all_pragmas()) known.push_back(info.name);
  Diagnostic& diagnostic = diagnostics.report(Code::UnknownPragma, pragma.key_span,
                                              fmt::format("there is no pragma `{}`", key));
  if (const auto near = did_you_mean(key, known)) {
    diagnostic.help(fmt::format("did you mean `{}`?", *near));
  } else {
    diagnostic.help("`xlog explain pragmas` lists them");
  }
  return false;
}

}  // namespace xlog::lang
