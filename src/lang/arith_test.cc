#include "lang/arith.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace xlog::lang {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Type scalar(TypeKind kind) { return Type{kind, nullptr}; }

std::optional<Value> apply(ArithOp op, Value a, Value b) {
  const Value operands[] = {a, b};
  return evaluate(op, scalar(a.kind), operands);
}

std::optional<Value> apply(ArithOp op, Value a) { return evaluate(op, scalar(a.kind), {&a, 1}); }

TEST(Arith, IntegersWrapAtTheirWidth) {
  EXPECT_EQ(apply(ArithOp::Add, Value::u32(UINT32_MAX), Value::u32(1)), Value::u32(0));
  EXPECT_EQ(apply(ArithOp::Sub, Value::u32(0), Value::u32(1)), Value::u32(UINT32_MAX));
  EXPECT_EQ(apply(ArithOp::Mul, Value::u32(65536), Value::u32(65536)), Value::u32(0));
  EXPECT_EQ(apply(ArithOp::Add, Value::i32(INT32_MAX), Value::i32(1)), Value::i32(INT32_MIN));
  EXPECT_EQ(apply(ArithOp::Mul, Value::i32(INT32_MIN), Value::i32(-1)), Value::i32(INT32_MIN));
  EXPECT_EQ(apply(ArithOp::Add, Value::i64(INT64_MAX), Value::i64(1)), Value::i64(INT64_MIN));
  EXPECT_EQ(apply(ArithOp::Sub, Value::u64(0), Value::u64(1)), Value::u64(UINT64_MAX));
  EXPECT_EQ(apply(ArithOp::Neg, Value::u32(1)), Value::u32(UINT32_MAX));
  EXPECT_EQ(apply(ArithOp::Neg, Value::i64(INT64_MIN)), Value::i64(INT64_MIN));
}

TEST(Arith, Division) {
  EXPECT_EQ(apply(ArithOp::Div, Value::i32(-7), Value::i32(2)), Value::i32(-3));
  EXPECT_EQ(apply(ArithOp::Mod, Value::i32(-7), Value::i32(2)), Value::i32(-1));
  EXPECT_EQ(apply(ArithOp::Mod, Value::i64(7), Value::i64(-2)), Value::i64(1));
  EXPECT_EQ(apply(ArithOp::Div, Value::i32(INT32_MIN), Value::i32(-1)), Value::i32(INT32_MIN));
  EXPECT_EQ(apply(ArithOp::Div, Value::i64(INT64_MIN), Value::i64(-1)), Value::i64(INT64_MIN));
  EXPECT_EQ(apply(ArithOp::Mod, Value::i64(INT64_MIN), Value::i64(-1)), Value::i64(0));
  EXPECT_EQ(apply(ArithOp::Div, Value::u32(UINT32_MAX), Value::u32(UINT32_MAX)), Value::u32(1));
  EXPECT_EQ(apply(ArithOp::Mod, Value::u64(5), Value::u64(UINT64_MAX)), Value::u64(5));
  EXPECT_EQ(apply(ArithOp::Div, Value::u64(UINT64_MAX), Value::u64(2)), Value::u64(INT64_MAX));
  for (const Value zero : {Value::u32(0), Value::u64(0), Value::i32(0), Value::i64(0)}) {
    EXPECT_FALSE(apply(ArithOp::Div, zero, zero).has_value());
    EXPECT_FALSE(apply(ArithOp::Mod, zero, zero).has_value());
  }
}

TEST(Arith, Floats) {
  EXPECT_EQ(apply(ArithOp::Div, Value::f64(1), Value::f64(0)), Value::f64(kInf));
  EXPECT_EQ(apply(ArithOp::Div, Value::f64(-1), Value::f64(0)), Value::f64(-kInf));
  EXPECT_EQ(apply(ArithOp::Div, Value::f64(0), Value::f64(0)), Value::f64(kNan));
  EXPECT_EQ(apply(ArithOp::Sub, Value::f64(kInf), Value::f64(kInf)), Value::f64(kNan));
  EXPECT_EQ(apply(ArithOp::Neg, Value::f64(0.0)), Value::f64(-0.0));
  EXPECT_EQ(apply(ArithOp::Neg, Value::f64(kNan)), Value::f64(kNan));
  EXPECT_EQ(apply(ArithOp::Abs, Value::f64(-0.0)), Value::f64(0.0));
  EXPECT_EQ(apply(ArithOp::Abs, Value::f32(-2.5f)), Value::f32(2.5f));
  // 2^24 + 1 is no f32: the sum is rounded in f32, not in f64.
  EXPECT_EQ(apply(ArithOp::Add, Value::f32(16777216.0f), Value::f32(1.0f)),
            Value::f32(16777216.0f));
}

