// Well-founded models by estimates on the device, judged by the reference evaluator, and where that
// takes too long by plain C++.
#include "engine/alternating.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

std::string well_founded(const std::string& text) {
  return "#pragma semantics = well_founded\n" + text;
}

void expect_same_model(const std::string& text, bool all_on_device = true) {
  expect_same(well_founded(text), all_on_device);
}

TEST(Alternating, WinMove) {
  expect_same_model(R"(
    move(a, b). move(b, a). move(b, c). move(c, d). move(e, f). move(f, e). move(g, e).
    win(X) :- move(X, Y), not win(Y).
    ?- win(X).
  )");
}

TEST(Alternating, ATotalModelHasNoUndefinedRows) {
  expect_same_model(R"(
    move(1, 2). move(2, 3). move(3, 4). move(1, 4). move(4, 5).
    win(X) :- move(X, Y), not win(Y).
    lost(X) :- move(X, _), not win(X).
    ?- win(X). ?- lost(X).
  )");
}

TEST(Alternating, EvenAndOddCyclesWithoutColumns) {
  expect_same_model("p :- not q. q :- not p. r :- p. r :- q. ?- p. ?- q. ?- r.");
  expect_same_model(
      "p :- not p. q :- not p. s. t :- s, not u. u :- not t, not s. ?- p. ?- q. ?- t. ?- u.");
  expect_same_model("p :- not q. q :- not r. r :- not p. q. ?- p. ?- q. ?- r.");
}

TEST(Alternating, FactsOfItsPredicates) {
  expect_same_model(R"(
    n(1..6).
    p(2). p(X) :- n(X), not q(X).
    q(3). q(5). q(X) :- n(X), not p(X).
    wide(7, 1.5, a, 8). wide(X, 2.5, b, X) :- n(X), not p(X). p(X) :- wide(X, _, b, _), not q(X).
    ?- p(X). ?- q(X). ?- wide(A, B, C, D).
  )");
}

TEST(Alternating, PositiveRecursionInsideAndStrataAround) {
  expect_same_model(R"(
    edge(1, 2). edge(2, 3). edge(3, 1). edge(3, 4). edge(4, 5). edge(5, 6). edge(6, 4). edge(7, 8).
    node(X) :- edge(X, _). node(Y) :- edge(_, Y).
    reach(X, Y) :- edge(X, Y). reach(X, Z) :- reach(X, Y), edge(Y, Z).
    blocked(X) :- node(X), not reach(X, X).
    open(X, Y) :- edge(X, Y), not shut(X, Y).
    open(X, Z) :- open(X, Y), open(Y, Z), not blocked(X).
    shut(X, Y) :- reach(X, Y), not open(Y, X), X + Y < 9.
    above(X) :- open(X, Y), not shut(Y, X).
    far(X, Y) :- above(X), above(Y), not open(X, Y), X != Y.
    far(X, Z) :- far(X, Y), far(Y, Z).
    apart(X) :- node(X), not far(X, _).
    ?- open(X, Y). ?- shut(X, Y). ?- above(X). ?- far(X, Y). ?- apart(X). ?- reach(X, Y).
  )");
}

TEST(Alternating, ArithmeticWithoutAValueCountsOnce) {
  expect_same_model(R"(
    n(0..5).
    p(X) :- n(X), not q(X), Y = 6 / X, Y > 1.
    q(X) :- n(X), not p(X), Z = 10 % (X - 3), Z < 4.
    ?- p(X). ?- q(X).
  )");
  expect_same_model(R"(
    n(0..5).
    p(X) :- n(X), not q(X). q(X) :- n(X), not p(X), X > 2.
    r(X, Y) :- p(X), Y = 6 / X.
    ?- p(X). ?- r(X, Y).
  )",
                    false);
}

TEST(Alternating, Constraints) {
  const std::string rules = R"(
    n(1..4). p(X) :- n(X), not q(X), X < 3. q(X) :- n(X), not p(X), X < 3. p(X) :- n(X), X > 3.
    ?- p(X). ?- q(X).
  )";
  expect_same_model(rules + ":- p(X), X < 3.");  // undefined is no violation
  expect_same_model(rules + ":- n(X), not p(X), not q(X), X != 3.");
  expect_same_model(rules + ":- n(X), not p(X), not q(X).");
  expect_same_model(rules + ":- p(4).");
  expect_same_model(rules + "-p(X) :- n(X), not p(X), X < 3.");
}

