#include "plan/transitive.h"

#include <gtest/gtest.h>

#include "plan/rewrite_fixture.h"

namespace xlog::plan {
namespace {

std::string closed(const std::string& source) {
  return rewritten(close_by_steps, source, Sharing::WherePays);
}

TEST(Transitive, StepsAreWhatTheOtherRulesGive) {
  EXPECT_EQ(closed(R"(
    pred a(u32, u32).
    reach(X, Y) :- a(X, Y).
    reach(X, Y) :- a(X, Z), a(Y, Z), X != Y.
    reach(X, Y) :- reach(X, Z), reach(Z, Y).
    far(X, Y) :- reach(X, Y), not a(X, Y).
  )"),
            R"(closed by steps: __xlog_step_3 for reach(X, Y) :- reach(X, Z), reach(Z, Y).
__xlog_step_3(X, Y) :- a(X, Y).
__xlog_step_3(X, Y) :- a(X, Z), a(Y, Z), X != Y.
reach(X, Y) :- reach(X, Z), __xlog_step_3(Z, Y).
far(X, Y) :- reach(X, Y), not a(X, Y).
reach(X, Y) :- __xlog_step_3(X, Y).
)");
}

TEST(Transitive, ARelationThatIsCopiedHasTheSteps) {
  EXPECT_EQ(closed(R"(
    pred a(u32, u32).
    reach(X, Y) :- reach(Z, Y), reach(X, Z).
    reach(X, Y) :- a(X, Y).
  )"),
            R"(closed by steps: a for reach(X, Y) :- reach(Z, Y), reach(X, Z).
reach(X, Y) :- reach(Z, Y), a(X, Z).
reach(X, Y) :- a(X, Y).
)");
}

// X, Y and Z are two columns each, in an order of their own; the third column stays.
TEST(Transitive, ColumnsMayBeMany) {
  EXPECT_EQ(
      closed(R"(
    pred a(u32, u32, symbol, u32, u32).
    t(A, B, K, C, D) :- a(B, A, K, C, D).
    t(A, B, K, E, F) :- t(A, B, K, C, D), t(D, C, K, E, F).
  )"),
      R"(closed by steps: __xlog_step_2 for t(A, B, K, E, F) :- t(A, B, K, C, D), t(D, C, K, E, F).
__xlog_step_2(A, B, K, C, D) :- a(B, A, K, C, D).
t(A, B, K, E, F) :- t(A, B, K, C, D), __xlog_step_2(D, C, K, E, F).
t(A, B, K, E, F) :- __xlog_step_2(A, B, K, E, F).
)");
}

TEST(Transitive, WhatIsStatedIsAStep) {
  EXPECT_EQ(closed(R"(
    reach(1, 2). reach(2, 3).
    reach(X, Y) :- reach(X, Z), reach(Z, Y).
  )"),
            R"(closed by steps: __xlog_step_1 for reach(X, Y) :- reach(X, Z), reach(Z, Y).
reach(X, Y) :- reach(X, Z), __xlog_step_1(Z, Y).
)");
}

TEST(Transitive, OthersAreLeftAsTheyAre) {
  for (const char* rules : {
           "p(X, Z) :- p(X, Y), p(Y, Z), X != Z.",                       // more than composition
           "p(X, Z) :- p(X, Y), p(Z, Y).",                               // another join
           "p(Z, X) :- p(X, Y), p(Y, Z).",                               // turned round
           "p(X, X) :- p(X, Y), p(Y, X).",                               // a variable twice
           "p(X, Z) :- p(X, Y), p(Y, Z), p(Z, X).",                      // three atoms
           "p(X, 1) :- p(X, Y), p(Y, 1).",                               // a constant
           "p(X, Z) :- p(X, Y), p(Y, Z). p(X, Z) :- p(X, Y), a(Y, Z).",  // steps that grow with it
           "p(X, Z) :- p(X, Y), p(Y, Z). p(X, Z) :- q(X, Z). q(X, Z) :- p(Z, X), a(X, Z).",
       }) {
    const std::string text = closed(std::string("pred a(u32, u32). p(X, Y) :- a(X, Y). ") + rules);
    EXPECT_EQ(text.find("closed"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace xlog::plan
