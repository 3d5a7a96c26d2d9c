// Exp2 and Log2 as fixed sequences of basic ops, so that every device gives the same bits. One text
// for two uses: over numbers (the definition, scalar.cc) and over graph nodes (the pass that
// replaces the ops). `Steps` supplies the handle type `Value` and
//
//   Value op(Op, Value...); Value constant(Scalar); Value cast(Type, Value); Value bits(Type,
//   Value)
//
// Argument reduction and series as in Muller, "Elementary Functions", chapters 3 and 11; the split
// products of Log2 after Dekker, "A floating-point technique for extending the available
// precision", 1971. The largest errors found, in units of the last place: Exp2 1.1, Log2 1.2, in
// both f32 and f64 (transcendental_test.cc). Powers of two are exact both ways.
#pragma once

#include <cmath>

#include "kernel/scalar.h"

namespace xlog::kernel {

// How a float type is laid out.
struct FloatLayout {
  Type type, bits, exponent;  // the float, its unsigned and its signed integer
  int mantissa, bias;
  int exp_terms;  // of the series for 2^r on |r| <= 1/2
  int log_terms;  // of the series for log2 on [sqrt(1/2), sqrt(2))
  // 1/ln2 in two parts. The upper one times a number of half the mantissa's bits is exact.
  double upper_log2e, lower_log2e;

