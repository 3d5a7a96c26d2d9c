#include "logic/monotone.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "logic/test_program.h"

namespace xlog::logic {
namespace {

using ::testing::HasSubstr;

constexpr const char* kEdges = R"(
  pred edge(u32, u32, i64). pred d(u32, i64). pred far(u32, i64). pred limit(i64).
  edge(1, 2, 3). d(1, 0). limit(9).
)";

// A rule beside the shortest paths over `edge`.
TestProgram with(std::string_view rule) {
  return TestProgram(std::string(kEdges) + "d(Y, min(D + W)) :- d(X, D), edge(X, Y, W).\n" +
                     std::string(rule));
}

void expect_fine(std::string_view rule) {
  const TestProgram test = with(rule);
  EXPECT_EQ(test.errors(), "") << rule << "\n" << test.rendered();
  ASSERT_TRUE(test.analysis) << rule;
  const std::optional<Best>& best = test.analysis->best[test.pred("d/2").index];
  ASSERT_TRUE(best.has_value()) << rule;
  EXPECT_EQ(best->column, 1u);
  EXPECT_EQ(best->fn, lang::AggregateFn::Min);
}

void expect_refused(std::string_view rule, std::string_view why) {
  const TestProgram test = with(rule);
  EXPECT_EQ(test.errors(), "E0602") << rule << "\n" << test.rendered();
  EXPECT_THAT(test.rendered(), HasSubstr(std::string(why))) << rule;
}

TEST(Monotone, ExpressionsThatRise) {
  expect_fine("");
  for (const char* value :
       {"D", "D + W", "W + D", "D - W", "D * 2", "3 * D", "D * 0", "D / 2", "min(D, W)",
        "max(D + 1, W * W)", "D + D", "(D + W) * 2 - abs(W)", "cast(cast(W, i32), i64) + D"}) {
    expect_fine(fmt::format("d(Y, min({})) :- d(X, D), edge(X, Y, W).", value));
  }
}

TEST(Monotone, ExpressionsThatMayFall) {
  for (const char* value :
       {"-D", "W - D", "D * -1", "D * W", "W * D", "D * D", "W / D", "D / W", "D / -2", "D % 7",
        "abs(D)", "5 + (W - D)", "cast(cast(D, i32), i64)", "cast(cast(D, u64), i64)"}) {
    expect_refused(fmt::format("d(Y, min({})) :- d(X, D), edge(X, Y, W).", value),
                   "does not rise with it");
  }
}

TEST(Monotone, FactorsOfUnsignedTypesCannotBeNegative) {
  const TestProgram test(R"(
    pred e(u32, u32, u32). pred p(u32, u32).
    e(1, 2, 3). p(1, 1).
    p(Y, max(V * W / W)) :- p(X, V), e(X, Y, W).
    p(Y, max(V * V)) :- p(X, V), e(X, Y, _), V > 5.
  )");
  EXPECT_EQ(test.errors(), "") << test.rendered();
}

TEST(Monotone, ConditionsDoNotDependOnTheValue) {
  constexpr const char* kFunction = "func pick(A, B, X, Y) = if A < B then X else Y.\n";
  expect_fine(std::string(kFunction) +
              "d(Y, min(pick(W, 5, D, D + W))) :- d(X, D), edge(X, Y, W).");
  expect_refused(std::string(kFunction) + "d(Y, min(pick(D, 5, W, D))) :- d(X, D), edge(X, Y, W).",
                 "does not rise with it");
}

TEST(Monotone, EquationsCarryTheValueOn) {
  expect_fine("d(Y, min(N)) :- d(X, D), edge(X, Y, W), N = D + W.");
  expect_fine("d(Y, min(M)) :- d(X, D), edge(X, Y, W), M = N * 2, D + W = N.");
  expect_fine("d(Y, N) :- d(X, D), edge(X, Y, W), N is D + W.");
  expect_fine("d(Y, D + 1) :- d(X, D), edge(X, Y, _).");
  expect_refused("d(Y, min(N)) :- d(X, D), edge(X, Y, W), N = W - D.", "does not rise with it");
  expect_refused("d(Y, min(W)) :- d(X, D), edge(X, Y, W), D = 3.", "in an equality");
  expect_refused("d(Y, min(W)) :- d(X, D), edge(X, Y, W), W = D + 1.", "in an equality");
  expect_refused("d(Y, min(D)) :- d(X, D), edge(X, Y, W), N = D, N = W.", "in an equality");
  expect_refused("d(Y, min(D)) :- d(X, D), d(Y, E), N = D + 1, N = E + 2.", "in an equality");
}

TEST(Monotone, ComparisonsThatABetterValuePasses) {
  expect_fine("d(Y, min(D)) :- d(X, D), edge(X, Y, _), limit(L), D + 1 < L.");
  expect_fine("d(Y, min(D)) :- d(X, D), edge(X, Y, _), limit(L), L * 2 >= D.");
  expect_fine("d(Y, min(D)) :- d(X, D), edge(X, Y, W), W != 3, W > 0.");
  expect_refused("d(Y, min(D)) :- d(X, D), edge(X, Y, W), D > 3.",
                 "in a comparison that a smaller value can fail");
  expect_refused("d(Y, min(D)) :- d(X, D), edge(X, Y, W), 3 < D.",
                 "in a comparison that a smaller value can fail");
  expect_refused("d(Y, min(D)) :- d(X, D), edge(X, Y, W), D != 3.",
                 "in a comparison that a smaller value can fail");
  expect_refused("d(Y, min(D)) :- d(X, D), d(Y, E), D < E.",
                 "in a comparison with another such value");
  expect_refused("d(Y, min(D)) :- d(X, D), edge(X, Y, W), -D < 3.", "does not rise with it");
}

TEST(Monotone, NoJoinOverTheValue) {
  expect_refused("d(Y, min(D)) :- d(X, D), edge(X, Y, D).", "in a join");
  expect_refused("d(Y, min(D)) :- d(X, D), d(Y, D).", "in a join");
  expect_refused("d(Y, min(W)) :- d(X, 3), edge(X, Y, W).", "in a match with one value");
  expect_refused("d(Y, min(W)) :- d(X, W + 1), edge(X, Y, W).", "in an equality");
}

TEST(Monotone, NoColumnThatIsNotFolded) {
  expect_refused(
      "pred c(u32, i64, i64). c(X, D, min(W)) :- d(X, D), edge(X, _, W).\n"
      "d(X, min(W)) :- c(X, _, W).",
      "in a column that groups");
  expect_refused("far(X, D) :- d(X, D). d(X, min(D)) :- far(X, D).",
                 "in a column of `far`, which is no such minimum");
}

TEST(Monotone, NoNegationModalOrBuiltIn) {
  expect_refused("d(X, min(W)) :- edge(X, _, W), not d(X, _).", "under `not`");
  expect_refused("d(X, min(W)) :- edge(X, _, W), know d(X, _).", "under `know`");
  expect_refused("d(Y, min(N)) :- d(X, D), edge(X, Y, _), between(0, D, N).", "in a built-in");
  expect_refused("d(Y, min(N)) :- d(X, D), edge(X, Y, _), N = max W : { edge(X, Y, W), W > D }.",
                 "in an aggregate");
}

TEST(Monotone, OneKindOfFoldForAPredicate) {
  expect_refused("d(X, max(W)) :- edge(X, _, W).", "this rule folds in another way");
  expect_refused("d(X, sum(W)) :- edge(X, _, W).", "this rule folds in another way");
  expect_refused(
      "pred s(i64, i64). s(min(W), W) :- edge(_, _, W).\n"
      "s(A, min(B)) :- s(A, B), d(_, _).",
      "this rule folds in another way");
  expect_refused("far(X, max(D)) :- d(X, D). d(X, min(W)) :- far(X, _), edge(X, _, W).",
                 "for a maximum, `far`");
}

TEST(Monotone, TwoKindsInOneRecursionThatExchangeNoValues) {
  expect_fine(R"(
    far(X, max(W)) :- d(X, _), edge(X, _, W).
    far(Y, max(F)) :- far(X, F), d(X, D), D < 5, edge(X, Y, _), F > 2.
    d(X, min(W)) :- far(X, _), edge(X, _, W).
  )");
}

TEST(Monotone, OtherAggregatesNeedTheirInputComplete) {
  const TestProgram test(R"(
    e(1, 2). p(X, sum(Y)) :- e(X, Y). p(X, sum(Z)) :- e(X, Y), p(Y, Z).
    q(X, min(Y), max(Y)) :- e(X, Y). q(X, min(Z), max(Z)) :- e(X, Y), q(Y, Z, _).
  )");
  EXPECT_EQ(test.errors(), "E0602 E0602");
  EXPECT_THAT(test.rendered(), HasSubstr("inside its own definition: p <- p"));
  EXPECT_THAT(test.rendered(), HasSubstr("inside its own definition: q <- q"));
}

TEST(Monotone, AMinimumThatIsNotRecursiveIsNone) {
  const TestProgram test(R"(
    e(1, 2). m(X, min(Y)) :- e(X, Y). m(X, Y) :- m(X, Z), e(Z, Y).
  )");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_FALSE(test.analysis->best[test.pred("m/2").index].has_value());
}

TEST(Monotone, WorldsMustAgree) {
  const TestProgram test(R"(
    { e(1, 2, 3) }. d(1, 0). d(Y, min(D + W)) :- d(X, D), e(X, Y, W).
  )");
  EXPECT_EQ(test.errors(), "E0602");
  EXPECT_THAT(test.rendered(), HasSubstr("not the same in all worlds: depends on e/3"));
}

}  // namespace
}  // namespace xlog::logic
