// Rules that carry columns along take whole words of rows: the answers are those of the reference
// evaluator, whichever columns are carried and whatever else the rules ask.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

// Recursion over a random graph in which some columns are carried. Values are far apart enough that
// a line has several blocks.
class CarryingProgram {
 public:
  explicit CarryingProgram(uint32_t seed) : random_(seed) {}

  std::string text() {
    values_ = 260 + below(80);
    std::string text = "pred edge(u32, u32).\npred paint(u32, u32, u32).\n";
    const uint32_t edges = 20 + below(60);
    for (uint32_t i = 0; i < edges; ++i) {
      text += fmt::format("edge({}, {}).\n", node(), node());
      text += fmt::format("paint({}, {}, {}).\n", node(), node(), below(4));
    }
    for (uint32_t i = 0; i < 10; ++i) text += fmt::format("closed({}).\n", node());
    text += fmt::format("edge({0}, {0}).\n", values_ - 1);
    text += rules();
    text += fmt::format("?- p({}{}).\n", node(), others(1));
    text += fmt::format("?- p(A, {}{}).\n", node(), others(2));
    text += fmt::format("q(X, count()) :- p(X, Y{}).\n?- q(X, N).\n", others(2));
    text += fmt::format("r(X, Y) :- p(X, Z{0}), edge(Z, Y), not p(Y, X{0}).\n?- r(X, Y).\n",
                        arity_ == 2 ? "" : ", 1");
    return text;
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  // Few of the values, so that ways meet.
  uint32_t node() { return below(30) * (values_ / 30) + below(2); }
  std::string others(uint32_t from) const {
    std::string text;
    for (uint32_t c = from; c < arity_; ++c) text += fmt::format(", V{}", c);
    return text;
  }

  std::string rules() {
    const char* const kinds[] = {
        "p(X, Y) :- edge(X, Y).\np(X, Y) :- p(X, Z), edge(Z, Y).\n",
        "p(X, Y) :- edge(X, Y).\np(X, Y) :- edge(X, Z), p(Z, Y).\n",
        "p(X, Y) :- edge(X, Y).\np(X, Y) :- p(X, Z), edge(Z, W), edge(W, Y), not closed(Y).\n",
        "p(X, Y) :- edge(X, Y).\np(X, Y) :- p(X, Z), edge(Z, Y), Z < Y.\n",
        "p(X, Y) :- edge(X, Y).\np(X, Y) :- p(X, Z), edge(Z, W), edge(Z, Y), edge(W, Y).\n",
        "p(X, Y) :- edge(X, Y).\np(X, 1) :- p(X, Z), closed(Z).\n",
        "p(X, Y, C) :- edge(X, Y), paint(X, _, C).\np(X, Y, C) :- p(X, Z, C), edge(Z, Y).\n",
        "p(X, Y, C) :- edge(X, Y), paint(X, _, C).\np(X, Y, D) :- p(X, Z, C), paint(Z, Y, D), C "
        "!= D.\n",
        "p(X, Y, C) :- edge(X, Y), paint(X, _, C).\np(Y, X, C) :- p(Z, X, D), paint(Z, Y, C), "
        "paint(Y, _, D).\n",
        "p(X, Y, C) :- edge(X, Y), paint(X, _, C).\np(X, Y, C) :- p(X, Y, D), paint(D, _, C).\n",
        // Several rules: what they carry in common, and what only one does.
        "p(X, Y) :- edge(X, Y).\np(X, Y) :- p(X, Z), edge(Z, Y).\np(X, Y) :- p(X, Z), paint(Z, Y, "
        "1).\n",
        "p(X, Y, C) :- edge(X, Y), paint(X, _, C).\np(X, Y, C) :- p(X, Z, C), edge(Z, Y).\np(X, Y, "
        "D) :- p(X, Z, C), paint(Z, Y, D), C != D.\n",
        "p(X, Y) :- edge(X, Y).\np(X, Y) :- p(X, Z), edge(Z, Y).\np(X, Y) :- edge(X, Z), "
        "closed(Z), "
        "p(Z, Y).\n",
        // Not carried: asked for, or given to another column.
        "p(X, Y) :- edge(X, Y).\np(X, Y) :- p(X, Z), edge(Z, Y), edge(X, _).\n",
        "p(X, Y) :- edge(X, Y).\np(Y, X) :- p(X, Z), edge(Z, Y).\n",
    };
    const uint32_t kind = below(std::size(kinds));
    arity_ = (kind >= 6 && kind < 10) || kind == 11 ? 3 : 2;
    return kinds[kind];
  }

  std::mt19937 random_;
  uint32_t values_ = 0;
  uint32_t arity_ = 2;
};

TEST(Carry, RandomProgramsHaveTheAnswersOfTheReference) {
  for (uint32_t seed = 0; seed < 10 / kPartOfWork; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    expect_same(CarryingProgram(seed).text());
    if (HasFailure()) break;
  }
}

constexpr const char* kCountedClosure = R"(
    reach(X, Y) :- edge(X, Y).
    reach(X, Y) :- reach(X, Z), edge(Z, Y).
    n(count()) :- reach(X, Y).
    ?- n(N).
)";

