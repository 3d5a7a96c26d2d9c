// Rows that are chosen so that the search for each begins at the same cell of a compact set: the
// set has to be made again with other mixing, wherever they come from, and no row may get lost.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "engine/engine_fixture.h"
#include "relation/compact_code.h"

namespace xlog::engine {
namespace {

constexpr uint64_t kColumn = uint64_t{1} << 18;  // what both columns are below
constexpr uint64_t kCells = uint64_t{1} << 16;   // at least so many make the set a compact one
constexpr uint32_t kRows = 27'000;               // which need as many

// The row that becomes `mixed`: each step of the mixing undone.
uint64_t unmixed(uint64_t mixed, const std::vector<uint64_t>& mixing) {
  const uint64_t half = mixing[0], mask = mixing[1];
  const auto shift = [&](uint64_t x) { return x ^ (x >> half); };
  const auto divide = [&](uint64_t x, uint64_t by) {
    uint64_t inverse = by;  // of an odd number, with twice as many bits right each time
    for (int i = 0; i < 6; ++i) inverse *= 2 - by * inverse;
    return (x * inverse) & mask;
  };
  return shift(divide(shift(divide(shift(mixed), mixing[4])), mixing[3]));
}

struct Row {
  uint64_t a, b;
};

// Rows that the first attempt puts all at cell 0, however many cells there are.
std::vector<Row> crowd() {
  const std::vector<uint64_t> mixing = *relation::compact_mixing({kColumn, kColumn}, kCells, 0);
  std::vector<Row> rows;
  for (uint64_t i = 0; i < kRows; ++i) {
    const uint64_t row = unmixed(i, mixing);
    rows.push_back({row / kColumn, row % kColumn});
  }
  return rows;
}

std::string sums(std::string_view name) {
  return fmt::format("all(count(), sum(X), sum(Y)) :- {}(X, Y). ?- all(N, X, Y).", name);
}

std::string wanted(const std::vector<Row>& rows) {
  uint64_t a = kColumn - 1, b = kColumn - 1;
  for (const Row& row : rows) {
    a += row.a;
    b += row.b;
  }
  return fmt::format("({},{},{},)", rows.size() + 1, a, b);
}

void expect(const std::string& program, const std::string& answer, std::string_view name) {
  using relation::Form;
  for (const auto& [device, form] :
       {std::pair{"cpu", Form::Chunks}, std::pair{"native", Form::Groups}}) {
    const Outcome got = run(program, Which::Engine, device, {}, form);
    EXPECT_NE(got.text.find(answer), std::string::npos)
        << "wanted " << answer << ", got " << got.text.substr(0, 1000);
    for (const RelationFigures& figures : got.statistics.relations) {
      if (figures.name != name) continue;
      EXPECT_EQ(figures.set, relation::SetKind::Compact);
    }
  }
}

// One row more says how large values may be.
std::string facts(const std::vector<Row>& rows) {
  std::string text = fmt::format("pred in(u32, u32). in({0}, {0}).\n", kColumn - 1);
  for (const Row& row : rows) text += fmt::format("in({}, {}).\n", row.a, row.b);
  return text;
}

TEST(CrowdedSet, OfFacts) {
  const std::vector<Row> rows = crowd();
  expect(facts(rows) + sums("in"), wanted(rows), "in/2");
}

TEST(CrowdedSet, OfOneRule) {
  const std::vector<Row> rows = crowd();
  expect(facts(rows) + "p(X, Y) :- in(X, Y), X <= Y. p(X, Y) :- in(X, Y), X > Y." + sums("p"),
         wanted(rows), "p/2");
}

// What is there is found in the new places, and what is not there is not.
TEST(CrowdedSet, IsAsked) {
  const std::vector<Row> rows = crowd();
  std::set<std::pair<uint64_t, uint64_t>> known = {{kColumn - 1, kColumn - 1}};
  for (const Row& row : rows) known.insert({row.a, row.b});
  const auto mirrored = std::ranges::count_if(known, [&](const auto& row) {
    return known.contains({row.second, row.first});
  });
  const auto others = static_cast<int64_t>(known.size()) - mirrored;
  expect(facts(rows) +
             "n(count()) :- in(X, Y), in(X, Y). m(count()) :- in(X, Y), not in(Y, X)."
             "all(N, M, 1) :- n(N), m(M). ?- all(X, Y, Z).",
         fmt::format("({},{},1,)", known.size(), others), "in/2");
}

// A rule that goes on with its own rows: those that it had handled when one found no place may
// have lost what follows from them.
TEST(CrowdedSet, OfAChain) {
  const std::vector<Row> rows = crowd();
  std::string program = fmt::format("pred next(u32, u32, u32, u32).\np({0}, {0}).\n", kColumn - 1);
  Row last{kColumn - 1, kColumn - 1};
  for (const Row& row : rows) {
    program += fmt::format("next({}, {}, {}, {}).\n", last.a, last.b, row.a, row.b);
    last = row;
  }
  expect(program + "p(A, B) :- p(X, Y), next(X, Y, A, B)." + sums("p"), wanted(rows), "p/2");
}

// Rows of several rounds and rules, of which some are found again and again.
TEST(CrowdedSet, OfRounds) {
  const std::vector<Row> rows = crowd();
  std::string program = facts(rows);
  program += R"(
    part(X, Y, Z) :- in(X, Y), Z = Y % 7.
    p(X, Y) :- part(X, Y, 0).
    step(0..6).
    at(0).
    at(N) :- at(M), N = M + 1, step(N), p(_, _).
    p(X, Y) :- at(N), part(X, Y, N).
  )";
  expect(program + sums("p"), wanted(rows), "p/2");
}

}  // namespace
}  // namespace xlog::engine
