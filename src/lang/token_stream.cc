#include "lang/token_stream.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace xlog::lang {

const Token& TokenStream::peek(size_t ahead) {
  while (count_ <= ahead) buffer_[(head_ + count_++) % buffer_.size()] = lexer.next();
  return buffer_[(head_ + ahead) % buffer_.size()];
}

Token TokenStream::take() {
  previous_ = peek();
  if (previous_.kind == TokenKind::End) return previous_;  // it stays
  head_ = (head_ + 1) % buffer_.size();
  --count_;
  return previous_;
}

bool TokenStream::accept(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

std::string describe(const Token& token, const Lexer& lexer) {
  constexpr size_t kLongest = 40;
  if (token.kind == TokenKind::End) return "the end of the file";
  std::string text = printable(lexer.text(token.span).substr(0, kLongest));
  if (token.span.end - token.span.begin > kLongest) text += "...";
  switch (token.kind) {
    case TokenKind::Variable:
      return fmt::format("the variable `{}`", text);
    case TokenKind::Integer:
    case TokenKind::Float:
      return fmt::format("the number {}", text);
    case TokenKind::String:
      return fmt::format("the string {}", text);
    default:
      return fmt::format("`{}`", text);
  }
}

Diagnostic& TokenStream::unexpected(std::string_view what) {
  const Token& token = peek();
  if (token.kind == TokenKind::Error) return silent_ = Diagnostic{};
  return lexer.report(Code::UnexpectedToken, token.span,
                      fmt::format("expected {}, found {}", what, describe(token, lexer)));
}

bool TokenStream::fail(std::string_view what, std::string help) {
  Diagnostic& diagnostic = unexpected(what);
  if (!help.empty()) diagnostic.help(std::move(help));
  return false;
}

bool TokenStream::expect(TokenKind kind, std::string_view what) {
  return accept(kind) || fail(what);
}

bool TokenStream::expect_close(TokenKind kind, std::string_view what, Span open) {
  if (accept(kind)) return true;
  unexpected(what).label(open, "opened here");
  return false;
}

bool TokenStream::too_deep(Span span) {
  lexer
      .report(Code::NestedTooDeeply, span,
              fmt::format("this is nested more than {} levels deep", ast::kMaxDepth))
      .help("split it with helper variables or helper predicates");
  return false;
}

// ---- Between statements ----

namespace {

bool can_start_statement(const Token& token) {
  switch (token.kind) {
    case TokenKind::Identifier:
      return !is_reserved(token.word);
    case TokenKind::Variable:
    case TokenKind::Float:
    case TokenKind::Integer:
    case TokenKind::Directive:
    case TokenKind::QueryMark:
    case TokenKind::If:
    case TokenKind::LeftBrace:
      return true;
    default:
      return false;
  }
}

// A token after which a statement surely goes on.
bool joins(const Token& token) {
  switch (token.kind) {
    case TokenKind::If:
    case TokenKind::QueryMark:
    case TokenKind::DoubleColon:
    case TokenKind::Comma:
    case TokenKind::Semicolon:
    case TokenKind::Bar:
    case TokenKind::Colon:
    case TokenKind::LeftParen:
    case TokenKind::LeftBracket:
    case TokenKind::LeftBrace:
    case TokenKind::Equal:
      return true;
    case TokenKind::Identifier:
      return is_reserved(token.word);
    default:
      return false;
  }
}

bool is_space_or_comment(std::string_view rest) {
  return rest.empty() || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n' ||
         rest[0] == '%' || rest.starts_with("//") || rest.starts_with("/*");
}

}  // namespace

bool TokenStream::finish_statement(uint32_t begin, std::string_view what) {
  if (accept(TokenKind::Period)) return true;
  const Token& next = peek();
  const bool at_end = next.kind == TokenKind::End;
  const bool new_line = next.first_on_line && can_start_statement(next);
  // A line that is indented deeper than the statement rather lacks a comma than a period.
  if (at_end || (new_line && lexer.column(next.span.begin) <= lexer.column(begin))) {
    const uint32_t end = previous_.span.end;
    lexer.report(Code::MissingPeriod, {end, end}, "this statement does not end with a period")
        .help("add `.` here");
    return true;
  }
  if (new_line) return fail(what, "is a `,` missing at the end of the line before?");
  if (at(TokenKind::Less) && peek(1).kind == TokenKind::Minus) {
    return fail(what, "a rule is written `head :- body`");
  }
  if (at(TokenKind::Semicolon) || at(TokenKind::Bar)) {
    return fail(what, "alternatives in a body are written as several rules with the same head");
  }
  return fail(what);
}

bool TokenStream::starts_new_line_statement() {
  const Token& token = peek();
  if (!token.first_on_line || !can_start_statement(token) || joins(previous_)) return false;
  return lexer.column(token.span.begin) == 0;
}

void TokenStream::skip_line() {
  if (at_boundary()) lexer.skip_line();
  line_skipped_ = true;
}

void TokenStream::skip_statement() {
  if (std::exchange(line_skipped_, false)) return;
  while (!at(TokenKind::End) && !lexer.full()) {
    if (starts_new_line_statement()) return;
    if (take().kind != TokenKind::Period) continue;
    const char* after = lexer.pointer(previous_.span.end);
    if (is_space_or_comment({after, static_cast<size_t>(lexer.text_end() - after)})) return;
  }
}

}  // namespace xlog::lang
