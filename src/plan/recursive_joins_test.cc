#include "plan/recursive_joins.h"

#include <gtest/gtest.h>

#include "plan/rewrite_fixture.h"

namespace xlog::plan {
namespace {

std::string kept(const std::string& source, Sharing sharing = Sharing::Everywhere) {
  return rewritten(keep_joins, source, sharing);
}

TEST(RecursiveJoins, BecomeRulesOfTheRecursion) {
  EXPECT_EQ(kept(R"(
    pred a(u32, u32). pred b(u32, u32).
    p(X, Y) :- a(X, Y).
    p(X, W) :- b(X, Y), p(Y, Z), p(Z, W), X != Z, W != X, not a(X, W).
  )"),
            R"(p(X, Y) :- a(X, Y).
p(X, W) :- __xlog_joined_3(X, Z), p(Z, W), W != X, not a(X, W).
__xlog_joined_3(X, Z) :- b(X, Y), p(Y, Z), X != Z.
)");
}

// What is left of a rule is looked at again, and so is the rule of a helper.
TEST(RecursiveJoins, AreDividedUntilTwoAtomsAreLeft) {
  EXPECT_EQ(kept(R"(
    pred a(u32, u32).
    p(X, Y) :- a(X, Y).
    p(X, V) :- p(X, Y), p(Y, Z), p(Z, W), p(W, V).
  )"),
            R"(p(X, Y) :- a(X, Y).
p(X, V) :- __xlog_joined_2(X, Z), __xlog_joined_3(Z, V).
__xlog_joined_2(X, Z) :- p(X, Y), p(Y, Z).
__xlog_joined_3(Z, V) :- p(Z, W), p(W, V).
)");
}

// One literal that grows has new rows in one order only; what lies below is shared_joins.h's.
TEST(RecursiveJoins, AreOfRulesThatReadTheRecursionTwice) {
  for (const char* rule : {
           "p(X, W) :- b(X, Y), p(Y, Z), b(Z, W).",             // once
           "p(X, W) :- p(X, Y), p(Y, W).",                      // two atoms
           "p(X, Y) :- p(X, Y), p(X, Z), a(Z, W), V = Z + W.",  // computes
           "p(X, Y) :- p(X, Z), p(Z, Y), p(X, Y), Z < 3.",      // a multiway join
           "q(X, W) :- b(X, Y), p(Y, Z), p(Z, W).",             // above the recursion
       }) {
    const std::string text =
        kept(std::string("pred a(u32, u32). pred b(u32, u32). p(X, Y) :- a(X, Y).") +
             "p(X, Z) :- p(X, Y), a(Y, Z). " + rule);
    EXPECT_EQ(text.find("joined"), std::string::npos) << text;
  }
}

// Of a thousand values three are loaded from: to find all that point to one, for each new row, is
// nearly always in vain. What is stored is looked up by what is new in either order.
TEST(RecursiveJoins, AreKeptWhereItPays) {
  EXPECT_EQ(kept(R"(
    pred at(u32, u32). pred n(u32). n(0..999). at(X, Y) :- n(X), n(Y), X < 4.
    pred load(u32, u32). load(1, 2). load(2, 3). load(3, 900).
    pred store(u32, u32). store(5, 2). store(7, 3). store(9, 4).
    points(X, Y) :- at(X, Y).
    points(Y, W) :- load(Y, X), points(X, Z), points(Z, W).
    points(Z, W) :- store(Y, X), points(Y, Z), points(X, W).
  )",
                 Sharing::WherePays),
            R"(kept: __xlog_joined_5(Y, Z) for load(Y, X), points(X, Z)
  cost 21036000 instead of 32509000
not kept: store(Y, X), points(Y, Z)
  cost 21018000, a helper would make it 21036000
at(X, Y) :- n(X), n(Y), X < 4.
points(X, Y) :- at(X, Y).
points(Y, W) :- __xlog_joined_5(Y, Z), points(Z, W).
points(Z, W) :- store(Y, X), points(Y, Z), points(X, W).
__xlog_joined_5(Y, Z) :- load(Y, X), points(X, Z).
)");
}

// Only R would go, for S and T: such rows take more memory than they are worth.
TEST(RecursiveJoins, AreNoWiderThanTheirAtoms) {
  const std::string source = R"(
    pred n(u32). n(0..999). pred edge(u32, u32, u32). edge(X, 1, Y) :- n(X), n(Y), X < 4.
    pred chain(u32, u32, u32). chain(1, 2, 3). chain(2, 3, 4).
    via(X, R, Y) :- edge(X, R, Y).
    via(X, T, Z) :- via(X, R, Y), chain(R, S, T), via(Y, S, Z).
  )";
  EXPECT_NE(kept(source).find("joined"), std::string::npos);
  EXPECT_EQ(kept(source, Sharing::WherePays).find("joined"), std::string::npos);
}

}  // namespace
}  // namespace xlog::plan
