// The parser's view of a text: tokens with a short look ahead, what to say when one does not fit,
// and how to find the next statement afterwards. A parse function returns false when it has
// reported an error; the statement is then given up.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "lang/lexer.h"

namespace xlog::lang {

class TokenStream {
 public:
  TokenStream(const SourceFile& file, Interner& interner, Diagnostics& diagnostics,
              std::vector<ast::Comment>* comments)
      : lexer(file, interner, diagnostics, comments), names(interner) {}

  Lexer lexer;
  Interner& names;
  int depth = 0;             // of brackets and prefix operators around the next token
  bool in_function = false;  // inside `func`, where `if (` starts a conditional

  const Token& peek(size_t ahead = 0);
  Token take();
  bool at(TokenKind kind) { return peek().kind == kind; }
  bool at(Word word) { return peek().word == word; }
  bool accept(TokenKind kind);
  const Token& previous() const { return previous_; }
  // No token has been looked at beyond the last one taken: the text may be read from
  // lexer.position().
  bool at_boundary() const { return count_ == 0; }

  // "expected WHAT, found ...". Silent when the token is an Error, which has been reported already.
  Diagnostic& unexpected(std::string_view what);
  bool fail(std::string_view what, std::string help = {});  // unexpected(), then false
  bool expect(TokenKind kind, std::string_view what);
  // A closing bracket; shows where it was opened.
  bool expect_close(TokenKind kind, std::string_view what, Span open);
  bool too_deep(Span span);

  // The period of a statement that started at `begin`. Without one: MissingPeriod when the next
  // token looks like the start of another statement (which is then read as such), else "expected
  // WHAT".
  bool finish_statement(uint32_t begin, std::string_view what);
  // After an error: past the period that ends the statement, or to a line that clearly starts
  // another one.
  void skip_statement();
  // Drops the rest of the line of the token just taken; skip_statement() then stays there.
  void skip_line();

 private:
  bool starts_new_line_statement();

  std::array<Token, 8> buffer_;  // a ring; look ahead is at most 6
  size_t head_ = 0;
  size_t count_ = 0;
  Token previous_;
  bool line_skipped_ = false;
  Diagnostic silent_;
};

// Counts one level of nesting while it lives.
class Nesting {
 public:
  explicit Nesting(TokenStream& stream) : stream_(stream) { ++stream_.depth; }
  ~Nesting() { --stream_.depth; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  bool too_deep() const { return stream_.depth > ast::kMaxDepth; }

 private:
  TokenStream& stream_;
};

// "`foo`", "the variable `X`", "the end of the file".
std::string describe(const Token& token, const Lexer& lexer);

}  // namespace xlog::lang
