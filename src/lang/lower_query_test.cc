#include "lang/lower_fixture.h"

namespace xlog::lang {
namespace {

std::string columns(const Lowered& low, size_t query) {
  std::string out;
  for (const Symbol column : low.program->queries.at(query).columns) {
    out += std::string(low.session.names.symbols.text(column)) + " ";
  }
  return out;
}

std::string query_rules(const Lowered& low) {
  std::string out;
  for (const Rule& rule : low.program->rules) {
    if (rule.origin == RuleOrigin::Query)
      out += to_source(rule, *low.program, low.session.names) + "\n";
  }
  return out;
}

TEST(Queries, BecomeRules) {
  Lowered low(
      "p(1, 2). ?- p(X, Y), not p(Y, X), X < 3. ?- p(1, 2). ?- p(_, B), N = count : { p(B, Z) }.");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(query_rules(low),
            "__xlog_query_0(X, Y) :- p(X, Y), not p(Y, X), X < 3.\n"
            "__xlog_query_1 :- p(1, 2).\n"
            "__xlog_query_2(B, N) :- p(_, B), N = count : { p(B, Z) }.\n");
  EXPECT_EQ(low.program->queries[0].text, "p(X, Y), not p(Y, X), X < 3");
  EXPECT_EQ(columns(low, 0), "X Y ");
  EXPECT_FALSE(low.program->queries[0].implicit);
  EXPECT_TRUE(low.program->predicates[low.program->queries[0].pred.index].helper);
}

TEST(Queries, TextIsAsWritten) {
  Lowered low("#const n = 3. func f(X) = X + 1.\np(3). ?- p(n), p(f(2)).");
  EXPECT_EQ(low.program->queries[0].text, "p(n), p(f(2))");
  EXPECT_EQ(query_rules(low), "__xlog_query_0 :- p(3), _1 = 2 + 1, p(_1).\n");
}

TEST(Queries, NeverTrue) {
  Lowered low("p(1). ?- p(X), var(X). ?- p(X), var(Y).");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(query_rules(low), "__xlog_query_1(X) :- p(X).\n");
  EXPECT_EQ(columns(low, 0), "X ");
}

TEST(Queries, ImplicitOverRules) {
  Lowered low(
      "e(1, 2). r(X, Y) :- e(X, Y). { c(X) } :- e(X, _). r(X, Z) :- r(X, Y), e(Y, Z). w. v :- w.");
  ASSERT_EQ(low.program->queries.size(), 3u);
  EXPECT_EQ(low.program->queries[0].text, "r(A, B)");
  EXPECT_EQ(low.program->queries[1].text, "c(A)");
  EXPECT_EQ(low.program->queries[2].text, "v");
  EXPECT_TRUE(low.program->queries[0].implicit);
  EXPECT_EQ(query_rules(low),
            "__xlog_query_0(A, B) :- r(A, B).\n__xlog_query_1(A) :- c(A).\n__xlog_query_2 :- v.\n");
}

TEST(Queries, ImplicitUsesDeclaredNames) {
  Lowered low(
      "pred r(src: u32, dst: u32). pred s(u32, x: u32).\nr(X, Y) :- s(X, Y). s(Y, X) :- r(X, Y).");
  EXPECT_EQ(low.program->queries[0].text, "r(Src, Dst)");
  EXPECT_EQ(columns(low, 0), "src dst ");
  EXPECT_EQ(columns(low, 1), "A B ");
}

TEST(Queries, ImplicitOverFactsWhenThereAreNoRules) {
  Lowered low("e(1, 2). -f(3). private pred h(u32). h(1).");
  ASSERT_EQ(low.program->queries.size(), 2u);
  EXPECT_EQ(low.program->queries[0].text, "e(A, B)");
  EXPECT_EQ(low.program->queries[1].text, "-f(A)");
}

TEST(Queries, NoImplicitWhenSomethingIsAsked) {
  EXPECT_TRUE(Lowered("p(1). r(X) :- p(X). query(r(1)).").program->queries.empty());
  LoadOptions explicit_only;
  explicit_only.implicit_queries = false;
  EXPECT_TRUE(Lowered("p(1). r(X) :- p(X).", explicit_only).program->queries.empty());
  EXPECT_EQ(Lowered("p(1). r(X) :- p(X). ?- p(X).").program->queries.size(), 1u);
}

TEST(Queries, ProbabilityQueriesAndEvidence) {
  Lowered low("0.5::p(3, [a]). query(p(1 + 2, [a])). evidence(-p(3, f(b)), false). -p(1, [a]).");
  EXPECT_EQ(low.codes(), "");
  ASSERT_EQ(low.program->prob_queries.size(), 1u);
  EXPECT_EQ(low.program->prob_queries[0].text, "p(1 + 2, [a])");
  EXPECT_EQ(low.program->prob_queries[0].args[0].value, Value::i64(3));
  EXPECT_EQ(low.program->prob_queries[0].args[1].kind, TermKind::List);
  ASSERT_EQ(low.program->evidence.size(), 1u);
  EXPECT_FALSE(low.program->evidence[0].value);
  EXPECT_EQ(Lowered("0.5::p(1). query(p(X)).").codes(), "E0208");
  EXPECT_EQ(Lowered("0.5::p(1). evidence(p(_), true).").codes(), "E0208");
  EXPECT_EQ(Lowered("0.5::p(1). query(q(1)).").codes(), "W0211");
  EXPECT_EQ(Lowered("func f(X) = Y :- g(X, Y).\ng(1, 1). 0.5::p(1). query(p(f(1))).").codes(),
            "E0210");
}

}  // namespace
}  // namespace xlog::lang
