#include "plan/explain.h"

#include <gtest/gtest.h>

#include "plan/aggregates.h"

namespace xlog::plan {
namespace {

std::string plan_of(const std::string& source) {
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", source);
  lang::LoadOptions options;
  options.implicit_queries = false;
  std::optional<lang::Program> program = lang::load(*file, session, options);
  if (!program) return "does not load";
  std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  if (!analysis) return "is not safe";
  if (expand_aggregates(*program, *analysis, session)) {
    analysis = logic::analyze(*program, session);
    if (!analysis) return "is not safe once aggregates are expanded";
  }
  return explain(*program, *analysis, session);
}

TEST(Plan, OneVersionForEachLiteralThatGrows) {
  EXPECT_EQ(plan_of(R"(
    edge(1, 2). edge(2, 3).
    reach(X, Y) :- edge(X, Y).
    reach(X, Z) :- reach(X, Y), reach(Y, Z), X != Z.
  )"),
            R"(component 1: reach/2, in rounds
  reach(X, Y) :- edge(X, Y).
    scan    edge(X, Y)
    insert  reach(X, Y)
  reach(X, Z) :- reach(X, Y), reach(Y, Z), X != Z.
    for new rows of literal 1:
      scan    new reach(X, Y)
      lookup  old reach(=Y, Z)
      filter  X != Z
      insert  reach(X, Z)
    for new rows of literal 2:
      scan    new reach(Y, Z)
      lookup  reach(X, =Y)
      filter  X != Z
      insert  reach(X, Z)
)");
}

TEST(Plan, SmallRelationsAndTestsComeFirst) {
  EXPECT_EQ(plan_of(R"(
    big(1..9, 1..9). small(1..2). bad(7).
    p(X, Z) :- big(X, Y), small(X), Z = X + Y, not bad(Z), Z < 9, not small(_).
  )"),
            R"(component 3: p/2
  p(X, Z) :- big(X, Y), small(X), Z = X + Y, not bad(Z), Z < 9, not small(_).
    absent  small(_)
    scan    small(X)
    lookup  big(=X, Y)
    let     Z = X + Y
    absent  bad(=Z)
    filter  Z < 9
    insert  p(X, Z)
)");
}

TEST(Plan, CyclicBodiesMeet) {
  EXPECT_EQ(plan_of(R"(
    pred edge(u32, u32).
    n(count()) :- edge(X, Y), edge(Y, Z), edge(X, Z).
  )"),
            R"(component 1: n/1
  n(count()) :- edge(X, Y), edge(Y, Z), edge(X, Z).
    scan    edge(X, Y) by X
    meet    Z: edge(=Y, Z), edge(=X, Z)  // about 1000.0 rows each: the shortest list is walked
    group   n(count())
)");
}

// A lookup that binds several variables is split, those that are tested first.
TEST(Plan, MeetsTakeOneVariableAfterAnother) {
  EXPECT_EQ(plan_of(R"(
    e(1..3, 1..2). r(1..2, 1..5, 1..9). pred s(i64, i64).
    p(A, D) :- e(A, B), r(B, C, D), s(A, D).
    q(A, D) :- e(A, B), r(B, C, D), s(A, C), s(D, A).
  )"),
            R"(component 3: p/2
  p(A, D) :- e(A, B), r(B, C, D), s(A, D).
    scan    e(A, B) by A
    meet    D: r(=B, _, D), s(=A, D)  // about 20.1 rows each: the shortest list is walked
    lookup  r(=B, C, =D)
    insert  p(A, D)
component 4: q/2
  q(A, D) :- e(A, B), r(B, C, D), s(A, C), s(D, A).
    scan    e(A, B) by A
    meet    C: r(=B, C, _), s(=A, C)  // about 20.1 rows each: the shortest list is walked
    meet    D: r(=B, =C, D), s(D, =A)  // about 20.1 rows each: the shortest list is walked
    insert  q(A, D)
)");
}

// A short list is tested value by value.
TEST(Plan, FewRowsAreTestedOneByOne) {
  const std::string text = plan_of(R"(
    e(1, 2). e(2, 3). e(1, 3). e(3, 4).
    t(X, Y, Z) :- e(X, Y), e(Y, Z), e(X, Z).
  )");
  EXPECT_NE(text.find("lookup  e(=Y, Z)  // about 2.0 rows each, tested one by one"),
            std::string::npos)
      << text;
}

TEST(Plan, AggregatesInBodiesBecomeHelpers) {
  const std::string text = plan_of(R"(
    node(1..3). edge(1, 2).
    busy(X, N) :- node(X), N = count : { edge(X, Y) }.
    above(X, N) :- node(X), N = count : { edge(_, Y), Y > X }.
  )");
  EXPECT_NE(text.find("(X, count()) :- edge(X, Y).\n"), std::string::npos) << text;
  EXPECT_NE(text.find("group   __xlog_aggregate"), std::string::npos) << text;
  EXPECT_NE(text.find("let     N = 0\n"), std::string::npos) << text;
  // What groups in `above` stands outside the braces alone: a helper says which are asked for.
  EXPECT_NE(text.find("(X) :- node(X).\n"), std::string::npos) << text;
}

TEST(Plan, SaysWhyARuleHasNoPipeline) {
  EXPECT_NE(plan_of("p([1, 2]). q(X) :- p(L), member(X, L).").find("the built-in `member`"),
            std::string::npos);
  EXPECT_NE(plan_of("{ a }. b :- not a.").find("no pipeline"), std::string::npos);
}

}  // namespace
}  // namespace xlog::plan
