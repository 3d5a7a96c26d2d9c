#include "incremental/table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

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

}  // namespace
}  // namespace xlog::incremental
