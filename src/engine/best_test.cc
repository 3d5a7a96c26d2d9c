// Minima and maxima inside their own recursion: the engine against the reference evaluator and, on
// larger inputs, against Dijkstra's algorithm in plain C++.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

TEST(Best, ShortestPathsWithZeroWeightsAndSeveralStarts) {
  expect_same(R"(
    edge(0, 1, 4). edge(0, 2, 1). edge(2, 1, 2). edge(1, 3, 5). edge(3, 0, 0). edge(3, 4, 0).
    edge(4, 3, 0). edge(4, 5, 0). edge(9, 9, 0). edge(7, 8, 1).
    dist(0, 0). dist(0, 3). dist(9, 5).
    dist(Y, min(D + W)) :- dist(X, D), edge(X, Y, W).
    far(max(D)) :- dist(_, D).
    ?- dist(X, D). ?- far(D). ?- dist(X, D), D > 3, not edge(X, _, 0).
  )");
}

TEST(Best, MutualRecursionThroughTwoMinima) {
  expect_same(R"(
    edge(1, 2, 3). edge(2, 3, 1). edge(3, 1, 2). edge(3, 4, 9). edge(1, 4, 30). edge(4, 2, 0).
    even(1, 0).
    odd(Y, min(D + W)) :- even(X, D), edge(X, Y, W).
    even(Y, min(D + W)) :- odd(X, D), edge(X, Y, W).
    ?- even(X, D). ?- odd(X, D).
  )");
}

TEST(Best, TwiceInOneBody) {
  expect_same(R"(
    e(1, 2, 4). e(2, 3, 1). e(1, 3, 9). e(3, 4, 2). e(4, 1, 1). e(2, 4, 8). e(4, 5, 3).
    p(X, Y, min(W)) :- e(X, Y, W).
    p(X, Z, min(A + B)) :- p(X, Y, A), p(Y, Z, B).
    ?- p(X, Y, D). ?- p(1, 5, D).
  )");
}

TEST(Best, WidestPathsInFloats) {
  expect_same(R"(
    pred link(symbol, symbol, f32). pred wide(symbol, symbol, f32).
    link(a, b, 5.5). link(b, c, 3.25). link(a, c, -2.0). link(c, a, 7.0). link(c, d, -0.0).
    link(d, c, 0.0).
    wide(X, Y, max(W)) :- link(X, Y, W).
    wide(X, Z, max(min(A, B))) :- wide(X, Y, A), link(Y, Z, B).
    ?- wide(X, Y, W).
  )");
}

TEST(Best, FloatsBelowAndAboveZero) {
  expect_same(R"(
    pred e(u32, u32, f64). pred low(u32, f64). pred high(u32, f64).
    e(1, 2, -1.5). e(2, 3, 0.25). e(3, 4, -0.0). e(4, 5, 1.0e308). e(5, 6, 1.0e308). e(1, 6, 2.0).
    low(1, 0.0). low(1, -0.0). low(7, -3.0e300).
    low(Y, min(D + W)) :- low(X, D), e(X, Y, W).
    high(1, -0.0). high(1, 0.0).
    high(Y, max(D - W)) :- high(X, D), e(X, Y, W).
    ?- low(X, D). ?- high(X, D).
  )");
}

// The worst value of a type is also what a group holds before it has one.
TEST(Best, TheWorstValues) {
  expect_same(R"(
    pred a(u32, u32). pred b(i64, i64). pred c(u64, u64). pred e(u32, u32).
    e(1, 2). e(2, 3).
    a(1, 4294967295). a(Y, min(V)) :- a(X, V), e(X, Y).
    b(1, -9223372036854775808). b(2, -9223372036854775808).
    b(X + 1, max(V)) :- b(X, V), X < 5.
    c(1, 18446744073709551615). c(X + 1, min(V)) :- c(X, V), X < 5.
    ?- a(X, V). ?- b(X, V). ?- c(X, V).
  )");
}

