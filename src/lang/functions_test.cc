#include "lang/functions.h"

#include "lang/lower_fixture.h"

namespace xlog::lang {
namespace {

TEST(Functions, ArithmeticIsSubstituted) {
  Lowered low(
      "func square(X) = X * X. func next(X) = X + 1.\nr(Y) :- q(A), Y is square(next(A)). q(1).");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(), "r(Y) :- q(A), Y is (A + 1) * (A + 1).\n");
}

TEST(Functions, ConditionsBecomeIf) {
  Lowered low(
      "func sign(X) = if X < 0 then -1 else if X = 0 then 0 else 1.\nr(Y) :- q(A), Y is sign(A). "
      "q(1).");
  EXPECT_EQ(low.rules(), "r(Y) :- q(A), Y is if A < 0 then -1 else if A = 0 then 0 else 1.\n");
}

TEST(Functions, GoalsComeBeforeTheLiteralInOrder) {
  Lowered low(R"(
    func parent(C) = P :- child(P, C).
    func grand(C) = G :- child(P, C), child(G, P).
    r(X, Y) :- q(X), Y is parent(X) + parent(Y2), Y2 = grand(X).
    q(1). child(1, 2).
  )");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(),
            "r(X, Y) :- q(X), child(_1, X), child(_2, Y2), Y is _1 + _2, "
            "child(_3, X), child(_4, _3), Y2 = _4.\n");
}

TEST(Functions, LocalsDoNotCaptureTheCaller) {
  Lowered low("func f(X) = R :- q(X, P), q(P, R).\nr(P, Y) :- q(P, 1), Y is f(P). q(1, 1).");
  EXPECT_EQ(low.rules(), "r(P, Y) :- q(P, 1), q(P, _1), q(_1, _2), Y is _2.\n");
}

TEST(Functions, ResultMayBeAParameter) {
  Lowered low("func ok(V) = V :- allowed(V).\nr(Y) :- q(X), Y is ok(X). q(1). allowed(1).");
  EXPECT_EQ(low.rules(), "r(Y) :- q(X), allowed(X), Y is X.\n");
}

TEST(Functions, NestedCallsOfGoals) {
  Lowered low(R"(
    func parent(C) = P :- child(P, C).
    func lookup(C) = R :- R is parent(parent(C)).
    r(Y) :- q(X), Y is lookup(X) + 1.
    q(1). child(1, 2).
  )");
  EXPECT_EQ(low.rules(), "r(Y) :- q(X), child(_1, X), child(_2, _1), _3 is _2, Y is _3 + 1.\n");
}

TEST(Functions, CallsStandAnywhere) {
  Lowered low(R"(
    func twice(X) = X * 2.
    h(twice(X)) :- q(X).
    b(X) :- q(X), q(twice(X)), twice(X) < 10, not q(twice(X)).
    a(sum(twice(X))) :- q(X).
    s(N) :- N = sum twice(X) : { q(X), q(twice(X)) }.
    { c(twice(X)) : q(X) }.
    f(twice(21)).
    l(X) :- q(X), X = [twice(X)].
    ?- q(X), q(twice(X)).
    q(1).
  )");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(),
            "h(_1) :- q(X), _1 = X * 2.\n"
            "b(X) :- q(X), _1 = X * 2, q(_1), X * 2 < 10, _2 = X * 2, not q(_2).\n"
            "a(sum(X * 2)) :- q(X).\n"
            "s(N) :- N = sum X * 2 : { q(X), _1 = X * 2, q(_1) }.\n"
            "{ c(_1) : q(X), _1 = X * 2 }.\n"
            "l(X) :- q(X), _1 = X * 2, X = [_1].\n");
  EXPECT_EQ(low.facts("f/1"), "(42)");
  EXPECT_EQ(low.program->queries[0].text, "q(X), q(twice(X))");
}

TEST(Functions, GoalsInsideBraces) {
  Lowered low(R"(
    func val(K) = V :- v(K, V).
    s(N) :- N = sum val(K) : { k(K) }.
    t(L) :- findall(val(K), k(K), L).
    total(K, S) :- k(K), S is all(K).
    func all(K) = sum V : { v(K, V) }.
    k(1). v(1, 2).
  )");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(),
            "s(N) :- N = sum _1 : { k(K), v(K, _1) }.\n"
            "t(L) :- findall(_1, (k(K), v(K, _1)), L).\n"
            "total(K, S) :- k(K), S = sum _1 : { v(K, _1) }.\n");
}

TEST(Functions, GoalsInAFactMakeARule) {
  Lowered low("func val(K) = V :- v(K, V).\np(val(1)). v(1, 2).");
  EXPECT_EQ(low.rules(), "p(_1) :- v(1, _1).\n");
  EXPECT_EQ(low.facts("p/1"), "none");
}

