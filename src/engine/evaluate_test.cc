#include "engine/evaluate.h"

#include <gtest/gtest.h>

#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

TEST(Engine, Facts) {
  expect_same("p(1). p(2). p(1). q(a, 3). rain. ?- p(X). ?- q(X, Y). ?- rain.");
}

TEST(Engine, TransitiveClosure) {
  expect_same(R"(
    edge(1, 2). edge(2, 3). edge(3, 4). edge(4, 2). edge(7, 7).
    reach(X, Y) :- edge(X, Y).
    reach(X, Z) :- reach(X, Y), edge(Y, Z).
    ?- reach(X, Y).
  )");
}

TEST(Engine, NonLinearAndMutualRecursion) {
  expect_same(R"(
    edge(1, 2). edge(2, 3). edge(3, 4). edge(4, 5).
    reach(X, Y) :- edge(X, Y).
    reach(X, Z) :- reach(X, Y), reach(Y, Z).
    even(1). odd(Y) :- even(X), edge(X, Y). even(Y) :- odd(X), edge(X, Y).
    ?- reach(X, Y). ?- even(X). ?- odd(X).
  )");
}

TEST(Engine, NegationAndComparison) {
  expect_same(R"(
    node(1..6). edge(1, 2). edge(2, 3).
    reach(X, Y) :- edge(X, Y).
    reach(X, Z) :- reach(X, Y), edge(Y, Z).
    apart(X, Y) :- node(X), node(Y), not reach(X, Y), X < Y.
    source(X) :- node(X), not edge(_, X).
    ?- apart(X, Y). ?- source(X). ?- node(X), X != 3, not source(X).
  )");
}

TEST(Engine, Arithmetic) {
  expect_same(R"(
    n(1). n(X + 1) :- n(X), X < 20.
    half(X, X / 2, X % 3) :- n(X).
    f(X, Y) :- n(X), Y = cast(X, f64) * 0.5 - 1.0.
    big(X, Y) :- f(X, Y), Y > 2.5.
    d(X, Z) :- n(X), Y = X - 3, Z = 60 / Y.
    ?- half(X, Y, Z). ?- f(X, Y). ?- big(X, Y). ?- d(X, Z).
  )");
}

TEST(Engine, WideRows) {
  expect_same(R"(
    e(1, 2, a, 0.5). e(2, 3, b, 1.5). e(3, 1, a, 2.5).
    p(X, Y, S, W) :- e(X, Y, S, W).
    p(X, Z, S, W) :- p(X, Y, S, W), e(Y, Z, _, _).
    ?- p(X, Y, S, W). ?- p(1, Y, a, W).
  )");
}

// Derivations share the memory of their output, whatever the width of their columns.
TEST(Engine, NarrowRowsAndThenWideOnes) {
  for (const int last : {57, 58, 59, 60}) {
    expect_same(fmt::format(R"(
      pred pair(u32, u32). pair(0..{}, 0..9). pred number(u64). number(1..5).
      edge(X, Y) :- pair(X, Y).
      copy(X) :- number(X).
      ?- edge(3, X). ?- copy(X).
    )",
                            last));
  }
}

TEST(Engine, HeadAggregates) {
  expect_same(R"(
    e(1, 2, 10). e(1, 3, 5). e(2, 3, 7). e(2, 3, 8).
    c(X, count(Y)) :- e(X, Y, W).
    s(X, sum(W)) :- e(X, Y, W).
    m(X, min(W), max(W)) :- e(X, Y, W).
    a(avg(W)) :- e(X, Y, W).
    n(count()) :- e(_, _, _).
    size(e, count()) :- e(_, _, _).
    size(X, 7, count()) :- e(X, _, _).
    ?- c(X, N). ?- s(X, N). ?- m(X, A, B). ?- a(X). ?- n(X). ?- size(X, Y). ?- size(X, Y, Z).
  )");
}

