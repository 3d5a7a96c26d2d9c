// What folds or maps relations inside bodies, wherever it stands: on the device, with the host's
// help where no rule of its own says it.
#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

TEST(Folds, MaplistOverRelations) {
  expect_same(R"(
    even(2). even(4). next(1, 2). next(2, 3). next(2, 30). next(3, 4).
    l([2, 4]). l([2, 3]). l([]). l([1, 2]).
    double(X, Y) :- next(X, _), Y = X * 2.
    all(L) :- l(L), maplist(even, L).
    mapped(L, M) :- l(L), maplist(next, L, M).
    same(L) :- l(L), maplist(double, L, [_ | [4 | _]]).
    const :- maplist(even, [2, 4]).
    made(M) :- next(X, _), maplist(next, [X, X], M).
    again(N) :- mapped(_, M), maplist(double, M, N).
    inside(X, N) :- next(X, _), N = count : { l(L), maplist(next, L, M), member(X, M) }.
  )");
}

TEST(Folds, MaplistInsideRecursion) {
  expect_same(R"(
    next(1, 2). next(2, 3). next(3, 1). next(2, 1). low(1). low(2).
    r([1, 2]).
    r(M) :- r(L), maplist(next, L, M).
    r([X | L]) :- r(L), length(L, 2), low(X), maplist(low, L).
    n(count()) :- r(_).
  )");
}

TEST(Folds, LongListsAreMapped) {
  expect_same(R"(
    n(1..5000). next(X, Y) :- n(X), Y = X + 1.
    all(L) :- findall(X, n(X), L).
    last(Y) :- all(L), maplist(next, L, M), nth(4999, M, Y), maplist(n, L).
  )");
}

TEST(Folds, NestedAggregates) {
  expect_same(R"(
    e(1, 2). e(1, 3). e(2, 3). e(3, 1). e(4, 4). n(X) :- e(X, _). n(9).
    a(N) :- N = count : { n(X), M = count : { e(X, _) }, M > 1 }.
    b(X, S) :- n(X), S = sum M : { e(X, Y), M = count : { e(Y, _) } }.
    c(S) :- S = sum M : { n(X), M = sum K : { e(X, Y), K = count : { e(Y, Z), Z > X } } }.
    d(X, sum(M)) :- n(X), n(Y), M = count : { e(X, Z), e(Z, Y) }.
    f(M) :- M = count : { n(X), findall(Y, e(X, Y), [_ | _]) }.
    g(X, M) :- n(X), M = count : { e(X, Y), findall(Z, e(Y, Z), K), length(K, 2) }.
    h(max(M)) :- n(X), M = count : { e(_, Y), Y = X }.
  )");
}

TEST(Folds, ManyInOneBody) {
  expect_same(R"(
    e(1, 2). e(1, 3). e(2, 3). e(3, 1). n(1..5).
    p(X, A, B, C, D, E, F) :- n(X), A = count : { e(X, _) }, B = sum Y : { e(X, Y) },
      C = count : { e(_, X) }, D = sum Y : { e(Y, X) }, E = count : { e(Y, Z), Y < X, Z > X },
      F = count : { e(Y, _), Y > A }.
    q(X, count(Y), min(A)) :- n(X), n(Y), A = count : { e(X, Z), e(Z, Y) }.
    r(A, count()) :- n(X), A = count : { e(X, _) }.
    s(sum(A)) :- A = count : { e(_, _) }.
    t(sum(A)) :- n(X), A = count : { e(X, X) }.
    u(L, M) :- n(X), findall(Y, e(X, Y), L), M = count : { member(Z, L), e(Z, _) }.
    v(A, X) :- n(X), findall(Y, e(Y, Y), [A | _]).
    w(X, L) :- n(X), findall([X, Y], e(Y, _), L).
  )");
}

TEST(Folds, AskedForInsideRecursion) {
  expect_same(R"(
    e(1). e(3). e(4). e(8).
    up(1).
    up(Y) :- up(X), N = count : { e(Z), Z <= X }, Y = X + N, Y < 12.
    r(0, 0).
    r(Y, M) :- r(X, _), M = sum Z : { e(Z), Z < X }, e(Y), Y > X.
    far(1, 0). road(1, 2, 4). road(2, 3, 1). road(1, 3, 9).
    far(Y, min(D + W + N)) :- far(X, D), road(X, Y, W), N = count : { road(X, _, _) }.
    far2(1, 0).
    far2(Y, min(D + W + N)) :- far2(X, D), road(X, Y, W), N = count : { e(Z), Z < Y }.
  )");
}

TEST(Folds, GroupsOfFloats) {
  expect_same(R"(
    pred f(f64, u32). f(0.0, 1). f(-0.0, 2). f(1.5, 3).
    g(X, N) :- f(X, _), N = count : { f(Y, _), Y <= X }.
    h(X, N) :- f(X, _), N = sum K : { f(X, K) }.
    i(X, L) :- f(X, _), findall(K, f(X, K), L).
  )");
}

TEST(Folds, ModalLiteralsUnderAggregates) {
  expect_same(R"(
    e(1, 2). e(1, 3). e(2, 3). l([1, 2]). l([1, 3]). l([2]).
    a(count(X)) :- know e(X, _).
    b(N) :- N = count : { possible e(X, _) }.
    c(sum(X)) :- know l([X | _]).
    d(X, count()) :- possible e(X, Y), know e(Y, _).
  )");
}

TEST(Folds, InConstraints) {
  for (const char* constraint :
       {":- 3 = count : { e(_, _) }.", ":- 4 = count : { e(_, _) }.",
        ":- n(X), N = count : { e(X, Y) }, N > 1.", ":- n(X), N = count : { e(X, Y) }, N > 2.",
        ":- N = count : { n(X), 0 = count : { e(X, _) } }, N > 0.",
        ":- findall(X, e(X, _), L), length(L, 3).", ":- findall(X, e(X, _), L), length(L, 4).",
        ":- n(X), not l([X | _]).", ":- n(X), X < 3, not l([X | _]).",
        ":- l(L), maplist(n, L), length(L, 3).", ":- l(L), maplist(n, L).",
        ":- n(X), not l([_, X | _]), not l([X | _]).", ":- not l([7 | _]), n(3).",
        ":- n(X), M = sum Y : { e(X, Y) }, 1 / (M - 5) = 1."}) {
    expect_same(std::string("e(1, 2). e(1, 3). e(2, 3). n(1..3). l([1, 2]). l([2]). p(X) :- n(X).\n"
                            "?- p(X).\n") +
                constraint);
  }
}

TEST(Folds, OfPredicatesWithoutColumns) {
  expect_same(R"(
    yes. no :- yes, not yes.
    n(1..3).
    p(X, N) :- n(X), N = count : { yes, n(Y), Y < X, M = count : { no }, M = 0 }.
    up(1).
    up(Y) :- up(X), N = count : { yes, n(Z), Z <= X }, Y = X + N, Y < 9.
  )");
}

}  // namespace
}  // namespace xlog::engine
