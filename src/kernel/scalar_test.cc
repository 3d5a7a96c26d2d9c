#include "kernel/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace xlog::kernel {
namespace {

using Wide = __int128;

constexpr Type kInts[] = {Type::U8, Type::U32, Type::U64, Type::I32, Type::I64};
constexpr Type kFloats[] = {Type::F32, Type::F64};

// The number that an integer stands for, and back: wrapped.
Wide number(Scalar s) { return is_signed(s.type) ? Wide{s.as_i64()} : Wide{s.bits}; }
Scalar wrapped(Type type, Wide v) { return {type, static_cast<uint64_t>(v) & mask_of(type)}; }

std::vector<Scalar> int_edges(Type type) {
  const uint64_t all = mask_of(type);
  std::vector<Scalar> edges;
  for (uint64_t bits : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, all >> 1,
                        (all >> 1) + 1, (all >> 1) + 2, all - 1, all, uint64_t{bits_of(type)},
                        uint64_t{bits_of(type)} + 1, 0x5555555555555555 & all}) {
    edges.push_back({type, bits});
  }
  std::mt19937_64 random(31);
  for (int i = 0; i < 20; ++i) edges.push_back({type, random() & all});
  return edges;
}

Scalar eval(Op op, Scalar a, Scalar b) {
  const Scalar operands[] = {a, b};
  return evaluate(op, operands);
}

TEST(Scalar, IntegersWrapAndNeverTrap) {
  for (Type type : kInts) {
    const int width = static_cast<int>(bits_of(type));
    for (Scalar a : int_edges(type)) {
      for (Scalar b : int_edges(type)) {
        SCOPED_TRACE(to_text(a) + " " + to_text(b));
        const Wide x = number(a), y = number(b);
        EXPECT_EQ(eval(Op::Add, a, b), wrapped(type, x + y));
        EXPECT_EQ(eval(Op::Sub, a, b), wrapped(type, x - y));
        EXPECT_EQ(eval(Op::Mul, a, b),
                  wrapped(type, static_cast<Wide>(static_cast<unsigned __int128>(x) *
                                                  static_cast<unsigned __int128>(y))));
        EXPECT_EQ(eval(Op::Div, a, b), wrapped(type, y == 0 ? 0 : x / y));
        EXPECT_EQ(eval(Op::Rem, a, b), wrapped(type, y == 0 ? x : x % y));
        EXPECT_EQ(eval(Op::Min, a, b), x < y ? a : b);
        EXPECT_EQ(eval(Op::Max, a, b), x < y ? b : a);
        EXPECT_EQ(eval(Op::And, a, b).bits, a.bits & b.bits);
        EXPECT_EQ(eval(Op::Or, a, b).bits, a.bits | b.bits);
        EXPECT_EQ(eval(Op::Xor, a, b).bits, a.bits ^ b.bits);
        const int shift = static_cast<int>(b.bits % static_cast<uint64_t>(width));
        EXPECT_EQ(eval(Op::Shl, a, b), wrapped(type, static_cast<Wide>(a.bits << shift)));
        EXPECT_EQ(eval(Op::Shr, a, b), wrapped(type, x >> shift));
        EXPECT_EQ(eval(Op::Eq, a, b), Scalar::boolean(x == y));
        EXPECT_EQ(eval(Op::Lt, a, b), Scalar::boolean(x < y));
        // a = (a/b)*b + a rem b, for every b.
        EXPECT_EQ(eval(Op::Add, eval(Op::Mul, eval(Op::Div, a, b), b), eval(Op::Rem, a, b)), a);
        if (width < 64) {
          EXPECT_EQ(eval(Op::MulHi, a, b), wrapped(type, (x * y) >> width));
        } else if (type == Type::U64) {
          const auto product =
              static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y);
          EXPECT_EQ(eval(Op::MulHi, a, b).bits, static_cast<uint64_t>(product >> 64));
        } else {
          EXPECT_EQ(eval(Op::MulHi, a, b), wrapped(type, (x * y) >> 64));
        }
      }
    }
  }
}

TEST(Scalar, BitCounts) {
  for (Type type : kInts) {
    for (Scalar a : int_edges(type)) {
      uint32_t ones = 0, leading = bits_of(type), trailing = bits_of(type);
      for (uint32_t bit = 0; bit < bits_of(type); ++bit) {
        if ((a.bits >> bit & 1) == 0) continue;
        ++ones;
        leading = bits_of(type) - 1 - bit;
        if (trailing == bits_of(type)) trailing = bit;
      }
      EXPECT_EQ(evaluate(Op::Popc, std::span(&a, 1)), Scalar::u32(ones)) << to_text(a);
      EXPECT_EQ(evaluate(Op::Clz, std::span(&a, 1)), Scalar::u32(leading)) << to_text(a);
      EXPECT_EQ(evaluate(Op::Ctz, std::span(&a, 1)), Scalar::u32(trailing)) << to_text(a);
    }
  }
}

