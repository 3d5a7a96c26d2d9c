#include "logic/magic.h"

#include <gmock/gmock.h>

#include "logic/needed.h"
#include "logic/test_program.h"

namespace xlog::logic {
namespace {

using ::testing::HasSubstr;

struct Rewritten : TestProgram {
  size_t rules_before = 0;
  std::vector<MagicDecision> decisions;

  explicit Rewritten(std::string_view text) : TestProgram(text) {
    if (!analysis) return;
    rules_before = program->rules.size();
    decisions = apply_magic_sets(*program, *analysis, session);
    analysis = analyze(*program, session);
  }

  std::string new_rules() const {
    std::string text;
    for (size_t i = rules_before; i < program->rules.size(); ++i) {
      text += rule_text(static_cast<uint32_t>(i)) + "\n";
    }
    return text;
  }

  std::string query_text(size_t query) const {
    return rule_text((*program)[program->queries[query].pred].rules[0]);
  }
};

const std::string kReach = R"(
  edge(a, b). edge(b, c).
  reach(X, Y) :- edge(X, Y).
  reach(X, Z) :- edge(X, Y), reach(Y, Z).
)";

TEST(Magic, ReachFromAConstant) {
  const Rewritten test("#pragma magic_sets = auto\n" + kReach + "?- reach(a, X).");
  ASSERT_TRUE(test.analysis) << test.rendered();
  ASSERT_EQ(test.decisions.size(), 1u);
  EXPECT_TRUE(test.decisions[0].applied);
  EXPECT_EQ(test.decisions[0].reason, "reach^bf");
  EXPECT_EQ(
      test.new_rules(),
      "__xlog_magic_reach_bf(a).\n"
      "__xlog_reach_bf(X, Y) :- __xlog_magic_reach_bf(X), edge(X, Y).\n"
      "__xlog_magic_reach_bf(Y) :- __xlog_magic_reach_bf(X), edge(X, Y).\n"
      "__xlog_reach_bf(X, Z) :- __xlog_magic_reach_bf(X), edge(X, Y), __xlog_reach_bf(Y, Z).\n");
  EXPECT_THAT(test.query_text(0), HasSubstr("__xlog_reach_bf(a, X)"));
}

TEST(Magic, ReachToAConstantGoesBackwards) {
  const Rewritten test("#pragma magic_sets = auto\n" + kReach + "?- reach(X, c).");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_EQ(
      test.new_rules(),
      "__xlog_magic_reach_fb(c).\n"
      "__xlog_reach_fb(X, Y) :- __xlog_magic_reach_fb(Y), edge(X, Y).\n"
      "__xlog_reach_fb(X, Z) :- __xlog_magic_reach_fb(Z), __xlog_reach_fb(Y, Z), edge(X, Y).\n");
}

TEST(Magic, SameGeneration) {
  const Rewritten test(R"(
    #pragma magic_sets = on
    up(a, p). flat(p, q). down(q, b).
    sg(X, Y) :- flat(X, Y).
    sg(X, Y) :- up(X, U), sg(U, V), down(V, Y).
    ?- sg(a, Y).
  )");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_EQ(
      test.new_rules(),
      "__xlog_magic_sg_bf(a).\n"
      "__xlog_sg_bf(X, Y) :- __xlog_magic_sg_bf(X), flat(X, Y).\n"
      "__xlog_magic_sg_bf(U) :- __xlog_magic_sg_bf(X), up(X, U).\n"
      "__xlog_sg_bf(X, Y) :- __xlog_magic_sg_bf(X), up(X, U), __xlog_sg_bf(U, V), down(V, Y).\n");
}

TEST(Magic, TheOriginalRulesAndOtherQueriesStay) {
  const Rewritten test("#pragma magic_sets = auto\n" + kReach +
                       "?- reach(a, X). ?- reach(X, Y). ?- edge(a, X).");
  ASSERT_TRUE(test.analysis) << test.rendered();
  ASSERT_EQ(test.decisions.size(), 3u);
  EXPECT_TRUE(test.decisions[0].applied);
  EXPECT_FALSE(test.decisions[1].applied);
  EXPECT_EQ(test.decisions[1].reason, "the query has no constant");
  EXPECT_EQ(test.decisions[2].reason, "edge/2 is not recursive");
  EXPECT_THAT(test.query_text(1), HasSubstr(":- reach(X, Y)."));
  EXPECT_EQ((*test.program)[test.pred("reach/2")].rules.size(), 2u);
}