std::vector<std::string> reasons(const std::string& text) {
  std::vector<std::string> found;
  for (const Placement& placement : run(well_founded(text), Which::Engine).statistics.placements) {
    if (!placement.on_device) found.push_back(placement.reason);
  }
  return found;
}

TEST(Alternating, WhatEstimatesDoNotBoundIsLeftToTheReference) {
  const std::string game = R"(
    move(1, 2). move(2, 1). move(2, 3). move(4, 1).
    win(X) :- move(X, Y), not win(Y).
    beside(X) :- move(X, _), not other(X). other(X) :- move(_, X), not beside(X).
    ?- win(X). ?- beside(X).
  )";
  expect_same_model(game);
  const std::string counts = game + "n(count(X)) :- win(X). ?- n(X).";
  expect_same_model(counts, false);
  EXPECT_EQ(reasons(counts), (std::vector<std::string>{
                                 "n/1 reads it, which is not evaluated on the device",
                                 "an aggregate over win/1, which may have undefined rows",
                                 "it reads win/1",
                                 "it reads n/1",
                             }));
  expect_same_model(game + "k(X) :- know win(X). ?- k(X).", false);
  expect_same_model(game + "k(X) :- move(X, _), not not win(X). ?- k(X).", false);
  expect_same_model(game + "k(N) :- N = count : { win(X) }. ?- k(N).", false);
  expect_same_model(game + "{ c(X) } :- move(X, _). d(X) :- c(X), not win(X). ?- d(X).", false);
  expect_same_model(game + ":- win(X), know win(X).", false);
}

TEST(Alternating, WithoutItEveryWorldIsLookedAt) {
  expect_same("move(1, 2). move(2, 1). win(X) :- move(X, Y), not win(Y). ?- win(X).", false);
}

TEST(Alternating, Limits) {
  // A row counts once, however often it is derived anew.
  std::string chain;
  for (int i = 0; i < 60; ++i) chain += fmt::format("move({}, {}). ", i, i + 1);
  const std::string text = well_founded(chain + "win(X) :- move(X, Y), not win(Y). ?- win(X).");
  logic::AnswerOptions options;
  options.max_rows = 120;
  EXPECT_TRUE(run(text, Which::Engine, "interp", options).answered);
  options.max_rows = 50;
  const Outcome stopped = run(text, Which::Engine, "interp", options);
  EXPECT_FALSE(stopped.answered);
  EXPECT_NE(stopped.text.find("more than 50 rows"), std::string::npos) << stopped.text;
  options = {};
  options.timeout_seconds = 1e-9;
  EXPECT_NE(run(text, Which::Engine, "interp", options).text.find("not finished"),
            std::string::npos);
}

TEST(Alternating, StatisticsSpeakOfTheProgramAsWritten) {
  const Outcome outcome = run(well_founded(R"(
    move(1, 2). move(2, 1).
    win(X) :- move(X, Y), not win(Y).
    ?- win(X).
  )"),
                              Which::Engine);
  for (const auto& [version, totals] : outcome.statistics.trace.totals()) {
    EXPECT_LT(version.rule, 2u);
  }
  EXPECT_EQ(outcome.statistics.trace.totals().at({0, {}}).rows_out, 2u) << "nothing is true";
  bool has_twin = false;
  for (const RelationFigures& figures : outcome.statistics.relations) {
    has_twin |= figures.name == "possible win/1" && figures.rows == 2;
    EXPECT_LT(figures.component, outcome.statistics.placements.size());
  }
  EXPECT_TRUE(has_twin);
  EXPECT_GE(outcome.statistics.rounds, 2u);
}

