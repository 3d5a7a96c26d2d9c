#include "base/line_index.h"

#include <gtest/gtest.h>

namespace xlog {
namespace {

TEST(LineIndex, AgreesWithSourceMap) {
  SourceMap sources;
  sources.add("a", "", "one\r\ntw\u00f6 x\n\nlast");
  sources.add("b", "", "");
  sources.add("c", "", "\n\n");
  LineIndex lines(sources);
  for (const auto& file : sources.files()) {
    for (uint32_t at = file->base; at <= file->base + file->text.size(); ++at) {
      const Span span{at, at};
      EXPECT_EQ(lines.place(at).file, sources.place(span).file);
      EXPECT_EQ(lines.place(at).line, sources.place(span).line) << at;
      EXPECT_EQ(lines.line_at(at).text, sources.line_text(span)) << at;
      EXPECT_EQ(lines.line_at(at).begin, sources.line_begin(span)) << at;
    }
  }
}

TEST(LineIndex, ColumnsCountCodePoints) {
  SourceMap sources;
  sources.add("a", "", "\u00f6\u20acx");
  LineIndex lines(sources);
  EXPECT_EQ(lines.place(1 + 5).column, 3u);
}

TEST(LineIndex, NoPlaceOutsideTheTexts) {
  SourceMap sources;
  LineIndex lines(sources);
  EXPECT_EQ(lines.file_at(7), nullptr);
  EXPECT_EQ(lines.place(7).line, 0u);
  EXPECT_EQ(lines.line_at(7).number, 0u);
}

}  // namespace
}  // namespace xlog
