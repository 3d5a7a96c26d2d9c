#include "plan/conditions.h"

#include <gtest/gtest.h>

#include "plan/rewrite_fixture.h"

namespace xlog::plan {
namespace {

std::string separated(const std::string& source, Sharing sharing = Sharing::Everywhere) {
  return rewritten(separate_conditions, source, sharing);
}

constexpr char kPredicates[] = "pred a(u32). pred b(u32, u32). pred c(u32). a(1). b(1, 2). c(3).\n";

TEST(Conditions, AreWhatSharesNoVariableWithTheHead) {
  EXPECT_EQ(
      separated(std::string(kPredicates) + "p(X) :- b(Y, Z), a(X), c(Z), Y != Z, not a(Z), X < 9."),
      "p(X) :- __xlog_some_4, a(X), X < 9.\n"
      "__xlog_some_4 :- b(Y, Z), c(Z), Y != Z, not a(Z).\n");
}

TEST(Conditions, AreSeveralWhereTheyHaveNothingInCommon) {
  EXPECT_EQ(separated(std::string(kPredicates) + "p(X) :- b(Y, Z), a(X), c(V)."),
            "p(X) :- __xlog_some_4, a(X), __xlog_some_5.\n"
            "__xlog_some_4 :- b(Y, Z).\n"
            "__xlog_some_5 :- c(V).\n");
  // All of it is a condition: one part stays.
  EXPECT_EQ(separated(std::string(kPredicates) + "p(1) :- a(X), c(V)."),
            "p(1) :- __xlog_some_4, c(V).\n"
            "__xlog_some_4 :- a(X).\n");
}

TEST(Conditions, AreNotMadeOfWhatIsAskedOnceAnyway) {
  for (const char* rule : {
           "p(X) :- a(X), c(3).",                       // no variables
           "p(X) :- a(X), b(_, _).",                    // the same
           "p(X) :- a(X), not b(1, 2).",                // no rows
           "p(1) :- a(X), b(X, Y).",                    // one part
           "p(X) :- a(X), b(X, Y), c(Y).",              // the same
           "p(X) :- a(X), b(Y, Z), V = Y + Z, V > 3.",  // computes
           "p(X, count()) :- a(X), c(Y).",              // counts
       }) {
    const std::string text = separated(std::string(kPredicates) + rule);
    EXPECT_EQ(text.find("some"), std::string::npos) << text;
  }
}

// New rows of p would meet all rows of a in each round.
TEST(Conditions, AreMadeOfRecursionsWithoutNamesToo) {
  EXPECT_EQ(separated(std::string(kPredicates) + "p(X, Y) :- b(X, Y). p(X, X) :- p(_, _), a(X)."),
            "p(X, Y) :- b(X, Y).\n"
            "p(X, X) :- __xlog_some_4, a(X).\n"
            "__xlog_some_4 :- p(_, _).\n");
}

TEST(Conditions, AreSeparatedWhereManySolutionsMeet) {
  const std::string few = std::string(kPredicates) + "p(X) :- a(X), c(V).";
  EXPECT_EQ(separated(few, Sharing::WherePays), "p(X) :- a(X), c(V).\n");
  const std::string many = "pred n(u32). n(0..999). p(X) :- n(X), n(V).";
  EXPECT_EQ(separated(many, Sharing::WherePays),
            "asked once: __xlog_some_2 for n(V)\n"
            "p(X) :- n(X), __xlog_some_2.\n"
            "__xlog_some_2 :- n(V).\n");
}

// Few rows each, of which all combinations would be met.
TEST(Conditions, AreSeparatedWhereManyPartsMeet) {
  EXPECT_EQ(separated("pred n(u32). n(0..2). p(X) :- n(X), n(A), n(B), n(C), n(D), n(E), n(F), "
                      "n(G), n(H), n(I), n(J), n(K).",
                      Sharing::WherePays),
            "asked once: __xlog_some_2 for n(A)\n"
            "asked once: __xlog_some_3 for n(B)\n"
            "p(X) :- n(X), __xlog_some_2, __xlog_some_3, n(C), n(D), n(E), n(F), n(G), n(H), n(I), "
            "n(J), n(K).\n"
            "__xlog_some_2 :- n(A).\n"
            "__xlog_some_3 :- n(B).\n");
}

}  // namespace
}  // namespace xlog::plan