TEST(Best, GroupsOfManyColumnsAndOfNone) {
  expect_same(R"(
    pred e(i64, i64, i64). pred d(i64, symbol, i64, u64).
    e(1, 2, 5). e(2, 3, 1). e(1, 3, 7). e(3, 1, 0).
    d(1, a, 1, 0). d(2, b, 2, 9).
    d(S, N, Y, min(V + cast(W, u64))) :- d(S, N, X, V), e(X, Y, W).
    d(S, N, Z, min(max(V, W))) :- d(S, N, Y, V), d(S, N, Z, W), e(Y, Z, _).
    best(100). best(min(max(V - 3, 7))) :- best(V).
    zero(0, 0). zero(X, min(V)) :- zero(X, V).
    ?- d(S, N, X, V). ?- best(V). ?- zero(X, V).
  )");
}

TEST(Best, PlainPredicatesInTheRecursion) {
  expect_same(R"(
    e(1, 2, 4). e(2, 3, 1). e(3, 4, 2). e(4, 5, 8). e(5, 6, 1).
    near(X) :- t(X, D), D < 10.
    any(X) :- t(_, _), e(X, _, _).
    t(1, 0).
    t(Y, min(D + W)) :- t(X, D), near(X), any(X), e(X, Y, W), D <= 6.
    ?- t(X, D). ?- near(X).
  )");
}

TEST(Best, AMinimumAndAMaximumInOneRecursion) {
  expect_same(R"(
    e(1, 2, 4). e(2, 3, 1). e(3, 1, 2). e(2, 4, 8).
    low(1, 0). high(1, 10).
    low(Y, min(D + W)) :- low(X, D), high(X, _), e(X, Y, W).
    high(Y, max(D - W)) :- high(X, D), low(X, _), e(X, Y, W), D > 3.
    ?- low(X, D). ?- high(X, D).
  )");
}

TEST(Best, ModalLiteralsOverWhatIsDetermined) {
  expect_same(R"(
    e(1, 2, 4). e(2, 3, 1). e(1, 3, 9). closed(4). node(1..4). e(3, 4, 1).
    d(1, 0).
    d(Y, min(D + W)) :- d(X, D), know e(X, Y, W), possible node(Y), not know closed(Y).
    sure(X) :- node(X), know d(X, _).
    ?- d(X, D). ?- sure(X).
  )");
}

TEST(Best, FeedsChoices) {
  expect_same(R"(
    e(1, 2, 4). e(2, 3, 1). e(1, 3, 9).
    d(1, 0). d(Y, min(D + W)) :- d(X, D), e(X, Y, W).
    { pick(X) : d(X, D), D > 3 }.
    ?- pick(X). ?- d(X, D).
  )",
              false);
}

// Arithmetic that has no value gives no candidate.
TEST(Best, CandidatesWithoutAValue) {
  expect_same(R"(
    pred e(u32, u32, u32). pred d(u32, u32).
    e(1, 2, 0). e(1, 3, 2). e(3, 2, 5). d(1, 100).
    d(Y, min(V / W)) :- d(X, V), e(X, Y, W).
    ?- d(X, V).
  )");
}

TEST(Best, ACycleThatImprovesForEverReachesTheLimit) {
  for (const char* rules : {"d(Y, min(V + W)) :- d(X, V), e(X, Y, W).",
                            "d(Y, min(V + W)) :- c(X, V), e(X, Y, W). c(X, min(V)) :- d(X, V)."}) {
    logic::AnswerOptions options;
    options.max_rows = 1000;
    for (const char* device : {"interp", "cpu"}) {
      const Outcome got = run(std::string("e(1, 2, -3). e(2, 1, 2). d(1, 0). ") + rules,
                              Which::Engine, device, options);
      EXPECT_FALSE(got.answered);
      EXPECT_NE(got.text.find("E0702"), std::string::npos) << got.text;
      EXPECT_NE(got.text.find("negative cycle"), std::string::npos) << got.text;
    }
  }
}

// ---- larger ----

struct Arc {
  uint32_t from, to, weight;
};

std::vector<Arc> random_arcs(uint32_t nodes, uint32_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Arc> arcs;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t from = static_cast<uint32_t>(random() % nodes);
    const uint32_t to = static_cast<uint32_t>(random() % nodes);
    arcs.push_back({from, to, static_cast<uint32_t>(random() % 50)});
  }
  return arcs;
}

