#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace xlog {
namespace {

struct Range {
  char32_t first, last;
};

bool is_in(char32_t c, const Range* begin, const Range* end) {
  const Range* after =
      std::upper_bound(begin, end, c, [](char32_t x, const Range& r) { return x < r.first; });
  return after != begin && c <= std::prev(after)->last;
}

// Blocks, not single characters: a table that is off by one column for a rare script is good
// enough.
constexpr Range kZeroWidth[] = {{0x0300, 0x036F}, {0x0483, 0x0489},  {0x0591, 0x05BD},
                                {0x0610, 0x061A}, {0x064B, 0x065F},  {0x1AB0, 0x1AFF},
                                {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF},  {0xFE00, 0xFE0F},
                                {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};
constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
                           {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
                           {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                           {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                           {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
// Marks of direction, joiners and other invisible characters: they can make a text look like
// another one.
constexpr Range kDeceptive[] = {{0x00AD, 0x00AD},  {0x061C, 0x061C}, {0x200B, 0x200F},
                                {0x2028, 0x202E},  {0x2060, 0x2069}, {0xFEFF, 0xFEFF},
                                {0xE0000, 0xE007F}};

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

}  // namespace

CodePoint decode_utf8(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[at + i]); };
  const uint32_t first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const uint8_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < length) return {};
  char32_t value = first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, length, true};
}

int display_width(char32_t c) {
  if (c < 0x300) return 1;
  if (is_in(c, std::begin(kZeroWidth), std::end(kZeroWidth))) return 0;
  return is_in(c, std::begin(kWide), std::end(kWide)) ? 2 : 1;
}

size_t display_width(std::string_view text) {
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    columns += static_cast<size_t>(display_width(c.value));
    at += c.bytes;
  }
  return columns;
}

void append_printable(std::string& out, const CodePoint& c) {
  if (is_control(c.value)) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<uint32_t>(c.value));
    return;
  }
  if (is_in(c.value, std::begin(kDeceptive), std::end(kDeceptive))) {
    fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", static_cast<uint32_t>(c.value));
    return;
  }
  const auto v = static_cast<uint32_t>(c.value);
  const auto put = [&out](uint32_t b) { out.push_back(static_cast<char>(b)); };
  if (v < 0x80) {
    put(v);
  } else if (v < 0x800) {
    put(0xC0 | (v >> 6));
    put(0x80 | (v & 0x3F));
  } else if (v < 0x10000) {
    put(0xE0 | (v >> 12));
    put(0x80 | ((v >> 6) & 0x3F));
    put(0x80 | (v & 0x3F));
  } else {
    put(0xF0 | (v >> 18));
    put(0x80 | ((v >> 12) & 0x3F));
    put(0x80 | ((v >> 6) & 0x3F));
    put(0x80 | (v & 0x3F));
  }
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    append_printable(out, c);
    at += c.bytes;
  }
  return out;
}

}  // namespace xlog
