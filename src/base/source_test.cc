#include "base/source.h"

#include <gtest/gtest.h>

namespace xlog {
namespace {

TEST(SourceMap, FindsFilesLinesAndColumns) {
  SourceMap sources;
  const SourceFile* a = sources.add("a.xlog", "", "one\ntwo\r\nthr\u00e9e");
  const SourceFile* b = sources.add("b.xlog", "", "x");
  ASSERT_NE(a, nullptr);
  const Span two{a->base + 4, a->base + 7};
  EXPECT_EQ(sources.text(two), "two");
  EXPECT_EQ(sources.place(two).line, 2u);
  EXPECT_EQ(sources.place(two).column, 1u);
  EXPECT_EQ(sources.line_text(two), "two");
  const Span last{a->base + 14, a->base + 15};  // the byte after the two of é
  EXPECT_EQ(sources.place(last).line, 3u);
  EXPECT_EQ(sources.place(last).column, 5u);
  EXPECT_EQ(sources.file_of({b->base, b->base}), b);
  const auto end = static_cast<uint32_t>(a->base + a->text.size());
  EXPECT_EQ(sources.file_of({end, end}), a);
}

TEST(Span, CoverIgnoresEmptyOnes) {
  EXPECT_EQ(cover({}, {3, 5}), (Span{3, 5}));
  EXPECT_EQ(cover({3, 5}, {7, 9}), (Span{3, 9}));
}

}  // namespace
}  // namespace xlog
