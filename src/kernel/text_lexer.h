// Tokens of the kernel text form. A line end is a token: one statement a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernel/scalar.h"

namespace xlog::kernel::text {

enum class TokenKind : uint8_t {
  Name,     // probe, atomic.add: letters, digits, `_`, and a dot inside
  Literal,  // 5:u32, -1, 0xff:u8, 1.5:f64, nan:f32, true
  Symbol,   // one of ( ) { } , : = /
  LineEnd,  // several in a row are one
  End,
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  uint32_t offset = 0;

  bool is(std::string_view symbol_or_word) const {
    return (kind == TokenKind::Symbol || kind == TokenKind::Name) && text == symbol_or_word;
  }
};

// The tokens of a text, an End last; or the error of the first character that starts none.
Result<std::vector<Token>> tokens_of(std::string_view text, std::string_view file);

// An error at an offset of the text: `file:line:column: message`, the line and a caret.
Error error_at(std::string_view text, std::string_view file, uint32_t offset,
               std::string_view message, std::string help);
uint32_t line_at(std::string_view text, uint32_t offset);  // counts from 1

// A literal as it was written. Without a type of its own (`5`) it takes the one it is used at.
struct Literal {
  std::string_view number;  // without the type
  Type type = Type::Void;   // Void: none given
};

// False if the part after the colon is no type.
bool split_literal(std::string_view text, Literal& literal);
// Why the number is no value of the type, or "" and the value.
std::string read_literal(std::string_view number, Type type, Scalar& value);

// Words that cannot be names: where an operand may stand they mean something else.
bool is_reserved(std::string_view word);

}  // namespace xlog::kernel::text