TEST(Arith, MinAndMaxGoByTheTotalOrder) {
  const Value rising[] = {Value::f64(-kInf), Value::f64(-1),   Value::f64(-0.0), Value::f64(0.0),
                          Value::f64(1),     Value::f64(kInf), Value::f64(kNan)};
  for (size_t a = 0; a < std::size(rising); ++a) {
    for (size_t b = 0; b < std::size(rising); ++b) {
      EXPECT_EQ(apply(ArithOp::Min, rising[a], rising[b]), rising[std::min(a, b)]) << a << " " << b;
      EXPECT_EQ(apply(ArithOp::Max, rising[a], rising[b]), rising[std::max(a, b)]) << a << " " << b;
    }
  }
  EXPECT_EQ(apply(ArithOp::Min, Value::f32(-0.0F), Value::f32(0.0F)), Value::f32(-0.0F));
  EXPECT_EQ(apply(ArithOp::Min, Value::f32(0.0F), Value::f32(-0.0F)), Value::f32(-0.0F));
  EXPECT_EQ(apply(ArithOp::Min, Value::i32(-1), Value::i32(1)), Value::i32(-1));
  EXPECT_EQ(apply(ArithOp::Max, Value::u64(UINT64_MAX), Value::u64(1)), Value::u64(UINT64_MAX));
}

TEST(Arith, Abs) {
  EXPECT_EQ(apply(ArithOp::Abs, Value::i32(-5)), Value::i32(5));
  EXPECT_EQ(apply(ArithOp::Abs, Value::i32(INT32_MIN)), Value::i32(INT32_MIN));
  EXPECT_EQ(apply(ArithOp::Abs, Value::i64(INT64_MIN)), Value::i64(INT64_MIN));
  EXPECT_EQ(apply(ArithOp::Abs, Value::u64(UINT64_MAX)), Value::u64(UINT64_MAX));
}

TEST(Arith, PowIsAlwaysF64) {
  const Value operands[] = {Value::u32(2), Value::i64(10)};
  EXPECT_EQ(evaluate(ArithOp::Pow, scalar(TypeKind::F64), operands), Value::f64(1024));
  const Value root[] = {Value::f64(-1), Value::f64(0.5)};
  EXPECT_EQ(evaluate(ArithOp::Pow, scalar(TypeKind::F64), root), Value::f64(kNan));
}

class Cast : public ::testing::Test {
 protected:
  std::optional<Value> cast(Value value, TypeKind to) {
    return evaluate_cast(value, scalar(value.kind), scalar(to), names);
  }
  Names names;
};

TEST_F(Cast, IntegersWrap) {
  EXPECT_EQ(cast(Value::i64(-1), TypeKind::U32), Value::u32(UINT32_MAX));
  EXPECT_EQ(cast(Value::i32(-1), TypeKind::U64), Value::u64(UINT64_MAX));
  EXPECT_EQ(cast(Value::u64(UINT64_MAX), TypeKind::I32), Value::i32(-1));
  EXPECT_EQ(cast(Value::u32(UINT32_MAX), TypeKind::I64), Value::i64(UINT32_MAX));
  EXPECT_EQ(cast(Value::u32(UINT32_MAX), TypeKind::I32), Value::i32(-1));
}

TEST_F(Cast, FloatsTruncateOrHaveNoValue) {
  EXPECT_EQ(cast(Value::f64(-1.9), TypeKind::I32), Value::i32(-1));
  EXPECT_EQ(cast(Value::f64(-0.9), TypeKind::U32), Value::u32(0));
  EXPECT_EQ(cast(Value::f64(-1.0), TypeKind::U32), Value::u32(UINT32_MAX));
  EXPECT_EQ(cast(Value::f64(4294967295.5), TypeKind::U32), Value::u32(UINT32_MAX));
  EXPECT_EQ(cast(Value::f64(4294967296.0), TypeKind::U32), Value::u32(0));
  EXPECT_EQ(cast(Value::f64(2147483647.5), TypeKind::I32), Value::i32(INT32_MAX));
  EXPECT_EQ(cast(Value::f64(2147483648.0), TypeKind::I32), Value::i32(INT32_MIN));
  EXPECT_EQ(cast(Value::f64(-2147483648.5), TypeKind::I32), Value::i32(INT32_MIN));
  EXPECT_EQ(cast(Value::f64(-2147483649.0), TypeKind::I32), Value::i32(INT32_MAX));
  EXPECT_EQ(cast(Value::f64(-9223372036854775808.0), TypeKind::I64), Value::i64(INT64_MIN));
  EXPECT_FALSE(cast(Value::f64(9223372036854775808.0), TypeKind::I64));
  EXPECT_EQ(cast(Value::f64(9223372036854775808.0), TypeKind::U64), Value::u64(uint64_t{1} << 63));
  EXPECT_FALSE(cast(Value::f64(18446744073709551616.0), TypeKind::U64));
  for (const TypeKind kind : {TypeKind::U32, TypeKind::U64, TypeKind::I32, TypeKind::I64}) {
    EXPECT_FALSE(cast(Value::f64(kNan), kind));
    EXPECT_FALSE(cast(Value::f64(kInf), kind));
    EXPECT_FALSE(cast(Value::f64(-kInf), kind));
  }
}

