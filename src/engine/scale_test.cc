// Programs large enough that sets grow and change their kind, indexes merge their runs, regions
// fill up and several instances meet; judged by plain C++.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

struct Graph {
  std::vector<std::pair<uint32_t, uint32_t>> edges;
};

Graph random_graph(uint32_t nodes, uint32_t edges, uint32_t spread) {
  std::mt19937 random(7);
  std::set<std::pair<uint32_t, uint32_t>> made;
  while (made.size() < edges) {
    made.insert({random() % nodes * spread, random() % nodes * spread});
  }
  return {{made.begin(), made.end()}};
}

uint64_t closure_size(const Graph& graph) {
  std::map<uint32_t, std::vector<uint32_t>> next;
  for (const auto& [from, to] : graph.edges) next[from].push_back(to);
  uint64_t size = 0;
  for (const auto& [start, first] : next) {
    std::set<uint32_t> seen;
    std::vector<uint32_t> stack = first;
    while (!stack.empty()) {
      const uint32_t node = stack.back();
      stack.pop_back();
      if (!seen.insert(node).second) continue;
      if (auto found = next.find(node); found != next.end()) {
        stack.insert(stack.end(), found->second.begin(), found->second.end());
      }
    }
    size += seen.size();
  }
  return size;
}

std::string facts(const Graph& graph) {
  std::string text;
  for (const auto& [from, to] : graph.edges) text += fmt::format("edge({}, {}).\n", from, to);
  return text;
}

void expect_closure(const Graph& graph, const std::string& rules) {
  const std::string wanted = fmt::format("({},)", closure_size(graph));
  using relation::Form;
  for (const auto& [device, form] :
       {std::pair{"interp", Form::Chunks}, std::pair{"cpu", Form::Chunks},
        std::pair{"native", Form::Chunks}, std::pair{"native", Form::Groups}}) {
    const Outcome got = run(facts(graph) + rules + "n(count()) :- reach(X, Y). ?- n(X).",
                            Which::Engine, device, {}, form);
    EXPECT_NE(got.text.find(wanted), std::string::npos)
        << device << ": wanted " << wanted << ", got " << got.text;
  }
}

constexpr const char* kLeft = "reach(X,Y) :- edge(X,Y). reach(X,Z) :- reach(X,Y), edge(Y,Z).\n";
constexpr const char* kRight = "reach(X,Y) :- edge(X,Y). reach(X,Z) :- edge(X,Y), reach(Y,Z).\n";
constexpr const char* kNonLinear =
    "reach(X,Y) :- edge(X,Y). reach(X,Z) :- reach(X,Y), reach(Y,Z).\n";

// A set of keys becomes one of bits while the closure grows.
TEST(Scale, ASetChangesItsKindWhileItGrows) {
  const Graph graph = random_graph(1200, 1500, 1);
  expect_closure(graph, kLeft);
  expect_closure(graph, kRight);
}

// Numbers far apart: keys are hashed throughout, and the set is made anew as it grows.
TEST(Scale, ASetOfKeysGrows) {
  const Graph graph = random_graph(400, 700, 1'000'003);
  expect_closure(graph, kLeft);
  expect_closure(graph, kRight);
}

RelationFigures figures_of(const Outcome& outcome, std::string_view name) {
  for (const RelationFigures& figures : outcome.statistics.relations) {
    if (figures.name == name) return figures;
  }
  ADD_FAILURE() << "no relation " << name;
  return {};
}

relation::SetKind set_of(const Outcome& outcome, std::string_view name) {
  return figures_of(outcome, name).set;
}

// Numbers with a bound: once there are enough rows, cells of 32 bits hold the rest of a key.
TEST(Scale, ASetOfKeysBecomesCompactWhileItGrows) {
  const Graph graph = random_graph(400, 700, 809);
  expect_closure(graph, kLeft);
  const Outcome got =
      run(facts(graph) + kRight + "n(count()) :- reach(X, Y). ?- n(X).", Which::Engine, "cpu");
  EXPECT_NE(got.text.find(fmt::format("({},)", closure_size(graph))), std::string::npos);
  EXPECT_EQ(set_of(got, "reach/2"), relation::SetKind::Compact);
}

