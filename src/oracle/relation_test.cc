// Relations against a plain list of rows.
#include "oracle/relation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "base/sanitized.h"

namespace xlog::oracle {
namespace {

std::vector<uint32_t> rows_by_index(Relation& relation, const std::vector<uint32_t>& columns,
                                    const Tuple& key) {
  std::vector<uint32_t> rows;
  const Relation::Index& index = relation.index(columns);
  for (uint32_t row = index.first(key); row != Relation::Index::kNone; row = index.next(row)) {
    rows.push_back(row);
  }
  return rows;
}

TEST(Relation, HoldsEachRowOnceAndFindsItByAllAndBySomeColumns) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const uint32_t values = 1 + seed % 20;
    const auto tuple = [&] {
      return Tuple{Value::u32(static_cast<uint32_t>(random() % values)),
                   Value::i64(-static_cast<int64_t>(random() % values)), Value::u32(random() % 3)};
    };
    Relation relation;
    std::vector<Tuple> rows;
    for (uint32_t step = 0; step < 200; ++step) {
      const Tuple t = tuple();
      const auto at = std::ranges::find(rows, t);
      const bool is_new = at == rows.end();
      if (!is_new) {
        EXPECT_EQ(relation.find(t), at - rows.begin());
      } else {
        EXPECT_EQ(relation.find(t), std::nullopt);
      }
      if (is_new && random() % 4 == 0) {
        relation.append(t);
      } else {
        EXPECT_EQ(relation.insert(t), is_new);
      }
      if (is_new) rows.push_back(t);
      if (step % 10 != 0) continue;
      const Tuple wanted = tuple();
      std::vector<uint32_t> expected;
      for (uint32_t r = 0; r < rows.size(); ++r) {
        if (rows[r][0] == wanted[0] && rows[r][2] == wanted[2]) expected.push_back(r);
      }
      ASSERT_EQ(rows_by_index(relation, {0, 2}, {wanted[0], wanted[2]}), expected);
    }
    ASSERT_EQ(relation.size(), rows.size());
    for (size_t r = 0; r < rows.size(); ++r) {
      ASSERT_TRUE(std::ranges::equal(relation.row(r), rows[r]));
    }
  }
}

// Dense numbers, numbers far apart, other kinds between them, and rows that come unchecked.
TEST(Relation, HoldsSingleValuesOfAllSorts) {
  for (uint32_t seed = 0; seed < 200 / kPartOfWork; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const uint32_t range = 1u << (4 + random() % 12);
    const uint32_t strangers = seed % 4 == 0 ? 50 : 0;  // of 1000
    const auto value = [&] {
      if (random() % 1000 < strangers) return Value::i64(-1 - static_cast<int64_t>(random() % 9));
      return random() % 400 == 0 && seed % 2 == 0 ? Value::u32(random())
                                                  : Value::u32(random() % range);
    };
    Relation relation;
    std::vector<Value> rows;
    for (uint32_t step = 0; step < 1500; ++step) {
      const Tuple t = {seed % 3 == 0 ? Value::u32(step) : value()};
      const auto known = std::ranges::find(rows, t[0]);
      const bool is_new = known == rows.end();
      if (is_new && random() % 8 == 0) {
        relation.append(t);
      } else {
        ASSERT_EQ(relation.insert(t), is_new);
      }
      if (is_new) rows.push_back(t[0]);
      const Tuple wanted = {value()};
      const auto at = std::ranges::find(rows, wanted[0]);
      const std::optional<size_t> row = relation.find(wanted);
      ASSERT_EQ(row.has_value(), at != rows.end());
      if (row) {
        ASSERT_EQ(rows[*row], wanted[0]);
      }
    }
    ASSERT_EQ(relation.size(), rows.size());
  }
}

// On threads of their own, without a pool: as many as there are pieces.
void on_threads(uint32_t n, uint32_t grain, const Piece& piece) {
  std::vector<std::thread> threads;
  for (uint32_t lo = 0; lo < n; lo += grain) {
    threads.emplace_back([=, &piece] { piece(lo, std::min(n, lo + grain)); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Relation, TakesManyRowsAtOnceAsOneByOne) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const size_t arity = 1 + seed % 3;
    const uint32_t range = seed % 2 == 0 ? 300 : 60'000;
    Relation expected, relation;
    std::vector<Tuple> wanted;
    for (uint32_t round = 0; round < 3; ++round) {
      const uint32_t count = seed % 4 == 0 ? 50 : 40'000 / kPartOfWork;
      std::vector<Value> values;
      size_t is_new = 0;
      for (uint32_t i = 0; i < count; ++i) {
        Tuple tuple;
        for (size_t c = 0; c < arity; ++c) tuple.push_back(Value::u32(random() % range));
        if (seed % 5 == 0 && i % 100 == 0) tuple[0] = Value::i64(-1);
        values.insert(values.end(), tuple.begin(), tuple.end());
        is_new += expected.insert(tuple) ? 1 : 0;
        if (random() % 8 == 0) wanted.push_back(tuple);
      }
      EXPECT_EQ(relation.insert_all(values, arity, count, on_threads), is_new);
      ASSERT_EQ(relation.size(), expected.size());
      for (size_t r = 0; r < expected.size(); ++r) {
        ASSERT_TRUE(std::ranges::equal(relation.row(r), expected.row(r)));
      }
      Tuple other(arity, Value::i64(7));
      if (!expected.find(other)) {
        std::ranges::copy(other, relation.extend(arity, 1));
        expected.append(other);
        wanted.push_back(other);
      }
      relation.prepare_finders(on_threads);
      Relation::Finder finder(relation);
      for (const Tuple& tuple : wanted) ASSERT_EQ(finder.find(tuple), expected.find(tuple));
      EXPECT_EQ(finder.find(Tuple(arity, Value::i64(8))), std::nullopt);
    }
  }
}

TEST(Relation, WithoutColumnsHasOneRow) {
  Relation relation;
  EXPECT_EQ(relation.find({}), std::nullopt);
  EXPECT_TRUE(relation.insert({}));
  EXPECT_FALSE(relation.insert({}));
  EXPECT_EQ(relation.find({}), 0u);
  EXPECT_EQ(relation.size(), 1u);
  EXPECT_EQ(relation.insert_all({}, 0, 5, in_turn), 0u);
  Relation other;
  EXPECT_EQ(other.insert_all({}, 0, 5, in_turn), 1u);
  EXPECT_EQ(other.size(), 1u);
}

}  // namespace
}  // namespace xlog::oracle