TEST_F(Cast, ToFloats) {
  EXPECT_EQ(cast(Value::u64(UINT64_MAX), TypeKind::F64), Value::f64(18446744073709551616.0));
  EXPECT_EQ(cast(Value::i64(-3), TypeKind::F32), Value::f32(-3.0f));
  EXPECT_EQ(cast(Value::f64(1e300), TypeKind::F32), Value::f32(static_cast<float>(kInf)));
  EXPECT_EQ(cast(Value::f32(0.5f), TypeKind::F64), Value::f64(0.5));
  // Rounded once: through f64 this would become 2^60.
  const int64_t near = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;
  EXPECT_EQ(cast(Value::i64(near), TypeKind::F32), Value::f32(static_cast<float>(near)));
}

TEST_F(Cast, Bools) {
  EXPECT_EQ(cast(Value::u32(2), TypeKind::Bool), Value::boolean(true));
  EXPECT_EQ(cast(Value::f64(-0.0), TypeKind::Bool), Value::boolean(false));
  EXPECT_EQ(cast(Value::f64(kNan), TypeKind::Bool), Value::boolean(true));
  EXPECT_EQ(cast(Value::boolean(true), TypeKind::I32), Value::i32(1));
  EXPECT_EQ(cast(Value::boolean(true), TypeKind::F32), Value::f32(1));
  EXPECT_EQ(cast(Value::boolean(false), TypeKind::F64), Value::f64(0));
}

TEST_F(Cast, TermsHaveOneFormForEachValue) {
  const Value term = Value::i64(5);
  for (const Value five : {Value::u32(5), Value::u64(5), Value::i32(5), Value::i64(5)}) {
    EXPECT_EQ(cast(five, TypeKind::Term), term);
    EXPECT_EQ(from_term(term, scalar(five.kind), names), five);
  }
  EXPECT_EQ(cast(Value::u64(UINT64_MAX), TypeKind::Term), Value::u64(UINT64_MAX));
  EXPECT_EQ(from_term(Value::u64(UINT64_MAX), scalar(TypeKind::U64), names),
            Value::u64(UINT64_MAX));
  EXPECT_FALSE(from_term(Value::u64(UINT64_MAX), scalar(TypeKind::I64), names));
  EXPECT_FALSE(from_term(Value::i64(-1), scalar(TypeKind::U32), names));
  EXPECT_EQ(cast(Value::f32(0.5f), TypeKind::Term), Value::f64(0.5));
  EXPECT_EQ(from_term(Value::f64(0.5), scalar(TypeKind::F32), names), Value::f32(0.5f));
  EXPECT_FALSE(from_term(Value::f64(0.1), scalar(TypeKind::F32), names));
  EXPECT_FALSE(from_term(Value::i64(1), scalar(TypeKind::F64), names));
  EXPECT_FALSE(from_term(Value::i64(1), scalar(TypeKind::Bool), names));
  const auto yes = cast(Value::boolean(true), TypeKind::Term);
  EXPECT_EQ(yes, Value::symbol(names.symbols.intern("true")));
  EXPECT_EQ(from_term(*yes, scalar(TypeKind::Bool), names), Value::boolean(true));
}

TEST_F(Cast, ListsIntoTermsAndBack) {
  const Value parts[] = {Value::u32(1), Value::u32(2)};
  const Value list = names.terms.list(parts);
  const Type type = Type::list_of(scalar(TypeKind::U32));
  const Value term = to_term(list, type, names);
  EXPECT_EQ(names.terms.elements(term)[0], Value::i64(1));
  EXPECT_EQ(from_term(term, type, names), list);
  EXPECT_FALSE(from_term(term, Type::list_of(scalar(TypeKind::Symbol)), names));
}

