#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"

namespace xlog {
namespace {

// The span of the n-th occurrence of `needle` in `file`.
Span find(const SourceFile* file, std::string_view needle, int n = 1) {
  size_t at = file->text.find(needle);
  while (--n > 0) at = file->text.find(needle, at + 1);
  const auto begin = file->base + static_cast<uint32_t>(at);
  return {begin, begin + static_cast<uint32_t>(needle.size())};
}

class Render : public testing::Test {
 protected:
  SourceMap sources;
  Diagnostics diagnostics;

  const SourceFile* add(std::string name, std::string text) {
    return sources.add(std::move(name), "", std::move(text));
  }
  std::string text(RenderOptions options = {}) {
    return render_text(diagnostics, sources, options);
  }
};

TEST_F(Render, OneError) {
  const SourceFile* file = add("a.xlog", "p(1).\nq(X) :- p(Y).\n");
  diagnostics.report(Code::UnsafeVariable, find(file, "X"), "nothing binds `X`")
      .note("a note\nof two lines")
      .help("use `X` in the body");
  EXPECT_EQ(text(),
            "error[E0601]: nothing binds `X`\n"
            "  --> a.xlog:2:3\n"
            "   |\n"
            " 2 | q(X) :- p(Y).\n"
            "   |   ^\n"
            "   = note: a note\n"
            "           of two lines\n"
            "   = help: use `X` in the body\n"
            "\n");
}

TEST_F(Render, LabelsOnTheSameLine) {
  const SourceFile* file = add("a.xlog", "p(Xx) :- q(Xx), r(Xx).\n");
  diagnostics.report(Code::TypeMismatch, find(file, "Xx", 2), "two types")
      .label(find(file, "Xx", 1), "u32 here")
      .label(find(file, "Xx", 3), "symbol here");
  EXPECT_EQ(text(),
            "error[E0301]: two types\n"
            "  --> a.xlog:1:12\n"
            "   |\n"
            " 1 | p(Xx) :- q(Xx), r(Xx).\n"
            "   |   --       ^^     -- symbol here\n"
            "   |   |\n"
            "   |   u32 here\n"
            "\n");
}

TEST_F(Render, SeveralTextsHang) {
  const SourceFile* file = add("a.xlog", "aa bb cc");
  diagnostics.report(Code::TypeMismatch, find(file, "cc"), "m")
      .label(find(file, "aa"), "first")
      .label(find(file, "bb"), "second");
  EXPECT_EQ(text(),
            "error[E0301]: m\n"
            "  --> a.xlog:1:7\n"
            "   |\n"
            " 1 | aa bb cc\n"
            "   | -- -- ^^\n"
            "   | |  |\n"
            "   | |  second\n"
            "   | first\n"
            "\n");
}

TEST_F(Render, LabelsOnOtherLinesAndFiles) {
  std::string body = "p(1).\n\n\n";
  for (int i = 0; i < 10; ++i) body += "\n";
  const SourceFile* file = add("a.xlog", body + "q(X) :- p(X).\n");
  const SourceFile* other = add("lib.xlog", "\npred p(symbol).\n");
  diagnostics.report(Code::TypeMismatch, find(file, "p(X)"), "m")
      .label(find(file, "1"), "a number")
      .label(find(other, "symbol"), "declared");
  EXPECT_EQ(text(),
            "error[E0301]: m\n"
            "   --> a.xlog:14:9\n"
            "    |\n"
            "  1 | p(1).\n"
            "    |   - a number\n"
            "    :\n"
            " 14 | q(X) :- p(X).\n"
            "    |         ^^^^\n"
            "   ::: lib.xlog:2:8\n"
            "    |\n"
            "  2 | pred p(symbol).\n"
            "    |        ------ declared\n"
            "\n");
}

TEST_F(Render, TabsControlBytesAndWideCharacters) {
  const SourceFile* file = add("a.xlog", "\tp\t\x1b[2J\xff \u6f22\u5b57 bad");
  diagnostics.report(Code::UnexpectedToken, find(file, "bad"), "m");
  EXPECT_EQ(text(),
            "error[E0107]: m\n"
            "  --> a.xlog:1:13\n"
            "   |\n"
            " 1 |     p   \\x1b[2J\uFFFD \u6f22\u5b57 bad\n"
            "   |                       ^^^\n"
            "\n");
}

TEST_F(Render, MultiLineSpanShowsItsFirstLine) {
  const SourceFile* file = add("a.xlog", "p :- q,\n  r.\n");
  diagnostics.report(Code::UnexpectedToken, {file->base + 2, file->base + 12}, "m");
  EXPECT_NE(text().find("| p :- q,\n   |   ^^^^^\n"), std::string::npos) << text();
}

TEST_F(Render, EndOfFile) {
  const SourceFile* file = add("a.xlog", "p");
  diagnostics.report(Code::MissingPeriod, {file->base + 1, file->base + 1}, "m");
  EXPECT_NE(text().find("a.xlog:1:2\n   |\n 1 | p\n   |  ^\n"), std::string::npos) << text();
  const SourceFile* empty = add("b.xlog", "");
  diagnostics.clear();
  diagnostics.report(Code::MissingPeriod, {empty->base, empty->base}, "m");
  EXPECT_NE(text().find("b.xlog:1:1\n   |\n 1 |\n   | ^\n"), std::string::npos) << text();
}

TEST_F(Render, LongLineIsAWindow) {
  const SourceFile* file =
      add("a.xlog", std::string(5'000'000, 'x') + " bad " + std::string(5'000'000, 'y'));
  diagnostics.report(Code::UnexpectedToken, find(file, "bad"), "m").label(find(file, "x"), "far");
  const std::string out = text();
  EXPECT_LT(out.size(), 1000u);
  EXPECT_NE(out.find("...xxx"), std::string::npos);
  EXPECT_NE(out.find("yyy..."), std::string::npos);
  // The caret stands below the word.
  const size_t line = out.find("1 | "), marks = out.find("| ", out.find("yyy...\n")) - 2;
  EXPECT_EQ(out.find("bad", line) - line, out.find("^^^", marks) - marks);
}

TEST_F(Render, LongLineWithoutAPlaceForTheCaret) {
  const SourceFile* file = add("a.xlog", std::string(1000, 'x'));
  const uint32_t end = file->base + 1000;
  diagnostics.report(Code::MissingPeriod, {end, end}, "m");
  const std::string out = text({.color = false, .width = 60});
  EXPECT_NE(out.find("..." + std::string(60, 'x') + "\n"), std::string::npos) << out;
  EXPECT_NE(out.find("| " + std::string(63, ' ') + "^\n"), std::string::npos) << out;
}

TEST_F(Render, PlacesOutsideTheSources) {
  diagnostics.report(Code::BadDataRow, {}, "not a u32").at("data.csv:17");
  diagnostics.report(Code::CannotReadFile, {}, "no such file");
  EXPECT_EQ(text(),
            "error[E0803]: not a u32\n"
            "  --> data.csv:17\n"
            "\n"
            "error[E0801]: no such file\n"
            "\n"
            "2 errors\n");
}

TEST_F(Render, MessagesAreMadePrintable) {
  diagnostics.report(Code::BadDataRow, {}, "the field `\x1b[2J`");
  EXPECT_EQ(text(), "error[E0803]: the field `\\x1b[2J`\n\n");
}

TEST_F(Render, CountsWhatIsNotShown) {
  const SourceFile* file = add("a.xlog", "p");
  for (size_t i = 0; i < Diagnostics::kMaxErrors + 37; ++i) {
    diagnostics.report(Code::UnexpectedToken, find(file, "p"), "m");
  }
  diagnostics.report(Code::UndefinedPredicate, find(file, "p"), "w");
  const std::string out = text();
  EXPECT_TRUE(out.ends_with("... and 37 more errors\n\n137 errors, 1 warning\n")) << out;
}

TEST_F(Render, ErrorsOnly) {
  diagnostics.report(Code::UndefinedPredicate, {}, "w");
  EXPECT_EQ(text({.errors_only = true}), "");
  EXPECT_EQ(render_json(diagnostics, sources, true), "[]");
  diagnostics.report(Code::CannotReadFile, {}, "e");
  EXPECT_EQ(text({.errors_only = true}), "error[E0801]: e\n\n");
}

TEST_F(Render, ColorOnlyWhenAsked) {
  const SourceFile* file = add("a.xlog", "p q");
  diagnostics.report(Code::UnexpectedToken, find(file, "q"), "m").label(find(file, "p"), "l");
  EXPECT_EQ(text().find('\x1b'), std::string::npos);
  EXPECT_NE(text({.color = true}).find("\x1b[1;31m^\x1b[0m"), std::string::npos);
}

TEST_F(Render, ManyDiagnosticsOnALargeFileAreQuick) {
  std::string big;
  for (int i = 0; i < 500'000; ++i) big += "some_fact(1, 2, 3).\n";
  const SourceFile* file = add("a.xlog", big);
  for (uint32_t i = 0; i < 5000; ++i) {
    const uint32_t at = file->base + static_cast<uint32_t>(big.size()) - 20 * (i + 1);
    diagnostics.report(Code::UndefinedPredicate, {at, at + 9}, "m");
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_GT(text().size(), 100'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(Render, Json) {
  const SourceFile* file = add("a.xlog", "p(1).\np(\u00f6, a).\n");
  diagnostics.report(Code::CannotReadFile, {}, "bad \xff byte");
  diagnostics.report(Code::BadDataRow, {}, "row").at("d.csv:17");
  diagnostics.report(Code::TypeMismatch, find(file, "a"), "m")
      .label(find(file, "1"), "l")
      .note("n")
      .help("h");
  const auto json = nlohmann::ordered_json::parse(render_json(diagnostics, sources));
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(
      json[0].dump(),
      R"({"code":"E0301","severity":"error","message":"m","file":"a.xlog","line":2,"column":6,)"
      R"("end_line":2,"end_column":7,"labels":[{"file":"a.xlog","line":1,"column":3,"end_line":1,)"
      R"("end_column":4,"text":"l"}],"notes":["n"],"help":"h"})");
  EXPECT_EQ(json[1]["file"], nullptr);
  EXPECT_EQ(json[1]["message"], "bad \uFFFD byte");
  EXPECT_EQ(json[1]["help"], nullptr);
  EXPECT_EQ(json[2]["file"], "d.csv");
  EXPECT_EQ(json[2]["line"], 17);
}

}  // namespace
}  // namespace xlog