// Three columns: what is in the set is found there, and nothing else.
TEST(Scale, ACompactSetKnowsItsRows) {
  for (const auto form : {relation::Form::Chunks, relation::Form::Groups}) {
    const Outcome got = run(R"(
      pred n(u32). n(X) :- m(Y), X = Y * 40.
      pred m(u32). m(0..99).
      near(0..9).
      p(X, Y, Z) :- n(X), n(Y), near(Z), X != Y.
      there(count()) :- m(X), m(Y), near(Z), p(X, Y, Z).
      away(count()) :- n(X), m(Y), near(Z), not p(X, Y, Z).
      ?- there(X). ?- away(X).
    )",
                            Which::Engine, "native", {}, form);
    // Of 0 to 99 three are multiples of 40: six pairs of them, and three times a hundred pairs.
    EXPECT_NE(got.text.find("(60,)"), std::string::npos) << got.text;
    EXPECT_NE(got.text.find(fmt::format("({},)", 100 * 100 * 10 - 297 * 10)), std::string::npos)
        << got.text;
    EXPECT_EQ(set_of(got, "p/3"), relation::SetKind::Compact);
  }
}

// Rows that are not recursive and dense are bits alone; who looks them up gets their columns.
TEST(Scale, BitsAreEnoughForDenseRows) {
  const std::string dense = R"(
    pred n(u32). n(0..399).
    p(X, Y) :- n(X), n(Y), X <= Y.
    p(5, 3). p(399, 0).
    all(count()) :- p(X, Y).
    row(X, count()) :- p(X, Y).
    absent(count()) :- n(X), n(Y), not p(X, Y).
    ?- all(N). ?- absent(N). ?- row(5, N). ?- row(399, N).
  )";
  const std::string lookups =
      "two(count()) :- n(X), X < 10, p(X, Y), p(Y, Z), Z < 12. ?- two(N). ?- p(399, Y).";
  for (const auto form : {relation::Form::Chunks, relation::Form::Groups}) {
    const Outcome got = run(dense, Which::Engine, "native", {}, form);
    for (const char* row : {"(80202,)", "(79798,)", "(396,)", "(2,)"}) {
      EXPECT_NE(got.text.find(row), std::string::npos) << row << " in " << got.text;
    }
    const RelationFigures p = figures_of(got, "p/2");
    EXPECT_EQ(p.set, relation::SetKind::Bits);
    EXPECT_EQ(p.rows, 80202u);
    EXPECT_LT(p.bytes, 80202u * 2);  // columns would be 8 each
    const std::string source = dense + lookups;
    EXPECT_EQ(run(source, Which::Engine, "native", {}, form).text,
              run(source, Which::Reference).text);
  }
}

// Few values of a large domain have rows: those below, between and past them have none.
TEST(Scale, KeysOfFinishedRelationsFarApart) {
  for (const char* factor : {"1", "50", "1000", "4000003"}) {
    expect_same(fmt::format(R"(
      pred at(u32, u32). at(X, Y) :- m(Y), X = ((Y / 2) + 1) * {0}.
      pred m(u32). m(0..599).
      pred asked(u32). asked(X) :- m(Y), X = Y * {0}.
      asked(0). asked(31). asked(32). asked(4294967295). asked(X + 1) :- m(Y), X = Y * {0}.
      found(X, Y) :- asked(X), at(X, Y), Y > 590.
      some(count()) :- asked(X), at(X, _).
      none(count()) :- asked(X), not at(X, _).
      three(count()) :- at(X, Y), at(X, Z), Y < Z, asked(X).
      ?- found(X, Y). ?- some(N). ?- none(N). ?- three(N).
    )",
                            factor));
  }
}

