#include "oracle/possible_results.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace xlog::oracle {
namespace {

using lang::Type;
using lang::TypeKind;
using Rows = std::vector<const std::vector<Value>*>;

Fold fold_of(Fold::Kind kind, TypeKind result) { return {kind, Type{result, nullptr}}; }

TEST(PossibleResults, UnitsOfExactSums) {
  EXPECT_EQ(exact_unit({}), 0);
  EXPECT_EQ(exact_unit(std::vector<double>{0, -0.0}), 0);
  EXPECT_EQ(exact_unit(std::vector<double>{3, -12, 0}), 0);
  EXPECT_EQ(exact_unit(std::vector<double>{24, 8}), 3);
  EXPECT_EQ(exact_unit(std::vector<double>{0.75, 2}), -2);
  EXPECT_EQ(exact_unit(std::vector<double>{0.1, 0.2}), std::nullopt);
  EXPECT_EQ(exact_unit(std::vector<double>{1e16, 1}), std::nullopt);
  EXPECT_EQ(exact_unit(std::vector<double>{1, INFINITY}), std::nullopt);
  EXPECT_EQ(exact_unit(std::vector<double>{1, NAN}), std::nullopt);
}

// A column of one kind of numbers: few and small, so that results meet, or such that sums wrap,
// round, or are none.
void add_column(std::mt19937& random, std::vector<Fold>& folds,
                std::vector<std::vector<Value>>& rows) {
  const Fold::Kind kinds[] = {Fold::Kind::Count, Fold::Kind::Sum,       Fold::Kind::Min,
                              Fold::Kind::Max,   Fold::Kind::Avg,       Fold::Kind::Sum,
                              Fold::Kind::Avg,   Fold::Kind::LogSumExp, Fold::Kind::Findall};
  const Fold::Kind kind = kinds[random() % std::size(kinds)];
  const uint32_t numbers = random() % 5;
  const bool is_float = numbers >= 2;
  const double special[] = {INFINITY, -INFINITY, NAN, -0.0, 1e300, 1e-300};
  for (auto& row : rows) {
    const int small = static_cast<int>(random() % 7) - 3;
    switch (numbers) {
      case 0:
        row.push_back(Value::i64(small));
        break;
      case 1:
        row.push_back(Value::i64((int64_t{1} << 61) * small + small));
        break;
      case 2:
        row.push_back(Value::f64(small * 0.25));
        break;
      case 3:
        row.push_back(Value::f64(small * 0.1));
        break;
      default:
        row.push_back(Value::f64(random() % 4 == 0 ? special[random() % 6] : small * 0.3));
        break;
    }
  }
  TypeKind result = TypeKind::F64;
  if (kind == Fold::Kind::Count) result = TypeKind::U64;
  if (kind == Fold::Kind::Findall) result = TypeKind::List;
  const bool is_of_column =
      kind == Fold::Kind::Sum || kind == Fold::Kind::Min || kind == Fold::Kind::Max;
  if (is_of_column && !is_float) result = TypeKind::I64;
  folds.push_back(fold_of(kind, result));
}

TEST(PossibleResults, AreThoseOfAllSubsets) {
  lang::Names names;
  const auto less = [&](const auto& a, const auto& b) { return row_less(a, b, names); };
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<Fold> folds;
    std::vector<std::vector<Value>> rows(random() % 8);
    for (uint32_t c = 0; c <= random() % 3; ++c) add_column(random, folds, rows);
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
      if (result) expected.push_back(*result);
    }
    std::ranges::sort(expected, less);
    expected.erase(std::ranges::unique(expected).begin(), expected.end());
    ASSERT_EQ(possible_results(folds, nonempty, certain, open, names), expected);
  }
}

TEST(PossibleResults, AreFewWhereTheyMeet) {
  lang::Names names;
  std::vector<std::vector<Value>> rows;
  Rows open;
  for (uint32_t i = 0; i < 30; ++i) rows.push_back({Value::u64(1 + i % 5)});
  for (const auto& row : rows) open.push_back(&row);
  const auto results = [&](Fold::Kind kind, TypeKind type) {
    return possible_results({fold_of(kind, type)}, false, {}, open, names);
  };
  EXPECT_EQ(results(Fold::Kind::Count, TypeKind::U64)->size(), 31u);
  EXPECT_EQ(results(Fold::Kind::Sum, TypeKind::U64)->size(), 91u);
  EXPECT_LT(results(Fold::Kind::Avg, TypeKind::F64)->size(), 30u * 91u);
  EXPECT_EQ(results(Fold::Kind::Findall, TypeKind::List)->size(), 7u * 7 * 7 * 7 * 7);
  for (uint32_t i = 0; i < 30; ++i) rows[i] = {Value::u64(i)};
  EXPECT_EQ(results(Fold::Kind::Findall, TypeKind::List), std::nullopt);  // there are too many
}

}  // namespace
}  // namespace xlog::oracle
