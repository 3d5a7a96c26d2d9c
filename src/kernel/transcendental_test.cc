#include "kernel/transcendental.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace xlog::kernel {
namespace {

Scalar apply(Op op, Scalar x) { return evaluate(op, std::span(&x, 1)); }

Scalar number(Type type, double v) {
  return type == Type::F32 ? Scalar::f32(static_cast<float>(v)) : Scalar::f64(v);
}

// The distance from the exact value, in units of its last place.
long double ulps(Type type, long double exact, double got) {
  const FloatLayout f = FloatLayout::of(type);
  int exponent = 0;
  std::frexp(std::fabs(exact), &exponent);
  const int last = std::max(exponent - f.mantissa - 1, 1 - f.bias - f.mantissa);
  return std::fabs(got - exact) / std::ldexp(1.0L, last);
}

double exp2_argument(Type type, std::mt19937_64& random) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
  switch (random() % 3) {
    case 0:
      return unit * 2;
    case 1:
      return std::ldexp(unit, -static_cast<int>(random() % 40));
    default:
      return unit * (type == Type::F32 ? 280 : 2100);
  }
}

double log2_argument(Type type, std::mt19937_64& random) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  const int bias = FloatLayout::of(type).bias, mantissa = FloatLayout::of(type).mantissa;
  switch (random() % 3) {
    case 0:
      return 0.7 + unit * 0.8;
    case 1:
      return 1 + (unit - 0.5) * std::ldexp(1.0, -static_cast<int>(random() % 20));
    default:
      return std::ldexp(1 + unit,
                        static_cast<int>(random() % (2 * bias + mantissa)) - bias - mantissa + 1);
  }
}

TEST(Transcendental, StaysNearTheExactValue) {
  const uint64_t seed = 21;
  for (Type type : {Type::F32, Type::F64}) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 100000; ++i) {
      const Scalar x = number(type, exp2_argument(type, random));
      const long double exact = std::exp2(static_cast<long double>(x.as_f64()));
      const double got = apply(Op::Exp2, x).as_f64();
      if (std::isinf(got)) {
        ASSERT_GE(x.as_f64(), FloatLayout::of(type).bias + 1) << "seed " << seed;
        continue;
      }
      ASSERT_LT(ulps(type, exact, got), 1.15L) << "exp2 " << to_text(x) << " seed " << seed;
    }
    for (int i = 0; i < 100000; ++i) {
      const Scalar x = number(type, log2_argument(type, random));
      if (std::isinf(x.as_f64()) || x.as_f64() <= 0) continue;
      const long double exact = std::log2(static_cast<long double>(x.as_f64()));
      const double got = apply(Op::Log2, x).as_f64();
      ASSERT_LT(ulps(type, exact, got), 1.25L) << "log2 " << to_text(x) << " seed " << seed;
    }
  }
}

TEST(Transcendental, PowersOfTwoAreExact) {
  for (Type type : {Type::F32, Type::F64}) {
    const FloatLayout f = FloatLayout::of(type);
    for (int n = 1 - f.bias - f.mantissa; n <= f.bias; ++n) {
      const Scalar power = number(type, std::ldexp(1.0, n));
      EXPECT_EQ(apply(Op::Exp2, number(type, n)), power) << n;
      EXPECT_EQ(apply(Op::Log2, power), number(type, n)) << n;
    }
  }
}

TEST(Transcendental, Edges) {
  for (Type type : {Type::F32, Type::F64}) {
    const FloatLayout f = FloatLayout::of(type);
    const Scalar nan = canonical_nan(type), infinity = number(type, INFINITY);
    EXPECT_EQ(apply(Op::Exp2, nan), nan);
    EXPECT_EQ(apply(Op::Exp2, infinity), infinity);
    EXPECT_EQ(apply(Op::Exp2, number(type, -INFINITY)), number(type, 0));
    EXPECT_EQ(apply(Op::Exp2, number(type, f.bias + 1)), infinity);
    EXPECT_EQ(apply(Op::Exp2, number(type, -f.bias - f.mantissa - 2)), number(type, 0));
    EXPECT_EQ(apply(Op::Exp2, number(type, -0.0)), number(type, 1));
    EXPECT_EQ(apply(Op::Log2, nan), nan);
    EXPECT_EQ(apply(Op::Log2, infinity), infinity);
    EXPECT_EQ(apply(Op::Log2, number(type, 0)), number(type, -INFINITY));
    EXPECT_EQ(apply(Op::Log2, number(type, -0.0)), number(type, -INFINITY));
    EXPECT_EQ(apply(Op::Log2, number(type, -1)), nan);
    EXPECT_EQ(apply(Op::Log2, number(type, -INFINITY)), nan);
    EXPECT_EQ(apply(Op::Log2, number(type, 1)), number(type, 0));
  }
}

}  // namespace
}  // namespace xlog::kernel