TEST(Scalar, Bools) {
  const Scalar no = Scalar::boolean(false), yes = Scalar::boolean(true);
  EXPECT_EQ(eval(Op::And, yes, no), no);
  EXPECT_EQ(eval(Op::Or, yes, no), yes);
  EXPECT_EQ(eval(Op::Xor, yes, yes), no);
  EXPECT_EQ(eval(Op::Lt, no, yes), yes);
  EXPECT_EQ(eval(Op::Lt, yes, no), no);
  EXPECT_EQ(eval(Op::Eq, yes, yes), yes);
  for (Type type : kValueTypes) {
    EXPECT_EQ(cast(Type::Bool, Scalar::of(type, 1)), yes);
    EXPECT_EQ(cast(Type::Bool, Scalar::of(type, 0)), no);
    EXPECT_EQ(cast(type, yes), Scalar::of(type, 1));
    EXPECT_EQ(cast(type, no), Scalar::of(type, 0));
  }
  EXPECT_EQ(cast(Type::Bool, Scalar::f32(-0.0f)), no);
  EXPECT_EQ(cast(Type::Bool, canonical_nan(Type::F32)), yes);
  EXPECT_EQ(cast(Type::Bool, Scalar::u32(256)), yes);
}

template <typename T>
Scalar of_float(T v) {
  if constexpr (sizeof(T) == 4) return Scalar::f32(v);
  return Scalar::f64(static_cast<double>(v));
}

template <typename T>
void float_rules(Type type) {
  const Scalar nan = canonical_nan(type), odd_nan{type, nan.bits | 1};
  const Scalar minus = of_float<T>(T{-0.0}), zero = of_float<T>(T{0}), one = of_float<T>(T{1});
  const Scalar infinity = of_float<T>(std::numeric_limits<T>::infinity());
  EXPECT_EQ(eval(Op::Min, minus, zero), minus);
  EXPECT_EQ(eval(Op::Min, zero, minus), minus);
  EXPECT_EQ(eval(Op::Max, minus, zero), zero);
  EXPECT_EQ(eval(Op::Max, zero, minus), zero);
  for (Op op : {Op::Min, Op::Max}) {
    EXPECT_EQ(eval(op, nan, one), one);
    EXPECT_EQ(eval(op, one, odd_nan), one);
    EXPECT_TRUE(eval(op, nan, odd_nan).is_nan());
  }
  for (Scalar other : {nan, one, infinity}) {
    EXPECT_FALSE(eval(Op::Eq, nan, other).as_bool());
    EXPECT_FALSE(eval(Op::Lt, nan, other).as_bool());
    EXPECT_FALSE(eval(Op::Lt, other, nan).as_bool());
  }
  EXPECT_TRUE(eval(Op::Eq, minus, zero).as_bool());
  EXPECT_FALSE(eval(Op::Lt, minus, zero).as_bool());
  EXPECT_EQ(eval(Op::Div, one, minus), of_float<T>(-std::numeric_limits<T>::infinity()));
  EXPECT_TRUE(eval(Op::Div, zero, zero).is_nan());
  EXPECT_EQ(evaluate(Op::Floor, std::span(&minus, 1)), minus);
  const Scalar low = of_float<T>(T{-1.5});
  EXPECT_EQ(evaluate(Op::Floor, std::span(&low, 1)), of_float<T>(T{-2}));
  EXPECT_TRUE(evaluate(Op::Sqrt, std::span(&low, 1)).is_nan());
  // Fma rounds once: a*a - a*a rounded is the rounding error.
  const Scalar a = of_float<T>(T{1} + std::numeric_limits<T>::epsilon());
  const Scalar square = eval(Op::Mul, a, a), minus_square = eval(Op::Sub, zero, square);
  const Scalar operands[] = {a, a, minus_square};
  EXPECT_NE(evaluate(Op::Fma, operands), zero);

  EXPECT_EQ(canonical(odd_nan), nan);
  EXPECT_EQ(canonical(minus), minus);
  EXPECT_EQ(bitcast(bits_type(type), odd_nan).bits, nan.bits);
  EXPECT_EQ(bitcast(bits_type(type), odd_nan, true).bits, odd_nan.bits);
}

TEST(Scalar, FloatsFollowTheRules) {
  float_rules<float>(Type::F32);
  float_rules<double>(Type::F64);
}

