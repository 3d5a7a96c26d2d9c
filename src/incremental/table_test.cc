#include "incremental/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "device/pool.h"

namespace xlog::incremental {
namespace {

// Against a map, with indexes made before and after there are rows.
TEST(Table, FindsWhatIsThere) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Table table(3);
    const uint32_t early = table.index({1});
    std::map<std::vector<uint64_t>, uint32_t> wanted;
    uint32_t late = UINT32_MAX, whole = UINT32_MAX;
    for (int step = 0; step < 3000; ++step) {
      if (step == 1000) late = table.index({0, 2});
      if (step == 1000) whole = table.index({});
      const std::vector<uint64_t> cells = {random() % 12, random() % 12, random() % 7};
      if (step % 200 == 100) {  // many at once, some of them there, some twice
        while (!table.make_room(wanted.size() + 300)) {
        }
        std::vector<uint64_t> many;
        for (int i = 0; i < 3 * 300; ++i) many.push_back(random() % (i % 3 == 2 ? 7 : 12));
        table.find_each(many.data(), 300, true, [&](size_t i, uint32_t row) {
          const uint64_t* begin = many.data() + i * 3;
          const auto [at, is_new] = wanted.try_emplace({begin, begin + 3}, row);
          ASSERT_EQ(at->second, row);
        });
      }
      if (step % 250 == 99) {  // a few go at once, or nearly all
        std::vector<uint32_t> gone;
        const uint64_t part = 1 + random() % 20;
        std::erase_if(wanted, [&](const auto& entry) {
          if (random() % 20 >= part) return false;
          gone.push_back(entry.second);
          return true;
        });
        table.remove_all(gone);
      }
      const auto it = wanted.find(cells);
      ASSERT_EQ(table.find(cells.data()), it == wanted.end() ? kNoRow : it->second);
      if (it == wanted.end()) {
        const uint32_t row = table.add(cells.data());
        table.set_weight(row, static_cast<int64_t>(step));
        wanted[cells] = row;
      } else if (random() % 3 > 0) {
        table.remove(it->second);
        wanted.erase(it);
      }
      if (step % 50 != 0 || step < 1000) continue;
      const auto check = [&](uint32_t index, const std::vector<uint32_t>& columns) {
        std::vector<uint64_t> key;
        for (const uint32_t c : columns) key.push_back(cells[c]);
        std::set<uint32_t> rows;
        for (const auto& [there, row] : wanted) {
          bool fits = true;
          for (const uint32_t c : columns) fits &= there[c] == cells[c];
          if (fits) rows.insert(row);
        }
        const auto found = table.rows_with(index, key.data());
        EXPECT_EQ(std::set<uint32_t>(found.begin(), found.end()), rows);
        EXPECT_EQ(found.size(), rows.size());
      };
      check(early, {1});
      check(late, {0, 2});
      check(whole, {});
    }
  }
}

TEST(Table, CountsRowsOfEachState) {
  Table table(1, true);
  const uint64_t cells[] = {5, 6};
  const uint32_t a = table.add(cells), b = table.add(cells + 1);
  EXPECT_EQ(table.new_rows(), 0u);
  table.set_state(a, kOld | kNew);
  table.set_state(b, kNew);
  EXPECT_EQ(table.old_rows(), 1u);
  EXPECT_EQ(table.new_rows(), 2u);
  table.set_support(a, 7);
  table.set_stamp(a, UINT32_MAX);
  table.set_flag(a, kTouched);
  EXPECT_EQ(table.support(a), 7u);
  EXPECT_EQ(table.stamp(a), UINT32_MAX);
  EXPECT_EQ(table.flags(a), kOld | kNew | kUsed | kTouched);
  table.remove(a);
  EXPECT_EQ(table.old_rows(), 0u);
  EXPECT_EQ(table.new_rows(), 1u);
  EXPECT_EQ(table.add(cells), a);
  EXPECT_EQ(table.weight(a), 0);
}

// As one after another: the same numbers, found by cells and by indexes, whatever was free, equal
// or there before, and whoever writes.
TEST(Table, AddsManyRowsAtOnceAsOneByOne) {
  device::Pool pool(4);
  const Parallel by_threads = [&](uint32_t n, uint32_t grain, const Piece& piece) {
    pool.parallel_for(n, grain, piece);
  };
  const Parallel parallels[] = {in_turn, by_threads};
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Table one(2), many(2);
    for (Table* table : {&one, &many}) table->index({1});
    for (int round = 0; round < 4; ++round) {
      const auto count = static_cast<uint32_t>(1 + random() % (round == 0 ? 20 : 40'000));
      const uint64_t values = 1 + random() % (seed % 2 == 0 ? 300 : 100'000);
      std::vector<uint64_t> cells, hashes(count);
      for (uint32_t i = 0; i < 2 * count; ++i) cells.push_back(random() % values);
      std::vector<uint32_t> wanted(count), found(count);
      one.find_each(cells.data(), count, true, [&](size_t i, uint32_t row) { wanted[i] = row; });
      many.look_up(cells.data(), count, hashes.data(), found.data());
      many.add_missing(cells.data(), count, hashes.data(), found.data(), parallels[round % 2]);
      ASSERT_EQ(found, wanted);
      ASSERT_EQ(one.end(), many.end());
      for (uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(many.find(cells.data() + size_t{2} * i), wanted[i]);
        ASSERT_EQ(many.weight(wanted[i]), one.weight(wanted[i]));
        const uint64_t* key = cells.data() + size_t{2} * i + 1;
        const auto by_one = one.rows_with(0, key), by_many = many.rows_with(0, key);
        ASSERT_TRUE(std::ranges::equal(by_one, by_many));
        many.set_weight(wanted[i], i);
        one.set_weight(wanted[i], i);
      }
      for (uint32_t i = 0; i < count; i += 3) {
        if (!one.is_used(wanted[i])) continue;
        one.remove(wanted[i]);
        many.remove(wanted[i]);
      }
    }
  }
}

}  // namespace
}  // namespace xlog::incremental
