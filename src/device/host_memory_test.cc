#include "device/host_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/memory.h"

namespace xlog::device {
namespace {

TEST(HostMemory, BlocksAreAlignedAndLargeEnough) {
  HostMemoryPool pool;
  for (uint64_t bytes = 0; bytes < 70'000; bytes = bytes * 5 / 4 + 1) {
    std::byte* block = pool.take(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    std::memset(block, 1, bytes);  // the sanitizer looks on
    pool.give(block, bytes);
  }
}

TEST(HostMemory, GivesTheSameBlockAgain) {
  HostMemoryPool pool;
  std::byte* first = pool.take(500'000);
  pool.give(first, 500'000);
  EXPECT_GE(pool.kept(), 500'000u);
  EXPECT_LE(pool.kept(), 625'000u);
  std::byte* again = pool.take(500'001);
  EXPECT_EQ(again, first);
  EXPECT_EQ(pool.reused(), 1u);
  EXPECT_EQ(pool.kept(), 0u);
  pool.give(again, 500'001);
}

// Blocks that grow leave their places to others, whatever the sizes.
TEST(HostMemory, LargeBlocksAreCutAndJoined) {
  constexpr uint64_t kMega = uint64_t{1} << 20;
  HostMemoryPool pool(16 * kMega);
  std::byte* a = pool.take(4 * kMega);
  std::byte* b = pool.take(4 * kMega);
  std::byte* c = pool.take(4 * kMega);
  if (b != a + 4 * kMega) {
    for (std::byte* block : {a, b, c}) pool.give(block, 4 * kMega);
    GTEST_SKIP() << "a sanitizer hands out the blocks";
  }
  pool.give(a, 4 * kMega);
  pool.give(c, 4 * kMega);
  pool.give(b, 4 * kMega);
  EXPECT_EQ(pool.kept(), 12 * kMega);
  std::byte* all = pool.take(12 * kMega);
  EXPECT_EQ(all, a);
  pool.give(all, 12 * kMega);
  std::byte* part = pool.take(3 * kMega);
  EXPECT_EQ(part, a);
  EXPECT_EQ(pool.kept(), 9 * kMega);
  pool.give(part, 3 * kMega);
}

// A block that grows keeps its bytes, and takes memory only where somebody writes.
TEST(HostMemory, BlocksGrowInTheirOwnPages) {
  constexpr uint64_t kMega = uint64_t{1} << 20;
  HostMemoryPool pool(0);
  std::byte* block = pool.take(kMega);
  std::memset(block, 7, kMega);
  EXPECT_EQ(pool.resize(block, kMega, 100, 100), nullptr) << "small ones are copied";
  std::byte* large = pool.resize(block, kMega, kMega, 1024 * kMega);
  if (large == nullptr) {
    pool.give(block, kMega);
    GTEST_SKIP() << "a sanitizer hands out the blocks";
  }
  EXPECT_EQ(large[kMega - 1], std::byte{7});
  const uint64_t before = own_memory();
  large = pool.resize(large, 1024 * kMega, kMega, 4096 * kMega);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(large[kMega - 1], std::byte{7});
  EXPECT_LT(own_memory(), before + 64 * kMega);
  large[4096 * kMega - 1] = std::byte{9};
  large = pool.resize(large, 4096 * kMega, kMega, 2 * kMega);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(large[0], std::byte{7});
  pool.give(large, 2 * kMega);
  EXPECT_EQ(pool.kept(), 0u);
}

// Against a list of what is taken: blocks never overlap, and what is written stays.
TEST(HostMemory, RandomSizesNeverMeet) {
  HostMemoryPool pool(uint64_t{1} << 24);
  std::mt19937 random(11);
  struct Block {
    std::byte* at;
    uint64_t bytes;
    int mark;
  };
  std::vector<Block> taken;
  for (int i = 0; i < 3000; ++i) {
    if (taken.size() < 20 && random() % 2 == 0) {
      const uint64_t bytes = (uint64_t{1} << (8 + random() % 14)) + random() % 5000;
      const Block block{pool.take(bytes), bytes, i % 250};
      ASSERT_NE(block.at, nullptr);
      std::memset(block.at, block.mark, bytes);
      taken.push_back(block);
    } else if (!taken.empty()) {
      const size_t which = random() % taken.size();
      const Block block = taken[which];
      for (uint64_t at : {uint64_t{0}, block.bytes / 2, block.bytes - 1}) {
        ASSERT_EQ(block.at[at], static_cast<std::byte>(block.mark)) << "step " << i;
      }
      pool.give(block.at, block.bytes);
      taken.erase(taken.begin() + static_cast<ptrdiff_t>(which));
    }
  }
  for (const Block& block : taken) pool.give(block.at, block.bytes);
}

TEST(HostMemory, RefusesMoreThanTheMachineHas) {
  HostMemoryPool pool;
  pool.give(pool.take(100'000), 100'000);
  const uint64_t available = available_memory();
  if (available == UINT64_MAX) GTEST_SKIP() << "the system does not say";
  EXPECT_EQ(pool.take(available * 2), nullptr);
  EXPECT_EQ(pool.kept(), 0u) << "what was kept went back before that";
  std::byte* block = pool.take(100'000);
  EXPECT_NE(block, nullptr);
  pool.give(block, 100'000);
}

TEST(HostMemory, KeepsNoMoreThanItMay) {
  HostMemoryPool pool(10'000);
  for (int i = 0; i < 10; ++i) pool.give(pool.take(100'000), 100'000);
  pool.give(pool.take(9'000'000), 9'000'000);
  EXPECT_EQ(pool.kept(), 0u);
  EXPECT_EQ(pool.reused(), 0u);
}

TEST(HostMemory, TooMuchIsNull) {
  HostMemoryPool pool;
  EXPECT_EQ(pool.take(UINT64_MAX), nullptr);
}

}  // namespace
}  // namespace xlog::device