// The closure of a graph with so many nodes, and how many rows it has.
constexpr uint32_t kNodes = 700;
using Edges = std::vector<std::pair<uint32_t, uint32_t>>;
using relation::Form;
Outcome run_closure(const Edges& edges, uint64_t rows, const std::string& more = "",
                    Form form = Form::Chunks) {
  std::string text = "pred edge(u32, u32).\n";
  for (const auto& [from, to] : edges) text += fmt::format("edge({}, {}).\n", from, to);
  logic::AnswerOptions options;
  options.max_rows = UINT64_MAX;
  Outcome got = run(text + more + kCountedClosure, Which::Engine, "cpu", options, form);
  EXPECT_NE(got.text.find(fmt::format("({},)", rows)), std::string::npos) << got.text;
  return got;
}

uint64_t closure_rows(const Edges& edges, uint32_t nodes) {
  std::vector<std::vector<uint32_t>> next(nodes);
  for (const auto& [from, to] : edges) next[from].push_back(to);
  uint64_t rows = 0;
  for (uint32_t start = 0; start < nodes; ++start) {
    std::vector<bool> seen(nodes, false);
    std::vector<uint32_t> open = {start};
    while (!open.empty()) {
      const uint32_t node = open.back();
      open.pop_back();
      for (const uint32_t to : next[node]) {
        if (seen[to]) continue;
        seen[to] = true;
        ++rows;
        open.push_back(to);
      }
    }
  }
  return rows;
}

Edges random_edges(uint32_t nodes, uint32_t count) {
  std::mt19937 random(1);
  Edges edges;
  for (uint32_t i = 0; i < count; ++i) {
    const auto from = static_cast<uint32_t>(random() % nodes);
    edges.emplace_back(from, static_cast<uint32_t>(random() % nodes));
  }
  return edges;
}

Edges chain() {
  Edges edges;
  for (uint32_t i = 0; i + 1 < kNodes; ++i) edges.emplace_back(i, i + 1);
  return edges;
}
constexpr uint64_t kRowsOfChain = kNodes * (kNodes - 1) / 2;

// A chain has as many rounds as nodes, but the words of its rows run through it within one.
TEST(Carry, TakesOneRound) {
  for (const Form form : {Form::Chunks, Form::Groups}) {
    EXPECT_EQ(run_closure(chain(), kRowsOfChain, "", form).statistics.rounds, 1u);
  }
}

TEST(Carry, TakesSeveralRulesTogether) {
  const char* const rule = "skip(0, 2).\nreach(X, Y) :- reach(X, Z), skip(Z, Y).\n";
  for (const Form form : {Form::Chunks, Form::Groups}) {
    EXPECT_LE(run_closure(chain(), kRowsOfChain, rule, form).statistics.rounds, 3u);
  }
}

