#include "lang/fold.h"

#include "lang/lower_fixture.h"

namespace xlog::lang {
namespace {

// The value of `text` as the argument of a fact, or the codes reported.
std::string folded(const std::string& text) {
  Lowered low("p(" + text + ").");
  return low.codes().empty() ? low.facts("p/1") : low.codes();
}

TEST(Fold, Integers) {
  EXPECT_EQ(folded("2 + 3 * 4"), "(14)");
  EXPECT_EQ(folded("(2 + 3) * -4"), "(-20)");
  EXPECT_EQ(folded("7 / 2"), "(3)");
  EXPECT_EQ(folded("-7 / 2"), "(-3)");
  EXPECT_EQ(folded("-7 % 3"), "(-1)");
  EXPECT_EQ(folded("abs(-7)"), "(7)");
  EXPECT_EQ(folded("max(2, 9)"), "(9)");
  EXPECT_EQ(folded("min(2, 9)"), "(2)");
  EXPECT_EQ(folded("0xff"), "(255)");
  EXPECT_EQ(folded("18446744073709551615"), "(18446744073709551615)");
  EXPECT_EQ(folded("max(1, 18446744073709551615)"), "(18446744073709551615)");
}

TEST(Fold, Floats) {
  EXPECT_EQ(folded("1 + 0.5"), "(1.5)");
  EXPECT_EQ(folded("pow(2, 3)"), "(8.0)");
  EXPECT_EQ(folded("-(0.5 + 1)"), "(-1.5)");
  EXPECT_EQ(folded("max(1, 0.5)"), "(1.0)");
}

TEST(Fold, ConditionsEvaluateOneBranch) {
  EXPECT_EQ(folded("if 1 < 2 then 5 else 1 / 0"), "(5)");
  EXPECT_EQ(folded("if a = b then 1 else 2"), "(2)");
  EXPECT_EQ(folded("if 1 >= 1.0 then yes else no"), "(yes)");
}

TEST(Fold, Structures) {
  EXPECT_EQ(folded("[1 + 1, a | [\"B c\"]]"), "([2, a, \"B c\"])");
  EXPECT_EQ(folded("f(1 + 1, g())"), "(f(2, g()))");
  EXPECT_EQ(folded("min(a, b)"), "(min(a, b))");
  EXPECT_EQ(folded("[]"), "([])");
  EXPECT_EQ(folded("[1 | a]"), "E0210");
}

TEST(Fold, Errors) {
  EXPECT_EQ(folded("9223372036854775807 + 1"), "E0106");
  EXPECT_EQ(folded("-9223372036854775808 - 1"), "E0106");
  EXPECT_EQ(folded("4611686018427387904 * 2"), "E0106");
  EXPECT_EQ(folded("18446744073709551615 + 1"), "E0106");
  EXPECT_EQ(folded("-9223372036854775808 / -1"), "E0106");
  EXPECT_EQ(folded("1 / 0"), "E0210");
  EXPECT_EQ(folded("1 % 0"), "E0210");
  EXPECT_EQ(folded("1.5 % 2"), "E0210");
  EXPECT_EQ(folded("a + 1"), "E0210");
  EXPECT_EQ(folded("X"), "E0208");
  EXPECT_EQ(folded("_"), "E0208");
  EXPECT_EQ(folded("[1..2]"), "E0209");
}

}  // namespace
}  // namespace xlog::lang
