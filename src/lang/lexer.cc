#include "lang/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "base/text.h"
#include "lang/value.h"

namespace xlog::lang {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_name_char(char c) { return is_lower(c) || is_upper(c) || is_digit(c) || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_high(char c) { return (c & 0x80) != 0; }

struct Punctuation {
  TokenKind kind;
  std::string_view spelling;
};

// In table order: a spelling stands before every other that it starts with.
constexpr std::array kPunctuation = {
#define X(name, spelling) Punctuation{TokenKind::name, spelling},
    XLOG_PUNCTUATION(X)
#undef X
};

// Where the search for a spelling starts, by its first character.
constexpr std::array<uint8_t, 128> kFirstPunctuation = [] {
  std::array<uint8_t, 128> first{};
  first.fill(kPunctuation.size());
  for (size_t i = kPunctuation.size(); i-- > 0;) {
    first[static_cast<unsigned char>(kPunctuation[i].spelling[0])] = static_cast<uint8_t>(i);
  }
  return first;
}();

struct WordSpelling {
  Word word;
  std::string_view spelling;
};

constexpr std::array kWords = {
#define X(name, spelling) WordSpelling{Word::name, spelling},
    XLOG_WORDS(X)
#undef X
};

// What people write who come from another language.
struct Foreign {
  std::string_view spelling;
  std::string_view help;
};

constexpr std::array kForeign = {
    Foreign{":=", "a rule is written `head :- body`, an equation `X = Y`"},
    Foreign{"\\=", "`not equal` is written `!=`"},
    Foreign{"\\+", "negation is written `not p(X)`"},
    Foreign{"&&", "literals of a body are joined by `,`"},
    Foreign{"&", "literals of a body are joined by `,`"},
    Foreign{"!", "negation is written `not p(X)`, `not equal` is written `!=`"},
    Foreign{"'", "a string is written \"like this\", with double quotes"},
    Foreign{"`", "a string is written \"like this\", with double quotes"},
    Foreign{"\u201c", "a string is written \"like this\", with plain double quotes"},
    Foreign{"\u201d", "a string is written \"like this\", with plain double quotes"},
    Foreign{"\u00a0", "this is a no-break space: replace it by a plain one"},
    Foreign{"\u2190", "a rule is written `head :- body`"},
    Foreign{"\u00ac", "negation is written `not p(X)`"},
    Foreign{"\u2260", "`not equal` is written `!=`"},
    Foreign{"\u2264", "`at most` is written `<=`"},
    Foreign{"\u2265", "`at least` is written `>=`"},
};

void append_utf8(std::string& out, char32_t c) {
  const auto byte = [&](char32_t bits) { out += static_cast<char>(bits); };
  const auto continuation = [&](int shift) { byte(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0 | (c >> 6));
    continuation(0);
  } else if (c < 0x10000) {
    byte(0xE0 | (c >> 12));
    continuation(6);
    continuation(0);
  } else {
    byte(0xF0 | (c >> 18));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

bool is_ascii(std::string_view text) {
  char any = 0;
  for (const char c : text)
    any = static_cast<char>(any | c);  // no early exit: the compiler vectorises it
  return !is_high(any);
}

}  // namespace

std::string_view spelling(TokenKind kind) {
  for (const Punctuation& p : kPunctuation) {
    if (p.kind == kind) return p.spelling;
  }
  XLOG_UNREACHABLE("not a punctuation token");
}

Word find_word(std::string_view text) {
  for (const WordSpelling& entry : kWords) {
    if (entry.spelling == text) return entry.word;
  }
  return Word::None;
}

Lexer::Lexer(const SourceFile& file, Interner& names, Diagnostics& diagnostics,
             std::vector<ast::Comment>* comments)
    : begin_(file.text.data()),
      at_(begin_),
      end_(begin_ + file.text.size()),
      base_(file.base),
      names_(names),
      diagnostics_(diagnostics),
      comments_(comments) {
  if (file.text.starts_with("\xEF\xBB\xBF")) at_ += 3;  // a byte order mark
}

Diagnostic& Lexer::report(Code code, Span span, std::string message) {
  const bool kept = !diagnostics_.full();
  Diagnostic& diagnostic = diagnostics_.report(code, span, std::move(message));
  if (kept) last_ = &diagnostic;
  return diagnostic;
}

void Lexer::note_that_reading_stopped() {
  if (last_ != nullptr) {
    last_->note(fmt::format("reading stopped here, after {} errors", Diagnostics::kMaxErrors));
  }
}

uint32_t Lexer::column(uint32_t offset) const {
  const char* at = pointer(offset);
  const char* line = at;
  while (line > begin_ && line[-1] != '\n') --line;
  return static_cast<uint32_t>(at - line);
}

// ---- White space and comments ----

void Lexer::skip_trivia() {
  for (;;) {
    const char c = *at_;
    if (is_space(c)) {
      if (c == '\n') first_on_line_ = true;
      ++at_;
    } else if (c == '/' && at_[1] == '/') {
      const char* begin = at_;
      skip_line();
      const char* end = at_;
      while (end > begin && is_space(end[-1])) --end;
      keep_comment(begin, end);
    } else if (c == '/' && at_[1] == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

void Lexer::skip_line() {
  const void* newline = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
  at_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
}

void Lexer::skip_block_comment() {
  const char* begin = at_;
  const std::string_view rest(at_ + 2, static_cast<size_t>(end_ - at_ - 2));
  const size_t close = rest.find("*/");
  if (close == std::string_view::npos) {
    at_ = end_;
    report(Code::UnterminatedComment, {offset(begin), offset(begin + 2)}, "this comment never ends")
        .help("close it with `*/`");
  } else {
    at_ += 2 + close + 2;
  }
  keep_comment(begin, at_);
}

void Lexer::keep_comment(const char* begin, const char* end) {
  if (comments_ != nullptr) comments_->push_back({{offset(begin), offset(end)}});
}

// ---- Tokens ----

Token Lexer::make(TokenKind kind, const char* begin) {
  Token token;
  token.kind = kind;
  token.first_on_line = first_on_line_;
  token.span = {offset(begin), offset(at_)};
  first_on_line_ = false;
  return token;
}

Token Lexer::next() {
  skip_trivia();
  const char* begin = at_;
  const char c = *at_;
  if (at_ == end_) return make(TokenKind::End, begin);
  if (is_lower(c) || is_upper(c) || c == '_') return word(begin);
  if (is_digit(c)) return number(begin);
  if (c == '"') return string(begin);
  if (c == '#' && is_lower(at_[1])) return directive(begin);
  return punctuation(begin);
}

Token Lexer::word(const char* begin) {
  while (is_name_char(*at_)) ++at_;
  const std::string_view text(begin, static_cast<size_t>(at_ - begin));
  if (text == "_") return make(TokenKind::Anonymous, begin);
  const bool lower = is_lower(*begin);
  Token token = make(lower ? TokenKind::Identifier : TokenKind::Variable, begin);
  token.name = names_.intern(text);
  if (lower) token.word = find_word(text);
  return token;
}

Token Lexer::directive(const char* begin) {
  ++at_;
  while (is_name_char(*at_)) ++at_;
  Token token = make(TokenKind::Directive, begin);
  token.name = names_.intern({begin + 1, static_cast<size_t>(at_ - begin - 1)});
  return token;
}

Token Lexer::punctuation(const char* begin) {
  const std::string_view rest(at_, static_cast<size_t>(end_ - at_));
  const size_t first =
      is_high(*begin) ? kPunctuation.size() : kFirstPunctuation[static_cast<unsigned char>(*begin)];
  for (size_t i = first; i < kPunctuation.size(); ++i) {
    const Punctuation& p = kPunctuation[i];
    if (!rest.starts_with(p.spelling)) continue;
    if (p.kind == TokenKind::Colon && at_[1] == '=') break;
    at_ += p.spelling.size();
    return make(p.kind, begin);
  }
  for (const Foreign& foreign : kForeign) {
    if (!rest.starts_with(foreign.spelling)) continue;
    at_ += foreign.spelling.size();
    if (foreign.spelling == "'") {  // up to its partner, or there would be two errors
      const size_t close = rest.find_first_of("'\n", 1);
      if (close != std::string_view::npos && rest[close] == '\'') at_ = begin + close + 1;
    }
    Token token = make(TokenKind::Error, begin);
    report(Code::UnexpectedCharacter, token.span,
           fmt::format("`{}` has no meaning here", printable(foreign.spelling)))
        .help(std::string(foreign.help));
    return token;
  }
  return unexpected_character(begin);
}

// A whole stretch of such characters is one error: in a binary file there are many.
Token Lexer::unexpected_character(const char* begin) {
  const std::string_view all(begin_, static_cast<size_t>(end_ - begin_));
  const CodePoint first = decode_utf8(all, static_cast<size_t>(begin - begin_));
  const auto unexpected = [](char c) {
    return is_high(c) || (static_cast<unsigned char>(c) < 0x20 && !is_space(c)) || c == 0x7f ||
           c == '@' || c == '$' || c == '^' || c == '~' || c == '\\' || c == '?';
  };
  while (at_ < end_ && unexpected(*at_)) ++at_;
  XLOG_CHECK(at_ > begin, "a character that is neither expected nor unexpected");
  Token token = make(TokenKind::Error, begin);
  if (is_high(*begin) && !first.valid) return token;  // check_utf8 has said so
  if (*begin == '\0') {
    report(Code::UnexpectedCharacter, token.span, "a NUL byte: this does not look like a program")
        .help("data is loaded with `--input relation=file.csv`");
    return token;
  }
  std::string shown;
  append_printable(shown, first);
  report(Code::UnexpectedCharacter, token.span,
         fmt::format("`{}` cannot stand outside strings and comments", shown));
  return token;
}

// ---- Numbers ----

namespace {

// Digits with single underscores between them; returns the end. `ok` is cleared on an underscore
// out of place.
template <typename IsDigit>
const char* read_digits(const char* at, std::string& digits, bool& ok, IsDigit is_digit_of_base) {
  const char* begin = at;
  for (; is_digit_of_base(*at) || *at == '_'; ++at) {
    if (*at != '_') {
      digits += *at;
    } else if (at == begin || at[-1] == '_') {
      ok = false;
    }
  }
  if (at == begin || at[-1] == '_') ok = false;
  return at;
}

}  // namespace

Token Lexer::number(const char* begin) {
  bool ok = true;
  std::string digits;
  if (*at_ == '0' && (at_[1] == 'x' || at_[1] == 'X')) {
    const auto is_hex = [](char c) {
      return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    at_ = read_digits(at_ + 2, digits, ok, is_hex);
    if (!ok || is_name_char(*at_)) return invalid_number(begin, "not a hexadecimal number");
    return integer(begin, digits, 16);
  }
  at_ = read_digits(at_, digits, ok, is_digit);
  bool is_float = false;
  if (ok && *at_ == '.' && is_digit(at_[1])) {
    is_float = true;
    digits += '.';
    at_ = read_digits(at_ + 1, digits, ok, is_digit);
  }
  if (ok && (*at_ == 'e' || *at_ == 'E')) {
    const int sign = at_[1] == '+' || at_[1] == '-' ? 1 : 0;
    if (is_digit(at_[1 + sign])) {
      is_float = true;
      digits += 'e';
      if (at_[1] == '-') digits += '-';
      at_ = read_digits(at_ + 1 + sign, digits, ok, is_digit);
    }
  }
  if (!ok) return invalid_number(begin, "an underscore stands between two digits of a number");
  if (is_name_char(*at_)) return invalid_number(begin, "a number that runs into a name");
  return is_float ? floating(begin, digits) : integer(begin, digits, 10);
}

Token Lexer::integer(const char* begin, std::string_view digits, int base) {
  uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (error != std::errc()) return invalid_number(begin, "an integer past 2^64-1");
  Token token = make(TokenKind::Integer, begin);
  token.magnitude = magnitude;
  const std::string_view spelled = text(token.span);
  if (spelled != fmt::format_int(magnitude).str()) token.name = names_.intern(spelled);
  return token;
}

Token Lexer::floating(const char* begin, const std::string& digits) {
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range)
    number = std::strtod(digits.c_str(), nullptr);  // 0 or infinity
  if (!std::isfinite(number)) return invalid_number(begin, "a float too large for 64 bits");
  Token token = make(TokenKind::Float, begin);
  token.number = number;
  const std::string_view spelled = text(token.span);
  if (spelled != float_to_source(number)) token.name = names_.intern(spelled);
  return token;
}

// Still a number to the parser, so that the rest of the statement is read.
Token Lexer::invalid_number(const char* begin, const char* message) {
  while (is_name_char(*at_)) ++at_;
  Token token = make(TokenKind::Integer, begin);
  report(Code::InvalidNumber, token.span, message);
  return token;
}

// ---- Strings ----

Token Lexer::string(const char* begin) {
  ++at_;
  std::string unescaped;
  bool escaped = false;
  const char* piece = at_;
  for (;; ++at_) {
    while (*at_ != '"' && *at_ != '\\' && *at_ != '\n' && at_ != end_) ++at_;
    if (*at_ != '\\') break;
    escaped = true;
    unescaped.append(piece, at_);
    escape(unescaped);
    piece = at_ + 1;
  }
  const std::string_view last(piece, static_cast<size_t>(at_ - piece));
  if (*at_ != '"') {
    if (at_ > begin && at_[-1] == '\r') --at_;
    Token token = make(TokenKind::Error, begin);
    report(Code::UnterminatedString, token.span, "this string does not end on its line")
        .help("close it with `\"`");
    return token;
  }
  ++at_;
  Token token = make(TokenKind::String, begin);
  if (escaped) {
    unescaped += last;
    token.name = names_.intern(unescaped);
  } else {
    token.name = names_.intern(last);
  }
  return token;
}

// At a backslash; leaves at_ on the last character of the escape.
void Lexer::escape(std::string& text) {
  const char* begin = at_;
  const char c = at_[1];
  if (c == '\n' || at_ + 1 == end_) return;  // the string has no end, which is what will be said
  ++at_;
  if (c == '"' || c == '\\') {
    text += c;
  } else if (c == 'n') {
    text += '\n';
  } else if (c == 't') {
    text += '\t';
  } else {
    if (c == 'u' && at_[1] == '{') {
      const char* digits = at_ + 2;
      const char* end = digits;
      uint32_t value = 0;
      end = std::from_chars(digits, std::min(digits + 6, end_), value, 16).ptr;
      const bool scalar = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
      if (end > digits && *end == '}' && scalar) {
        append_utf8(text, static_cast<char32_t>(value));
        at_ = end;
        return;
      }
    }
    const CodePoint shown = decode_utf8({begin_, static_cast<size_t>(end_ - begin_)},
                                        static_cast<size_t>(at_ - begin_));
    at_ += shown.bytes - 1;
    report(Code::InvalidEscape, {offset(begin), offset(at_ + 1)},
           fmt::format("`{}` is not an escape",
                       printable({begin, static_cast<size_t>(at_ + 1 - begin)})))
        .help(
            "the escapes are \\\" \\\\ \\n \\t and \\u{hex} with the number of a Unicode "
            "character");
  }
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

// ---- UTF-8 ----

void check_utf8(const SourceFile& file, Diagnostics& diagnostics) {
  constexpr size_t kPlacesShown = 5;
  const std::string_view text = file.text;
  if (is_ascii(text)) return;
  size_t places = 0;
  Diagnostic* last = nullptr;
  for (size_t at = 0; at < text.size();) {
    if (!is_high(text[at])) {
      ++at;
      continue;
    }
    const CodePoint c = decode_utf8(text, at);
    if (c.valid) {
      at += c.bytes;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && is_high(text[at]) && !decode_utf8(text, at).valid) ++at;
    if (++places > kPlacesShown) continue;
    const Span span{file.base + static_cast<uint32_t>(begin),
                    file.base + static_cast<uint32_t>(at)};
    last = &diagnostics.report(Code::InvalidUtf8, span, "these bytes are not UTF-8");
  }
  if (places > kPlacesShown)
    last->note(fmt::format("and {} more such places in this file", places - kPlacesShown));
}

}  // namespace xlog::lang
