#include "logic/one_per_group.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "logic/test_program.h"

namespace xlog::logic {
namespace {

// What a constraint is taken as: "value of group: body", or "pairs".
std::string read(const std::string& body) {
  TestProgram test(
      "d(1..3). f(1.5). { p(X) : d(X) }. { q(X, Y) : d(X), d(Y) }. { w(X) : f(X) }.\n:- " + body +
      ".");
  if (!test.analysis) return test.rendered();
  const uint32_t rule = test.analysis->constraints.front();
  const auto found = one_per_group(*test.program, rule, test.analysis->component_of);
  if (!found) return "pairs";
  const auto& variables = test.program->rules[rule].variables;
  const auto name = [&](lang::VarId v) {
    return std::string(test.session.names.symbols.text(variables[v.index].name));
  };
  std::string text = name(found->value) + " of";
  for (const lang::VarId v : found->group) text += " " + name(v);
  EXPECT_EQ(found->order.sequence.size(), found->body.size());
  return fmt::format("{}: {} literals", text, found->body.size());
}

TEST(OnePerGroup, IsFoundWhereBothHalvesSayTheSame) {
  EXPECT_EQ(read("p(X), p(Y), X != Y"), "X of: 1 literals");
  EXPECT_EQ(read("q(X, T), q(Y, T), X < Y"), "X of T: 1 literals");
  EXPECT_EQ(read("q(T, X), q(T, Y), X > Y, not p(T)"), "X of T: 2 literals");
  EXPECT_EQ(read("q(X, T), p(X), p(Y), q(Y, T), X < Y"), "X of T: 2 literals");
  EXPECT_EQ(read("d(X), d(Y), know p(X), know p(Y), X < Y"), "X of: 2 literals");
  EXPECT_EQ(read("d(X), d(Y), not p(X), not p(Y), X < Y, X > 1, Y > 1"), "X of: 3 literals");
  // What goes with X goes with Y too, one way or another.
  EXPECT_EQ(read("q(X, S), q(Y, T), X < Y"), "X of: 1 literals");
  EXPECT_EQ(read("q(X, S), p(S), q(Y, T), p(T), X < Y"), "X of: 2 literals");
  EXPECT_EQ(read("w(X), w(Y), X < Y"), "X of: 1 literals");
}

TEST(OnePerGroup, IsNotFoundElsewhere) {
  EXPECT_EQ(read("p(X), d(Y), X != Y"), "pairs");
  EXPECT_EQ(read("p(X), know p(Y), X != Y"), "pairs");
  EXPECT_EQ(read("q(X, T), q(Y, T), X <= Y"), "pairs");
  EXPECT_EQ(read("q(X, T), q(T, Y), X != Y"), "pairs");
  EXPECT_EQ(read("q(X, T), q(Y, 1), X != Y"), "pairs");
  EXPECT_EQ(read("q(X, T), q(Y, T), p(X), X != Y"), "pairs");
  EXPECT_EQ(read("p(X), p(Y), X != Y, q(X, Y)"), "pairs");
  EXPECT_EQ(read("q(X, S), q(Y, T), X != Y, S != T"), "pairs");
  EXPECT_EQ(read("p(X), p(Y), X + 1 < Y"), "pairs");
  // A float that is no number differs from itself.
  EXPECT_EQ(read("w(X), w(Y), X != Y"), "pairs");
}

}  // namespace
}  // namespace xlog::logic