TEST(Functions, CompoundTermsOfOtherNamesStay) {
  Lowered low("func f(X) = X.\np(g(X), f(X, X)) :- q(X), X = g(1). q(1).");
  EXPECT_EQ(low.rules(), "p(g(X), f(X, X)) :- q(X), X = g(1).\n");
}

TEST(Functions, UnusedDefinitionsMayBeWrong) {
  EXPECT_EQ(Lowered("func f(X) = missing(X). func g(X) = g(X).\np(1).").codes(), "");
}

TEST(Functions, Duplicate) {
  EXPECT_EQ(Lowered("func f(X) = X. func f(Y) = Y.\np(1).").codes(), "E0501");
  EXPECT_EQ(
      Lowered("func f(X) = X. func f(X, Y) = X + Y.\np(Z) :- q(X), Z is f(X) + f(X, X). q(1).")
          .codes(),
      "");
}

TEST(Functions, UndefinedWithSuggestion) {
  Lowered low("func square(X) = X * X.\nr(Y) :- q(X), Y is squar(X). q(1).");
  EXPECT_EQ(low.codes(), "E0503");
  EXPECT_NE(low.first().help_text.find("square"), std::string::npos);
  EXPECT_EQ(Lowered("r(Y) :- q(X), Y = f(X) + 1. q(1).").codes(), "E0503");
  EXPECT_EQ(Lowered("r(Y) :- q(X), Y = f(X). q(1).").codes(), "");
  EXPECT_EQ(Lowered("func g(X) = missing(X) + 1.\nr(Y) :- q(X), Y is g(X). q(1).").codes(),
            "E0503");
}

TEST(Functions, WrongNumberOfArguments) {
  EXPECT_EQ(Lowered("func f(X) = X.\nr(Y) :- q(X), Y is f(X, X). q(1).").codes(), "E0508");
  EXPECT_EQ(Lowered("r(Y) :- q(X), Y is abs(X, X). q(1).").codes(), "E0508");
}

TEST(Functions, RecursionEnds) {
  EXPECT_EQ(Lowered("func f(X) = f(X).\nr(Y) :- q(X), Y is f(X). q(1).").codes(), "E0504");
  EXPECT_EQ(
      Lowered("func f(N) = if N = 0 then 1 else N * f(N - 1).\nr(Y) :- q(X), Y is f(X). q(1).")
          .codes(),
      "E0504");
  EXPECT_EQ(
      Lowered(
          "func f(X) = R :- R is g(X). func g(X) = R :- R is f(X).\nr(Y) :- q(X), Y is f(X). q(1).")
          .codes(),
      "E0504");
  EXPECT_EQ(
      Lowered("func f(X) = sum Y : { q(Y), Y < f(X) }.\nr(Y) :- q(X), Y is f(X). q(1).").codes(),
      "E0504");
}

TEST(Functions, ExponentialExpansionEnds) {
  EXPECT_EQ(Lowered("func fib(N) = if N < 2 then N else fib(N - 1) + fib(N - 2).\nr(Y) :- q(X), Y "
                    "is fib(X). q(1).")
                .codes(),
            "E0504");
  EXPECT_EQ(
      Lowered("func f(N) = R :- A is f(N), B is f(A), R is A + B.\nr(Y) :- q(X), Y is f(X). q(1).")
          .codes(),
      "E0504");
  std::string doubling = "func f0(X) = X + X.\n";
  for (int i = 1; i < 64; ++i) {
    doubling += "func f" + std::to_string(i) + "(X) = f" + std::to_string(i - 1) + "(X) + f" +
                std::to_string(i - 1) + "(X).\n";
  }
  EXPECT_EQ(Lowered(doubling + "r(Y) :- q(X), Y is f63(X). q(1).").codes(), "E0504");
  std::string nested = "func g0(X) = X + X.\n";
  for (int i = 1; i < 64; ++i) {
    nested += "func g" + std::to_string(i) + "(X) = g" + std::to_string(i - 1) + "(X + X).\n";
  }
  EXPECT_EQ(Lowered(nested + "r(Y) :- q(X), Y is g63(X). q(1).").codes(), "E0504");
}

TEST(Functions, OneErrorForManyCalls) {
  std::string text = "func f(X) = f(X).\nq(1).\n";
  for (int i = 0; i < 50; ++i) text += "r(Y) :- q(X), Y is f(X).\n";
  EXPECT_EQ(Lowered(text).codes(), "E0504");
}

