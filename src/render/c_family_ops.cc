// What every op is in C, on any type, without undefined behaviour. op.def is the definition.
#include <fmt/format.h>

#include <cmath>

#include "base/check.h"
#include "render/c_family.h"

namespace xlog::render {

using kernel::bits_of;
using kernel::bits_type;
using kernel::is_bool;
using kernel::is_float;
using kernel::is_signed;
using kernel::Op;
using kernel::Scalar;
using kernel::Type;

namespace {

std::string fill(std::string_view text, std::span<const std::string> s) {
  const std::string none;
  return fmt::format(fmt::runtime(text), s[0], s.size() > 1 ? s[1] : none,
                     s.size() > 2 ? s[2] : none);
}

const OpText* find_text(const Language& language, Op op, Type type) {
  for (std::span<const OpText> rows : {language.ops, language.shared_ops}) {
    for (const OpText& row : rows) {
      if (row.op == op && row.type == type) return &row;
    }
  }
  return nullptr;
}

std::string from_table(const Language& language, Op op, Type type, std::span<const std::string> s) {
  const OpText* row = find_text(language, op, type);
  XLOG_CHECK(row != nullptr,
             fmt::format("the language has no text for {} on {}", spelling(op), spelling(type)));
  return fill(row->text, s);
}

std::string as(Type type, std::string_view text) {
  return fmt::format("({}){}", spelling(type), text);
}

// Wraps: computed in the unsigned type. A u8 is an int while C computes with it, hence the cast.
std::string wrapping(Type type, std::string_view sign, std::span<const std::string> s) {
  const Type u = bits_type(type);
  if (u == type && type != Type::U8) return fmt::format("{} {} {}", s[0], sign, s[1]);
  return fmt::format("({})({} {} {})", spelling(type), as(u, s[0]), sign, as(u, s[1]));
}

std::string high_half(const Language& language, Type type, std::span<const std::string> s) {
  if (bits_of(type) == 64) return from_table(language, Op::MulHi, type, s);
  const Type wide = is_signed(type) ? Type::I64 : Type::U64;
  return fmt::format("({})({} * {} >> {})", spelling(type), as(wide, s[0]), as(wide, s[1]),
                     bits_of(type));
}

// x/0 = 0, x rem 0 = x, MIN/-1 = MIN.
std::string divided(Type type, bool quotient, std::span<const std::string> s) {
  const Type u = bits_type(type);
  const std::string zero = fmt::format("{} == 0", s[1]);
  const std::string at_zero = quotient ? "0" : s[0];
  const std::string plain = fmt::format("{} {} {}", s[0], quotient ? '/' : '%', s[1]);
  if (!is_signed(type)) {
    return fmt::format("({})({} ? {} : {})", spelling(type), zero, at_zero, plain);
  }
  const std::string by_minus_one =
      quotient ? fmt::format("({})(0 - {})", spelling(type), as(u, s[0])) : "0";
  return fmt::format("{} ? {} : {} == -1 ? {} : {}", zero, at_zero, s[1], by_minus_one, plain);
}

std::string shifted(Type type, bool left, std::span<const std::string> s) {
  if (type == Type::U32 || type == Type::U64) {
    return fmt::format("{} {} ({} & {})", s[0], left ? "<<" : ">>", s[1], bits_of(type) - 1);
  }
  const std::string by = fmt::format("({} & {})", as(bits_type(type), s[1]), bits_of(type) - 1);
  if (!left) return fmt::format("({})({} >> {})", spelling(type), s[0], by);
  return fmt::format("({})({} << {})", spelling(type), as(bits_type(type), s[0]), by);
}

// Bits are counted in unsigned types; a u8 is a u32 with 24 zeros before it, and for Ctz with a one
// where it ends.
std::string counted(const Language& language, Op op, Type type, std::span<const std::string> s) {
  const bool is_byte = type == Type::U8;
  const Type u = is_byte ? Type::U32 : bits_type(type);
  std::string bits = u == type ? s[0] : fmt::format("({})", as(u, s[0]));
  if (is_byte && op == Op::Ctz) bits = fmt::format("({} | 256u)", bits);
  const std::string count = from_table(language, op, u, std::span(&bits, 1));
  return is_byte && op == Op::Clz ? fmt::format("{} - 24u", count) : count;
}

std::string power_of_two(Type type, int exponent, bool negative) {
  return fmt::format("{}0x1p+{}{}", negative ? "-" : "", exponent, type == Type::F32 ? "f" : "");
}

// Saturates; NaN gives 0. Only numbers inside the range reach the C cast.
std::string float_to_int(const Language& language, Type from, Type to, const std::string& x) {
  const int bits = static_cast<int>(bits_of(to));
  const uint64_t all = kernel::mask_of(to);
  if (!is_signed(to)) {
    return fmt::format("{0} >= {1} ? {2} : {0} > 0 ? ({3}){0} : ({3})0", x,
                       power_of_two(from, bits, false), literal(language, {to, all}), spelling(to));
  }
  return fmt::format("{0} >= {1} ? {2} : {0} > {3} ? ({4}){0} : {0} == {0} ? {5} : 0", x,
                     power_of_two(from, bits - 1, false), literal(language, {to, all >> 1}),
                     power_of_two(from, bits - 1, true), spelling(to),
                     literal(language, {to, (all >> 1) + 1}));
}

std::string cast(const Language& language, Type from, Type to, const std::string& x) {
  if (to == from) return x;
  if (is_bool(to)) return fmt::format("{} != 0", x);
  if (is_float(from) && kernel::is_int(to)) return float_to_int(language, from, to, x);
  return as(to, x);
}

// Through the unsigned integer of the same width, which is where the languages know bits.
std::string bitcast(const Language& language, Type from, Type to, const std::string& x) {
  if (is_float(from) && is_float(to)) return x;
  if (is_float(to)) {
    const std::string bits = is_signed(from) ? fmt::format("({})", as(bits_type(from), x)) : x;
    return from_table(language, Op::Bitcast, to, std::span(&bits, 1));
  }
  if (!is_float(from)) return as(to, x);
  const std::string bits = from_table(language, Op::Bitcast, bits_type(from), std::span(&x, 1));
  return is_signed(to) ? as(to, bits) : bits;
}

}  // namespace

std::string literal(const Language& language, Scalar value) {
  switch (value.type) {
    case Type::Bool:
      return value.as_bool() ? "1" : "0";
    case Type::U8:
      return fmt::format("(u8){}", value.bits);
    case Type::U32:
      return fmt::format("{}u", value.bits);
    case Type::U64:
      // Hexadecimal takes the first type that holds it, unsigned ones too, in every language.
      return fmt::format("(u64)0x{:x}", value.bits);
    case Type::I32:
    case Type::I64: {
      // The least number has no literal: its digits alone do not fit.
      const int64_t v = value.as_i64();
      const bool least = value.bits == (kernel::mask_of(value.type) >> 1) + 1;
      if (least) return fmt::format("(({}){} - 1)", spelling(value.type), v + 1);
      return fmt::format("({}){}", spelling(value.type), v);
    }
    case Type::F32:
    case Type::F64: {
      const double v = value.as_f64();
      if (!std::isfinite(v)) {
        const std::string bits = literal(language, {bits_type(value.type), value.bits});
        return from_table(language, Op::Bitcast, value.type, std::span(&bits, 1));
      }
      return fmt::format("({:a}{})", v, value.type == Type::F32 ? "f" : "");
    }
    case Type::Void:
      break;
  }
  XLOG_UNREACHABLE("a literal has a type");
}

std::string expression(const Language& language, Op op, Type from, Type to,
                       std::span<const std::string> s) {
  if (is_float(from) && op >= Op::Add && op <= Op::Div) {
    constexpr std::string_view kSigns[] = {"+", "-", "*", "", "/"};
    static_assert(static_cast<int>(Op::Div) - static_cast<int>(Op::Add) == 4);
    if (const OpText* row = find_text(language, op, from)) return fill(row->text, s);
    const int k = static_cast<int>(op) - static_cast<int>(Op::Add);
    return fmt::format("{} {} {}", s[0], kSigns[k], s[1]);
  }
  switch (op) {
    case Op::Add:
      return wrapping(from, "+", s);
    case Op::Sub:
      return wrapping(from, "-", s);
    case Op::Mul:
      return wrapping(from, "*", s);
    case Op::MulHi:
      return high_half(language, from, s);
    case Op::Div:
      return divided(from, true, s);
    case Op::Rem:
      return divided(from, false, s);
    case Op::Min:
    case Op::Max:
      XLOG_CHECK(!is_float(from), "float min and max are comparisons by now");
      return fmt::format("{0} {2} {1} ? {0} : {1}", s[0], s[1], op == Op::Min ? '<' : '>');
    case Op::And:
      return fmt::format("{} & {}", s[0], s[1]);
    case Op::Or:
      return fmt::format("{} | {}", s[0], s[1]);
    case Op::Xor:
      return fmt::format("{} ^ {}", s[0], s[1]);
    case Op::Shl:
      return shifted(from, true, s);
    case Op::Shr:
      return shifted(from, false, s);
    case Op::Popc:
    case Op::Clz:
    case Op::Ctz:
      return counted(language, op, from, s);
    case Op::Eq:
      return fmt::format("{} == {}", s[0], s[1]);
    case Op::Lt:
      return fmt::format("{} < {}", s[0], s[1]);
    case Op::Select:
      return fmt::format("{} ? {} : {}", s[0], s[1], s[2]);
    case Op::Cast:
      return cast(language, from, to, s[0]);
    case Op::Bitcast:
      return bitcast(language, from, to, s[0]);
    case Op::Fma:
    case Op::Sqrt:
    case Op::Floor:
      return from_table(language, op, from, s);
    default:
      XLOG_UNREACHABLE(fmt::format("{} is no op of a ready kernel", spelling(op)));
  }
}

}  // namespace xlog::render