std::map<uint32_t, uint64_t> dijkstra(const std::vector<Arc>& arcs, uint32_t start) {
  std::map<uint32_t, std::vector<Arc>> next;
  for (const Arc& arc : arcs) next[arc.from].push_back(arc);
  std::map<uint32_t, uint64_t> found;
  std::set<std::pair<uint64_t, uint32_t>> waiting = {{0, start}};
  while (!waiting.empty()) {
    const auto [distance, node] = *waiting.begin();
    waiting.erase(waiting.begin());
    if (!found.emplace(node, distance).second) continue;
    for (const Arc& arc : next[node]) waiting.insert({distance + arc.weight, arc.to});
  }
  return found;
}

std::string facts(const std::vector<Arc>& arcs) {
  std::string text;
  for (const Arc& arc : arcs) {
    text += fmt::format("edge({}, {}, {}).\n", arc.from, arc.to, arc.weight);
  }
  return text;
}

void expect_rows(const std::string& program, const std::string& wanted) {
  for (const char* device : {"interp", "cpu", "native"}) {
    const Outcome got = run(program, Which::Engine, device);
    EXPECT_NE(got.text.find(wanted), std::string::npos)
        << device << "\n"
        << got.text.substr(0, 2000) << "\nwanted " << wanted.substr(0, 2000);
    for (const Placement& placement : got.statistics.placements) {
      EXPECT_TRUE(placement.on_device) << placement.reason;
    }
  }
}

// Sets grow, regions fill up and several instances offer values for one group at a time.
TEST(Best, ShortestPathsInALargeGraph) {
  const std::vector<Arc> arcs = random_arcs(10'000, 40'000, 3);
  std::string wanted = "dist(X, D):";
  for (const auto& [node, distance] : dijkstra(arcs, 0)) {
    wanted += fmt::format(" ({},{},)known", node, distance);
  }
  wanted += "\n";
  expect_rows(facts(arcs) + R"(
    dist(0, 0).
    dist(Y, min(D + W)) :- dist(X, D), edge(X, Y, W).
    ?- dist(X, D).
  )",
              wanted);
  // A group of three columns of 64 bits.
  expect_rows(facts(arcs) + R"(
    pred edge(i64, i64, i64). pred far(i64, i64, i64, i64).
    far(-1, 7, 0, 0).
    far(A, B, Y, min(D + W)) :- far(A, B, X, D), edge(X, Y, W).
    dist(X, D) :- far(_, _, X, D).
    ?- dist(X, D).
  )",
              wanted);
}

TEST(Best, AllPairsByDoubling) {
  const std::vector<Arc> arcs = random_arcs(60, 240, 5);
  std::string wanted = "dist(X, Y, D):";
  for (uint32_t start = 0; start < 60; ++start) {
    // A node reaches itself by a cycle, not by staying.
    std::map<uint32_t, uint64_t> best;
    for (const Arc& arc : arcs) {
      if (arc.from != start) continue;
      for (const auto& [node, distance] : dijkstra(arcs, arc.to)) {
        const auto [it, is_new] = best.emplace(node, distance + arc.weight);
        if (!is_new) it->second = std::min(it->second, distance + arc.weight);
      }
    }
    for (const auto& [node, distance] : best) {
      wanted += fmt::format(" ({},{},{},)known", start, node, distance);
    }
  }
  wanted += "\n";
  expect_rows(facts(arcs) + R"(
    dist(X, Y, min(W)) :- edge(X, Y, W).
    dist(X, Z, min(A + B)) :- dist(X, Y, A), dist(Y, Z, B).
    ?- dist(X, Y, D).
  )",
              wanted);
}

TEST(Best, ALongChainIsFewRounds) {
  const Outcome got = run(R"(
    n(0..100000).
    dist(0, 0). dist(X + 1, min(D + 2)) :- dist(X, D), n(X).
    c(count(), max(D)) :- dist(_, D). ?- c(N, D).
  )",
                          Which::Engine, "cpu");
  EXPECT_NE(got.text.find("(100002,200002,)"), std::string::npos) << got.text;
  EXPECT_LT(got.statistics.rounds, 1000u);
}

}  // namespace
}  // namespace xlog::engine