// Levels of nodes: cycles of all sizes, alone, one behind the other and inside each other.
TEST(Carry, ClosesCycles) {
  Edges ring = chain(), rings, both_ways, doors;
  ring.emplace_back(kNodes - 1, 0);
  for (uint32_t i = 0; i < kNodes; ++i) {
    rings.emplace_back(i, i % 7 == 6 ? i - 6 : i + 1);
    doors.emplace_back(i, i % 7 == 6 ? i - 6 : i + 1);
    if (i % 21 == 6 && i + 1 < kNodes) doors.emplace_back(i, i + 1);
  }
  constexpr uint32_t kSide = 26;
  for (uint32_t i = 0; i < kSide * kSide; ++i) {
    for (const uint32_t to : {i + kSide, i % kSide == kSide - 1 ? i : i + 1}) {
      if (to >= kSide * kSide) continue;
      both_ways.emplace_back(i, to);
      both_ways.emplace_back(to, i);
    }
  }
  for (const Edges& edges : {ring, rings, doors, both_ways, random_edges(kNodes, kNodes),
                             random_edges(kNodes, 2 * kNodes)}) {
    for (const Form form : {Form::Chunks, Form::Groups}) {
      const Outcome got = run_closure(edges, closure_rows(edges, kNodes), "", form);
      EXPECT_EQ(got.statistics.rounds, 1u);
    }
  }
}

// Nodes go along the edges, whatever their numbers: against them a chain of n nodes takes n * n / 2
// steps, and more launches than edges of which none leads to another.
TEST(Carry, TakesNodesInTheOrderOfTheirEdges) {
  Edges backwards = chain(), pairs;
  for (auto& [from, to] : backwards) std::swap(from, to);
  for (uint32_t i = 0; i + 1 < kNodes; i += 2) pairs.emplace_back(i, i + 1);
  uint64_t before = run_closure(pairs, kNodes / 2).statistics.device.launches;
  const auto launches = [&](const Edges& edges, uint64_t rows) {
    // Counted since the device was opened.
    const uint64_t now = run_closure(edges, rows).statistics.device.launches;
    return now - std::exchange(before, now);
  };
  const uint64_t least = launches(pairs, kNodes / 2);
  EXPECT_LE(launches(chain(), kRowsOfChain), least + 1);
  EXPECT_LE(launches(backwards, kRowsOfChain), least + 1);
}

// Too many rows are possible for a set of bits from the start: the relation becomes one on the way,
// with rows that were handled one by one before, and others that wait.
TEST(Carry, GoesOnWhereTheSetBecomesBits) {
  constexpr uint32_t kMany = 6000;
  const Edges edges = random_edges(kMany, 2 * kMany);
  run_closure(edges, closure_rows(edges, kMany));
}

// How many rows will come is seen after the first of them: where they lead far, the set becomes
// bits before many rows are handled one by one. Where they lead to a few others it stays as it is.
TEST(Carry, ForeseesTheRows) {
  constexpr uint32_t kMany = 30'000;
  Edges rings;
  for (uint32_t i = 0; i < kMany; ++i) rings.emplace_back(i, i % 3 == 2 ? i - 2 : i + 1);
  const auto run = [](const Edges& edges) {
    return run_closure(edges, closure_rows(edges, kMany));
  };
  const auto is_bits = [](const Outcome& got) {
    return std::ranges::any_of(got.statistics.relations, [](const RelationFigures& figures) {
      return figures.name == "reach/2" && figures.set == relation::SetKind::Bits;
    });
  };
  // Launches are counted since the device was opened.
  const uint64_t begun = run(rings).statistics.device.launches;
  const Outcome near = run(rings), far = run(random_edges(20'000, 24'000));
  EXPECT_FALSE(is_bits(near));
  EXPECT_TRUE(is_bits(far));
  const uint64_t launches = near.statistics.device.launches - begun;
  EXPECT_LE(far.statistics.device.launches - near.statistics.device.launches, launches + 10);
}

}  // namespace
}  // namespace xlog::engine
