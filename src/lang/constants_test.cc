#include "lang/constants.h"

#include "lang/lower_fixture.h"

namespace xlog::lang {
namespace {

TEST(Constants, ReplacedEverywhere) {
  Lowered low(R"(
    #const n = 3.
    #const name = alice.
    p(n). p(n + 1). p(f(n)).
    r(X) :- q(X, name), X < n.
    q(1, name).
    #const late = n * 2.
    s(late).
  )");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.facts("p/1"), "(3) (4) (f(3))");
  EXPECT_EQ(low.facts("q/2"), "(1, alice)");
  EXPECT_EQ(low.facts("s/1"), "(6)");
  EXPECT_EQ(low.rules(), "r(X) :- q(X, alice), X < 3.\n");
}

TEST(Constants, StringsAndPredicatesStay) {
  Lowered low(R"(
    #const n = 3.
    p("n"). p(n). n(1). p(g(n, "n")).
    r :- n(n), n.
  )");
  EXPECT_EQ(low.facts("p/1"), "(3) (n) (g(3, n))");
  EXPECT_EQ(low.rules(), "r :- n(3), n.\n");
}

TEST(Constants, ExpressionsAndFloats) {
  Lowered low(
      "#const a = 2 * 3 + 1. #const b = a / 2.0. #const c = if a > 5 then big else small.\np(a, b, "
      "c).");
  EXPECT_EQ(low.facts("p/3"), "(7, 3.5, big)");
}

TEST(Constants, CommandLineWins) {
  Lowered low("#const n = 3. #const m = n + 1.\np(n, m).", with_constant("n", "10"));
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.facts("p/2"), "(10, 11)");
  EXPECT_EQ(Lowered("#const n = 3.\np(n).", with_constant("n", "\"two words\"")).facts("p/1"),
            "(\"two words\")");
}

TEST(Constants, UnknownOnCommandLine) {
  Lowered low("#const size = 3.\np(size).", with_constant("sise", "1"));
  EXPECT_EQ(low.codes(), "E0212");
  EXPECT_NE(low.first().help_text.find("size"), std::string::npos);
}

TEST(Constants, CommandLineMustBeAConstant) {
  EXPECT_EQ(Lowered("#const n = 3.\np(n).", with_constant("n", "1. q(2)")).codes(), "E0210");
  EXPECT_TRUE(
      Lowered("#const n = 3.\np(n).", with_constant("n", ")")).session.diagnostics.has_errors());
}

TEST(Constants, Errors) {
  EXPECT_EQ(Lowered("#const n = 1. #const n = 2.\np(n).").codes(), "E0205");
  EXPECT_EQ(Lowered("#const a = b. #const b = a.\np(1).").codes(), "E0210");
  EXPECT_EQ(Lowered("#const a = X.\np(1).").codes(), "E0208");
  EXPECT_EQ(Lowered("#const a = [1, 2].\np(1).").codes(), "E0210");
  EXPECT_EQ(Lowered("#const a = 9223372036854775807 + 1.\np(1).").codes(), "E0106");
}

TEST(Constants, LongChainsInAnyOrder) {
  std::string text;
  for (int i = 20000; i > 0; --i) {
    text += "#const c" + std::to_string(i) + " = c" + std::to_string(i - 1) + " + 1.\n";
  }
  text += "#const c0 = 0.\np(c20000).";
  Lowered low(text);
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.facts("p/1"), "(20000)");
}

TEST(Constants, CastKeepsItsType) {
  Lowered low("#const u32 = 7.\np(X) :- q(Y), X is cast(Y, u32) + u32. q(1).");
  EXPECT_EQ(low.rules(), "p(X) :- q(Y), X is cast(Y, u32) + 7.\n");
}

TEST(Constants, ModulesShareTheirs) {
  TempFolder folder;
  folder.write("m.xlog", "#const n = 5. #const n_local = 6.\nm(n).");
  folder.write("main.xlog", "use m.\np(n). p(\"n\"). q(n_local).");
  Lowered low(folder, "main.xlog");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.facts("p/1"), "(5) (n)");
  EXPECT_EQ(low.facts("q/1"), "(6)");
  EXPECT_EQ(low.facts("m/1"), "(5)");
}

TEST(Constants, TwoModulesWithOneName) {
  TempFolder folder;
  folder.write("a.xlog", "#const n = 5.\na(n).");
  folder.write("b.xlog", "#const n = 5.\nb(n).");
  folder.write("main.xlog", "use a. use b.\np(n).");
  EXPECT_EQ(Lowered(folder, "main.xlog").codes(), "E0205");
}

}  // namespace
}  // namespace xlog::lang
