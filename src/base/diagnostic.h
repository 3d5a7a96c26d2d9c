// Diagnostics: everything xlog says to a user about a program or its data. One table of codes
// (diagnostic_codes.def), one sink, two renderings (text with carets, JSON).
//
//   Diagnostics diagnostics;
//   diagnostics.report(Code::UnknownPredicate, span, "nothing defines `egde/2`")
//       .label(declaration, "`edge/2` is declared here")
//       .help("did you mean `edge`?");
//   if (diagnostics.has_errors()) ...
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace xlog {

enum class Severity : uint8_t { Error, Warning, Note };

enum class Code : uint16_t {
#define XLOG_DIAGNOSTIC(name, code, severity, title, text) name,
#include "base/diagnostic_codes.def"
#undef XLOG_DIAGNOSTIC
};

struct CodeInfo {
  Code code;
  std::string_view name;  // "E0101"
  Severity severity;
  std::string_view title;  // one line
  std::string_view text;   // the long text of `xlog explain CODE`
};

const CodeInfo& code_info(Code code);
const std::vector<CodeInfo>& all_codes();
std::optional<Code> find_code(std::string_view name);  // "E0101", any case

struct Label {
  Span span;
  std::string text;
};

struct Diagnostic {
  Code code{};
  Severity severity = Severity::Error;
  Span span;          // the main place; empty when there is none in a source text
  std::string place;  // instead of a span: "data.csv:17", for places outside the sources
  std::string message;
  std::vector<Label> labels;  // secondary places: "type came from here"
  std::vector<std::string> notes;
  std::string help_text;  // what to do

  Diagnostic& label(Span at, std::string text);
  Diagnostic& note(std::string text);
  Diagnostic& help(std::string text);
  Diagnostic& at(std::string outside_place);
};

// Collects what was reported, in order. The severity of a code comes from the table.
class Diagnostics {
 public:
  static constexpr size_t kMaxErrors = 100;  // further errors are counted, not kept

  Diagnostic& report(Code code, Span span, std::string message);

  bool has_errors() const { return error_count_ > 0; }
  size_t error_count() const { return error_count_; }
  bool full() const { return error_count_ >= kMaxErrors; }
  const std::deque<Diagnostic>& all() const { return items_; }
  void clear();

 private:
  std::deque<Diagnostic> items_;  // a deque: references handed out stay valid
  Diagnostic dropped_;
  size_t error_count_ = 0;
};

std::string_view spelling(Severity severity);  // "error"

// As they are shown: by place, those without a place in a source text last, otherwise as reported.
std::vector<const Diagnostic*> in_order_of_place(const Diagnostics& diagnostics);

struct RenderOptions {
  bool color = false;
  uint32_t width = 120;  // longer source lines are shown as a window around the caret
  bool errors_only = false;
};

// "error[E0101]: message\n  --> file:3:7\n ..." for each, ordered by place, then a closing count.
std::string render_text(const Diagnostics& diagnostics, const SourceMap& sources,
                        const RenderOptions& options = {});
std::string render_text(const Diagnostic& diagnostic, const SourceMap& sources,
                        const RenderOptions& options = {});

// A JSON array of {code, severity, message, file, line, column, end_line, end_column, labels,
// notes, help}.
std::string render_json(const Diagnostics& diagnostics, const SourceMap& sources,
                        bool errors_only = false);

// The candidate nearest to `name` by edit distance, if near enough to be worth asking about.
std::optional<std::string> did_you_mean(std::string_view name,
                                        const std::vector<std::string_view>& candidates);

}  // namespace xlog
