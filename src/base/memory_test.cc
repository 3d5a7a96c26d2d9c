#include "base/memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace xlog {
namespace {

TEST(Memory, SizesAreReadWithUnits) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_size("3k"), 3072u);
  EXPECT_EQ(parse_size("3K"), 3072u);
  EXPECT_EQ(parse_size("3g"), uint64_t{3} << 30);
  EXPECT_EQ(parse_size("500M"), uint64_t{500} << 20);
  EXPECT_EQ(parse_size("500MB"), uint64_t{500} << 20);
  EXPECT_EQ(parse_size("500MiB"), uint64_t{500} << 20);
  EXPECT_EQ(parse_size("1.5G"), uint64_t{3} << 29);
  EXPECT_EQ(parse_size("2T"), uint64_t{2} << 40);
  for (const char* bad : {"", "M", "-1", "1e9", "1.5", "5x", "5 M", "5MiBs", "5MM", "1..5G", "all",
                          "0x10", "18446744073709551616", "99999999T", "inf", "5 "}) {
    EXPECT_FALSE(parse_size(bad).has_value()) << bad;
  }
}

TEST(Memory, SizesAreWrittenShort) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text(1), "1 byte");
  EXPECT_EQ(size_text(1023), "1023 bytes");
  EXPECT_EQ(size_text(1024), "1 KiB");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(uint64_t{20} << 20), "20 MiB");
  EXPECT_EQ(size_text(uint64_t{5} << 40), "5 TiB");
  EXPECT_EQ(size_text(uint64_t{5000} << 40), "5000 TiB");
}

TEST(Memory, TheProcessTakesWhatItTouches) {
  const uint64_t before = own_memory();
  ASSERT_GT(before, 0u);
  std::vector<char> block(64 << 20, 1);
  EXPECT_GE(own_memory(), before + (60 << 20));
  EXPECT_GE(peak_memory(), own_memory());
  EXPECT_EQ(block[1 << 20], 1);
  EXPECT_GT(available_memory(), 0u);
}

}  // namespace
}  // namespace xlog