TEST(Scalar, FloatToIntegerSaturates) {
  for (Type from : kFloats) {
    for (Type to : kInts) {
      const uint64_t all = mask_of(to);
      const Scalar most{to, is_signed(to) ? all >> 1 : all};
      const Scalar least{to, is_signed(to) ? (all >> 1) + 1 : 0};
      auto f = [&](double v) {
        return from == Type::F32 ? Scalar::f32(static_cast<float>(v)) : Scalar::f64(v);
      };
      EXPECT_EQ(cast(to, canonical_nan(from)), Scalar::of(to, 0));
      EXPECT_EQ(cast(to, f(INFINITY)), most);
      EXPECT_EQ(cast(to, f(-INFINITY)), least);
      EXPECT_EQ(cast(to, f(1e30)), most);
      EXPECT_EQ(cast(to, f(-1e30)), least);
      EXPECT_EQ(cast(to, f(2.9)), Scalar::of(to, 2));
      EXPECT_EQ(cast(to, f(-0.9)), Scalar::of(to, 0));
      EXPECT_EQ(cast(to, f(-2.9)), is_signed(to) ? Scalar::of(to, -2) : least);
      const double limit = std::ldexp(1.0, static_cast<int>(bits_of(to)) - (is_signed(to) ? 1 : 0));
      EXPECT_EQ(cast(to, f(limit)), most);
      EXPECT_EQ(cast(to, f(limit / 2)), wrapped(to, static_cast<Wide>(limit / 2)));
      EXPECT_EQ(cast(to, f(-limit)), least);
    }
  }
}

TEST(Scalar, IntegerCasts) {
  EXPECT_EQ(cast(Type::U64, Scalar::i32(-1)), Scalar::u64(UINT64_MAX));
  EXPECT_EQ(cast(Type::I64, Scalar::u32(UINT32_MAX)), Scalar::i64(UINT32_MAX));
  EXPECT_EQ(cast(Type::U8, Scalar::i32(-1)), Scalar::u8(255));
  EXPECT_EQ(cast(Type::U32, Scalar::i64(-2)), Scalar::u32(UINT32_MAX - 1));
  // Ties go to even; the highest u64 rounds up.
  EXPECT_EQ(cast(Type::F32, Scalar::u32((1u << 24) + 1)), Scalar::f32(0x1p24f));
  EXPECT_EQ(cast(Type::F32, Scalar::u32((1u << 24) + 3)), Scalar::f32(0x1p24f + 4));
  EXPECT_EQ(cast(Type::F64, Scalar::u64(UINT64_MAX)), Scalar::f64(0x1p64));
  EXPECT_EQ(cast(Type::F32, Scalar::u64((uint64_t{1} << 40) + 1)), Scalar::f32(0x1p40f));
  EXPECT_EQ(cast(Type::F64, Scalar::i64(INT64_MIN)), Scalar::f64(-0x1p63));
}

TEST(Scalar, FoldsStartFromTheirIdentity) {
  std::mt19937_64 random(41);
  for (Type type : kValueTypes) {
    for (Fold fold : {Fold::Add, Fold::Min, Fold::Max, Fold::And, Fold::Or, Fold::Xor}) {
      if (!in_domain(info(*step_of(fold)).domain, type)) continue;
      for (int i = 0; i < 50; ++i) {
        const Scalar v = canonical({type, random() & mask_of(type)});
        EXPECT_EQ(canonical(fold_step(fold, fold_identity(fold, type), v)), v)
            << spelling(fold) << " " << to_text(v);
      }
    }
  }
  EXPECT_EQ(fold_step(Fold::Add, fold_identity(Fold::Add, Type::F32), Scalar::f32(-0.0f)),
            Scalar::f32(-0.0f));
  EXPECT_EQ(fold_step(Fold::Exch, Scalar::u32(1), Scalar::u32(2)), Scalar::u32(2));
}

TEST(Scalar, MemoryHoldsEveryType) {
  std::mt19937_64 random(51);
  for (Type type : kValueTypes) {
    for (int i = 0; i < 20; ++i) {
      const Scalar v{type, random() & mask_of(type)};
      unsigned char cell[9] = {};
      cell[size_of(type)] = 0xaa;
      store_scalar(v, cell);
      EXPECT_EQ(load_scalar(type, cell), v);
      EXPECT_EQ(cell[size_of(type)], 0xaa);
    }
  }
  const unsigned char two = 2;  // any byte but 0 is true
  EXPECT_EQ(load_scalar(Type::Bool, &two), Scalar::boolean(true));
}

TEST(Scalar, TextShowsTypeAndValue) {
  EXPECT_EQ(to_text(Scalar::u32(5)), "5:u32");
  EXPECT_EQ(to_text(Scalar::i64(-1)), "-1:i64");
  EXPECT_EQ(to_text(Scalar::i32(INT32_MIN)), "-2147483648:i32");
  EXPECT_EQ(to_text(Scalar::boolean(true)), "true");
  EXPECT_EQ(to_text(canonical_nan(Type::F64)), "nan:f64");
  EXPECT_EQ(to_text(Scalar::f32(-INFINITY)), "-inf:f32");
  EXPECT_EQ(to_text(Scalar::f64(-0.0)), "-0.0:f64");
  EXPECT_EQ(to_text(Scalar::f64(1)), "1.0:f64");
}

}  // namespace
}  // namespace xlog::kernel
