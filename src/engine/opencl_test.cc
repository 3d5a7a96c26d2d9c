// The engine on OpenCL, where there is one (PoCL runs it on a CPU): a few programs of each kind
// that kernels differ for, against the reference.
#include <gtest/gtest.h>

#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

struct Case {
  const char* name;
  const char* source;
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.name; }

constexpr Case kCases[] = {
    {"Closure", R"(
      n(0..199). edge(X, (X + 1) % 200) :- n(X). edge(X, X * 7 % 200) :- n(X).
      reach(X, Y) :- edge(X, Y).
      reach(X, Z) :- reach(X, Y), edge(Y, Z).
      size(count()) :- reach(X, Y).
      ?- size(N). ?- reach(3, X).
    )"},
    {"SameGeneration", R"(
      n(2..127). parent(X / 2, X) :- n(X).
      same(X, X) :- n(X).
      same(X, Y) :- parent(P, X), same(P, Q), parent(Q, Y).
      ?- same(64, X). ?- same(X, 100).
    )"},
    {"Aggregates", R"(
      n(1..50). w(X % 7, X, X * X % 31) :- n(X).
      c(G, count(X)) :- w(G, X, V). s(G, sum(V)) :- w(G, X, V).
      m(G, min(V), max(V)) :- w(G, X, V). a(avg(V)) :- w(G, X, V).
      mean(G, avg(cast(V, f64))) :- w(G, X, V).
      ?- c(G, N). ?- s(G, N). ?- m(G, A, B). ?- a(X). ?- mean(G, X).
    )"},
    {"Negation", R"(
      node(1..30). edge(1, 2). edge(2, 3). edge(3, 1). edge(X, X + 1) :- node(X), X > 9, X < 20.
      reach(X, Y) :- edge(X, Y).
      reach(X, Z) :- reach(X, Y), edge(Y, Z).
      apart(X, Y) :- node(X), node(Y), not reach(X, Y), X < Y.
      source(X) :- node(X), not edge(_, X).
      ?- apart(12, X). ?- apart(X, 12). ?- source(X).
    )"},
    {"CyclicBody", R"(
      pred edge(u32, u32). n(0..39).
      edge(X, Y) :- pair(X, Y). pred pair(u32, u32). pair(0..39, 0..9). pair(0..9, 20..39).
      triangle(X, Y, Z) :- edge(X, Y), edge(Y, Z), edge(X, Z).
      size(count()) :- triangle(X, Y, Z).
      ?- size(N). ?- triangle(3, 4, X).
    )"},
    {"LeastInRecursion", R"(
      n(0..99). edge(X, (X + 1) % 100, 5) :- n(X). edge(X, X * 3 % 100, 17) :- n(X).
      far(0, min(D)) :- D = 0.
      far(Y, min(D + W)) :- far(X, D), edge(X, Y, W).
      ?- far(X, D).
    )"},
    {"FoldsAndMaps", R"(
      e(1, 2). e(1, 3). e(2, 3). e(3, 1). n(1..5). next(X, X + 1) :- n(X). l([1, 2]). l([6]).
      ways(X, S) :- n(X), S = sum M : { e(X, Y), M = count : { e(Y, _) } }.
      up(1). up(Y) :- up(X), N = count : { n(Z), Z <= X }, Y = X + N, Y < 12.
      mapped(M) :- l(L), maplist(next, L, M).
      :- X = count : { e(_, _) }, X > 4. :- n(X), X > 4, l([X | _]), not l([_, X | _]).
      ?- ways(X, S). ?- up(X). ?- mapped(M).
    )"},
};

class OpenCl : public testing::TestWithParam<Case> {};

TEST_P(OpenCl, AnswersAsTheReferenceDoes) {
  static const bool is_there = device::open_device("opencl").ok();
  if (!is_there) GTEST_SKIP() << "no OpenCL device here";
  const Outcome wanted = run(GetParam().source, Which::Reference);
  ASSERT_TRUE(wanted.answered) << wanted.text;
  const Outcome got = run(GetParam().source, Which::Engine, "opencl");
  EXPECT_EQ(got.text, wanted.text);
  for (const Placement& placement : got.statistics.placements) {
    EXPECT_TRUE(placement.on_device) << placement.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, OpenCl, testing::ValuesIn(kCases),
                         [](const auto& about) { return about.param.name; });

}  // namespace
}  // namespace xlog::engine