// More rows than are folded at a time: of few groups, of as many groups as rows, and of none.
TEST(Scale, AggregatesOfManyRowsAreFoldedInParts) {
  constexpr uint64_t kSide = 1500;
  constexpr uint64_t kRows = kSide * kSide;
  const std::string source = fmt::format(R"(
    pred n(u32). n(0..{}).
    few(X / 300, count(), sum(X + Y), min(X + Y), max(Y)) :- n(X), n(Y).
    most(X, Y, count(), max(X)) :- n(X), n(Y).
    rows(count(), sum(C), sum(M)) :- most(_, _, C, M).
    whole(sum(Y), min(X * Y), max(X * Y)) :- n(X), n(Y).
    mean(X / 750, avg(Y)) :- n(X), n(Y).
    ?- few(G, C, S, L, M). ?- rows(N, C, S). ?- whole(S, L, M). ?- mean(G, A).
  )",
                                         kSide - 1);
  const uint64_t numbers = kSide * (kSide - 1) / 2;  // their sum
  for (const char* device : {"cpu", "native"}) {
    const Outcome got = run(source, Which::Engine, device);
    for (uint64_t g = 0; g < 5; ++g) {
      const uint64_t own = 300 * (300 * g) + 300 * 299 / 2;  // the sum of its values of X
      const std::string row = fmt::format("({},{},{},{},{},)", g, 300 * kSide,
                                          own * kSide + 300 * numbers, 300 * g, kSide - 1);
      EXPECT_NE(got.text.find(row), std::string::npos) << row << " in " << got.text;
    }
    for (const std::string& row :
         {fmt::format("({},{},{},)", kRows, kRows, kSide * numbers),
          fmt::format("({},0,{},)", kSide * numbers, (kSide - 1) * (kSide - 1)),
          std::string("(1,749.5,)")}) {
      EXPECT_NE(got.text.find(row), std::string::npos) << row << " in " << got.text;
    }
  }
}

// New rows are looked up in indexes that grow round by round and are sorted again.
TEST(Scale, IndexesGrow) {
  expect_closure(random_graph(300, 420, 1), kNonLinear);
  expect_closure(random_graph(200, 280, 1'000'003), kNonLinear);
}

TEST(Scale, ALongChainIsFewRounds) {
  const Outcome got =
      run("n(0). n(X + 1) :- n(X), X < 100000. c(count()) :- n(X). ?- c(X).", Which::Engine, "cpu");
  EXPECT_NE(got.text.find("(100001,)"), std::string::npos) << got.text;
  EXPECT_LT(got.statistics.rounds, 1000u);
}

// Groups stop where the output has no room, and their tiles are done again: bits, keys and a bag.
TEST(Scale, GroupsStopWithoutRoom) {
  for (const char* spread : {"1", "5000011"}) {
    const std::string source = fmt::format(R"(
      pred n(u32). n(X) :- m(Y), X = Y * {}.
      pred m(u32). m(0..599).
      p(X, Y) :- n(X), n(Y).
      c(count()) :- p(X, Y), n(X).
      s(X, sum(Y)) :- p(X, Y), X < 2.
      ?- c(X). ?- s(X, Y).
    )",
                                           spread);
    const Outcome wanted = run(source, Which::Engine, "cpu");
    EXPECT_NE(wanted.text.find("(360000,)"), std::string::npos) << wanted.text;
    const Outcome got = run(source, Which::Engine, "native", {}, relation::Form::Groups);
    EXPECT_EQ(got.text, wanted.text);
  }
}

// The sets are so large that rows wait for their cells, among them rows that are equal, and rows
// that come where the output has no room for more.
TEST(Scale, RowsWaitForCellsOfALargeSet) {
  for (const uint32_t spread : {809u, 1'000'003u}) {
    const Graph graph = random_graph(700, 14'000, spread);
    std::map<uint32_t, std::set<uint32_t>> next, second, third;
    for (const auto& [from, to] : graph.edges) next[from].insert(to);
    const auto step = [&](const auto& before, auto& after) {
      for (const auto& [from, middles] : before) {
        for (uint32_t middle : middles)
          after[from].insert(next[middle].begin(), next[middle].end());
      }
    };
    step(std::map(next), second);
    step(second, third);
    const auto wanted = [](const auto& rows) {
      uint64_t count = 0, sum = 0;
      for (const auto& [from, all] : rows) {
        count += all.size();
        for (uint32_t to : all) sum += to;
      }
      return fmt::format("({},{},)", count, sum);
    };
    const std::string source = facts(graph) + R"(
      second(X, Z) :- edge(X, Y), edge(Y, Z).
      third(X, Z) :- second(X, Y), edge(Y, Z).
      a(count(), sum(cast(Y, u64))) :- second(X, Y).
      b(count(), sum(cast(Y, u64))) :- third(X, Y).
      ?- a(N, S). ?- b(N, S).
    )";
    for (const char* device : {"interp", "cpu", "native", "c"}) {
      const Outcome got = run(source, Which::Engine, device);
      EXPECT_NE(got.text.find(wanted(second)), std::string::npos) << device << got.text;
      EXPECT_NE(got.text.find(wanted(third)), std::string::npos) << device << got.text;
      EXPECT_EQ(set_of(got, "third/2"),
                spread == 809 ? relation::SetKind::Compact : relation::SetKind::Packed);
    }
  }
}