TEST(Magic, FloatsAreComparedAndNotLookedUp) {
  const Rewritten test(
      "#pragma magic_sets = on\npred e(f64, f64). e(1.0, 2.0). r(X, Y) :- e(X, Y)."
      "r(X, Z) :- r(X, Y), e(Y, Z). ?- r(1.0, Y).");
  ASSERT_EQ(test.decisions.size(), 1u);
  EXPECT_FALSE(test.decisions[0].applied);
  EXPECT_THAT(test.decisions[0].reason, HasSubstr("the constants of the query are floats"));
}

TEST(Magic, QueriesOfOneAdornmentShareTheirCopies) {
  const Rewritten test("#pragma magic_sets = auto\n" + kReach + "?- reach(a, X). ?- reach(b, X).");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_TRUE(test.decisions[1].applied);
  EXPECT_THAT(test.new_rules(), HasSubstr("__xlog_magic_reach_bf(b).\n"));
  EXPECT_EQ((*test.program)[test.pred("__xlog_reach_bf/2")].rules.size(), 2u);
}

TEST(Magic, NegatedAndAggregatedAtomsKeepTheFullRelation) {
  const Rewritten test(R"(
    #pragma magic_sets = on
    edge(1, 2). edge(2, 3). start(1).
    bad(X) :- far(X, _). far(X, Y) :- edge(Y, X).
    r(X, Y) :- edge(X, Y), not bad(X).
    r(X, Z) :- r(X, Y), edge(Y, Z), N = count : { far(Z, W) }, N < 5, good(Z).
    good(X) :- far(X, _).
    ?- r(1, Y).
  )");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_THAT(test.new_rules(), HasSubstr("not bad(X)"));
  EXPECT_THAT(test.new_rules(), HasSubstr("count : { far(Z, W) }"));
  EXPECT_THAT(test.new_rules(), HasSubstr("__xlog_good_b(Z)"));
  EXPECT_THAT(test.decisions[0].reason, HasSubstr("far^bf"));
}

TEST(Magic, FactsBesideRulesAreCopied) {
  const Rewritten test(R"(
    #pragma magic_sets = on
    edge(1, 2). edge(2, 3).
    r(7, 8). r(1, 9).
    r(X, Y) :- edge(X, Y).
    r(X, Z) :- r(X, Y), edge(Y, Z).
    ?- r(1, Y).
  )");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_THAT(test.new_rules(),
              HasSubstr("__xlog_r_bf(_1, _2) :- __xlog_magic_r_bf(_1), __xlog_r_facts(_1, _2).\n"));
  const lang::Predicate& helper = (*test.program)[test.pred("__xlog_r_facts/2")];
  ASSERT_NE(helper.facts, nullptr);
  EXPECT_EQ(helper.facts->rows, 2u);
  EXPECT_EQ(helper.facts->columns[1].at(1),
            (*test.program)[test.pred("r/2")].facts->columns[1].at(1));
}

TEST(Magic, AnIsMayBecomeATest) {
  const Rewritten test(R"(
    #pragma magic_sets = on
    edge(1, 2).
    d(X, 0) :- edge(X, _).
    d(Y, N) :- edge(X, Y), d(X, M), N is M + 1.
    ?- d(X, 1).
  )");
  ASSERT_TRUE(test.analysis) << test.rendered();
  EXPECT_EQ(test.errors(), "");
}

TEST(Magic, NewPredicatesAreTypedHelpers) {
  const Rewritten test("#pragma magic_sets = auto\n" + kReach + "?- reach(a, X).");
  ASSERT_TRUE(test.analysis) << test.rendered();
  const lang::Predicate& copy = (*test.program)[test.pred("__xlog_reach_bf/2")];
  const lang::Predicate& wanted = (*test.program)[test.pred("__xlog_magic_reach_bf/1")];
  EXPECT_TRUE(copy.helper);
  EXPECT_TRUE(wanted.helper);
  EXPECT_EQ(to_string(copy.columns.at(1).type), "symbol");
  EXPECT_EQ(to_string(wanted.columns.at(0).type), "symbol");
  EXPECT_TRUE(test.component("__xlog_reach_bf/2").recursive);
}

TEST(Magic, OffDoesNothing) {
  const Rewritten test("#pragma magic_sets = off\n" + kReach + "?- reach(a, X).");
  EXPECT_TRUE(test.decisions.empty());
  EXPECT_EQ(test.new_rules(), "");
}

