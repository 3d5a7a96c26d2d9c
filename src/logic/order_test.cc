#include "logic/order.h"

#include <gmock/gmock.h>

#include <chrono>
#include <set>

#include "logic/test_program.h"

namespace xlog::logic {
namespace {

using ::testing::HasSubstr;

std::string body_text(const TestProgram& test, const lang::Rule& rule,
                      const std::vector<lang::Literal>& body, const BodyOrder& order) {
  std::string text;
  for (const uint32_t index : order.sequence) {
    if (!text.empty()) text += " | ";
    text += to_source(body[index], rule, *test.program, test.session.names);
  }
  return text;
}

// The order of the last rule that is not a query.
std::string order_of(std::string_view text) {
  const TestProgram test(text);
  if (!test.analysis) return test.rendered();
  for (size_t i = test.program->rules.size(); i-- > 0;) {
    const lang::Rule& rule = test.program->rules[i];
    if (rule.origin != lang::RuleOrigin::Source) continue;
    return body_text(test, rule, rule.body, test.analysis->orders[i].body);
  }
  return "";
}

const std::string kFacts =
    "a(1). b(1, 2). c(1, 2, 3). f(7). l([1, 2]). pred k(u32). pred t(u32, list<u32>).\n";

TEST(Order, TakesTheBestReadyLiteral) {
  const std::pair<std::string, std::string> cases[] = {
      {"h(X) :- a(X), b(X, Y), f(Y).", "a(X) | b(X, Y) | f(Y)"},
      {"h(X) :- X > 3, not f(X), a(X).", "a(X) | X > 3 | not f(X)"},
      {"h(X) :- a(X), f(Z), b(X, Y), Y < 5, Z < Y.", "a(X) | b(X, Y) | Y < 5 | f(Z) | Z < Y"},
      {"h(Z) :- a(X), Z = X + 1, b(Z, _).", "a(X) | Z = X + 1 | b(Z, _)"},
      {"h(Z) :- Z = X + 1, a(X).", "a(X) | Z = X + 1"},
      {"h(Z) :- X + 1 = Z, a(X).", "a(X) | X + 1 = Z"},
      {"h(Z) :- Z is Y * 2, Y is X + 1, a(X).", "a(X) | Y is X + 1 | Z is Y * 2"},
      {"h(X) :- a(Y), b(X, 2), c(X, Y, _).", "b(X, 2) | c(X, Y, _) | a(Y)"},
      {"h(X) :- not b(X, _), a(X).", "a(X) | not b(X, _)"},
      {"h(X) :- not not a(X), f(X).", "f(X) | not not a(X)"},
      {"h(X) :- know a(X), not possible f(X).", "know a(X) | not possible f(X)"},
      {"h(X) :- not know f(X), b(X, _).", "b(X, _) | not know f(X)"},
      {"h(X) :- member(X, L), l(L).", "l(L) | member(X, L)"},
      {"h(X) :- length(L, X), append(L, _, M), l(M).", "l(M) | append(L, _, M) | length(L, X)"},
      {"h(H) :- L = [H | _], l(L).", "l(L) | L = [H | _]"},
      {"h(X) :- t(X, [X, Y | R]), length(R, Y).", "t(X, [X, Y | R]) | length(R, Y)"},
      {"h(X, N) :- N = count : { b(X, Y) }, a(X).", "a(X) | N = count : { b(X, Y) }"},
      {"h(N) :- N = sum Y : { b(X, Y) }.", "N = sum Y : { b(X, Y) }"},
      {"h(X, L) :- findall(Y, b(X, Y), L), a(X).", "a(X) | findall(Y, b(X, Y), L)"},
      {"h(X) :- a(X), maplist(k, L), l(L).", "a(X) | l(L) | maplist(k, L)"},
      {"h(X) :- X = 1..3, not a(X).", "X = 1..3 | not a(X)"},
      {"h :- not a(_).", "not a(_)"},
  };
  for (const auto& [rule, expected] : cases) {
    SCOPED_TRACE(rule);
    EXPECT_EQ(order_of(kFacts + rule), expected);
  }
}

TEST(Order, AVariableOfTwoBracesIsLocalToEach) {
  EXPECT_EQ(order_of(kFacts + "h(N, M) :- N = count : { a(X) }, M = count : { f(X) }."),
            "N = count : { a(X) } | M = count : { f(X) }");
}

TEST(Order, InnerBodiesHaveTheirOwnOrder) {
  const TestProgram test(kFacts + "h(X, N) :- a(X), N = count : { Y > X, not f(Y), b(X, Y) }.");
  ASSERT_TRUE(test.analysis) << test.rendered();
  const lang::Rule& rule = test.program->rules.back();
  const RuleOrder& order = test.analysis->orders.back();
  ASSERT_EQ(order.body.nested.size(), 2u);
  EXPECT_EQ(body_text(test, rule, rule.body[1].body, order.body.nested[1]),
            "b(X, Y) | Y > X | not f(Y)");
}

TEST(Order, ConditionsOfAChoiceSeeTheBody) {
  const TestProgram test(kFacts + "1 { p(X, Y) : Y > X, b(X, Y) ; q(X) } X :- a(X).");
  ASSERT_TRUE(test.analysis) << test.rendered();
  const lang::Rule& rule = test.program->rules.back();
  const RuleOrder& order = test.analysis->orders.back();
  ASSERT_EQ(order.conditions.size(), 2u);
  EXPECT_EQ(body_text(test, rule, rule.head[0].condition, order.conditions[0]), "b(X, Y) | Y > X");
}

TEST(Safety, ReportsWhatNothingBinds) {
  const std::pair<std::string, std::string> cases[] = {
      {"h(X) :- a(Y), Y > 0.", "E0601"},
      {"h(X, Y) :- f(Z), Z > 0.", "E0601 E0601"},
      {"h(X) :- a(X), not b(X, Y).", "E0601"},
      {"h(X) :- a(X), not not b(X, Y).", "E0601"},
      {"h(X) :- a(X), not know b(X, Y).", "E0601"},
      {"h(X) :- a(X), X < Y.", "E0601"},
      {"h(Z) :- a(X), Z = X + Y.", "E0601"},
      {"h(X) :- X = Y.", "E0601"},
      {"h(X) :- X = Y + 1, Y = X - 1.", "E0601 E0601"},
      {":- not a(X).", "E0601"},
      {"?- not a(X).", "E0601"},
      {"?- a(X), not b(X, _).", ""},
      {"h(N) :- length(L, N).", "E0605"},
      {"h(N) :- not length(L, N), l(L).", "E0605"},
      {"h(N) :- N = sum Z : { a(X) }.", "E0601"},
      {"h(X, N) :- N = count : { a(X) }.", "E0601"},
      {"h(N) :- N = count : { a(X), X < Y }.", "E0601"},
      {"h(N) :- N = count : { a(X), not f(Y) }.", "E0601"},
      {"h(L) :- findall(Y, a(X), L).", "E0601"},
      {"h(X, sum(Y)) :- a(X).", "E0601"},
      {"{ p(X) : f(Y) } :- a(Z), Z > 0.", "E0601"},
      {"{ p(X) : f(X) } Y :- a(Z), Z > 0.", "E0601"},
      {"h(_) :- a(1).", "E0206"},
      {"h(X) :- know g(X). g(X) :- h(X).", ""},
      {"h(X) :- possible g(X). g(X) :- h(X).", ""},
      {"h(X) :- not not know g(X). g(X) :- h(X).", "E0601"},
      {"#pragma epistemic_mode = faeel19\nh(X) :- know g(X). g(X) :- h(X).", ""},
      {"#pragma epistemic_mode = faeel19\nh(X) :- possible g(X). g(X) :- h(X).", "E0601"},
      {"#pragma epistemic_mode = g91\nh(X) :- know g(X). g(X) :- h(X).", "E0601"},
      {"#pragma semantics = well_founded\nh(X) :- know g(X). g(X) :- h(X).", ""},
      {"h(X) :- a(X), know g(X). g(X) :- h(X).", ""},
      {"h(X) :- know g(X). g(X) :- a(X).", ""},
      {":- know a(X), X > 4.", ""},
  };
  for (const auto& [rule, expected] : cases) {
    SCOPED_TRACE(rule);
    const TestProgram test(kFacts + rule);
    EXPECT_EQ(test.errors(), expected) << test.rendered();
  }
}

TEST(Safety, NamesTheVariableThePlaceAndTheRemedy) {
  const std::string negated = TestProgram("a(1). b(1, 2).\nh(X) :- a(X), not b(X, Y).").rendered();
  EXPECT_THAT(negated, HasSubstr("nothing binds `Y`"));
  EXPECT_THAT(negated, HasSubstr("2:24"));
  EXPECT_THAT(negated, HasSubstr("write `_` if any value is meant"));

  const std::string modal =
      TestProgram("#pragma epistemic_mode = g91\npred g(u32). h(X) :- know g(X). g(X) :- h(X).")
          .rendered();
  EXPECT_THAT(modal, HasSubstr("only if `g` did not depend on the head"));

  const std::string group = TestProgram("a(1). h(X, N) :- N = count : { a(X) }.").rendered();
  EXPECT_THAT(group, HasSubstr("groups"));

  const std::string builtin = TestProgram("h(N) :- append(L, [1], M), length(M, N).").rendered();
  EXPECT_THAT(builtin, HasSubstr("`append` needs `L`"));
  EXPECT_THAT(builtin, HasSubstr("append(+, +, ?) or append(?, ?, +)"));
}

TEST(Safety, TheTargetOfIsMustBeFresh) {
  const std::pair<std::string, std::string> cases[] = {
      {"h(X) :- a(X), X is 1 + 1.", "E0512"},
      {"h(X) :- X is 1 + 1, a(X).", ""},
      {"h(X) :- a(Y), X is Y + 1, X is Y + 2.", "E0512"},
      {"h(X, N) :- a(X), N = count : { f(Y), X is Y + 1 }.", "E0512"},
      {"h(X) :- a(Y), X is Y + 1, X = Z, f(Z).", ""},
      {"h(X) :- a(Y), X is Y + 1, not f(X).", ""},
      {"h(X) :- l(L), N is 0 + 1, nth(N, L, X).", ""},
      {"h(X) :- a(X), X = 1 + 0.", ""},
  };
  for (const auto& [rule, expected] : cases) {
    SCOPED_TRACE(rule);
    const TestProgram test(kFacts + rule);
    EXPECT_EQ(test.errors(), expected) << test.rendered();
  }
}

// ---- Scale ----

lang::Term variable(uint32_t index) {
  lang::Term term;
  term.kind = lang::TermKind::Variable;
  term.var = lang::VarId{index};
  return term;
}

// A body of `length` atoms p(X_i, X_i+1) written backwards behind an anchor, and as many filters
// before them.
TEST(Order, LongBodiesTakeLittleTime) {
  constexpr uint32_t kLength = 50'000;
  lang::Program program;
  program.predicates.resize(2);
  lang::Rule rule;
  rule.variables.resize(kLength + 1);
  for (uint32_t i = 0; i < kLength; ++i) {
    lang::Literal filter;
    filter.kind = lang::LiteralKind::Compare;
    filter.op = lang::CompareOp::Lt;
    filter.lhs = variable(i);
    filter.rhs = variable(i + 1);
    rule.body.push_back(std::move(filter));
  }
  for (uint32_t i = kLength; i-- > 0;) {
    lang::Literal atom;
    atom.pred = PredId{1};
    atom.args = {variable(i), variable(i + 1)};
    rule.body.push_back(std::move(atom));
  }
  lang::HeadElement head;
  head.pred = PredId{0};
  head.args = {variable(0)};
  rule.head.push_back(std::move(head));
  program.rules.push_back(std::move(rule));

  lang::Session session;
  const auto start = std::chrono::steady_clock::now();
  const RuleOrder order = order_rule(program, 0, {1, 0}, session);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_FALSE(session.diagnostics.has_errors());
  EXPECT_EQ(std::set<uint32_t>(order.body.sequence.begin(), order.body.sequence.end()).size(),
            2 * kLength);
  // Each filter follows at once what binds its second variable.
  EXPECT_EQ(order.body.sequence[0], kLength);
  EXPECT_EQ(order.body.sequence[1], kLength - 1);
  EXPECT_LT(seconds.count(), 20);  // far from quadratic, also under sanitizers
}

}  // namespace
}  // namespace xlog::logic
