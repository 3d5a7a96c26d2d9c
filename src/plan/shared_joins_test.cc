#include "plan/shared_joins.h"

#include <gtest/gtest.h>

#include "plan/rewrite_fixture.h"

namespace xlog::plan {
namespace {

std::string shared(const std::string& source, Sharing sharing = Sharing::Everywhere) {
  return rewritten(share_joins, source, sharing);
}

TEST(SharedJoins, AreTheSameUpToTheNamesOfVariables) {
  EXPECT_EQ(shared(R"(
    pred a(u32, u32). pred b(u32, u32). pred c(u32).
    p(X, Z) :- a(X, Y), b(Y, Z), c(X).
    q(S) :- c(T), b(R, T), a(S, R).
  )"),
            R"(p(X, Z) :- __xlog_shared_5(X, Z), c(X).
q(S) :- c(T), __xlog_shared_5(S, T).
__xlog_shared_5(X, Z) :- a(X, Y), b(Y, Z).
)");
}

// The longest join that costs least; comparisons of its variables belong to it.
TEST(SharedJoins, TakeComparisonsAlong) {
  EXPECT_EQ(shared(R"(
    pred a(u32, u32). pred b(u32, u32). pred c(u32).
    p(X, Z) :- a(X, Y), b(Y, Z), X < Z.
    q(Z, X) :- a(X, Y), b(Y, Z), X < Z, not c(X).
  )"),
            R"(p(X, Z) :- __xlog_shared_5(X, Z).
q(Z, X) :- __xlog_shared_5(X, Z), not c(X).
__xlog_shared_5(X, Z) :- a(X, Y), b(Y, Z), X < Z.
)");
}

TEST(SharedJoins, LeaveWhatIsNotTheSame) {
  for (const char* rules : {
           "p(X) :- a(X, Y), b(Y, 1). q(X) :- a(X, Y), b(Y, 2).",          // constants
           "p(X) :- a(X, Y), b(Y, X). q(X) :- a(X, Y), b(Y, Z), c(Z).",    // variables
           "p(X) :- a(X, Y), not b(Y, X). q(X) :- a(X, Y), not b(Y, X).",  // negation
           "p(X) :- a(X, Y), c(Z). q(X) :- a(X, Y), c(Z).",                // apart
       }) {
    const std::string text =
        shared(std::string("pred a(u32, u32). pred b(u32, u32). pred c(u32). ") + rules);
    EXPECT_EQ(text.find("shared"), std::string::npos) << text;
  }
}

// Every solution counts for an aggregate; instances without a value are counted too.
TEST(SharedJoins, KeepTheNumberOfSolutions) {
  EXPECT_EQ(shared(R"(
    pred a(u32, u32). pred b(u32, u32).
    n(X, count()) :- a(X, Y), b(Y, Z).
    p(X) :- a(X, Y), b(Y, Z).
    r(X, W) :- a(X, Y), b(Y, Z), W = X / Z.
  )"),
            R"(n(X, count()) :- __xlog_shared_5(X, Y, Z).
p(X) :- __xlog_shared_5(X, Y, Z).
r(X, W) :- a(X, Y), b(Y, Z), W = X / Z.
__xlog_shared_5(X, Y, Z) :- a(X, Y), b(Y, Z).
)");
}

// What lies below a recursion is shared by the versions of its rules, what grows with it is not.
TEST(SharedJoins, LieBelowTheirRules) {
  EXPECT_EQ(shared(R"(
    pred a(u32, u32). pred b(u32, u32).
    p(X, Y) :- a(X, Y).
    p(X, Z) :- p(X, V), a(V, W), b(W, Y), p(Y, Z).
    q(X) :- p(X, V), a(V, X).
    r(X) :- p(X, V), a(V, X).
  )"),
            R"(p(X, Y) :- a(X, Y).
p(X, Z) :- p(X, V), __xlog_shared_5(V, Y), p(Y, Z).
q(X) :- __xlog_shared_6(X).
r(X) :- __xlog_shared_6(X).
__xlog_shared_5(V, Y) :- a(V, W), b(W, Y).
__xlog_shared_6(X) :- p(X, V), a(V, X).
)");
}

// Two sides of a triangle are not joined for their own sake; whole triangles may be.
TEST(SharedJoins, KeepMultiwayJoinsTogether) {
  EXPECT_EQ(shared(R"(
    pred e(u32, u32). pred c(u32).
    p(X, Y, Z) :- e(X, Y), e(Y, Z), e(X, Z).
    q(X, Y, Z) :- e(X, Y), e(Y, Z), c(Z).
  )"),
            R"(p(X, Y, Z) :- e(X, Y), e(Y, Z), e(X, Z).
q(X, Y, Z) :- e(X, Y), e(Y, Z), c(Z).
)");
}

TEST(SharedJoins, AreSharedWhereItPays) {
  const std::string facts = R"(
    pred likes(u32, u32). likes(X, Y) :- n(X), m(Y).
    pred n(u32). n(0..99). pred m(u32). m(0..999).
  )";
  EXPECT_EQ(shared(facts + R"(
    both(X, Z) :- likes(X, Y), likes(Z, Y), X < Z.
    other(X, Z) :- likes(X, Y), likes(Z, Y), not n(Z).
  )",
                   Sharing::WherePays),
            R"(shared: __xlog_shared_5(X, Z) for likes(X, Y), likes(Z, Y)
  of 2 rules: cost 50392000 instead of 92600000
likes(X, Y) :- n(X), m(Y).
both(X, Z) :- __xlog_shared_5(X, Z), X < Z.
other(X, Z) :- __xlog_shared_5(X, Z), not n(Z).
__xlog_shared_5(X, Z) :- likes(X, Y), likes(Z, Y).
)");
  // Nothing is projected away: as many rows would be stored as joined.
  EXPECT_EQ(shared(facts + R"(
    both(X, Y, Z) :- likes(X, Y), likes(Z, Y), n(Z).
    other(X, Y, Z) :- likes(X, Y), likes(Z, Y), not n(Z).
  )",
                   Sharing::WherePays),
            R"(not shared: likes(X, Y), likes(Z, Y)
  of 2 rules: cost 120600300, a helper would make it 210300300
likes(X, Y) :- n(X), m(Y).
both(X, Y, Z) :- likes(X, Y), likes(Z, Y), n(Z).
other(X, Y, Z) :- likes(X, Y), likes(Z, Y), not n(Z).
)");
}

}  // namespace
}  // namespace xlog::plan
