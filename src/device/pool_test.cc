#include "device/pool.h"

#include <gtest/gtest.h>

#include <new>
#include <numeric>

namespace xlog::device {
namespace {

TEST(Pool, CoversEveryIndexOnce) {
  for (uint32_t threads : {1u, 2u, 8u}) {
    Pool pool(threads);
    for (uint32_t n : {0u, 1u, 7u, 64u, 1000u, 100'003u}) {
      for (uint32_t grain : {1u, 3u, 64u, 4096u}) {
        std::vector<uint8_t> hits(n, 0);
        pool.parallel_for(n, grain, [&](uint32_t lo, uint32_t hi) {
          EXPECT_LE(hi - lo, grain);
          for (uint32_t i = lo; i < hi; ++i) ++hits[i];
        });
        EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), uint64_t{0}), n);
        for (uint8_t hit : hits) ASSERT_EQ(hit, 1);
      }
    }
  }
}

TEST(Pool, ReachesTheEndOfTheIndexRange) {
  Pool pool(4);
  std::atomic<uint64_t> covered{0};
  pool.parallel_for(UINT32_MAX, uint32_t{1} << 30,
                    [&](uint32_t lo, uint32_t hi) { covered += hi - lo; });
  EXPECT_EQ(covered, UINT32_MAX);
}

TEST(Pool, StartsNoThreadForSmallWork) {
  Pool pool(4);
  pool.parallel_for(100, 100, [](uint32_t, uint32_t) {});
  EXPECT_FALSE(pool.started());
  pool.parallel_for(101, 100, [](uint32_t, uint32_t) {});
  EXPECT_TRUE(pool.started());
}

TEST(Pool, NestedWorkRunsInItsPiece) {
  Pool pool(4);
  std::atomic<uint64_t> sum{0};
  pool.parallel_for(64, 1, [&](uint32_t lo, uint32_t) {
    std::thread::id here = std::this_thread::get_id();
    pool.parallel_for(100, 10, [&](uint32_t inner_lo, uint32_t inner_hi) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      for (uint32_t i = inner_lo; i < inner_hi; ++i) sum += lo * i;
    });
  });
  EXPECT_EQ(sum, uint64_t{64 * 63 / 2} * (100 * 99 / 2));
}

TEST(Pool, WhatAPieceThrowsReachesTheCaller) {
  for (uint32_t threads : {1u, 4u}) {
    Pool pool(threads);
    for (uint32_t bad : {0u, 57u, 99u}) {
      EXPECT_THROW(pool.parallel_for(100, 1,
                                     [&](uint32_t lo, uint32_t) {
                                       if (lo >= bad) throw std::bad_alloc();
                                     }),
                   std::bad_alloc);
      std::atomic<uint32_t> covered{0};
      pool.parallel_for(100, 1, [&](uint32_t lo, uint32_t hi) { covered += hi - lo; });
      EXPECT_EQ(covered, 100u);
    }
  }
}

TEST(Pool, ManyShortCallsInARow) {
  Pool pool(8);
  uint64_t total = 0;
  for (uint32_t round = 0; round < 5000; ++round) {
    std::vector<uint32_t> parts(16, 0);
    pool.parallel_for(16, 1, [&](uint32_t lo, uint32_t) { parts[lo] = lo + round; });
    for (uint32_t part : parts) total += part;
  }
  EXPECT_EQ(total, uint64_t{16} * (5000ull * 4999 / 2) + 5000ull * (16 * 15 / 2));
}

}  // namespace
}  // namespace xlog::device
