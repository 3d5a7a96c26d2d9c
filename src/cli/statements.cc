#include "cli/statements.h"

#include "lang/lexer.h"

namespace xlog::cli {
namespace {

using lang::Token;
using lang::TokenKind;

// Where the line that holds `at` ends.
size_t line_end(std::string_view text, size_t at) {
  const size_t newline = text.find('\n', at);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

// The end of an open block comment is still to come, so what it has swallowed is no statement yet.
bool has_open_comment(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics.all()) {
    if (d.code == Code::UnterminatedComment) return true;
  }
  return false;
}

}  // namespace

TypedText split_statements(std::string_view text) {
  TypedText result;
  SourceMap sources;
  Interner names;
  Diagnostics diagnostics;
  const SourceFile* file = sources.add("", "", std::string(text));
  if (file == nullptr) return {{{std::string(text), false, 0}}, ""};
  lang::Lexer lexer(*file, names, diagnostics, nullptr);

  size_t begin = 0;  // of the statement that is being read
  bool started = false, is_query = false, is_pragma = false;
  const auto finish = [&](size_t end) {
    result.statements.push_back({std::string(text.substr(begin, end - begin)), is_query, begin});
    begin = end;
    started = false;
  };
  while (true) {
    const Token token = lexer.next();
    const size_t at = token.span.begin - file->base;
    if (started && is_pragma && (token.kind == TokenKind::End || token.first_on_line)) {
      const size_t end = line_end(text, begin);
      if (end < text.size() || text.ends_with('\n')) finish(std::min(end, at));
    }
    if (token.kind == TokenKind::End) break;
    if (!started) {
      begin = at;
      started = true;
      is_query = token.kind == TokenKind::QueryMark;
      is_pragma = token.kind == TokenKind::Directive && names.text(token.name) == "pragma";
    }
    if (token.kind == TokenKind::Period) finish(token.span.end - file->base);
  }
  if (started || has_open_comment(diagnostics)) result.rest = std::string(text.substr(begin));
  return result;
}

}  // namespace xlog::cli
