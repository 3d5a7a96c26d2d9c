#include "device/host_memory.h"

#include <gtest/gtest.h>

#include <cstring>

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
  std::byte* first = pool.take(1'000'000);
  pool.give(first, 1'000'000);
  EXPECT_GE(pool.kept(), 1'000'000u);
  EXPECT_LE(pool.kept(), 1'250'000u);
  std::byte* again = pool.take(1'000'001);
  EXPECT_EQ(again, first);
  EXPECT_EQ(pool.reused(), 1u);
  EXPECT_EQ(pool.kept(), 0u);
  pool.give(again, 1'000'001);
}

TEST(HostMemory, KeepsNoMoreThanItMay) {
  HostMemoryPool pool(10'000);
  for (int i = 0; i < 10; ++i) pool.give(pool.take(100'000), 100'000);
  EXPECT_EQ(pool.kept(), 0u);
  EXPECT_EQ(pool.reused(), 0u);
}

TEST(HostMemory, TooMuchIsNull) {
  HostMemoryPool pool;
  EXPECT_EQ(pool.take(UINT64_MAX), nullptr);
}

}  // namespace
}  // namespace xlog::device
