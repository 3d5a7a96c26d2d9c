#include "oracle/aggregates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace xlog::oracle {
namespace {

using lang::Type;
using lang::TypeKind;

Fold fold_of(Fold::Kind kind, TypeKind result) { return {kind, Type{result, nullptr}}; }

TEST(Aggregates, OfNothing) {
  lang::Names names;
  EXPECT_EQ(fold_values(fold_of(Fold::Kind::Count, TypeKind::U64), {}, names), Value::u64(0));
  EXPECT_EQ(fold_values(fold_of(Fold::Kind::Sum, TypeKind::I64), {}, names), Value::i64(0));
  EXPECT_EQ(fold_values(fold_of(Fold::Kind::Min, TypeKind::U32), {}, names), std::nullopt);
  EXPECT_EQ(fold_values(fold_of(Fold::Kind::Avg, TypeKind::F64), {}, names), std::nullopt);
}

TEST(Aggregates, Values) {
  lang::Names names;
  const std::vector<Value> values{Value::i32(-3), Value::i32(5), Value::i32(4)};
  EXPECT_EQ(fold_values(fold_of(Fold::Kind::Sum, TypeKind::I64), values, names), Value::i64(6));
  EXPECT_EQ(fold_values(fold_of(Fold::Kind::Min, TypeKind::I32), values, names), Value::i32(-3));
  EXPECT_EQ(fold_values(fold_of(Fold::Kind::Max, TypeKind::I32), values, names), Value::i32(5));
  EXPECT_EQ(fold_values(fold_of(Fold::Kind::Avg, TypeKind::F64), values, names), Value::f64(2));
  EXPECT_EQ(fold_values(fold_of(Fold::Kind::Sum, TypeKind::U64),
                        {Value::u64(UINT64_MAX), Value::u64(2)}, names),
            Value::u64(1));
  const Value zero = Value::f64(0);
  const double two =
      fold_values(fold_of(Fold::Kind::LogSumExp, TypeKind::F64), {zero, zero}, names)->as_double();
  EXPECT_NEAR(two, 0.6931471805599453, 1e-15);
}

TEST(Aggregates, FloatSumsDoNotDependOnTheOrderOfRows) {
  lang::Names names;
  std::vector<Value> values;
  for (double d : {1e16, 1.0, -1e16, 3.0, 1e-3}) values.push_back(Value::f64(d));
  std::mt19937 random(1);
  const auto expected = fold_values(fold_of(Fold::Kind::Sum, TypeKind::F64), values, names);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(values.begin(), values.end(), random);
    EXPECT_EQ(fold_values(fold_of(Fold::Kind::Sum, TypeKind::F64), values, names), expected);
  }
}

}  // namespace
}  // namespace xlog::oracle
