// Text -> tokens, one at a time. The parser pulls them; the bulk fact reader (lang/bulk_facts.h)
// works on the text itself and only moves the lexer along.
//
//   Lexer lexer(file, names, diagnostics, nullptr);
//   for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) ...
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "base/symbol.h"
#include "lang/ast.h"

namespace xlog::lang {

// Punctuation, once: the longest spelling that fits wins. X(name, spelling)
#define XLOG_PUNCTUATION(X) \
  X(Univ, "=..")            \
  X(If, ":-")               \
  X(QueryMark, "?-")        \
  X(DoubleColon, "::")      \
  X(DotDot, "..")           \
  X(EqualEqual, "==")       \
  X(NotEqual, "!=")         \
  X(LessEqual, "<=")        \
  X(GreaterEqual, ">=")     \
  X(Arrow, "->")            \
  X(Equal, "=")             \
  X(Less, "<")              \
  X(Greater, ">")           \
  X(Plus, "+")              \
  X(Minus, "-")             \
  X(Star, "*")              \
  X(Slash, "/")             \
  X(Percent, "%")           \
  X(Bar, "|")               \
  X(Semicolon, ";")         \
  X(Comma, ",")             \
  X(Period, ".")            \
  X(Colon, ":")             \
  X(LeftParen, "(")         \
  X(RightParen, ")")        \
  X(LeftBracket, "[")       \
  X(RightBracket, "]")      \
  X(LeftBrace, "{")         \
  X(RightBrace, "}")        \
  X(Hash, "#")

enum class TokenKind : uint8_t {
  End,
  Error,       // already reported; the parser gives up the statement without another word
  Identifier,  // edge
  Variable,    // X, _X
  Anonymous,   // _
  Integer,
  Float,
  String,
  Directive,  // #const, #pragma: name without the #
#define X(name, spelling) name,
  XLOG_PUNCTUATION(X)
#undef X
};

std::string_view spelling(TokenKind kind);  // of punctuation: ":-"

// Words with a meaning somewhere. Only the first four are reserved; the others are ordinary names
// elsewhere.
#define XLOG_WORDS(X)                \
  X(Not, "not")                      \
  X(Know, "know")                    \
  X(Possible, "possible")            \
  X(Is, "is")                        \
  X(If, "if")                        \
  X(Then, "then")                    \
  X(Else, "else")                    \
  X(Pred, "pred")                    \
  X(Func, "func")                    \
  X(Domain, "domain")                \
  X(Use, "use")                      \
  X(Private, "private")              \
  X(Count, "count")                  \
  X(Sum, "sum")                      \
  X(Min, "min")                      \
  X(Max, "max")                      \
  X(Avg, "avg")                      \
  X(LogSumExp, "logsumexp")          \
  X(TrainableRule, "trainable_rule") \
  X(Weight, "weight")

enum class Word : uint8_t {
  None,
#define X(name, spelling) name,
  XLOG_WORDS(X)
#undef X
};

Word find_word(std::string_view text);
inline bool is_reserved(Word word) { return word >= Word::Not && word <= Word::Is; }
inline bool is_aggregate(Word word) { return word >= Word::Count && word <= Word::LogSumExp; }

struct Token {
  TokenKind kind = TokenKind::End;
  Word word = Word::None;      // of an Identifier
  bool first_on_line = false;  // nothing but white space and comments before it on its line
  Span span;
  Symbol name;  // names, the unescaped text of a String, the spelling of a number that print()
                // would spell otherwise
  uint64_t magnitude = 0;  // Integer
  double number = 0;       // Float
};

class Lexer {
 public:
  // Collects comments into `comments` unless it is null. The text must stay alive.
  Lexer(const SourceFile& file, Interner& names, Diagnostics& diagnostics,
        std::vector<ast::Comment>* comments);

  Token next();
  void skip_trivia();  // white space and comments
  void skip_line();    // to the end of the line

  const char* position() const { return at_; }
  const char* text_end() const { return end_; }
  // Moves on over text that somebody else has read.
  void set_position(const char* at) {
    at_ = at;
    first_on_line_ = false;
  }
  uint32_t offset(const char* at) const { return base_ + static_cast<uint32_t>(at - begin_); }
  const char* pointer(uint32_t offset) const { return begin_ + (offset - base_); }
  std::string_view text(Span span) const { return {pointer(span.begin), span.end - span.begin}; }
  uint32_t column(uint32_t offset) const;  // bytes since the start of the line

  Diagnostic& report(Code code, Span span, std::string message);
  bool full() const { return diagnostics_.full(); }
  // Says on the last diagnostic that reading stopped because there were too many.
  void note_that_reading_stopped();

 private:
  Token make(TokenKind kind, const char* begin);
  Token word(const char* begin);
  Token number(const char* begin);
  Token integer(const char* begin, std::string_view digits, int base);
  Token floating(const char* begin, const std::string& digits);
  Token invalid_number(const char* begin, const char* message);
  Token string(const char* begin);
  void escape(std::string& text);
  Token directive(const char* begin);
  Token punctuation(const char* begin);
  Token unexpected_character(const char* begin);
  void skip_block_comment();
  void keep_comment(const char* begin, const char* end);

  const char* begin_;
  const char* at_;
  const char* end_;  // *end_ is NUL
  uint32_t base_;
  bool first_on_line_ = true;
  Interner& names_;
  Diagnostics& diagnostics_;
  std::vector<ast::Comment>* comments_;
  Diagnostic* last_ = nullptr;
};

// Reports the places of a text that are not UTF-8 (the first few, and how many more there are).
void check_utf8(const SourceFile& file, Diagnostics& diagnostics);

// A text as a string token: the inverse of reading one.
std::string quoted(std::string_view text);

}  // namespace xlog::lang
