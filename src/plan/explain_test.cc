#include "plan/explain.h"

#include <gtest/gtest.h>

#include "plan/prepare.h"

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
  const bool well_founded = program->pragmas.semantics == "well_founded";
  const Prepared prepared = prepare(*program, *analysis, session, well_founded);
  return to_text(prepared) + explain(*program, *analysis, prepared, session);
}

TEST(Plan, OneVersionForEachLiteralThatGrows) {
  EXPECT_EQ(plan_of(R"(
    edge(1, 2). edge(2, 3).
    reach(X, Y) :- edge(X, Y).
    reach(X, Z) :- reach(X, Y), reach(Y, Z), X != Z.
  )"),
            R"(component 0: edge/2, 2 rows
component 1: reach/2, about 4 rows; in rounds
  reach(X, Y) :- edge(X, Y).
    scan    edge(X, Y)  // about 2 rows
    insert  reach(X, Y)
  reach(X, Z) :- reach(X, Y), reach(Y, Z), X != Z.
    for new rows of literal 1:
      scan    new reach(X, Y)
      lookup  old reach(=Y, Z)  // about 8.0 rows each
      filter  X != Z
      insert  reach(X, Z)
    for new rows of literal 2:
      scan    new reach(Y, Z)
      lookup  reach(X, =Y)  // about 8.0 rows each
      filter  X != Z
      insert  reach(X, Z)
)");
}

TEST(Plan, SmallRelationsAndTestsComeFirst) {
  EXPECT_EQ(plan_of(R"(
    big(1..9, 1..9). small(1..2). bad(7).
    p(X, Z) :- big(X, Y), small(X), Z = X + Y, not bad(Z), Z < 9, not small(_).
  )"),
            R"(component 0: big/2, 81 rows
  column 1 of big: 9 values: 9 in 8 to 15 rows
component 1: small/1, 2 rows
component 2: bad/1, 1 row
component 3: p/2, about 18 rows
  p(X, Z) :- big(X, Y), small(X), Z = X + Y, not bad(Z), Z < 9, not small(_).
    absent  small(_)
    scan    small(X)  // about 2 rows
    lookup  big(=X, Y)  // about 9.0 rows each
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
            R"(component 0: edge/2, no rows yet, taken for 1000000 rows
component 1: n/1, about 1 row
  n(count()) :- edge(X, Y), edge(Y, Z), edge(X, Z).
    scan    edge(X, Y) by X  // about 1000000 rows
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
            R"(component 0: e/2, 6 rows
component 1: r/3, 90 rows
  column 1 of r: 2 values: 2 in 32 to 63 rows
component 2: s/2, no rows yet, taken for 1000000 rows
component 3: p/2, about 270 rows
  p(A, D) :- e(A, B), r(B, C, D), s(A, D).
    scan    e(A, B) by A  // about 6 rows
    meet    D: r(=B, _, D), s(=A, D)  // about 45.0 rows each: the shortest list is walked
    lookup  r(=B, C, =D)  // about 1.0 rows each
    insert  p(A, D)
component 4: q/2, about 270 rows
  q(A, D) :- e(A, B), r(B, C, D), s(A, C), s(D, A).
    scan    e(A, B) by A  // about 6 rows
    meet    C: r(=B, C, _), s(=A, C)  // about 45.0 rows each: the shortest list is walked
    meet    D: r(=B, =C, D), s(D, =A)  // about 45.0 rows each: the shortest list is walked
    insert  q(A, D)
)");
}