std::string chain(const std::string& base, const std::string& before, const std::string& after,
                  int length) {
  std::string text = "func f0(X) = " + base + ".\n";
  for (int i = 1; i < length; ++i) {
    text += "func f" + std::to_string(i) + "(X) = " + before + "f" + std::to_string(i - 1) + "(X)" +
            after + ".\n";
  }
  return text + "r(Y) :- q(X), Y is f" + std::to_string(length - 1) + "(X). q(1).\n";
}

uint32_t depth_of(const Term& term) {
  uint32_t deepest = 0;
  for (const Term& arg : term.args) deepest = std::max(deepest, depth_of(arg));
  return deepest + 1;
}

TEST(Functions, LongChainsStayShallow) {
  for (const auto& [base, before, after] : {std::tuple{"X", "", ""},
                                            {"X", "1 + ", ""},
                                            {"X", "", " + 1"},
                                            {"X", "if X = 0 then 0 else 1 + ", ""},
                                            {"X", "R :- R is ", ""},
                                            {"X", "R :- R is 1 + ", ""}}) {
    Lowered low(chain(base, before, after, 1000));
    EXPECT_EQ(low.codes(), "") << before << after;
    ASSERT_TRUE(low.program);
    for (const Rule& rule : low.program->rules) {
      for (const Literal& literal : rule.body) {
        EXPECT_LE(depth_of(literal.rhs), static_cast<uint32_t>(ast::kMaxDepth));
      }
    }
  }
  EXPECT_EQ(Lowered(chain("X", "1 + ", "", 1002)).codes(), "E0504");
}

TEST(Functions, RecursionDepthIsAPragma) {
  EXPECT_EQ(Lowered("#pragma max_recursion_depth = 10\n" + chain("X", "1 + ", "", 10)).codes(), "");
  EXPECT_EQ(Lowered("#pragma max_recursion_depth = 10\n" + chain("X", "1 + ", "", 11)).codes(),
            "E0504");
  EXPECT_EQ(Lowered("#pragma max_recursion_depth = 1000000\nfunc f(X) = 1 + f(X).\nr(Y) :- q(X), Y "
                    "is f(X). q(1).")
                .codes(),
            "E0504");
  EXPECT_EQ(Lowered("#pragma max_recursion_depth = 1000000\nfunc f(X) = R :- R is 1 + f(X).\nr(Y) "
                    ":- q(X), Y is f(X). q(1).")
                .codes(),
            "E0504");
}

TEST(Functions, DeepDivisionInABranchIsRefused) {
  EXPECT_EQ(Lowered(chain("X", "if X = 0 then 0 else 1 / ", "", 1000)).codes(), "E0504");
  EXPECT_EQ(Lowered(chain("X", "1 / ", "", 1000)).codes(), "");
}

TEST(Functions, ExpressionInTermPosition) {
  EXPECT_EQ(
      Lowered("func p(C) = P :- child(P, C).\nr(Y) :- q(X), Y is p(X + 1). q(1). child(1, 2).")
          .codes(),
      "E0510");
  EXPECT_EQ(
      Lowered("func p(C) = P :- child(P, C).\nr(Y) :- q(X), Y is p(1). q(1). child(1, 2).").codes(),
      "");
  EXPECT_EQ(Lowered("func p(C) = P :- child(P, D), D = C + 1.\nr(Y) :- q(X), Y is p(X + 1). q(1). "
                    "child(1, 2).")
                .codes(),
            "");
}

TEST(Functions, GoalsInABranch) {
  EXPECT_EQ(Lowered("func p(C) = P :- child(P, C). func f(X) = if X = 0 then p(X) else 0.\n"
                    "r(Y) :- q(X), Y is f(X). q(1). child(1, 2).")
                .codes(),
            "E0511");
  EXPECT_EQ(Lowered("r(Y) :- q(X), Y is if X = 0 then count : { q(_) } else 0. q(1).").codes(),
            "E0511");
}

TEST(Functions, AssignmentToAParameter) {
  EXPECT_EQ(Lowered("func f(V) = R :- V is 1, q(R).\nr(Y) :- q(X), Y is f(2). q(1).").codes(),
            "E0512");
}

TEST(Functions, OtherErrors) {
  EXPECT_EQ(Lowered("func f(X) = X + Y.\nr(Y) :- q(X), Y is f(X). q(1).").codes(), "E0601");
  EXPECT_EQ(Lowered("func f(X, X) = X.\np(1).").codes(), "E0205");
  EXPECT_EQ(Lowered("func abs(X) = X.\np(1).").codes(), "E0204");
  EXPECT_EQ(Lowered("func f(X: wrong) = X.\np(1).").codes(), "E0201");
  EXPECT_EQ(Lowered("func f(X) = X.\nf(1).").codes(), "E0505");
  EXPECT_EQ(Lowered("func f(X) = X.\nf(1, 2).").codes(), "");
}

}  // namespace
}  // namespace xlog::lang