// ---- random programs ----

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}

  std::string text() {
    const uint32_t values = 3 + below(5);
    for (uint32_t i = 0; i < values; ++i) text_ += fmt::format("n({}). ", i);
    for (uint32_t i = 2 * values; i > 0; --i) {
      text_ += fmt::format("e({}, {}). ", below(values), below(values));
    }
    text_ += "\n";
    defined_ = {{"n", 1}, {"e", 2}};
    for (uint32_t strata = 1 + below(4); strata > 0; --strata) add_stratum(values);
    if (chance(25)) add_what_is_not_for_the_device();
    for (const auto& [name, arity] : defined_) {
      text_ += fmt::format("?- {}.\n", arity == 0   ? name
                                       : arity == 1 ? name + "(X)"
                                                    : name + "(X, Y)");
    }
    return text_;
  }
  bool all_on_device() const { return all_on_device_; }

 private:
  struct Named {
    std::string name;
    uint32_t arity;
  };
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool chance(uint32_t percent) { return below(100) < percent; }

  std::string atom(const Named& pred) {
    static constexpr const char* kVariables[] = {"X", "Y", "Z"};
    if (pred.arity == 0) return pred.name;
    std::string text = pred.name + "(" + kVariables[below(3)];
    for (uint32_t c = 1; c < pred.arity; ++c) text += std::string(", ") + kVariables[below(3)];
    return text + ")";
  }

  // Predicates that read each other and what is below, under `not` as well.
  void add_stratum(uint32_t values) {
    std::vector<Named> own;
    for (uint32_t i = 1 + below(3); i > 0; --i) {
      own.push_back({fmt::format("p{}", next_++), below(8) == 0 ? 0 : 1 + below(2)});
    }
    std::vector<Named> all = defined_;
    all.insert(all.end(), own.begin(), own.end());
    for (const Named& head : own) {
      if (head.arity == 1 && chance(20)) {
        text_ += fmt::format("{}({}). ", head.name, below(values));
      }
      for (uint32_t rules = 1 + below(2); rules > 0; --rules) {
        std::string body = chance(50) ? "e(X, Y), e(Y, Z)" : "e(X, Y), n(Z)";
        for (uint32_t literals = below(3); literals > 0; --literals) {
          body += ", " + atom(all[below(static_cast<uint32_t>(all.size()))]);
        }
        for (uint32_t literals = 1 + below(2); literals > 0; --literals) {
          const Named& read = chance(70) ? own[below(static_cast<uint32_t>(own.size()))]
                                         : all[below(static_cast<uint32_t>(all.size()))];
          body += ", not " + atom(read);
        }
        if (chance(30)) body += fmt::format(", X + {} * Y {} Z", below(3), chance(50) ? "<" : "!=");
        if (chance(10)) body += ", not e(Z, _)";
        text_ += fmt::format("{} :- {}.\n", atom(head), body);
      }
    }
    if (chance(10)) text_ += fmt::format(":- e(X, Y), n(Z), not {}.\n", atom(all.back()));
    defined_ = std::move(all);
  }

  void add_what_is_not_for_the_device() {
    all_on_device_ = false;
    const std::string read = atom(defined_[below(static_cast<uint32_t>(defined_.size()))]);
    const std::string domain = "n(X), n(Y), n(Z), ";
    switch (below(5)) {
      case 0:
        text_ += "q(X, count()) :- " + domain + read + ".\n";
        defined_.push_back({"q", 2});
        return;
      case 1:
        text_ += "q(X) :- " + domain + "not not " + read + ".\n";
        break;
      case 2:
        text_ += "q(X) :- " + domain + "not know " + read + ".\n";
        break;
      case 3:
        text_ += "q(X) :- " + domain + read + ", W = (Y + Z) / X, W < 2.\n";
        break;
      default:
        text_ += "{ q(X) } :- " + domain + read + ".\n";
    }
    defined_.push_back({"q", 1});
  }

  std::mt19937 random_;
  bool all_on_device_ = true;
  std::string text_;
  std::vector<Named> defined_;
  uint32_t next_ = 0;
};

TEST(Alternating, RandomProgramsAreAnsweredAsByTheReference) {
  for (uint32_t seed = 0; seed < 25 / kPartOfWork; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomProgram program(seed);
    const std::string text = program.text();
    expect_same_model(text, program.all_on_device());
    if (testing::Test::HasFailure()) return;
  }
}