// Between launches somebody looks at the clock, so none of them takes long.
TEST(Scale, LargeWorkIsManyLaunches) {
  const auto launches = [](const std::string& program, const std::string& wanted) {
    const Outcome got = run(program, Which::Engine, "native");
    EXPECT_NE(got.text.find(wanted), std::string::npos) << got.text;
    uint64_t most = 0;
    for (const auto& [version, totals] : got.statistics.trace.totals()) {
      most = std::max(most, totals.launches);
    }
    return most;
  };
  const std::string near = "near(X, Y) :- n(X), n(Y). ";
  const std::string paths = "?- C = count : { near(X, Y), near(Y, Z), X + Z = 3 * Y }.";
  EXPECT_GT(launches("n(1..20000). ?- C = count : { n(X), n(Y), X + Y = 7 }.", "(6,)"), 4u);
  EXPECT_GT(launches("?- C = count : { X = 1..300000000, X < 5 }.", "(4,)"), 2u);
  EXPECT_GT(launches("n(1..600). " + near + paths, "(120000,)"),
            launches("n(1..6). " + near + paths, "(12,)") + 4);
}

// One row of the first literal gives more rows than a region holds, in a bag and in a wide set.
TEST(Scale, OneRowGivesMoreThanARegionHolds) {
  const Outcome got = run(R"(
    one(1). n(1..3000).
    s(sum(X)) :- one(O), n(X).
    wide(O, X, 5, 6) :- one(O), n(X).
    c(count()) :- wide(A, B, C, D).
    g(C, count()) :- wide(A, B, C, D).
    ?- s(X). ?- c(X). ?- g(X, Y).
  )",
                          Which::Engine, "interp");
  EXPECT_NE(got.text.find("(4501500,)"), std::string::npos) << got.text;
  EXPECT_NE(got.text.find("(3000,)"), std::string::npos) << got.text;
  EXPECT_NE(got.text.find("(5,3000,)"), std::string::npos) << got.text;
}

// Of bits only those are walked that agree with the constants.
TEST(Scale, ConstantsOfQueriesOverBits) {
  const std::string program = "#pragma magic_sets = off\n" + facts(random_graph(150, 400, 1)) +
                              "reach(X, Y) :- edge(X, Y). reach(X, Z) :- reach(X, Y), edge(Y, Z)."
                              "?- reach(7, X). ?- reach(X, 7). ?- reach(149, 149). ?- reach(0, 0)."
                              "?- reach(3000000, X). ?- reach(X, X). ?- reach(149, X).";
  const Outcome expected = run(program, Which::Reference);
  EXPECT_EQ(run(program, Which::Engine, "cpu").text, expected.text);
  EXPECT_EQ(run(program, Which::Engine, "native", {}, relation::Form::Groups).text, expected.text);
}

// The same with a constant in any column.
TEST(Scale, ConstantsOfQueriesOverBitsOfThreeColumns) {
  const std::string program =
      "#pragma magic_sets = off\n" + facts(random_graph(40, 55, 1)) +
      "p(X, Y, X) :- edge(X, Y). p(X, Z, U) :- p(X, Y, _), edge(Y, Z), edge(U, Y)."
      "?- p(X, Y, 7). ?- p(X, 33, Y). ?- p(3, X, Y). ?- p(X, 5, 38). ?- p(2, X, 32). ?- p(2, 3, X)."
      "?- p(2, 3, 4). ?- p(39, X, 39). ?- p(X, 39, 0). ?- p(X, Y, 64). ?- p(X, 400, Y)."
      "c(count()) :- p(X, Y, 9). d(count()) :- p(X, 31, Y). ?- c(N). ?- d(N).";
  const Outcome expected = run(program, Which::Reference);
  EXPECT_EQ(run(program, Which::Engine, "cpu").text, expected.text);
  EXPECT_EQ(run(program, Which::Engine, "interp").text, expected.text);
  EXPECT_EQ(run(program, Which::Engine, "native", {}, relation::Form::Groups).text, expected.text);
}

}  // namespace
}  // namespace xlog::engine
