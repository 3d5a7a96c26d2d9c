// Constructs beyond atoms and arithmetic, on the device as on the reference evaluator.
#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

TEST(Language, RangesInBodies) {
  expect_same(R"(
    n(3). n(0). n(5). n(-2).
    up(N, X) :- n(N), X = 1..N.
    both(X, Y) :- X = 1..4, Y = X..6.
    alone(X) :- X = 1..300.
    none(X) :- X = 5..4.
    tested(N) :- n(N), between(0, 3, N).
    outside(N) :- n(N), not between(0, 3, N).
    any(N) :- n(N), X = 1..N.
    no_values(N) :- n(N), not between(1, N, _).
    joined(X, Y) :- X = 1..9, up(X, Y).
    quotient(Z) :- X = -3..9, Z = 12 / X.
  )");
}

TEST(Language, RangesOfAllIntegerTypes) {
  expect_same(R"(
    pred a(u32, u32). pred b(i32, i32). pred c(u64, u64). pred d(i64, i64).
    a(4294967290, 4294967295). a(3, 2).
    b(-2147483648, -2147483640). b(2147483640, 2147483647). b(-3, 3).
    c(18446744073709551610, 18446744073709551615). c(0, 3).
    d(-9223372036854775808, -9223372036854775800). d(9223372036854775800, 9223372036854775807).
    d(-2, 2).
    ra(X) :- a(L, H), X = L..H.
    rb(X) :- b(L, H), X = L..H.
    rc(X) :- c(L, H), X = L..H.
    rd(X) :- d(L, H), X = L..H.
    front(X) :- X = -3..3.
    bag(L, count()) :- d(L, H), X = L..H.
    sums(sum(X)) :- b(L, H), X = L..H.
  )");
}

TEST(Language, RangesInRecursionAndAggregates) {
  expect_same(R"(
    step(1).
    step(Y) :- step(X), Y = X..X + 2, Y < 40.
    sieve(X) :- X = 2..60, not composite(X).
    composite(Z) :- X = 2..30, Y = 2..30, Z = X * Y, Z <= 60.
    squares(N) :- N = sum X * X : { X = 1..10 }.
    tri(N, S) :- step(N), S = sum X : { X = 1..N }.
    halves(N, C) :- step(N), C = count : { X = 1..N, composite(X) }.
    :- step(X), X = 100..200.
  )");
}

TEST(Language, RangesOfManyValuesAreDivided) {
  const std::string source = R"(
    n(count()) :- X = 1..3000000, X % 7 = 3.
    large(X) :- X = 1..2000000, X % 500000 = 1.
    deep(count()) :- Y = 1..2, Z = Y..1500000, Z % 3 = 0.
  )";
  for (const auto form : {relation::Form::Chunks, relation::Form::Groups}) {
    const Outcome got = run(source, Which::Engine, "cpu", {}, form);
    EXPECT_NE(got.text.find("n(A): (428572,)"), std::string::npos) << got.text;
    EXPECT_NE(got.text.find("large(A): (1,)known (500001,)known (1000001,)known (1500001,)known"),
              std::string::npos)
        << got.text;
    EXPECT_NE(got.text.find("deep(A): (1000000,)"), std::string::npos) << got.text;
  }
}

TEST(Language, RangesThatNobodyCanWalkAreLimits) {
  for (const std::string source : {"p(X) :- X = 1..1000000000000, X % 2 = 3.",
                                   "n(1000000000000). p(X) :- n(N), X = 1..N, X < 0."}) {
    for (const auto form : {relation::Form::Chunks, relation::Form::Groups}) {
      const Outcome got = run(source, Which::Engine, "interp", {}, form);
      EXPECT_FALSE(got.answered);
      EXPECT_NE(got.text.find("an interval has more than"), std::string::npos) << got.text;
    }
  }
}

TEST(Language, SymbolsInOrder) {
  expect_same(R"(
    name(zebra). name(apple). name("Zoe"). name(mango). name(app). name("é"). name("a b").
    pair(X, Y) :- name(X), name(Y), X < Y.
    from(X) :- name(X), X >= mango.
    upto(X) :- name(X), not name("none"), "b" > X.
    first(X) :- name(X), not pair(_, X).
    smaller(X, Y, Z) :- name(X), name(Y), Z = if X < Y then 1 else 0.
    chain(app).
    chain(Y) :- chain(X), name(Y), X <= Y, Y < "m".
    n(X, N) :- name(X), N = count : { name(Y), Y < X }.
    s(sum(V)) :- name(X), name(Y), V = if X <= Y then 2 else 3.
    between_them(X, Y, Z) :- pair(X, Y), name(Z), X < Z, Z < Y.
  )");
}

