// Exp2 and Log2 as fixed sequences of basic ops, so that every device gives the same bits. One text
// for two uses: over numbers (the definition, scalar.cc) and over graph nodes (the pass that
// replaces the ops). `Steps` supplies the handle type `Value` and
//
//   Value op(Op, Value...); Value constant(Scalar); Value cast(Type, Value); Value bits(Type,
//   Value)
//
// Argument reduction and series as in Muller, "Elementary Functions", chapters 3 and 11.
#pragma once

#include <cmath>

#include "kernel/scalar.h"

namespace xlog::kernel {

// How a float type is laid out.
struct FloatLayout {
  Type type, bits, exponent;  // the float, its unsigned and its signed integer
  int mantissa, bias;
  int terms;  // of the series for 2^r on |r| <= 1/2; of the odd series for log2

  static FloatLayout of(Type type) {
    if (type == Type::F32) return {Type::F32, Type::U32, Type::I32, 23, 127, 9};
    return {Type::F64, Type::U64, Type::I64, 52, 1023, 14};
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
  for (int k = 0; k <= f.terms; ++k) {
    series[k] = coefficient;
    coefficient *= 0x1.62e42fefa39efp-1 / (k + 1);  // ln 2
  }
  auto p = s.constant(f.number(series[f.terms]));
  for (int k = f.terms - 1; k >= 0; --k) {
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

// x = 2^e * m with m in [sqrt(1/2), sqrt(2)); log2 m = 2/ln2 * (t + t^3/3 + ...), t = (m-1)/(m+1).
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

  auto t = s.op(Op::Div, s.op(Op::Sub, m, one), s.op(Op::Add, m, one));
  auto square = s.op(Op::Mul, t, t);
  auto sum = s.constant(f.number(1.0 / (2 * f.terms + 1)));
  for (int k = f.terms - 1; k >= 0; --k) {
    sum = s.op(Op::Add, s.op(Op::Mul, sum, square), s.constant(f.number(1.0 / (2 * k + 1))));
  }
  auto scale = s.constant(f.number(0x1.71547652b82fep+1));  // 2 / ln 2
  auto log = s.op(Op::Add, s.op(Op::Mul, s.op(Op::Mul, t, scale), sum), s.cast(f.type, e));

  auto infinity = s.constant(f.number(INFINITY));
  auto positive = s.op(Op::Select, s.op(Op::Lt, x, infinity), log, infinity);
  auto nan = s.constant(canonical_nan(type));
  auto at_zero = s.op(Op::Select, s.op(Op::Eq, x, zero), s.constant(f.number(-INFINITY)), nan);
  return s.op(Op::Select, s.op(Op::Lt, zero, x), positive, at_zero);
}

}  // namespace xlog::kernel
