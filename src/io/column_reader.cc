#include "io/column_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "io/field.h"

namespace xlog::io {
namespace {

using lang::TypeKind;
using lang::Value;

constexpr size_t kWord = 8;

// The number that 1 to 8 digits make; false when some byte is no digit. All eight bytes are read:
// they are shifted up until the digits end with the word, zeros come in front, and three
// multiplications add pairs, fours and eights (the known trick of reading numbers in a register).
inline bool read_digits(const char* text, size_t digits, uint64_t& number) {
  constexpr uint64_t kZeros = 0x3030303030303030u;
  uint64_t word;
  std::memcpy(&word, text, kWord);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  const size_t spare_bits = 8 * (kWord - digits);
  word <<= spare_bits;
  if (spare_bits != 0) word |= kZeros >> (64 - spare_bits);
  const uint64_t values = word ^ kZeros;  // of digits: 0 to 9
  if (((values | (values + 0x7676767676767676u)) & 0x8080808080808080u) != 0) return false;
  const uint64_t pairs = values * 10 + (values >> 8);
  const uint64_t fours = (pairs & 0x00FF00FF00FF00FFu) * (1 + (100u << 16));
  const uint64_t eights = ((fours >> 16) & 0x0000FFFF0000FFFFu) * (1 + (uint64_t{10000} << 32));
  number = eights >> 32;
  return true;
}

// The usual spelling alone: no spaces, at most 16 digits. The rest is for parse_field.
inline bool read_plain_integer(std::string_view text, bool& negative, uint64_t& magnitude) {
  const char* at = text.data();
  size_t size = text.size();
  negative = size > 0 && *at == '-';
  if (negative) {
    ++at;
    --size;
  }
  if (size - 1 < kWord) return read_digits(at, size, magnitude);
  if (size == 0 || size > 2 * kWord) return false;
  uint64_t high;
  if (!read_digits(at, size - kWord, high)) return false;
  if (!read_digits(at + size - kWord, kWord, magnitude)) return false;
  magnitude += high * 100'000'000;
  return true;
}

struct IntegerRange {
  uint64_t highest, lowest_magnitude;  // of positive and of negative numbers
};

IntegerRange range_of(TypeKind kind) {
  switch (kind) {
    case TypeKind::U32:
      return {std::numeric_limits<uint32_t>::max(), 0};
    case TypeKind::I32:
      return {INT32_MAX, uint64_t{1} << 31};
    case TypeKind::I64:
      return {INT64_MAX, uint64_t{1} << 63};
    default:
      return {UINT64_MAX, 0};
  }
}

}  // namespace

bool ColumnReader::read_integers(const FieldColumn& fields, const lang::Type& type,
                                 lang::Names& names) {
  const IntegerRange range = range_of(type.kind);
  for (size_t row = 0; row < fields.rows; ++row) {
    bool negative;
    uint64_t magnitude;
    if (read_plain_integer(fields[row], negative, magnitude)) {
      if (magnitude > (negative ? range.lowest_magnitude : range.highest)) return false;
      bits_[row] = negative ? 0 - magnitude : magnitude;
    } else {
      Value value;
      if (!parse_field(fields[row], type, names, value)) return false;
      bits_[row] = value.bits;
    }
  }
  return true;
}

bool ColumnReader::read_symbols(const FieldColumn& fields, lang::Names& names) {
  if (!fields.is_ascii) {
    for (size_t row = 0; row < fields.rows; ++row) {
      if (!is_utf8(fields[row])) return false;
    }
  }
  texts_.resize(fields.rows);
  symbols_.resize(fields.rows);
  for (size_t row = 0; row < fields.rows; ++row) texts_[row] = fields[row];
  names.symbols.intern_all(texts_, symbols_);
  for (size_t row = 0; row < fields.rows; ++row) bits_[row] = symbols_[row].id;
  return true;
}

bool ColumnReader::append(const FieldColumn& fields, lang::FactColumn& column, lang::Names& names) {
  bits_.resize(fields.rows);
  switch (column.type().kind) {
    case TypeKind::U32:
    case TypeKind::U64:
    case TypeKind::I32:
    case TypeKind::I64:
      if (!read_integers(fields, column.type(), names)) return false;
      break;
    case TypeKind::Symbol:
    case TypeKind::PredRef:
      if (!read_symbols(fields, names)) return false;
      break;
    default:
      for (size_t row = 0; row < fields.rows; ++row) {
        Value value;
        if (!parse_field(fields[row], column.type(), names, value)) return false;
        column.append_typed(value);
      }
      return true;
  }
  column.append_typed(bits_);
  return true;
}

}  // namespace xlog::io