TEST(Language, ListsTakenApart) {
  expect_same(R"(
    pred route(symbol, list<symbol>).
    route(red, [airport, market, harbour]).
    route(blue, [station, market]).
    route(empty, []).
    route(twice, [market, market, "x y", market]).
    rest(R, L) :- route(R, L).
    rest(R, T) :- rest(R, [_ | T]).
    next(R, A, B) :- rest(R, [A, B | _]).
    stops(R, N) :- route(R, L), length(L, N).
    serves(R, S) :- route(R, L), member(S, L).
    at(R, I, S) :- route(R, L), nth(I, L, S).
    second(R, S) :- route(R, L), nth(1, L, S).
    exactly(R, B) :- route(R, [_, B]).
    first(R, X, T) :- route(R, L), L = [X | T].
    long(R) :- route(R, [_, _, _ | _]).
    some(R) :- route(R, [_ | _]).
    ends(R, X) :- rest(R, [X]).
    same(R) :- route(R, [X, X | _]).
    misses(R, S) :- route(R, L), serves(_, S), not member(S, L).
    stops_at(S, N) :- serves(_, S), N = count : { route(_, L), member(S, L) }.
    all(count()) :- route(_, L), member(_, L).
    every(count()) :- route(_, L), nth(_, L, _).
    tail_is(R) :- route(R, [_ | [market]]).
    constant(X) :- member(X, [3, 1, 3]).
    constant(X) :- [X | _] = [7, 8].
    sum_of(R, sum(N)) :- stops(R, N), memberchk(R, [red, blue]).
  )");
}

TEST(Language, ListsOfListsAndNumbers) {
  expect_same(R"(
    pred m(u32, list<list<i64>>).
    m(1, [[1, -2], [3]]). m(2, []). m(3, [[], [5, 5, 6]]). m(4, [[1, 2], [3, 4]]).
    row(M, I, R) :- m(M, L), nth(I, L, R).
    cell(M, I, J, X) :- row(M, I, R), nth(J, R, X).
    deep(M, A, B) :- m(M, [[A, B] | _]).
    shape(M, X) :- m(M, [[_, X], [_ | T]]), length(T, N), N >= 0.
    total(M, sum(X)) :- cell(M, _, _, X).
    pred u(list<u32>).
    u([1, 2, 3]). u([9]).
    wide(X, Y) :- u([X | T]), member(Y, T).
  )");
}

TEST(Language, Findall) {
  expect_same(R"(
    e(1, 2, x). e(1, 5, y). e(1, 2, z). e(3, 1, x). e(2, 9, b).
    out(X, L) :- e(X, _, _), findall(Y, e(X, Y, _), L).
    names(L) :- findall(S, e(_, _, S), L).
    nothing(L) :- findall(Y, e(7, Y, _), L).
    asked(X, L) :- X = 1..4, findall(Y, e(X, Y, _), L).
    length_of(X, N) :- out(X, L), length(L, N).
    again(X, Y) :- out(X, L), member(Y, L).
    tails(L) :- names(L).
    tails(T) :- tails([_ | T]).
    pairs(L) :- findall(P, out(_, P), L).
    firsts(F) :- pairs(L), member([F | _], L).
    inner(X) :- pairs(L), member(M, L), member(X, M).
    pred f(f64).
    f(1.5). f(-0.0). f(0.0). f(2.5).
    floats(L) :- findall(X, f(X), L).
    exact(X) :- findall(Y, e(X, Y, x), [2]), e(X, _, _).
    pred signed(i32).
    signed(-3). signed(4). signed(0).
    sorted(L) :- findall(X, signed(X), L).
    last(X) :- sorted(L), nth(2, L, X).
    pred big(i64, i64).
    big(-9223372036854775808, 1). big(9223372036854775807, 2).
    by(X, L) :- big(X, _), findall(Y, big(X, Y), L).
  )",
              false);
}

TEST(Language, FindallOnTheDevice) {
  expect_same(R"(
    e(1, 2). e(1, 5). e(3, 1). e(2, 9).
    out(X, L) :- e(X, _), findall(Y, e(X, Y), L).
    all(L) :- findall(Y, e(_, Y), L).
    none(L) :- findall(Y, e(Y, Y), L).
    more(X, L) :- e(X, _), findall(Y, larger(X, Y), L).
    larger(X, Y) :- e(X, _), e(_, Y), X < Y.
    n(X, N) :- out(X, L), length(L, N).
    again(X, Y) :- out(X, L), member(Y, L).
    tails(L) :- all(L).
    tails(T) :- tails([_ | T]).
    ends(X) :- tails([X]).
  )");
}

}  // namespace
}  // namespace xlog::engine
