// Pieces against nested loops of random lengths, which stop anywhere: whatever is cut and however
// often it stops, each innermost item comes once.
#include "relation/pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace xlog::relation {
namespace {

// What a kernel does with a piece, on the host. The number of items of a loop depends on the items
// of the loops around it, and on nothing else.
class Loops {
 public:
  Loops(uint32_t seed, uint32_t loops, uint32_t rows) : seed_(seed), loops_(loops), rows_(rows) {}

  using Item = std::vector<uint32_t>;
  const std::map<Item, uint32_t>& seen() const { return seen_; }

  uint32_t length(const Item& around) const {
    if (around.empty()) return rows_;
    uint32_t hash = seed_;
    for (uint32_t number : around) hash = (hash ^ number) * 0x9e3779b1 + 7;
    hash ^= hash >> 15;
    return hash % 5 == 0 ? hash / 5 % 40 : hash / 5 % 3;  // now and then many
  }

  // Stops once it has looked at so many items.
  void run(std::span<uint32_t> piece, uint32_t budget) {
    piece_ = piece;
    budget_ = budget;
    stopped_ = false;
    depth_ = 0;
    now_.assign(loops_, 0);
    ends_.assign(loops_, 0);
    go({}, true);
    piece[kPieceDepth] = depth_;
    piece[kPieceStopped] = stopped_ ? 1 : 0;
    for (uint32_t l = 0; l < loops_; ++l) {
      piece[kPieceWidth + l * kLoopWidth + kLoopAt] = now_[l];
      piece[kPieceWidth + l * kLoopWidth + kLoopEnd] = ends_[l];
    }
  }

  uint64_t all(const Item& around = {}) const {
    if (around.size() == loops_) return 1;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < length(around); ++i) {
      Item inner = around;
      inner.push_back(i);
      sum += all(inner);
    }
    return sum;
  }

 private:
  void go(const Item& around, bool on_path) {
    const auto loop = static_cast<uint32_t>(around.size());
    if (loop == loops_) {
      ++seen_[around];
      return;
    }
    on_path = on_path && loop <= piece_[kPieceDepth];
    const uint32_t* place = &piece_[kPieceWidth + loop * kLoopWidth];
    const uint32_t last = std::min(length(around), on_path ? place[kLoopEnd] : UINT32_MAX);
    for (uint32_t i = on_path ? place[kLoopAt] : 0; i < last; ++i) {
      const bool at_begin = on_path && i == place[kLoopAt];
      now_[loop] = i;
      if (budget_ == 0) {
        stopped_ = true;
        depth_ = loop;
      } else {
        --budget_;
        Item inner = around;
        inner.push_back(i);
        go(inner, at_begin);
      }
      if (stopped_) {
        ends_[loop] = last;
        return;
      }
    }
  }

  uint32_t seed_, loops_, rows_;
  std::span<uint32_t> piece_;
  uint32_t budget_ = 0, depth_ = 0;
  bool stopped_ = false;
  Item now_, ends_;
  std::map<Item, uint32_t> seen_;
};

TEST(Pieces, EachItemComesOnce) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint32_t depth = 1 + random() % 4;
    const uint32_t rows = 1 + random() % 30;
    Loops loops(seed, depth, rows);
    Pieces pieces(depth);
    const uint32_t first = random() % 2 == 0 ? 0 : rows / 2;
    pieces.add_rows(0, first, 1 + random() % 3);
    pieces.add_rows(first, rows, 1 + random() % 8);
    for (uint32_t launches = 0; !pieces.empty(); ++launches) {
      ASSERT_LT(launches, 100'000u) << "it goes on";
      const uint32_t most = 1 + random() % 8;
      std::vector<uint32_t> taken = pieces.take(most);
      ASSERT_LE(taken.size(), most * pieces.width());
      for (size_t at = 0; at < taken.size(); at += pieces.width()) {
        loops.run(std::span(&taken[at], pieces.width()), depth + random() % 50);
      }
      pieces.put_back(taken);
    }
    EXPECT_EQ(loops.seen().size(), loops.all());
    for (const auto& [item, times] : loops.seen()) EXPECT_EQ(times, 1u);
  }
}

// What one instance could not finish is enough for all.
TEST(Pieces, OneRowIsShared) {
  Pieces pieces(3);
  pieces.add_rows(7, 8, 1);
  std::vector<uint32_t> taken = pieces.take(16);
  ASSERT_EQ(taken.size(), pieces.width());
  taken[kPieceDepth] = 2;
  taken[kPieceStopped] = 1;
  const uint32_t places[] = {7, 8, 0, 30, 12, 100};
  for (uint32_t l = 0; l < 3; ++l) {
    taken[kPieceWidth + l * kLoopWidth + kLoopAt] = places[2 * l];
    taken[kPieceWidth + l * kLoopWidth + kLoopEnd] = places[2 * l + 1];
  }
  pieces.put_back(taken);
  EXPECT_EQ(pieces.count(), 1u);
  EXPECT_EQ(pieces.take(16).size(), 16 * pieces.width());
  EXPECT_EQ(pieces.count(), 16u) << "the rest of two loops, in 16 parts each";
}

}  // namespace
}  // namespace xlog::relation