TEST(Engine, BodyAggregates) {
  expect_same(R"(
    node(1..5). e(1, 2, 10). e(1, 3, 5). e(2, 3, 7). e(2, 3, 8).
    out(X, N) :- node(X), N = count : { e(X, Y, W) }.
    weight(X, S) :- node(X), S = sum W : { e(X, Y, W) }.
    heaviest(X, M) :- node(X), M = max W : { e(X, Y, W) }.
    above(X, N) :- node(X), N = count : { e(_, _, W), W > X + 5 }.
    busy(X) :- node(X), 2 = count : { e(X, Y, W) }.
    both(X, N, S) :- node(X), N = count : { e(X, Y, W) }, S = sum W : { e(Y, X, W) }.
    total(N) :- N = count : { e(X, Y, W) }.
    ?- out(X, N). ?- weight(X, S). ?- heaviest(X, M). ?- above(X, N). ?- busy(X). ?- both(X, N, S).
    ?- total(N). ?- N = count : { node(X) }. ?- N = count : { e(X, X, W) }.
  )");
}

// Symbols are numbered as they are met; their order is that of their texts.
TEST(Engine, TheOrderOfSymbolsInsideConditions) {
  expect_same(R"(
    name(zoe). name(ann). name(mia).
    first(Z) :- name(X), name(Y), Z = if X < Y then X else Y.
    ?- first(Z).
  )",
              false);
}

TEST(Engine, MixedWithTheReference) {
  expect_same(R"(
    edge(1, 2). edge(2, 3).
    reach(X, Y) :- edge(X, Y).
    reach(X, Z) :- reach(X, Y), edge(Y, Z).
    { pick(X) : reach(1, X) }.
    sure(X) :- know pick(X).
    ?- reach(X, Y). ?- pick(X). ?- sure(X).
  )",
              false);
}

// Facts that are let go once they are on the device are missed by nobody: not where a violated
// constraint, worlds, or another evaluator has to look at them again.
TEST(Evaluate, FactsThatAreSpentAreNotMissed) {
  const std::string facts = "e(1..40, 2). e(2, 1..40). p(X) :- e(X, Y), e(Y, X).\n";
  for (const char* rest :
       {"?- p(X). ?- e(2, X).", ":- e(X, X), X > 1. ?- p(X).", ":- e(X, X), X > 50. ?- p(X).",
        "{ q(X) : p(X), X < 4 }. r(X) :- e(X, _), not q(X). ?- r(X).",
        "w(X) :- e(X, Y), not w(Y), X < 4. ?- w(X)."}) {
    for (const bool well_founded : {false, true}) {
      for (const uint64_t worlds : {0u, 2u}) {
        logic::AnswerOptions options;
        options.well_founded = well_founded;
        options.max_worlds = worlds;
        const Outcome wanted = run(facts + rest, Which::Reference, "", options);
        options.spends_facts = true;
        const Outcome got = run(facts + rest, Which::Engine, "cpu", options);
        EXPECT_EQ(got.text, wanted.text) << rest;
        EXPECT_EQ(got.answered, wanted.answered) << rest;
      }
    }
  }
}

TEST(Evaluate, FactsAreLetGoOnlyWhereNobodyMayAskForThem) {
  const auto facts_left = [](std::string source, bool spends) {
    lang::Session session;
    source = "e(1, 2). e(2, 3).\n" + source;
    const SourceFile* file = session.sources.add("test.xlog", "", source);
    std::optional<lang::Program> program = lang::load(*file, session);
    std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
    const auto device = device::open_for_test("cpu", {});
    logic::AnswerOptions options;
    options.spends_facts = spends;
    Statistics statistics;
    EXPECT_TRUE(evaluate(*program, *analysis, session, options, *device, statistics).has_value());
    return std::ranges::any_of(program->predicates,
                               [](const auto& predicate) { return predicate.facts != nullptr; });
  };
  const std::string plain = "p(X) :- e(X, _). ?- p(X).";
  EXPECT_FALSE(facts_left(plain, true));
  EXPECT_TRUE(facts_left(plain, false));
  EXPECT_TRUE(facts_left(plain + " :- p(7).", true));
  EXPECT_TRUE(facts_left(plain + " { q(X) : e(X, _) }. ?- q(X).", true));
}

}  // namespace
}  // namespace xlog::engine
