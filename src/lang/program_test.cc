#include "lang/program.h"

#include "lang/lower_fixture.h"

namespace xlog::lang {
namespace {

TEST(Program, Tables) {
  EXPECT_EQ(builtin_info(BuiltinId::Member).spelling, "member");
  EXPECT_EQ(builtin_info(BuiltinId::Maplist3).arity, 3u);
  EXPECT_EQ(find_builtin("maplist", 2)->id, BuiltinId::Maplist2);
  EXPECT_EQ(find_builtin("maplist", 4), nullptr);
  EXPECT_TRUE(is_builtin_name("append"));
  EXPECT_FALSE(is_builtin_name("edge"));
  EXPECT_EQ(spelling(AggregateFn::LogSumExp), "logsumexp");
  EXPECT_EQ(find_aggregate("avg"), AggregateFn::Avg);
  EXPECT_FALSE(find_aggregate("median"));
  EXPECT_EQ(spelling(Modal::NotPossibleNot), "not possible not");
  EXPECT_EQ(spelling(ArithOp::Mod), "%");
}

TEST(Program, VariablesOfLiterals) {
  Lowered low("p(X) :- q(X, [Y | f(Z)]), N = sum V + W : { q(V, W) }, X + Y < Z. q(1, 2).");
  const Rule& rule = low.rule(0);
  const auto names = [&](size_t i) {
    std::vector<VarId> variables;
    collect_variables(rule.body[i], variables);
    std::string out;
    for (const VarId v : variables)
      out += low.session.names.symbols.text(rule.variables[v.index].name);
    return out;
  };
  EXPECT_EQ(names(0), "XYZ");
  EXPECT_EQ(names(1), "NVWVW");
  EXPECT_EQ(names(2), "XYZ");
  EXPECT_FALSE(is_ground(rule.body[0].args[1]));
}

// What is printed reads back as the same rule.
TEST(Program, TextReadsBack) {
  for (const char* text : {
           "p(X) :- q(X, _), not r(X), not not r(X), not know not r(X).",
           "p(X, sum(Y * 2)) :- q(X, Y).",
           "1 { a(X) : q(X, _) ; b } 3 :- r(1).",
           "a(X) ; b :- r(X).",
           "0.25::a(1) ; 0.5::b.",
           ":- r(X), X > 3.",
           "p(Z) :- q(X, Y), Z is (X - (Y - 1)) * -(X + 1) / 2 % 3.",
           "p(Z) :- q(X, Y), Z is if X + 1 < Y then X else if X = Y then 0 else abs(Y).",
           "p(Z) :- q(X, Y), Z is cast(X, f64) * (if X < Y then 1.0 else 2.0).",
           "p(N) :- N = avg X + 1 : { q(X, Y), X = 1..Y }.",
           "p(X) :- s([X, 1 | T]), T =.. [f | U], findall(V, q(V, \"A b\"), U), maplist(r, T), not "
           "member(X, T).",
           "p(f(X), [], []) :- r(X), X != g(X, -1, 1.5).",
           "-p(X) :- -q(X, 1).",
       }) {
    const std::string plain = "\npred q(u32, u32). pred r(u32). pred s(list<u32>). pred b().";
    Lowered low(text + plain);
    ASSERT_FALSE(low.session.diagnostics.has_errors()) << text;
    EXPECT_EQ(low.rules(), std::string(text) + "\n");
    Lowered again(low.rules() + plain);
    EXPECT_EQ(again.rules(), low.rules());
  }
}

TEST(Program, HelpersAreNumbered) {
  Lowered low("p(X + 1, _) :- q(X, X * 2). q(1, 2).");
  EXPECT_EQ(low.codes(), "E0206");
  Lowered other("p(X + 1) :- q(X, X * 2), q(_, X). q(1, 2).");
  EXPECT_EQ(other.rules(), "p(_2) :- _1 = X * 2, q(X, _1), q(_, X), _2 = X + 1.\n");
}

}  // namespace
}  // namespace xlog::lang
