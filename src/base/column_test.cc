#include "base/column.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace xlog {
namespace {

TEST(Column, GrowsFromEverySize) {
  for (size_t n = 0; n < 40; ++n) {
    Column<uint64_t> column;
    for (size_t i = 0; i < n; ++i) column.push_back(i);
    column.shrink_to_fit();  // capacity equals size: the next push must grow it
    column.push_back(n);
    column.push_back(n + 1);
    ASSERT_EQ(column.size(), n + 2);
    for (size_t i = 0; i < n + 2; ++i) ASSERT_EQ(column[i], i);
  }
}

TEST(Column, MovesItsStorage) {
  Column<uint32_t> a;
  a.push_back(7);
  Column<uint32_t> b = std::move(a);
  EXPECT_EQ(b.size(), 1u);
  EXPECT_EQ(b[0], 7u);
}

}  // namespace
}  // namespace xlog
