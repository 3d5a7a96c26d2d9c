#include "oracle/aggregates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace xlog::oracle {
namespace {

using lang::Type;
using lang::TypeKind;
using Rows = std::vector<const std::vector<Value>*>;

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

// Merging partial results must give exactly the results of all subsets.
TEST(Aggregates, PossibleResultsAreThoseOfAllSubsets) {
  lang::Names names;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::vector<Fold> folds;
    std::vector<std::vector<Value>> rows(random() % 7);
    const Fold::Kind kinds[] = {Fold::Kind::Count, Fold::Kind::Sum, Fold::Kind::Min,
                                Fold::Kind::Max};
    for (uint32_t c = 0; c <= random() % 2; ++c) {
      const Fold::Kind kind = kinds[random() % 4];
      const TypeKind type = kind == Fold::Kind::Count ? TypeKind::U64 : TypeKind::I64;
      folds.push_back(fold_of(kind, type));
      for (auto& row : rows) row.push_back(Value::i64(static_cast<int64_t>(random() % 5) - 2));
    }
    const bool nonempty = seed % 2 == 0;
    Rows certain, open;
    for (const auto& row : rows) (random() % 3 == 0 ? certain : open).push_back(&row);

    std::vector<std::vector<Value>> expected;
    for (size_t subset = 0; subset < (size_t{1} << open.size()); ++subset) {
      Rows chosen = certain;
      for (size_t i = 0; i < open.size(); ++i) {
        if (subset >> i & 1) chosen.push_back(open[i]);
      }
      const auto result = fold_rows(folds, nonempty, chosen, names);
      if (result && std::find(expected.begin(), expected.end(), *result) == expected.end())
        expected.push_back(*result);
    }
    const auto results = possible_results(folds, nonempty, certain, open, names);
    ASSERT_TRUE(results.has_value());
    ASSERT_EQ(results->size(), expected.size()) << "seed " << seed;
    const auto less = [&](const auto& a, const auto& b) { return row_less(a, b, names); };
    ASSERT_TRUE(std::is_sorted(results->begin(), results->end(), less)) << "seed " << seed;
    for (const auto& result : expected) {
      ASSERT_NE(std::find(results->begin(), results->end(), result), results->end())
          << "seed " << seed;
    }
  }
}

TEST(Aggregates, TooManySubsetsAreRefused) {
  lang::Names names;
  const std::vector<Value> row{Value::f64(0.5)};
  const Rows open(40, &row);
  EXPECT_EQ(possible_results({fold_of(Fold::Kind::Avg, TypeKind::F64)}, false, {}, open, names),
            std::nullopt);
  const auto counts =
      possible_results({fold_of(Fold::Kind::Count, TypeKind::U64)}, false, {}, open, names);
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->size(), 41u);
}

}  // namespace
}  // namespace xlog::oracle
