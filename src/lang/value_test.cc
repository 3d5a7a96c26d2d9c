#include "lang/value.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <random>

namespace xlog::lang {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Value, OneCanonicalNan) {
  EXPECT_EQ(Value::f64(kNan).bits, 0x7ff8000000000000u);
  EXPECT_EQ(Value::f64(-kNan).bits, 0x7ff8000000000000u);
  EXPECT_EQ(Value::f32(-std::numeric_limits<float>::quiet_NaN()).bits, 0x7fc00000u);
  EXPECT_NE(Value::f64(0.0), Value::f64(-0.0));
}

TEST(Value, IntegersAreExtended) {
  EXPECT_EQ(Value::i32(-1).bits, UINT64_MAX);
  EXPECT_EQ(Value::u32(UINT32_MAX).bits, uint64_t{UINT32_MAX});
  EXPECT_EQ(Value::i32(-5).as_double(), -5.0);
  EXPECT_EQ(Value::u64(UINT64_MAX).as_double(), 18446744073709551616.0);
  EXPECT_EQ(Value::f32(0.5f).as_double(), 0.5);
}

TEST(TermTable, EqualStructuresHaveEqualBits) {
  Names names;
  const Symbol f = names.symbols.intern("f");
  const std::vector<Value> parts = {Value::i64(1), Value::symbol(f)};
  const Value list = names.terms.list(parts);
  const Value term = names.terms.compound(f, parts);
  EXPECT_EQ(list, names.terms.list(parts));
  EXPECT_EQ(term, names.terms.compound(f, parts));
  EXPECT_NE(list.bits, term.bits);
  EXPECT_NE(list, names.terms.list({}));
  EXPECT_EQ(names.terms.elements(list).size(), 2u);
  EXPECT_EQ(names.terms.functor(term), f);
  EXPECT_EQ(names.terms.args(term)[0], Value::i64(1));
}

TEST(TermTable, NumbersForAllValues) {
  Names names;
  const Value symbol = Value::symbol(names.symbols.intern("f"));
  const Value list = names.terms.list({&symbol, 1});
  const std::vector<Value> values = {Value::i64(1), Value::f64(0.0),     Value::f64(-0.0), symbol,
                                     list,          names.terms.list({})};
  for (const Value& a : values) {
    EXPECT_EQ(names.terms.numbered(names.terms.number(a)), a);
    for (const Value& b : values) {
      EXPECT_EQ(a == b, names.terms.number(a) == names.terms.number(b));
    }
  }
  EXPECT_EQ(names.terms.number(list), list.bits);
}

TEST(TermTable, ManyStructures) {
  Names names;
  std::vector<Value> lists;
  for (int i = 0; i < 10000; ++i) {
    const Value part = Value::i64(i);
    lists.push_back(names.terms.list({&part, 1}));
  }
  for (int i = 0; i < 10000; ++i) {
    const Value part = Value::i64(i);
    EXPECT_EQ(names.terms.list({&part, 1}), lists[i]);
    EXPECT_EQ(names.terms.elements(lists[i])[0], part);
  }
}

TEST(Compare, Numbers) {
  Names names;
  EXPECT_TRUE(compare(Value::i64(-1), Value::i64(1), names) < 0);
  EXPECT_TRUE(compare(Value::u64(UINT64_MAX), Value::u64(1), names) > 0);
  EXPECT_TRUE(compare(Value::i32(-7), Value::i32(-8), names) > 0);
  EXPECT_TRUE(compare(Value::boolean(false), Value::boolean(true), names) < 0);
}

TEST(Compare, FloatsInTotalOrder) {
  Names names;
  const double ordered[] = {-kInf, -2.5, -0.0, 0.0, 1e-300, 2.5, kInf, kNan};
  for (size_t i = 0; i < std::size(ordered); ++i) {
    for (size_t j = 0; j < std::size(ordered); ++j) {
      EXPECT_EQ(compare(Value::f64(ordered[i]), Value::f64(ordered[j]), names), i <=> j);
    }
  }
  const float narrow[] = {-3.0f, -0.0f, 0.0f, 3.0f};
  for (size_t i = 0; i < std::size(narrow); ++i) {
    for (size_t j = 0; j < std::size(narrow); ++j) {
      EXPECT_EQ(compare(Value::f32(narrow[i]), Value::f32(narrow[j]), names), i <=> j);
    }
  }
}

TEST(Compare, SymbolsByText) {
  Names names;
  const Value zebra = Value::symbol(names.symbols.intern("zebra"));
  const Value ant = Value::symbol(names.symbols.intern("ant"));
  EXPECT_TRUE(compare(ant, zebra, names) < 0);
  EXPECT_TRUE(compare(zebra, zebra, names) == 0);
}

