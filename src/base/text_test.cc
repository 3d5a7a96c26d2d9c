#include "base/text.h"

#include <gtest/gtest.h>

namespace xlog {
namespace {

TEST(Text, DecodesUtf8) {
  const CodePoint a = decode_utf8("a", 0);
  EXPECT_TRUE(a.valid);
  EXPECT_EQ(a.value, U'a');
  const CodePoint euro = decode_utf8("x\u20ac", 1);
  EXPECT_EQ(euro.value, U'\u20ac');
  EXPECT_EQ(euro.bytes, 3);
  EXPECT_EQ(decode_utf8("\U0001F600", 0).bytes, 4);
}

TEST(Text, RejectsWhatIsNotUtf8OneByteAtATime) {
  for (const std::string_view bad : {"\x80", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                                     "\xF4\x90\x80\x80", "\xF8", "\xE2\x82", "\xFF"}) {
    const CodePoint c = decode_utf8(bad, 0);
    EXPECT_FALSE(c.valid);
    EXPECT_EQ(c.bytes, 1);
    EXPECT_EQ(c.value, U'\uFFFD');
  }
}

TEST(Text, Width) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("a\u0301"), 1u);       // with a combining accent
  EXPECT_EQ(display_width("\u6f22\u5b57"), 4u);  // two Chinese characters
  EXPECT_EQ(display_width("\U0001F600"), 2u);
  EXPECT_EQ(display_width(""), 0u);
}

TEST(Text, PrintableHasNoControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable(std::string_view("\0\x7f\n", 3)), "\\x00\\x7f\\x0a");
  EXPECT_EQ(printable("\u202e"), "\\u{202e}");
  EXPECT_EQ(printable("\u0085"), "\\x85");
  EXPECT_EQ(printable("ok \xff \u00e9\u20ac\U0001F600"), "ok \uFFFD \u00e9\u20ac\U0001F600");
}

}  // namespace
}  // namespace xlog
