// Rules that make lists and terms, on the device as on the reference evaluator.
#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

TEST(Lists, InHeadsAndBodies) {
  expect_same(R"(
    p([1, 2, 3]). e(7).
    q([X | T]) :- e(X), p(T).
    r(L) :- e(X), p(T), L = [X | T].
    s(X) :- q(L), member(X, L).
    t(X) :- r([_ | [X | _]]).
    fine(X) :- p([X | _]).
    a(X, Y) :- p(L), append(X, Y, L).
    f(X) :- p(L), reverse(L, [X | _]).
    none(X) :- e(X), not p([X | _]).
    pred fl(list<f64>).
    fl([0.0, -0.0, 1.5]).
    g(X) :- fl(L), member(X, L), X = 0.0.
  )");
}

TEST(Lists, PathsInRecursion) {
  expect_same(R"(
    edge(1, 2). edge(2, 3). edge(3, 1). edge(2, 4). edge(4, 1). edge(3, 4).
    path(X, Y, [X, Y]) :- edge(X, Y).
    path(X, Z, [X | P]) :- edge(X, Y), path(Y, Z, P), not member(X, P).
    length_of(X, Y, N) :- path(X, Y, P), length(P, N).
    shortest(X, Y, min(N)) :- length_of(X, Y, N).
    through(X) :- path(1, 4, P), member(X, P).
    inner(X, Y) :- path(X, Y, [X, _, Y]).
    joined(L) :- path(1, 2, A), path(2, 3, [_ | B]), append(A, B, L).
    :- path(_, _, [X, X | _]).
  )");
}

TEST(Lists, MutualAndNonLinearRecursion) {
  expect_same(R"(
    a([1]). b([]).
    a([2 | L]) :- b(L), length(L, N), N < 4.
    b(L) :- a(M), reverse(M, L), length(L, N), N < 4.
    b([3 | L]) :- a(L), length(L, N), N < 3.
    c([x]). c([y]).
    c(L) :- c(A), c(B), append(A, B, L), length(L, N), N <= 4.
    rest(T) :- c(T).
    rest(T) :- rest([_ | T]).
    n(count()) :- c(_).
  )");
}

TEST(Lists, Terms) {
  expect_same(R"(
    pred t(term).
    t(f(1)). t(f(x)). t(g(1, [2])). t(3). t(1.5). t(a). t(f(f(2))). t([1, b]). t(0.0). t(-0.0).
    arg(X) :- t(f(X)).
    number(X) :- t(f(X)), Y = X + 1, Y > 0.
    made(h(X, Y)) :- t(f(X)), t(g(Y, _)).
    back(X) :- made(h(X, _)).
    same(X, Y) :- t(X), t(Y), X = Y.
    other(X) :- t(X), X != f(1).
    order(X, Y) :- t(X), t(Y), X < Y.
    name(F, N) :- t(X), functor(X, F, N).
    parts(L) :- t(X), X =.. L.
    again(Y) :- parts(L), Y =.. L.
    no(X) :- t(X), not t(f(X)).
    none(X) :- arg(X), not t(g(X, _)).
    pred depth(u32, term).
    depth(0, a).
    depth(N + 1, s(X)) :- depth(N, X), N < 5.
    flat(X) :- depth(_, s(s(X))).
    n(X, count()) :- t(X).
    all(L) :- findall(X, t(X), L).
    pairs(L) :- findall([X, Y], edge(X, Y), L).
    edge(1, 2). edge(2, 3).
    first([X]) :- pairs([[X, _] | _]).
    pred c(compound).
    c(p(1, 2)). c(q(3)).
    d(X) :- c(p(X, _)).
    e(X) :- c(q(X)).
    lists(L) :- t(X), is_list(X), X = L.
  )");
}

TEST(Lists, FunctionsOfTheHost) {
  expect_same(R"(
    pred x(f64). x(1.5). x(2.0). x(-0.0).
    y(pow(X, 2.0)) :- x(X).
    z(sum(pow(X, 2.0))) :- x(X).
    l(logsumexp(X)) :- x(X).
    pred w(i32). w(-1). w(3). w(700).
    lw(logsumexp(X)) :- w(X).
    half(Z) :- n(X), Z = [4 / X].
    n(0). n(2).
    small(X) :- x(X), pow(X, 2.0) < 3.0.
    name(b). name(a). name(c).
    least(X, L) :- name(X), L = [X, if X < b then a else c].
    sorted(L) :- findall(X, name(X), M), sort(M, L).
    longest(max(N)) :- s(L), length(L, N).
    s([1]). s([1, 2]). s([2]).
    before(A, B) :- s(A), s(B), A < B.
    k(count(L)) :- s(L).
    two(A, B, count()) :- s(L), append(A, B, L).
  )");
}

TEST(Lists, UnderTheWellFoundedSemantics) {
  expect_same(R"(
    #pragma semantics = well_founded
    move(a, b). move(b, a). move(b, c). move(c, d).
    win(X, [X, Y]) :- move(X, Y), not wins(Y).
    wins(X) :- win(X, [_ | _]).
    trace(L) :- win(_, L).
    longer([X | L]) :- trace(L), move(X, _), not member(X, L).
  )");
}

TEST(Lists, WithoutEndAreALimit) {
  logic::AnswerOptions options;
  options.max_rows = 500;
  const Outcome got = run("n([]). n([x | L]) :- n(L).", Which::Engine, "interp", options);
  EXPECT_FALSE(got.answered);
  EXPECT_NE(got.text.find("more than 500 rows were derived"), std::string::npos) << got.text;
}

}  // namespace
}  // namespace xlog::engine
