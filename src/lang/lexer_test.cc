#include "lang/lexer.h"

#include <gtest/gtest.h>

namespace xlog::lang {
namespace {

struct Lexed {
  explicit Lexed(std::string text) {
    const SourceFile* file = sources.add("test.xlog", "", std::move(text));
    check_utf8(*file, diagnostics);
    Lexer lexer(*file, names, diagnostics, &comments);
    for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next())
      tokens.push_back(token);
  }

  // The tokens as written, joined by spaces.
  std::string words() const {
    std::string out;
    for (const Token& token : tokens) {
      if (!out.empty()) out += ' ';
      out += sources.text(token.span);
    }
    return out;
  }

  std::vector<std::string_view> codes() const {
    std::vector<std::string_view> out;
    for (const Diagnostic& d : diagnostics.all()) out.push_back(code_info(d.code).name);
    return out;
  }

  SourceMap sources;
  Interner names;
  Diagnostics diagnostics;
  std::vector<ast::Comment> comments;
  std::vector<Token> tokens;
};

using Codes = std::vector<std::string_view>;

TEST(Lexer, SplitsPunctuationGreedily) {
  EXPECT_EQ(Lexed("a:-b?-c::d..e=..f==g!=h<=i>=j->k").words(),
            "a :- b ?- c :: d .. e =.. f == g != h <= i >= j -> k");
  EXPECT_EQ(Lexed("=<>+-*/%|;,.:()[]{}#").words(), "= < > + - * / % | ; , . : ( ) [ ] { } #");
  EXPECT_EQ(Lexed("X<-3").words(), "X < - 3");
}

TEST(Lexer, TellsNumbersFromPeriodsAndIntervals) {
  EXPECT_EQ(Lexed("1..5").words(), "1 .. 5");
  EXPECT_EQ(Lexed("1. 2").words(), "1 . 2");
  EXPECT_EQ(Lexed(".5").words(), ". 5");
  EXPECT_EQ(Lexed("1.5.").words(), "1.5 .");
  EXPECT_EQ(Lexed("1.5..2").words(), "1.5 .. 2");
}

TEST(Lexer, ReadsNumbers) {
  const Lexed lexed("0 42 1_000_000 0xff 18446744073709551615 007 1e-3 1.5 2.5e10 1E+2 1e-400");
  ASSERT_EQ(lexed.tokens.size(), 11u);
  EXPECT_EQ(lexed.tokens[1].magnitude, 42u);
  EXPECT_TRUE(lexed.tokens[1].name.empty());
  EXPECT_EQ(lexed.tokens[2].magnitude, 1'000'000u);
  EXPECT_EQ(lexed.names.text(lexed.tokens[2].name), "1_000_000");
  EXPECT_EQ(lexed.tokens[3].magnitude, 255u);
  EXPECT_EQ(lexed.tokens[4].magnitude, UINT64_MAX);
  EXPECT_EQ(lexed.names.text(lexed.tokens[5].name), "007");
  EXPECT_EQ(lexed.tokens[6].number, 1e-3);
  EXPECT_EQ(lexed.tokens[7].number, 1.5);
  EXPECT_TRUE(lexed.tokens[7].name.empty());
  EXPECT_EQ(lexed.tokens[8].number, 2.5e10);
  EXPECT_EQ(lexed.tokens[9].number, 100.0);
  EXPECT_EQ(lexed.tokens[10].number, 0.0);
  EXPECT_TRUE(lexed.codes().empty());
}

TEST(Lexer, RefusesBrokenNumbers) {
  for (const char* text : {"18446744073709551616", "1e999", "12abc", "1__0", "1_", "0x", "0xfg",
                           "1.5x", "1e", "1_.5"}) {
    EXPECT_EQ(Lexed(text).codes(), Codes{"E0106"}) << text;
  }
}

TEST(Lexer, TellsNamesFromVariables) {
  const Lexed lexed("edge Edge _ _Foo aB_9 not notable");
  ASSERT_EQ(lexed.tokens.size(), 7u);
  EXPECT_EQ(lexed.tokens[0].kind, TokenKind::Identifier);
  EXPECT_EQ(lexed.tokens[1].kind, TokenKind::Variable);
  EXPECT_EQ(lexed.tokens[2].kind, TokenKind::Anonymous);
  EXPECT_EQ(lexed.tokens[3].kind, TokenKind::Variable);
  EXPECT_EQ(lexed.tokens[4].kind, TokenKind::Identifier);
  EXPECT_EQ(lexed.tokens[5].word, Word::Not);
  EXPECT_EQ(lexed.tokens[6].word, Word::None);
}

TEST(Lexer, ReadsStringsAndWritesThemBack) {
  const Lexed lexed(R"("" "a b" "\"\\\n\t\u{e9}\u{1F600}" "é")");
  ASSERT_EQ(lexed.tokens.size(), 4u);
  EXPECT_EQ(lexed.names.text(lexed.tokens[0].name), "");
  EXPECT_EQ(lexed.names.text(lexed.tokens[1].name), "a b");
  EXPECT_EQ(lexed.names.text(lexed.tokens[2].name), "\"\\\n\té😀");
  EXPECT_EQ(lexed.names.text(lexed.tokens[3].name), "é");
  EXPECT_EQ(quoted("\"\\\n\té\x01\r"), R"("\"\\\n\té\u{1}\u{d}")");
  EXPECT_EQ(quoted(std::string_view("\0", 1)), R"("\u{0}")");
}

TEST(Lexer, RefusesBrokenStrings) {
  for (const char* text : {"\"abc", "\"abc\n\"", "\"abc\\", "\"abc\\\n", "\"\r\n"}) {
    EXPECT_EQ(Lexed(text).codes()[0], "E0103") << text;
  }
  for (const char* text : {R"("\q")", R"("\u")", R"("\u{}")", R"("\u{110000}")", R"("\u{d800}")",
                           R"("\u{1234567}")", R"("\u{12")", "\"\\é\""}) {
    EXPECT_EQ(Lexed(text).codes(), Codes{"E0105"}) << text;
  }
}

TEST(Lexer, KeepsComments) {
  const Lexed lexed("a // one \r\n/* two\n * lines */ b /**/ // end");
  EXPECT_EQ(lexed.words(), "a b");
  ASSERT_EQ(lexed.comments.size(), 4u);
  EXPECT_EQ(lexed.sources.text(lexed.comments[0].span), "// one");
  EXPECT_EQ(lexed.sources.text(lexed.comments[1].span), "/* two\n * lines */");
  EXPECT_EQ(lexed.sources.text(lexed.comments[2].span), "/**/");
  EXPECT_EQ(lexed.sources.text(lexed.comments[3].span), "// end");
  EXPECT_EQ(Lexed("a /* b").codes(), Codes{"E0104"});
  EXPECT_EQ(Lexed("a /*/").codes(), Codes{"E0104"});
}

TEST(Lexer, KnowsWhereLinesStart) {
  const Lexed lexed("a b\n  c /* x\n */ d");
  ASSERT_EQ(lexed.tokens.size(), 4u);
  EXPECT_TRUE(lexed.tokens[0].first_on_line);
  EXPECT_FALSE(lexed.tokens[1].first_on_line);
  EXPECT_TRUE(lexed.tokens[2].first_on_line);
  EXPECT_FALSE(lexed.tokens[3].first_on_line);
}

TEST(Lexer, SkipsTheByteOrderMark) {
  const Lexed lexed("\xEF\xBB\xBFp");
  EXPECT_EQ(lexed.words(), "p");
  EXPECT_TRUE(lexed.codes().empty());
}

TEST(Lexer, ReportsInvalidUtf8OncePerPlace) {
  EXPECT_EQ(Lexed("p(\"\xff\xfe\"). // \xc0\x80").codes(), (Codes{"E0101", "E0101"}));
  EXPECT_EQ(Lexed("a \xff\xff b").codes(), Codes{"E0101"});
  std::string many;
  for (int i = 0; i < 100; ++i) many += "// \xff\n";
  const Lexed lexed(many);
  EXPECT_EQ(lexed.codes().size(), 5u);
  EXPECT_EQ(lexed.diagnostics.all().back().notes.size(), 1u);
}

TEST(Lexer, ReportsStretchesOfForeignCharacters) {
  EXPECT_EQ(Lexed("a \x01\x02\x03 b").codes(), Codes{"E0102"});
  EXPECT_EQ(Lexed(std::string("a\0\0b", 4)).codes(), Codes{"E0102"});
  EXPECT_EQ(Lexed("é").codes(), Codes{"E0102"});
  EXPECT_EQ(Lexed("@$^~?").codes(), Codes{"E0102"});
  EXPECT_EQ(Lexed("'Tom'").codes(), Codes{"E0102"});
}

TEST(Lexer, HelpsThoseWhoComeFromElsewhere) {
  for (const char* text :
       {":=", "\\=", "\\+", "&", "&&", "!", "'", "`", "“", "\u00a0", "←", "¬", "≠", "≤", "≥"}) {
    const Lexed lexed(text);
    ASSERT_EQ(lexed.codes(), Codes{"E0102"}) << text;
    EXPECT_FALSE(lexed.diagnostics.all()[0].help_text.empty()) << text;
  }
}

}  // namespace
}  // namespace xlog::lang