// A short list is tested value by value.
TEST(Plan, FewRowsAreTestedOneByOne) {
  const std::string text = plan_of(R"(
    e(1, 2). e(2, 3). e(1, 3). e(3, 4).
    t(X, Y, Z) :- e(X, Y), e(Y, Z), e(X, Z).
  )");
  EXPECT_NE(text.find("lookup  e(=Y, Z)  // about 1.3 rows each, tested one by one"),
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
  EXPECT_NE(text.find("let     N = 0:u64\n"), std::string::npos) << text;
  // What groups in `above` stands outside the braces alone: a helper says which are asked for.
  EXPECT_NE(text.find("(X) :- node(X).\n"), std::string::npos) << text;
}

// What a rule derives has a size too, and that steers the rules above it.
TEST(Plan, DerivedRelationsHaveASize) {
  EXPECT_EQ(plan_of(R"(
    pred big(u32, u32). big(0..99, 0..49). pred few(u32). few(0..2).
    pred pair(u32, u32). pair(X, Y) :- few(X), few(Y).
    pred chosen(u32, u32). chosen(X, Y) :- big(X, Y), pair(X, Y).
    n(X, count()) :- chosen(X, _).
    :- chosen(X, X), few(X).
  )"),
            R"(component 0: big/2, 5000 rows
component 1: few/1, 3 rows
component 2: pair/2, about 9 rows
  pair(X, Y) :- few(X), few(Y).
    scan    few(X)  // about 3 rows
    scan    few(Y)  // about 3 rows
    insert  pair(X, Y)
component 3: chosen/2, about 9 rows
  chosen(X, Y) :- big(X, Y), pair(X, Y).
    scan    pair(X, Y)  // about 9 rows
    exists  big(=X, =Y)
    insert  chosen(X, Y)
component 4: n/2, about 3 rows
  n(X, count()) :- chosen(X, _).
    scan    chosen(X, _)  // about 9 rows
    group   n(X, count())
constraint
  :- chosen(X, X), few(X).
    scan    few(X)  // about 3 rows
    exists  chosen(=X, =X)
)");
}

// Recursion has as many rows as there is room for, but not more than what is unknown.
TEST(Plan, RecursionIsTakenForMuch) {
  const std::string text = plan_of(R"(
    pred edge(u32, u32). edge(0..39, 0..39). pred link(u32, u32). link(0..1999, 7).
    pred reach(u32, u32). pred far(u32, u32).
    reach(X, Y) :- edge(X, Y). reach(X, Z) :- reach(X, Y), edge(Y, Z).
    far(Y, X) :- link(X, Y). far(X, Y) :- link(X, Y). far(X, Z) :- far(X, Y), far(Z, Y).
  )");
  EXPECT_NE(text.find("reach/2, about 1600 rows; in rounds"), std::string::npos) << text;
  EXPECT_NE(text.find("far/2, about 1000000 rows; in rounds"), std::string::npos) << text;
}

TEST(Plan, RangesDriveOrAreWalkedOrTest) {
  EXPECT_EQ(plan_of(R"(
    n(1..5).
    p(X, Y) :- X = 1..100, Y = X..9.
    q(X) :- n(N), X = 1..N, between(2, 3, N), not between(1, 3, X).
  )"),
            R"(component 0: n/1, 5 rows
component 1: p/2, about 10000 rows
  p(X, Y) :- X = 1..100, Y = X..9.
    range   X = 1..100
    range   Y = X..9
    insert  p(X, Y)
component 2: q/1, about 200 rows
  q(X) :- n(N), X = 1..N, N = 2..3, not X = 1..3.
    range   N = 2..3
    exists  n(=N)
    range   X = 1..N
    filter  if X < 1 then true else if 3 < X then true else false = true
    insert  q(X)
)");
}

// What only the host knows, the order of symbols and what is in a list, is looked up.
TEST(Plan, TablesOfTheHost) {
  EXPECT_EQ(plan_of(R"(
    name(zoe). name(ann). route([a, b]).
    pair(X, Y) :- name(X), name(Y), X < Y.
    stop(X) :- route(L), member(X, L).
    rest(L) :- route(L).
    rest(T) :- rest([_ | T]).
  )"),
            R"(component 0: name/1, 2 rows
component 1: route/1, 1 row
component 2: __xlog_rank_5/2, filled by the host
component 3: pair/2, about 4 rows
  pair(X, Y) :- name(X), name(Y), __xlog_rank_5(X, _1), __xlog_rank_5(Y, _2), _1 < _2.
    scan    name(X)  // about 2 rows
    lookup  __xlog_rank_5(=X, _1)  // about 1.0 rows each
    scan    name(Y)  // about 2 rows
    lookup  __xlog_rank_5(=Y, _2)  // about 1.0 rows each
    filter  _1 < _2
    insert  pair(X, Y)
component 4: __xlog_member_6/2, filled by the host
component 5: stop/1, about 1 row
  stop(X) :- route(L), __xlog_member_6(L, X).
    scan    route(L)  // about 1 rows
    lookup  __xlog_member_6(=L, X)  // about 1.0 rows each
    insert  stop(X)
component 6: __xlog_cons_7/3, filled by the host
component 7: rest/1, about 1000000 rows; in rounds
  rest(L) :- route(L).
    scan    route(L)  // about 1 rows
    insert  rest(L)
  rest(T) :- rest(_1), __xlog_cons_7(_1, _, T).
    for new rows of literal 1:
      scan    new rest(_1)
      lookup  __xlog_cons_7(=_1, _, T)  // about 1.0 rows each
      insert  rest(T)
)");
}

TEST(Plan, ATableMayBringWhatIsComputes) {
  const std::string text = plan_of("b(a, d). p(X) :- Y >= c, Y is X, b(a, X).");
  EXPECT_NE(text.find("lookup  __xlog_rank"), std::string::npos) << text;
}

TEST(Plan, TheRankOfAConstantDoesNotDrive) {
  const std::string text = plan_of("name(zoe). name(ann). p(X) :- name(X), X < m.");
  EXPECT_LT(text.find("scan    name(X)"), text.find("lookup  __xlog_rank")) << text;
}

TEST(Plan, FindallIsAnAggregate) {
  EXPECT_EQ(plan_of(R"(
    e(1, 2).
    out(X, L) :- e(X, _), findall(Y, e(X, Y), L).
  )"),
            R"(component 0: e/2, 1 row
component 1: __xlog_aggregate_2/2, about 1 row
  __xlog_aggregate_2(X, findall(Y)) :- e(X, Y).
    scan    e(X, Y)  // about 1 rows
    group   __xlog_aggregate_2(X, findall(Y))
component 2: out/2, about 1 row
  out(X, L) :- e(X, _), __xlog_aggregate_2(X, L).
    scan    e(X, _)  // about 1 rows
    lookup  __xlog_aggregate_2(=X, L)  // about 1.0 rows each
    insert  out(X, L)
)");
}

TEST(Plan, TheHostMakesLists) {
  EXPECT_EQ(plan_of(R"(
    edge(1, 2). edge(2, 1).
    path(X, [X]) :- edge(X, _).
    path(X, [X | P]) :- edge(X, Y), path(Y, P), not member(X, P).
    last(X) :- path(_, P), reverse(P, [X | _]), edge(X, _).
    :- path(X, [_, X | _]).
  )"),
            R"(component 0: edge/2, 2 rows
  column 2 of edge: 2 values: 2 in 1 row
component 1: path/2, about 1000000 rows; in rounds
  path(X, _1) :- edge(X, _), _1 = [X].
    scan    edge(X, _)  // about 2 rows
    host    _1 = [X]
    insert  path(X, _1)
  path(X, _1) :- edge(X, Y), path(Y, P), not member(X, P), _1 = [X | P].
    for new rows of literal 2:
      scan    new path(Y, P)
      lookup  edge(X, =Y)  // about 1.0 rows each
      host    not member(X, P)
      host    _1 = [X | P]
      insert  path(X, _1)
component 2: last/1, about 2 rows
  last(X) :- path(_, P), reverse(P, [X | _]), edge(X, _).
    scan    path(_, P)  // about 1000000 rows
    host    reverse(P, [X | _])
    exists  edge(=X, _)
    insert  last(X)
constraint
  :- path(X, _1), _1 = [_, X | _].
    scan    path(X, _1)  // about 1000000 rows
    host    _1 = [_, X | _]
)");
}

TEST(Plan, ConstraintsThatFoldHaveRules) {
  EXPECT_EQ(plan_of("e(1, 2). e(1, 3). n(1..9). :- N = count : { n(X), e(X, _) }, N > 5. ?- n(X)."),
            R"(component 0: e/2, 2 rows
component 1: n/1, 9 rows
component 2: __xlog_query_0/1, about 9 rows
  __xlog_query_0(X) :- n(X).
    scan    n(X)  // about 9 rows
    insert  __xlog_query_0(X)
component 3: __xlog_aggregate_4/1, about 1 row
  __xlog_aggregate_4(count()) :- n(X), e(X, _).
    scan    e(X, _)  // about 2 rows
    exists  n(=X)
    group   __xlog_aggregate_4(count())
component 4: __xlog_violated_3/0, about 2 rows
  __xlog_violated_3 :- __xlog_aggregate_4(N), N > 5.
    scan    __xlog_aggregate_4(N)  // about 1 rows
    filter  N > 5
    insert  __xlog_violated_3
  __xlog_violated_3 :- not __xlog_aggregate_4(_), N > 5, N = 0.
    absent  __xlog_aggregate_4(_)
    let     N = 0:u64
    filter  N > 5
    insert  __xlog_violated_3
constraint
  :- __xlog_violated_3.
    exists  __xlog_violated_3
)");
}

TEST(Plan, SaysWhyARuleHasNoPipeline) {
  EXPECT_NE(plan_of("{ a }. b :- not a.").find("no pipeline"), std::string::npos);
}

// One hub has most rows: a row that meets its like meets many, a value from elsewhere few.
TEST(Plan, DegreesSayWhatAJoinOfAColumnWithItselfFinds) {
  const std::string text = plan_of(R"(
    e(0, 1..90). e(1..10, 0). v(0..10).
    p(Y, Z) :- e(X, Y), e(X, Z).
    q(X, Y) :- v(X), e(X, Y).
  )");
  for (const char* line : {"column 1 of e: 11 values: 10 in 1 row, 1 in 64 to 127 rows\n",
                           "lookup  e(=X, Z)  // about 81.1 rows each\n",
                           "lookup  e(=X, Y)  // about 9.1 rows each\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace xlog::plan
