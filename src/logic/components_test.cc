#include "logic/components.h"

#include <gmock/gmock.h>

#include "logic/test_program.h"

namespace xlog::logic {
namespace {

using ::testing::HasSubstr;

std::string edges_text(const TestProgram& test) {
  std::string text;
  for (const Edge& edge : test.analysis->edges) {
    const lang::Program& program = *test.program;
    text += predicate_name(program[edge.to], test.session.names) + " <- " +
            predicate_name(program[edge.from], test.session.names) + " " +
            std::string(spelling(edge.kind)) + "\n";
  }
  return text;
}

// Whether `below` comes earlier in the order of evaluation than `above`.
bool comes_before(const TestProgram& test, std::string_view below, std::string_view above) {
  return test.analysis->component_of[test.pred(below).index] <
         test.analysis->component_of[test.pred(above).index];
}

TEST(Components, EdgesCarryTheirKind) {
  const TestProgram test(R"(
    pred a(u32). pred b(u32). pred c(u32). pred d(u32). pred e(u32). pred f(u32). pred h(u32).
    h(X) :- a(X), not b(X), not not c(X), know d(X), not possible e(X), N = count : { f(X) }, N > 1.
  )");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_EQ(edges_text(test),
            "h <- a positive\nh <- b negative\nh <- c negative\nh <- d modal positive\n"
            "h <- e modal negative\nh <- f aggregate\n");
}

TEST(Components, HeadAggregatesNeedTheirWholeBody) {
  const TestProgram test("e(1, 2). big(1). n(X, count(Y)) :- e(X, Y), not big(X).");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_EQ(edges_text(test), "n <- e aggregate\nn <- big aggregate\n");
}

TEST(Components, ConditionsOfAChoiceArePositive) {
  const TestProgram test("d(1). b. { p(X) : d(X) } :- b.");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_THAT(edges_text(test), HasSubstr("p <- d positive"));
  EXPECT_THAT(edges_text(test), HasSubstr("p <- b positive"));
}

TEST(Components, ARepeatedPredicateGivesOneEdge) {
  const TestProgram test("e(1, 2). p(X, Z) :- e(X, Y), e(Y, Z).");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_EQ(edges_text(test), "p <- e positive\n");
}

TEST(Components, StandInDependencyOrder) {
  const TestProgram test(R"(
    top(X) :- even(X), not odd(X).
    even(0). even(Y) :- odd(X), next(X, Y).
    odd(Y) :- even(X), next(X, Y).
    next(0, 1). next(1, 2).
  )");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_TRUE(comes_before(test, "next/2", "even/1"));
  EXPECT_TRUE(comes_before(test, "even/1", "top/1"));
  EXPECT_EQ(&test.component("even/1"), &test.component("odd/1"));
  EXPECT_TRUE(test.component("even/1").recursive);
  EXPECT_FALSE(test.component("top/1").recursive);
  EXPECT_EQ(test.component("even/1").predicates.size(), 2u);
  EXPECT_EQ(test.component("even/1").rules.size(), 2u);
}

TEST(Components, HeadsOfOneRuleShareAComponent) {
  const TestProgram test("a ; b. { c ; d }. e :- a.");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_EQ(&test.component("a/0"), &test.component("b/0"));
  EXPECT_EQ(&test.component("c/0"), &test.component("d/0"));
  EXPECT_NE(&test.component("a/0"), &test.component("c/0"));
  EXPECT_EQ(test.component("a/0").rules.size(), 1u);
  EXPECT_FALSE(test.component("a/0").recursive);
}

TEST(Components, StrataCountWhatMustBeComplete) {
  const TestProgram test(R"(
    e(1, 2). a(X) :- e(X, _). b(X) :- e(_, X), not a(X). c(count(X)) :- b(X).
    d(X) :- c(X), know b(X). plain(X) :- d(X).
  )");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_EQ(test.component("a/1").stratum, 0u);
  EXPECT_EQ(test.component("b/1").stratum, 1u);
  EXPECT_EQ(test.component("c/1").stratum, 2u);
  EXPECT_EQ(test.component("d/1").stratum, 2u);
  EXPECT_EQ(test.component("plain/1").stratum, 2u);
}

TEST(Components, ConstraintsAreListedApart) {
  const TestProgram test("p(1). :- p(X), X > 3. q(X) :- p(X).");
  ASSERT_TRUE(test.analysis) << test.rendered();
  ASSERT_EQ(test.analysis->constraints.size(), 1u);
  EXPECT_EQ(test.rule_text(test.analysis->constraints[0]), ":- p(X), X > 3.");
  EXPECT_EQ(test.analysis->orders.size(), test.program->rules.size());
}

TEST(Components, AnAggregateInItsOwnRecursionIsAnError) {
  const TestProgram test("e(1, 2). p(X, N) :- e(X, _), N = count : { q(X) }. q(X) :- p(X, _).");
  EXPECT_EQ(test.errors(), "E0602");
  EXPECT_THAT(test.rendered(), HasSubstr("p <- q <- p"));
}

TEST(Components, AHeadAggregateInItsOwnRecursionIsAnError) {
  const TestProgram test("e(1, 2). d(X, sum(Y)) :- e(X, Y). d(X, sum(Z)) :- e(X, Y), d(Y, Z).");
  EXPECT_EQ(test.errors(), "E0602");
  EXPECT_THAT(test.rendered(), HasSubstr("inside its own definition: d <- d"));
}

TEST(Components, FindallOverItsOwnRecursionIsAnError) {
  const TestProgram test(R"(
    pred p(list<u32>). pred q(u32).
    q(1). q(N) :- p(L), length(L, N).
    p(L) :- findall(X, q(X), L).
  )");
  EXPECT_EQ(test.errors(), "E0603");
  EXPECT_THAT(test.rendered(), HasSubstr("p <- q <- p"));
}

// Chains of rules must not use the machine's stack.
TEST(Components, AVeryLongChainOfPredicates) {
  constexpr uint32_t kLength = 200'000;
  lang::Program program;
  program.predicates.resize(kLength);
  for (uint32_t i = 0; i < kLength; ++i) {
    lang::Rule rule;
    lang::HeadElement head;
    head.pred = PredId{i};
    rule.head.push_back(head);
    lang::Literal literal;
    literal.pred = PredId{(i + 1) % kLength};
    rule.body.push_back(literal);
    program.predicates[i].rules.push_back(i);
    program.rules.push_back(std::move(rule));
  }
  Analysis ring;
  ring.edges = dependency_edges(program);
  find_components(program, ring);
  EXPECT_EQ(ring.components.size(), 1u);

  program.rules.pop_back();
  program.predicates[kLength - 1].rules.clear();
  Analysis chain;
  chain.edges = dependency_edges(program);
  find_components(program, chain);
  ASSERT_EQ(chain.components.size(), kLength);
  EXPECT_EQ(chain.component_of[kLength - 1], 0u);
  EXPECT_EQ(chain.component_of[0], kLength - 1);
}

}  // namespace
}  // namespace xlog::logic