TEST(Magic, AutoDeclinesWithAReason) {
  const std::pair<std::string, std::string> cases[] = {
      {"{ p(a, b) }. p(X, Z) :- p(X, Y), p(Y, Z). ?- p(a, X).",
       "p/2 is undetermined: choice in rule at 2:1"},
      {kReach + "?- reach(a, X), reach(X, c).", "the query is not a single positive atom"},
      {kReach + "?- not reach(a, c).", "the query is not a single positive atom"},
      {"p(a). q(X) :- p(X). ?- q(a).", "q/1 is not recursive"},
  };
  for (const auto& [text, reason] : cases) {
    SCOPED_TRACE(text);
    const Rewritten test("#pragma magic_sets = auto\n" + text);
    ASSERT_EQ(test.decisions.size(), 1u) << test.rendered();
    EXPECT_FALSE(test.decisions[0].applied);
    EXPECT_EQ(test.decisions[0].reason, reason);
    EXPECT_EQ(test.new_rules(), "");
    EXPECT_EQ(test.errors(), "");
  }
}

TEST(Magic, OnDemandsThatAQueryProfits) {
  EXPECT_EQ(Rewritten("#pragma magic_sets = on\n" + kReach + "?- reach(X, Y).").errors(), "E0606");
  EXPECT_EQ(
      Rewritten("#pragma magic_sets = on\n" + kReach + "?- reach(X, Y). ?- reach(a, Y).").errors(),
      "");
  EXPECT_EQ(Rewritten("#pragma magic_sets = on\np(a). q(X) :- p(X). ?- q(a).").errors(), "");
  EXPECT_EQ(
      Rewritten("#pragma magic_sets = on\n{ p(a, b) }. p(X, Z) :- p(X, Y), p(Y, Z). ?- p(a, X).")
          .errors(),
      "E0606");
}

// A gate that takes every predicate with rules for `rows`, and copies for `copied`.
ExpectedRows gate(const TestProgram& test, double rows, double copied) {
  return [&test, rows, copied](const lang::Program& program, const Analysis& analysis) {
    const std::vector<bool> needed = needed_for_answers(program, analysis);
    double sum = 0;
    for (size_t p = 0; p < program.predicates.size(); ++p) {
      if (!needed[p] || program.predicates[p].rules.empty()) continue;
      const auto name = test.session.names.symbols.text(program.predicates[p].name);
      const bool is_copy = name.starts_with("__xlog_reach") || name.starts_with("__xlog_magic");
      sum += is_copy ? copied : name == "reach" ? rows : 1;
    }
    return sum;
  };
}

TEST(MagicGate, TakesWhatSavesHalf) {
  TestProgram test("#pragma magic_sets = auto\n" + kReach + "?- reach(a, X). ?- reach(X, b).");
  ASSERT_TRUE(test.analysis);
  const auto decisions =
      apply_magic_sets(*test.program, *test.analysis, test.session, gate(test, 1e6, 100));
  // The first alone saves nothing, as the second still asks for all of reach.
  EXPECT_FALSE(decisions[0].applied);
  EXPECT_EQ(decisions[0].reason, "reach^bf would leave about 1000202 of 1000002 rows");
  EXPECT_FALSE(decisions[1].applied);
  EXPECT_EQ(test.program->rules.size(), 4u);

  TestProgram one("#pragma magic_sets = auto\n" + kReach + "?- reach(a, X).");
  const auto taken =
      apply_magic_sets(*one.program, *one.analysis, one.session, gate(one, 1e6, 100));
  EXPECT_TRUE(taken[0].applied);
  EXPECT_EQ(taken[0].reason, "reach^bf, about 201 rows instead of 1000001");
}

TEST(MagicGate, LeavesTheProgramAsItWasWhereItDeclines) {
  TestProgram test("#pragma magic_sets = auto\n" + kReach + "?- reach(a, X).");
  const size_t predicates = test.program->predicates.size(), rules = test.program->rules.size();
  const auto decisions =
      apply_magic_sets(*test.program, *test.analysis, test.session, gate(test, 1e6, 1e6));
  EXPECT_FALSE(decisions[0].applied);
  EXPECT_EQ(test.program->predicates.size(), predicates);
  EXPECT_EQ(test.program->rules.size(), rules);
  EXPECT_EQ(test.rule_text(static_cast<uint32_t>(rules) - 1), "__xlog_query_0(X) :- reach(a, X).");
  const auto few = apply_magic_sets(*test.program, *test.analysis, test.session, gate(test, 9, 1));
  EXPECT_EQ(few[0].reason, "about 10 rows in all are few");
}

}  // namespace
}  // namespace xlog::logic
