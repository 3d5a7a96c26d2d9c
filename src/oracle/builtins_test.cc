#include "oracle/builtins.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace xlog::oracle {
namespace {

using lang::BuiltinId;

struct Fixture : ::testing::Test {
  lang::Names names;

  Value num(uint32_t n) { return Value::u32(n); }
  Value list(std::initializer_list<uint32_t> numbers) {
    std::vector<Value> values;
    for (uint32_t n : numbers) values.push_back(num(n));
    return names.terms.list(values);
  }
  // All solutions as text: "1,[1, 2] 2,[1, 2]".
  std::string solve(BuiltinId builtin, std::vector<std::optional<Value>> args) {
    std::string out;
    solve_builtin(builtin, args, names, [&](std::span<const Value> row) {
      if (!out.empty()) out += ' ';
      for (size_t i = 0; i < row.size(); ++i)
        out += (i ? "," : "") + lang::to_source(row[i], names);
    });
    return out;
  }
};

using Builtins = Fixture;

TEST_F(Builtins, MemberGivesEachElementOnce) {
  EXPECT_EQ(solve(BuiltinId::Member, {std::nullopt, list({2, 1, 2})}), "2,[2, 1, 2] 1,[2, 1, 2]");
}

TEST_F(Builtins, LengthAndNth) {
  EXPECT_EQ(solve(BuiltinId::Length, {list({4, 5}), std::nullopt}), "[4, 5],2");
  EXPECT_EQ(solve(BuiltinId::Nth, {std::nullopt, list({4, 5}), std::nullopt}),
            "0,[4, 5],4 1,[4, 5],5");
}

TEST_F(Builtins, AppendJoinsAndSplits) {
  EXPECT_EQ(solve(BuiltinId::Append, {list({1}), list({2}), std::nullopt}), "[1],[2],[1, 2]");
  EXPECT_EQ(solve(BuiltinId::Append, {std::nullopt, std::nullopt, list({1, 2})}),
            "[],[1, 2],[1, 2] [1],[2],[1, 2] [1, 2],[],[1, 2]");
}

TEST_F(Builtins, SortsInCanonicalOrder) {
  EXPECT_EQ(solve(BuiltinId::Sort, {list({10, 2, 10}), std::nullopt}), "[10, 2, 10],[2, 10]");
  EXPECT_EQ(solve(BuiltinId::MSort, {list({10, 2, 10}), std::nullopt}), "[10, 2, 10],[2, 10, 10]");
  EXPECT_EQ(solve(BuiltinId::ListToSet, {list({10, 2, 10}), std::nullopt}), "[10, 2, 10],[10, 2]");
  EXPECT_EQ(solve(BuiltinId::Reverse, {list({1, 2, 3}), std::nullopt}), "[1, 2, 3],[3, 2, 1]");
}

TEST_F(Builtins, TermsAndLists) {
  const std::vector<Value> args{Value::i64(1), Value::i64(2)};
  const Value point = names.terms.compound(names.symbols.intern("point"), args);
  EXPECT_EQ(solve(BuiltinId::Functor, {point, std::nullopt, std::nullopt}), "point(1, 2),point,2");
  EXPECT_EQ(solve(BuiltinId::Univ, {point, std::nullopt}), "point(1, 2),[point, 1, 2]");
  const Value parts =
      names.terms.list(std::vector<Value>{Value::symbol(names.symbols.intern("f")), Value::i64(7)});
  EXPECT_EQ(solve(BuiltinId::Univ, {std::nullopt, parts}), "f(7),[f, 7]");
}

TEST_F(Builtins, BetweenCountsUpAndTests) {
  EXPECT_EQ(solve(BuiltinId::Between, {Value::i64(-1), Value::i64(1), std::nullopt}),
            "-1,1,-1 -1,1,0 -1,1,1");
  EXPECT_EQ(solve(BuiltinId::Between, {Value::i64(3), Value::i64(1), std::nullopt}), "");
  EXPECT_EQ(solve(BuiltinId::Between, {num(UINT32_MAX), num(UINT32_MAX), std::nullopt}),
            "4294967295,4294967295,4294967295");
  EXPECT_EQ(solve(BuiltinId::Between, {num(1), num(3), num(4)}), "");
}

}  // namespace
}  // namespace xlog::oracle