// ---- large games ----

using Moves = std::set<std::pair<uint32_t, uint32_t>>;

enum class Value : uint8_t { Lost, Won, Drawn };

// Backwards from the positions without a move.
std::vector<Value> solve_game(uint32_t positions, const Moves& moves) {
  std::vector<std::vector<uint32_t>> before(positions);
  std::vector<uint32_t> left(positions, 0);  // moves that do not lead to a won position
  for (const auto& [from, to] : moves) {
    before[to].push_back(from);
    ++left[from];
  }
  std::vector<Value> values(positions, Value::Drawn);
  std::vector<uint32_t> decided;
  const auto decide = [&](uint32_t position, Value value) {
    if (values[position] != Value::Drawn) return;
    values[position] = value;
    decided.push_back(position);
  };
  for (uint32_t p = 0; p < positions; ++p) {
    if (left[p] == 0) decide(p, Value::Lost);
  }
  for (size_t i = 0; i < decided.size(); ++i) {
    for (uint32_t p : before[decided[i]]) {
      if (values[decided[i]] == Value::Lost) {
        decide(p, Value::Won);
      } else if (--left[p] == 0) {
        decide(p, Value::Lost);
      }
    }
  }
  return values;
}

Moves random_moves(uint32_t positions, size_t count) {
  std::mt19937 random(11);
  Moves moves;
  while (moves.size() < count) moves.insert({random() % positions, random() % positions});
  return moves;
}

std::string game(const Moves& moves) {
  std::string text;
  for (const auto& [from, to] : moves) text += fmt::format("move({}, {}).\n", from, to);
  return well_founded(text + "win(X) :- move(X, Y), not win(Y).\n");
}

TEST(Alternating, ALargeGame) {
  constexpr uint32_t kPositions = 100'000 / kPartOfWork;
  const Moves moves = random_moves(kPositions, 320'000 / kPartOfWork);
  std::string wanted = "0 views\nwin(X):";
  const std::vector<Value> values = solve_game(kPositions, moves);
  for (uint32_t p = 0; p < kPositions; ++p) {
    if (values[p] == Value::Won) wanted += fmt::format(" ({},)true", p);
    if (values[p] == Value::Drawn) wanted += fmt::format(" ({},)undefined", p);
  }
  EXPECT_GT(std::ranges::count(values, Value::Won), 1000);
  EXPECT_GT(std::ranges::count(values, Value::Drawn), 1000);
  for (const auto& [device, form] :
       {std::pair{"interp", relation::Form::Chunks}, std::pair{"cpu", relation::Form::Chunks},
        std::pair{"interp", relation::Form::Groups}}) {
    const Outcome got = run(game(moves) + "?- win(X).", Which::Engine, device, {}, form);
    EXPECT_TRUE(got.text == wanted + "\n") << device;
    for (const Placement& placement : got.statistics.placements) {
      EXPECT_TRUE(placement.on_device) << placement.reason;
    }
  }
}

TEST(Alternating, OnlyCountsComeToTheHost) {
  constexpr uint32_t kPositions = 50'000;
  const std::string text = game(random_moves(kPositions, 160'000)) + "?- win(X), X < 3.";
  for (const auto form : {relation::Form::Chunks, relation::Form::Groups}) {
    // Devices count for as long as they live.
    const Statistics before = run("p.", Which::Engine, "interp", {}, form).statistics;
    const Statistics after = run(text, Which::Engine, "interp", {}, form).statistics;
    EXPECT_GT(after.rounds, 20u);
    EXPECT_GT(after.rows, 10u * kPositions);
    const uint64_t from_device = after.device.bytes_from_device - before.device.bytes_from_device;
    EXPECT_LT(from_device, after.rows * sizeof(uint32_t) / 8) << "rows were read";
    const uint64_t to_device = after.device.bytes_to_device - before.device.bytes_to_device;
    EXPECT_LT(to_device, 160'000 * 2 * sizeof(uint32_t) + after.rows * sizeof(uint32_t) / 8)
        << "facts come once";
  }
}

}  // namespace
}  // namespace xlog::engine
