#include "kernel/text_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

namespace xlog::kernel::text {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

// nan, inf and nan_<bits>: numbers that look like names.
bool is_number_word(std::string_view word) {
  return word == "nan" || word == "inf" || word.starts_with("nan_");
}

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<std::vector<Token>> run() {
    if (text_.size() > UINT32_MAX / 2) {
      return Error{std::string(file_) + ": the text is longer than 2 GiB", "split it"};
    }
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_end();
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (is_letter(c)) {
        word();
      } else if (is_digit(c) || (c == '-' && starts_number(at_ + 1))) {
        literal();
      } else if (std::string_view("(){},:=/").find(c) != std::string_view::npos) {
        push(TokenKind::Symbol, at_ + 1);
      } else {
        return error_at(text_, file_, static_cast<uint32_t>(at_),
                        fmt::format("{} cannot stand here", describe(c)),
                        "names are letters, digits and `_`; a comment starts with `#`");
      }
    }
    tokens_.push_back({TokenKind::End, {}, static_cast<uint32_t>(text_.size())});
    return std::move(tokens_);
  }

 private:
  static std::string describe(char c) {
    if (c > ' ' && c < 127) return fmt::format("`{}`", c);
    return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(c));
  }

  bool starts_number(size_t at) const {
    if (at >= text_.size()) return false;
    return is_digit(text_[at]) || text_.substr(at).starts_with("inf");
  }

  void push(TokenKind kind, size_t end) {
    tokens_.push_back({kind, text_.substr(at_, end - at_), static_cast<uint32_t>(at_)});
    at_ = end;
  }

  void line_end() {
    if (!tokens_.empty() && tokens_.back().kind == TokenKind::LineEnd) {
      ++at_;
    } else {
      push(TokenKind::LineEnd, at_ + 1);
    }
  }

  size_t word_end(size_t end) const {
    while (end < text_.size() && is_word(text_[end])) ++end;
    return end;
  }

  // `:type` right behind a number belongs to it.
  size_t type_end(size_t end) const {
    if (end + 1 < text_.size() && text_[end] == ':' && is_letter(text_[end + 1])) {
      return word_end(end + 1);
    }
    return end;
  }

  void word() {
    size_t end = word_end(at_);
    const std::string_view first = text_.substr(at_, end - at_);
    if (first == "true" || first == "false") return push(TokenKind::Literal, end);
    if (is_number_word(first)) return push(TokenKind::Literal, type_end(end));
    if (end + 1 < text_.size() && text_[end] == '.' && is_letter(text_[end + 1])) {
      end = word_end(end + 1);
    }
    push(TokenKind::Name, end);
  }

  void literal() {
    size_t end = at_ + 1;
    const bool hex = text_.substr(at_).starts_with("0x");
    for (; end < text_.size(); ++end) {
      const char c = text_[end];
      const bool exponent_sign =
          !hex && (c == '+' || c == '-') && (text_[end - 1] == 'e' || text_[end - 1] == 'E');
      if (!is_word(c) && c != '.' && !exponent_sign) break;
    }
    push(TokenKind::Literal, type_end(end));
  }

  std::string_view text_;
  std::string_view file_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
};

template <typename T>
std::string read_float(std::string_view number, Type type, Scalar& value) {
  T v{};
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), v);
  if (error == std::errc::result_out_of_range) {
    return fmt::format("{} does not fit {}", number, spelling(type));
  }
  if (error != std::errc() || end != number.data() + number.size()) {
    return fmt::format("`{}` is no number", number);
  }
  value = type == Type::F32 ? Scalar::f32(static_cast<float>(v)) : Scalar::f64(v);
  return "";
}

