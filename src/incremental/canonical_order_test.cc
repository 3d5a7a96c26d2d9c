#include "incremental/canonical_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

namespace xlog::incremental {
namespace {

using lang::TypeKind;
using lang::Value;

class CanonicalOrder : public ::testing::Test {
 protected:
  Value value(TypeKind kind, uint64_t most) {
    const uint64_t n = std::uniform_int_distribution<uint64_t>(0, most)(random_);
    const bool negative = random_() % 2 == 0;
    switch (kind) {
      case TypeKind::U32:
        return Value::u32(static_cast<uint32_t>(n));
      case TypeKind::U64:
        return Value::u64(random_() % 8 == 0 ? UINT64_MAX - n : n);
      case TypeKind::I64:
        return Value::i64(negative ? -static_cast<int64_t>(n) : static_cast<int64_t>(n));
      case TypeKind::F64:
        return Value::f64((negative ? -0.5 : 0.5) * static_cast<double>(n));
      case TypeKind::Bool:
        return Value::boolean(negative);
      case TypeKind::Symbol:
        return Value::symbol(names_.symbols.intern("s" + std::to_string(n)));
      default:
        return value(negative ? TypeKind::I64 : TypeKind::Symbol, most);
    }
  }

  std::mt19937_64 random_{1};
  lang::Names names_;
};

TEST_F(CanonicalOrder, IsThatOfComparisons) {
  constexpr TypeKind kKinds[] = {TypeKind::U32,  TypeKind::U64,    TypeKind::I64, TypeKind::F64,
                                 TypeKind::Bool, TypeKind::Symbol, TypeKind::Term};
  for (int round = 0; round < 300; ++round) {
    std::vector<TypeKind> kinds(random_() % 5);
    for (TypeKind& kind : kinds) kind = kKinds[random_() % std::size(kKinds)];
    const size_t rows = round % 10 == 0 ? 20'000 : random_() % 40;
    const uint64_t most = uint64_t{1} << random_() % 31;
    std::vector<Value> values;
    for (size_t r = 0; r < rows; ++r) {
      for (const TypeKind kind : kinds) values.push_back(value(kind, most));
    }
    std::vector<uint32_t> expected(rows);
    std::iota(expected.begin(), expected.end(), 0);
    std::ranges::stable_sort(expected, [&](uint32_t a, uint32_t b) {
      for (size_t c = 0; c < kinds.size(); ++c) {
        const auto order =
            lang::compare(values[a * kinds.size() + c], values[b * kinds.size() + c], names_);
        if (order != 0) return order < 0;
      }
      return false;
    });
    EXPECT_EQ(canonical_order(values, kinds, rows, names_), expected) << "round " << round;
    const auto from_the_end = [](uint32_t n, uint32_t grain, const Piece& piece) {
      for (uint32_t end = n; end > 0; end -= std::min(end, grain)) {
        piece(end - std::min(end, grain), end);
      }
    };
    EXPECT_EQ(canonical_order(values, kinds, rows, names_, from_the_end), expected);
  }
}

}  // namespace
}  // namespace xlog::incremental
