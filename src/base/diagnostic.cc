#include "base/diagnostic.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace xlog {

const std::vector<CodeInfo>& all_codes() {
  static const std::vector<CodeInfo> table = {
#define XLOG_DIAGNOSTIC(name, code, severity, title, text) \
  {Code::name, code, Severity::severity, title, text},
#include "base/diagnostic_codes.def"
#undef XLOG_DIAGNOSTIC
  };
  return table;
}

const CodeInfo& code_info(Code code) { return all_codes()[static_cast<size_t>(code)]; }

std::optional<Code> find_code(std::string_view name) {
  const auto same_letter = [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) ==
           std::toupper(static_cast<unsigned char>(b));
  };
  for (const CodeInfo& info : all_codes()) {
    if (std::ranges::equal(info.name, name, same_letter)) return info.code;
  }
  return std::nullopt;
}

Diagnostic& Diagnostic::label(Span at, std::string text) {
  labels.push_back({at, std::move(text)});
  return *this;
}

Diagnostic& Diagnostic::note(std::string text) {
  notes.push_back(std::move(text));
  return *this;
}

Diagnostic& Diagnostic::help(std::string text) {
  help_text = std::move(text);
  return *this;
}

Diagnostic& Diagnostic::at(std::string outside_place) {
  place = std::move(outside_place);
  return *this;
}

Diagnostic& Diagnostics::report(Code code, Span span, std::string message) {
  const Severity severity = code_info(code).severity;
  const bool keep = severity != Severity::Error || !full();
  if (severity == Severity::Error) ++error_count_;
  Diagnostic& diagnostic = keep ? items_.emplace_back() : (dropped_ = Diagnostic{});
  diagnostic.code = code;
  diagnostic.severity = severity;
  diagnostic.span = span;
  diagnostic.message = std::move(message);
  return diagnostic;
}

std::string_view spelling(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Note:
      return "note";
  }
  return "";
}

std::vector<const Diagnostic*> in_order_of_place(const Diagnostics& diagnostics) {
  std::vector<const Diagnostic*> ordered;
  for (const Diagnostic& d : diagnostics.all()) ordered.push_back(&d);
  std::stable_sort(ordered.begin(), ordered.end(), [](const Diagnostic* a, const Diagnostic* b) {
    if (a->span.empty() || b->span.empty()) return !a->span.empty() && b->span.empty();
    return a->span.begin < b->span.begin;
  });
  return ordered;
}

void Diagnostics::clear() {
  items_.clear();
  error_count_ = 0;
}

}  // namespace xlog