// nan, nan_<bits>, inf, -inf.
std::string read_float_word(std::string_view number, Type type, Scalar& value) {
  if (number == "nan") {
    value = canonical_nan(type);
    return "";
  }
  if (number == "inf" || number == "-inf") {
    const double infinity = std::numeric_limits<double>::infinity();
    const double v = number == "inf" ? infinity : -infinity;
    value = type == Type::F32 ? Scalar::f32(static_cast<float>(v)) : Scalar::f64(v);
    return "";
  }
  if (number.starts_with("nan_")) {
    uint64_t bits = 0;
    const std::string_view digits = number.substr(4);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    value = {type, bits};
    if (whole && (bits & ~mask_of(type)) == 0 && value.is_nan()) return "";
  }
  return fmt::format("`{}` is no {}; `nan_` takes the bits of a NaN as a decimal number", number,
                     spelling(type));
}

std::string range_text(Type type) {
  if (is_signed(type)) {
    const auto most = static_cast<int64_t>(mask_of(type) >> 1);
    return fmt::format("{} .. {}", -most - 1, most);
  }
  return fmt::format("0 .. {}", mask_of(type));
}

std::string read_int(std::string_view number, Type type, Scalar& value) {
  const bool negative = number.starts_with("-");
  const bool hex = number.starts_with("0x");
  const std::string_view digits = number.substr(hex ? 2 : negative ? 1 : 0);
  uint64_t v = 0;
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), v, hex ? 16 : 10);
  const bool whole = end == digits.data() + digits.size() && !digits.empty();
  if (error == std::errc::invalid_argument || !whole) {
    return fmt::format("`{}` is no integer", number);
  }
  // Hexadecimal digits are the bits, so 0xffffffff:i32 is -1.
  const uint64_t most = is_signed(type) && !hex ? (mask_of(type) >> 1) + (negative ? 1 : 0)
                                                : (negative ? 0 : mask_of(type));
  if (error == std::errc::result_out_of_range || v > most) {
    return fmt::format("{} does not fit {} ({})", number, spelling(type), range_text(type));
  }
  value = {type, (negative ? 0 - v : v) & mask_of(type)};
  return "";
}

}  // namespace

Result<std::vector<Token>> tokens_of(std::string_view text, std::string_view file) {
  return Lexer(text, file).run();
}

uint32_t line_at(std::string_view text, uint32_t offset) {
  return 1 + static_cast<uint32_t>(std::ranges::count(text.substr(0, offset), '\n'));
}

Error error_at(std::string_view text, std::string_view file, uint32_t offset,
               std::string_view message, std::string help) {
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  const size_t before = text.substr(0, offset).rfind('\n');
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const size_t end = std::min(text.find('\n', offset), text.size());
  // A very long line is shown as a window around the caret.
  constexpr size_t kShown = 100;
  const size_t from = offset - begin > kShown ? offset - kShown / 2 : begin;
  std::string line(text.substr(from, std::min(end - from, kShown + kShown / 2)));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  }
  return {fmt::format("{}:{}:{}: {}\n  {}\n  {}^", file, line_at(text, offset), offset - begin + 1,
                      message, line, std::string(offset - from, ' ')),
          std::move(help)};
}

bool split_literal(std::string_view text, Literal& literal) {
  if (text == "true" || text == "false") {
    literal = {text, Type::Bool};
    return true;
  }
  const size_t colon = text.find(':');
  literal.number = text.substr(0, colon);
  literal.type = Type::Void;
  if (colon == std::string_view::npos) return true;
  auto type = find_type(text.substr(colon + 1));
  if (!type) return false;
  literal.type = *type;
  return true;
}

std::string read_literal(std::string_view number, Type type, Scalar& value) {
  if (number == "true" || number == "false") {
    if (type != Type::Bool)
      return fmt::format("{} is a bool, {} is needed", number, spelling(type));
    value = Scalar::boolean(number == "true");
    return "";
  }
  if (type == Type::Bool) return "a bool is written true or false";
  if (!is_float(type)) return read_int(number, type, value);
  if (number.find_first_of("in") != std::string_view::npos) {
    return read_float_word(number, type, value);
  }
  return type == Type::F32 ? read_float<float>(number, type, value)
                           : read_float<double>(number, type, value);
}

bool is_reserved(std::string_view word) {
  return word == "carry" || word == "while" || word == "else" || word == "true" ||
         word == "false" || word == "_" || is_number_word(word);
}

}  // namespace xlog::kernel::text