TEST(Compare, Structures) {
  Names names;
  const Symbol f = names.symbols.intern("f");
  const Symbol g = names.symbols.intern("g");
  auto list = [&](std::vector<Value> parts) { return names.terms.list(parts); };
  const Value one = Value::i64(1);
  const Value two = Value::i64(2);
  EXPECT_TRUE(compare(list({}), list({one}), names) < 0);
  EXPECT_TRUE(compare(list({one}), list({one, one}), names) < 0);
  EXPECT_TRUE(compare(list({two}), list({one, one}), names) > 0);
  EXPECT_TRUE(compare(list({list({one}), two}), list({list({two}), one}), names) < 0);
  auto term = [&](Symbol name, std::vector<Value> parts) {
    return names.terms.compound(name, parts);
  };
  EXPECT_TRUE(compare(term(g, {one}), term(f, {one, one}), names) < 0);  // arity first
  EXPECT_TRUE(compare(term(f, {two}), term(g, {one}), names) < 0);       // then the name
  EXPECT_TRUE(compare(term(f, {two}), term(f, {one}), names) > 0);
}

TEST(Compare, DeepTermsNeedNoStack) {
  Names names;
  const Symbol f = names.symbols.intern("f");
  Value a = Value::i64(1);
  Value b = Value::i64(2);
  for (int i = 0; i < 300000; ++i) {
    a = names.terms.compound(f, {&a, 1});
    b = names.terms.compound(f, {&b, 1});
  }
  EXPECT_TRUE(compare(a, b, names) < 0);
  EXPECT_EQ(to_source(a, names).size(), 300000u * 3 + 1);
}

TEST(ToSource, Scalars) {
  Names names;
  EXPECT_EQ(to_source(Value::i64(INT64_MIN), names), "-9223372036854775808");
  EXPECT_EQ(to_source(Value::u64(UINT64_MAX), names), "18446744073709551615");
  EXPECT_EQ(to_source(Value::i32(-3), names), "-3");
  EXPECT_EQ(to_source(Value::boolean(true), names), "true");
  EXPECT_EQ(to_source(Value::symbol(names.symbols.intern("bob")), names), "bob");
  EXPECT_EQ(to_source(Value::symbol(names.symbols.intern("Bob S")), names), "\"Bob S\"");
  EXPECT_EQ(to_raw(Value::symbol(names.symbols.intern("Bob S")), names), "Bob S");
}

TEST(ToSource, Structures) {
  Names names;
  const Value one = Value::i64(1);
  const Value bob = Value::symbol(names.symbols.intern("Bob"));
  const Value inner = names.terms.list({&one, 1});
  const std::vector<Value> parts = {inner, bob, names.terms.list({})};
  const Value term = names.terms.compound(names.symbols.intern("f"), parts);
  EXPECT_EQ(to_source(term, names), "f([1], \"Bob\", [])");
  EXPECT_EQ(to_raw(term, names), "f([1], \"Bob\", [])");
}

TEST(FloatToSource, ShortestAndAlwaysAFloat) {
  EXPECT_EQ(float_to_source(1.0), "1.0");
  EXPECT_EQ(float_to_source(-0.0), "-0.0");
  EXPECT_EQ(float_to_source(0.1), "0.1");
  EXPECT_EQ(float_to_source(0.1f), "0.1");
  EXPECT_EQ(float_to_source(1e20), "1e20");
  EXPECT_EQ(float_to_source(1e-7), "1e-7");
  EXPECT_EQ(float_to_source(kInf), "inf");
  EXPECT_EQ(float_to_source(-kInf), "-inf");
  EXPECT_EQ(float_to_source(kNan), "nan");
}

TEST(FloatToSource, ReadsBack) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    const std::string text = float_to_source(number);
    EXPECT_NE(text.find_first_of(".e"), std::string::npos) << text;
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    EXPECT_EQ(std::bit_cast<uint64_t>(back), std::bit_cast<uint64_t>(number)) << text;
  }
}

TEST(SymbolToSource, QuotesWhatIsNoIdentifier) {
  EXPECT_EQ(symbol_to_source("alice"), "alice");
  EXPECT_EQ(symbol_to_source("a_B9"), "a_B9");
  EXPECT_EQ(symbol_to_source("Alice"), "\"Alice\"");
  EXPECT_EQ(symbol_to_source("_a"), "\"_a\"");
  EXPECT_EQ(symbol_to_source(""), "\"\"");
  EXPECT_EQ(symbol_to_source("9"), "\"9\"");
  EXPECT_EQ(symbol_to_source("not"), "\"not\"");
  EXPECT_EQ(symbol_to_source("if"), "\"if\"");
  EXPECT_EQ(symbol_to_source("a\"\\\n\t"), "\"a\\\"\\\\\\n\\t\"");
  EXPECT_EQ(symbol_to_source(std::string_view("\x01\x7f\0", 3)), "\"\\u{1}\\u{7f}\\u{0}\"");
  EXPECT_EQ(symbol_to_source("\xc3\xa4"), "\"\xc3\xa4\"");
}

}  // namespace
}  // namespace xlog::lang
