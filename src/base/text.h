// Text for people: UTF-8 decoding, the columns a character takes on a terminal, and a form of any
// bytes that is safe to print.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xlog {

struct CodePoint {
  char32_t value = 0xFFFD;
  uint8_t bytes = 1;   // how many bytes it took; 1 for a byte that starts nothing
  bool valid = false;  // false: these bytes are not UTF-8, value is U+FFFD
};

// The character that starts at text[at]. Overlong forms, surrogates and numbers past U+10FFFF are
// not valid.
CodePoint decode_utf8(std::string_view text, size_t at);

// Columns on a terminal, roughly: 0 for combining marks, 2 for East Asian wide characters and
// emoji.
int display_width(char32_t c);
size_t display_width(std::string_view text);

// One character as it is shown: control characters as \x1b, characters that reorder or hide text as
// \u{202e}, invalid bytes as U+FFFD. Never changes what the terminal does next.
void append_printable(std::string& out, const CodePoint& c);
std::string printable(std::string_view text);

}  // namespace xlog