TEST(CompareValues, Floats) {
  Names names;
  const Value nan = Value::f64(kNan);
  const Value zero = Value::f64(0.0);
  const Value minus = Value::f64(-0.0);
  EXPECT_FALSE(compare_values(CompareOp::Eq, nan, nan, names));
  EXPECT_TRUE(compare_values(CompareOp::Ne, nan, nan, names));
  EXPECT_TRUE(compare_values(CompareOp::Eq, zero, minus, names));
  EXPECT_FALSE(compare_values(CompareOp::Ne, zero, minus, names));
  EXPECT_TRUE(compare_values(CompareOp::Lt, minus, zero, names));
  EXPECT_TRUE(compare_values(CompareOp::Gt, nan, Value::f64(kInf), names));
  EXPECT_TRUE(compare_values(CompareOp::Ge, nan, nan, names));
  EXPECT_TRUE(compare_values(CompareOp::Le, nan, nan, names));
  EXPECT_TRUE(compare_values(CompareOp::Eq, Value::f32(0.0f), Value::f32(-0.0f), names));
}

TEST(CompareValues, OtherTypes) {
  Names names;
  const Value a = Value::symbol(names.symbols.intern("zz"));
  const Value b = Value::symbol(names.symbols.intern("aa"));
  EXPECT_TRUE(compare_values(CompareOp::Gt, a, b, names));
  EXPECT_TRUE(compare_values(CompareOp::Ne, a, b, names));
  EXPECT_TRUE(compare_values(CompareOp::Lt, Value::i32(-1), Value::i32(0), names));
  EXPECT_TRUE(compare_values(CompareOp::Gt, Value::u64(UINT64_MAX), Value::u64(0), names));
  EXPECT_TRUE(compare_values(CompareOp::Ge, Value::u64(3), Value::u64(3), names));
  const Value list = names.terms.list({&a, 1});
  EXPECT_TRUE(compare_values(CompareOp::Eq, list, names.terms.list({&a, 1}), names));
  EXPECT_TRUE(compare_values(CompareOp::Lt, names.terms.list({}), list, names));
}

Term constant(Value value) {
  Term term;
  term.kind = TermKind::Constant;
  term.value = value;
  term.type = scalar(value.kind);
  return term;
}

Term variable(uint32_t index, TypeKind kind) {
  Term term;
  term.kind = TermKind::Variable;
  term.var = VarId{index};
  term.type = scalar(kind);
  return term;
}

TEST(EvaluateTerm, OnlyTheBranchThatIsTaken) {
  Names names;
  // if X = 0 then 7 else 7 / X
  Term division;
  division.kind = TermKind::Arith;
  division.op = ArithOp::Div;
  division.type = scalar(TypeKind::I64);
  division.args = {constant(Value::i64(7)), variable(0, TypeKind::I64)};
  Term condition;
  condition.kind = TermKind::Arith;
  condition.op = ArithOp::If;
  condition.compare = CompareOp::Eq;
  condition.type = scalar(TypeKind::I64);
  condition.args = {variable(0, TypeKind::I64), constant(Value::i64(0)), constant(Value::i64(7)),
                    division};
  auto at = [&](int64_t x) {
    return evaluate(
        condition, [x](VarId) { return Value::i64(x); }, names);
  };
  EXPECT_EQ(at(0), Value::i64(7));
  EXPECT_EQ(at(2), Value::i64(3));
  EXPECT_FALSE(evaluate(
      division, [](VarId) { return Value::i64(0); }, names));
}

TEST(EvaluateTerm, BuildsStructures) {
  Names names;
  Term list;
  list.kind = TermKind::List;
  list.has_tail = true;
  list.args = {constant(Value::u32(1)), variable(0, TypeKind::List)};
  const Value two = Value::u32(2);
  const Value tail = names.terms.list({&two, 1});
  const auto whole = evaluate(
      list, [tail](VarId) { return tail; }, names);
  ASSERT_TRUE(whole);
  EXPECT_EQ(to_source(*whole, names), "[1, 2]");
  EXPECT_FALSE(evaluate(
      list, [](VarId) { return Value::u32(1); }, names));

  Term compound;
  compound.kind = TermKind::Compound;
  compound.functor = names.symbols.intern("f");
  compound.args = {constant(Value::i64(1)), variable(0, TypeKind::Term)};
  EXPECT_EQ(to_source(*evaluate(
                          compound, [tail](VarId) { return tail; }, names),
                      names),
            "f(1, [2])");
}

}  // namespace
}  // namespace xlog::lang
