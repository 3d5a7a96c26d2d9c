#include "io/field.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/text.h"
#include "lang/facts.h"

namespace xlog::io {
namespace {

using lang::Type;
using lang::TypeKind;
using lang::Value;

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool parse_trimmed(std::string_view text, bool& negative, uint64_t& magnitude) {
  negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty()) return false;
  constexpr size_t kAlwaysFits = 19;  // digits
  const bool may_overflow = text.size() > kAlwaysFits;
  magnitude = 0;
  for (const char c : text) {
    const auto digit = static_cast<unsigned>(c - '0');
    if (digit > 9) return false;
    if (may_overflow && magnitude > (UINT64_MAX - digit) / 10) return false;
    magnitude = magnitude * 10 + digit;
  }
  return true;
}

bool parse_integer(std::string_view text, TypeKind kind, Value& out) {
  bool negative;
  uint64_t magnitude;
  if (!parse_magnitude(text, negative, magnitude)) return false;
  const auto fits_signed = [&](uint64_t highest) {
    return magnitude <= highest + (negative ? 1 : 0);
  };
  const auto fits_unsigned = [&](uint64_t highest) {
    return magnitude <= highest && (!negative || magnitude == 0);
  };
  bool fits = false;
  switch (kind) {
    case TypeKind::U32:
      fits = fits_unsigned(std::numeric_limits<uint32_t>::max());
      break;
    case TypeKind::U64:
      fits = fits_unsigned(std::numeric_limits<uint64_t>::max());
      break;
    case TypeKind::I32:
      fits = fits_signed(std::numeric_limits<int32_t>::max());
      break;
    case TypeKind::I64:
      fits = fits_signed(std::numeric_limits<int64_t>::max());
      break;
    default:
      break;
  }
  if (!fits) return false;
  out = {kind, negative ? 0 - magnitude : magnitude};
  return true;
}

template <typename Float>
bool parse_float(std::string_view text, Float& out) {
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (end != text.data() + text.size() || text.empty()) return false;
  if (error != std::errc::result_out_of_range) return error == std::errc();
  // Too small or too large, which from_chars does not tell apart. As in a program, the former is 0.
  const std::string copy(text);
  if constexpr (sizeof(Float) == sizeof(float)) {
    out = std::strtof(copy.c_str(), nullptr);
  } else {
    out = std::strtod(copy.c_str(), nullptr);
  }
  return std::isfinite(out);
}

bool parse_bool(std::string_view text, Value& out) {
  text = trimmed(text);
  const auto is = [&](std::string_view word) {
    return std::ranges::equal(text, word, [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
    });
  };
  const bool yes = is("true") || text == "1";
  if (!yes && !is("false") && text != "0") return false;
  out = Value::boolean(yes);
  return true;
}

// What a literal of this text would be: a number where it is one.
bool parse_term(std::string_view text, lang::Names& names, Value& out) {
  if (parse_integer(text, TypeKind::I64, out) || parse_integer(text, TypeKind::U64, out))
    return true;
  if (is_number(text)) {
    double number = 0;
    if (!parse_float(text, number)) return false;
    out = Value::f64(number);
    return true;
  }
  if (!is_utf8(text)) return false;
  out = Value::symbol(names.symbols.intern(text));
  return true;
}

}  // namespace

bool is_utf8(std::string_view text) {
  const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), ascii)) return true;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    if (!c.valid) return false;
    at += c.bytes;
  }
  return true;
}

// Words that floats also accept (inf, nan) do not count as numbers here.
bool starts_like_number(std::string_view text) {
  text = trimmed(text);
  return !text.empty() &&
         std::string_view("0123456789+-.").find(text.front()) != std::string_view::npos;
}

bool parse_magnitude(std::string_view text, bool& negative, uint64_t& magnitude) {
  return parse_trimmed(trimmed(text), negative, magnitude);
}

bool is_number(std::string_view text) {
  text = trimmed(text);
  const size_t first = !text.empty() && text.front() == '-' ? 1 : 0;
  if (first == text.size() || !((text[first] >= '0' && text[first] <= '9') || text[first] == '.')) {
    return false;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return end == text.data() + text.size() && error != std::errc::invalid_argument;
}

bool parse_field(std::string_view text, const Type& type, lang::Names& names, Value& out) {
  switch (type.kind) {
    case TypeKind::U32:
    case TypeKind::U64:
    case TypeKind::I32:
    case TypeKind::I64:
      return parse_integer(text, type.kind, out);
    case TypeKind::F32: {
      float number = 0;
      if (!parse_float(text, number)) return false;
      out = Value::f32(number);
      return true;
    }
    case TypeKind::F64: {
      double number = 0;
      if (!parse_float(text, number)) return false;
      out = Value::f64(number);
      return true;
    }
    case TypeKind::Bool:
      return parse_bool(text, out);
    case TypeKind::Symbol:
    case TypeKind::PredRef:
      if (!is_utf8(text)) return false;
      out = {type.kind, names.symbols.intern(text).id};
      return true;
    case TypeKind::Term:
      return parse_term(text, names, out);
    case TypeKind::List:
    case TypeKind::Compound:
      return false;
  }
  return false;
}

}  // namespace xlog::io