  static FloatLayout of(Type type) {
    if (type == Type::F32) {
      return {Type::F32, Type::U32, Type::I32, 23, 127, 8, 5, 0x1.714p+0, 0x1.47652b82fe177p-12};
    }
    return {
        Type::F64, Type::U64, Type::I64, 52, 1023, 13, 11, 0x1.7154765p+0, 0x2.b82fe1777d0ffp-32};
  }
  Scalar number(double v) const {
    return type == Type::F32 ? Scalar::f32(static_cast<float>(v)) : Scalar::f64(v);
  }
  Scalar integer(int64_t v) const { return Scalar::of(exponent, v); }
};

// 2^n for an integer n inside the normal exponents.
template <typename Steps>
auto power_of_two(Steps& s, const FloatLayout& f, typename Steps::Value n) {
  auto biased = s.op(Op::Add, n, s.constant(f.integer(f.bias)));
  return s.bits(f.type, s.op(Op::Shl, biased, s.constant(f.integer(f.mantissa))));
}

// x = n + r with |r| <= 1/2; 2^r by its Taylor series; two scalings, so that a result below the
// normal range is rounded once.
template <typename Steps>
auto exp2_steps(Steps& s, Type type, typename Steps::Value x) {
  const FloatLayout f = FloatLayout::of(type);
  const double highest = f.bias + 1, lowest = -f.bias - f.mantissa - 1;
  auto high = s.constant(f.number(highest)), low = s.constant(f.number(lowest));
  auto inside = s.op(Op::Max, s.op(Op::Min, x, high), low);
  auto n = s.op(Op::Floor, s.op(Op::Add, inside, s.constant(f.number(0.5))));
  auto r = s.op(Op::Sub, inside, n);

  double coefficient = 1;
  double series[16];
  for (int k = 0; k <= f.exp_terms; ++k) {
    series[k] = coefficient;
    coefficient *= 0x1.62e42fefa39efp-1 / (k + 1);  // ln 2
  }
  auto p = s.constant(f.number(series[f.exp_terms]));
  for (int k = f.exp_terms - 1; k >= 0; --k) {
    p = s.op(Op::Add, s.op(Op::Mul, p, r), s.constant(f.number(series[k])));
  }

  auto whole = s.cast(f.exponent, n);
  auto half = s.op(Op::Shr, whole, s.constant(f.integer(1)));
  auto rest = s.op(Op::Sub, whole, half);
  auto scaled = s.op(Op::Mul, s.op(Op::Mul, p, power_of_two(s, f, half)), power_of_two(s, f, rest));

  auto too_high = s.op(Op::Lt, x, high);  // false for NaN
  auto infinite = s.op(Op::Eq, x, x);
  auto above =
      s.op(Op::Select, infinite, s.constant(f.number(INFINITY)), s.constant(canonical_nan(type)));
  auto at_least_low = s.op(Op::Lt, x, low);
  auto below = s.op(Op::Select, at_least_low, s.constant(f.number(0)), scaled);
  return s.op(Op::Select, too_high, below, above);
}

// x = 2^e * m with m = 1 + f in [sqrt(1/2), sqrt(2)). With t = f/(2+f),
//   ln m = f - (f^2/2 - t * (f^2/2 + 2/3 t^2 + 2/5 t^4 + ...)),
// where f is exact and everything after it small. The product with 1/ln2 is done in parts, so that
// its rounding falls on the small ones.
template <typename Steps>
auto log2_steps(Steps& s, Type type, typename Steps::Value x) {
  const FloatLayout f = FloatLayout::of(type);
  auto zero = s.constant(f.number(0));
  // Numbers below the normal range are scaled into it.
  auto smallest = s.constant(f.number(std::ldexp(1.0, 1 - f.bias)));
  auto is_small = s.op(Op::Lt, x, smallest);
  auto lift = s.constant(f.number(std::ldexp(1.0, f.mantissa + 1)));
  auto normal = s.op(Op::Select, is_small, s.op(Op::Mul, x, lift), x);

  auto bits = s.bits(f.bits, normal);
  auto shift = s.constant(Scalar::of(f.bits, f.mantissa));
  auto fraction = s.op(Op::And, bits, s.constant({f.bits, (uint64_t{1} << f.mantissa) - 1}));
  auto one_bits = s.constant({f.bits, static_cast<uint64_t>(f.bias) << f.mantissa});
  auto m = s.bits(f.type, s.op(Op::Or, fraction, one_bits));                 // [1, 2)
  auto upper = s.op(Op::Lt, s.constant(f.number(0x1.6a09e667f3bcdp+0)), m);  // sqrt 2
  auto half = s.constant(f.number(0.5)), one = s.constant(f.number(1));
  m = s.op(Op::Select, upper, s.op(Op::Mul, m, half), m);

  auto e =
      s.op(Op::Sub, s.cast(f.exponent, s.op(Op::Shr, bits, shift)), s.constant(f.integer(f.bias)));
  e = s.op(Op::Add, e, s.op(Op::Select, upper, s.constant(f.integer(1)), s.constant(f.integer(0))));
  e = s.op(
      Op::Sub, e,
      s.op(Op::Select, is_small, s.constant(f.integer(f.mantissa + 1)), s.constant(f.integer(0))));

  auto whole = s.cast(f.type, e);

  auto small = s.op(Op::Sub, m, one);  // f above
  auto t = s.op(Op::Div, small, s.op(Op::Add, small, s.constant(f.number(2))));
  auto square = s.op(Op::Mul, t, t);
  auto sum = s.constant(f.number(2.0 / (2 * f.log_terms + 1)));
  for (int k = f.log_terms - 1; k >= 1; --k) {
    sum = s.op(Op::Add, s.op(Op::Mul, sum, square), s.constant(f.number(2.0 / (2 * k + 1))));
  }
  auto half_square = s.op(Op::Mul, s.op(Op::Mul, small, small), half);
  auto rest = s.op(Op::Mul, t, s.op(Op::Add, half_square, s.op(Op::Mul, sum, square)));

  // ln m = high + low, where high has half of the mantissa's bits.
  const uint64_t upper_bits = mask_of(f.bits) << ((f.mantissa + 1) / 2);
  auto high = s.bits(f.type, s.op(Op::And, s.bits(f.bits, s.op(Op::Sub, small, half_square)),
                                  s.constant({f.bits, upper_bits & mask_of(f.bits)})));
  auto low = s.op(Op::Add, s.op(Op::Sub, s.op(Op::Sub, small, high), half_square), rest);
  auto upper_factor = s.constant(f.number(f.upper_log2e));
  auto lower_factor = s.constant(f.number(f.lower_log2e));
  auto log_high = s.op(Op::Mul, high, upper_factor);
  auto log_low = s.op(Op::Add, s.op(Op::Mul, s.op(Op::Add, low, high), lower_factor),
                      s.op(Op::Mul, low, upper_factor));
  // e is 0 or the greater part, so what its sum with log_high loses is known exactly.
  auto total = s.op(Op::Add, whole, log_high);
  auto lost = s.op(Op::Add, s.op(Op::Sub, whole, total), log_high);
  auto log = s.op(Op::Add, s.op(Op::Add, log_low, lost), total);

  auto infinity = s.constant(f.number(INFINITY));
  auto positive = s.op(Op::Select, s.op(Op::Lt, x, infinity), log, infinity);
  auto nan = s.constant(canonical_nan(type));
  auto at_zero = s.op(Op::Select, s.op(Op::Eq, x, zero), s.constant(f.number(-INFINITY)), nan);
  return s.op(Op::Select, s.op(Op::Lt, zero, x), positive, at_zero);
}

}  // namespace xlog::kernel
