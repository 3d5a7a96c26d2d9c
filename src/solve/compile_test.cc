#include "solve/compile.h"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include "solve/model_count.h"
#include "solve/random_formula.h"

namespace xlog::solve {
namespace {

std::vector<mpz_class> ones(int32_t variables) {
  return std::vector<mpz_class>(2 * (static_cast<size_t>(variables) + 1), 1);
}

std::vector<bool> everything(const CountFormula& formula) {
  return std::vector<bool>(static_cast<size_t>(formula.variables()) + 1, true);
}

TEST(Compile, CircuitsCountEveryLiteral) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const auto variables = static_cast<int32_t>(1 + below(random, 10));
    CountFormula formula;
    formula.clauses = random_formula(random, variables, below(random, 25), 2 + below(random, 3));
    const std::vector<WeightedLiteral> terms = {{1, 2}, {-variables, 1}, {variables / 2 + 1, 1}};
    if (below(random, 2) == 0) formula.add_sum(random_literal(random, variables), 2, terms);
    const Compiled compiled = compile(formula, everything(formula), {});
    const std::vector<mpz_class> weights = ones(formula.variables());
    const mpz_class models = count_models(formula, {}).models;
    ASSERT_EQ(compiled.circuit.value<mpz_class>(weights), models) << "seed " << seed;
    ASSERT_EQ(compiled.outcome, models == 0 ? Outcome::Unsat : Outcome::Sat);
    if (models == 0) continue;
    const std::vector<mpz_class> with = compiled.circuit.by_literal<mpz_class>(weights);
    for (int32_t v = 1; v <= formula.variables(); ++v) {
      for (const Literal l : {v, -v}) {
        CountFormula fixed = formula;
        fixed.clauses.add({l});
        ASSERT_EQ(with[slot(l)], count_models(fixed, {}).models) << "seed " << seed << " " << l;
      }
    }
  }
}

// a and b with probability 0.5 and 0.25, given that one of them holds.
TEST(Compile, WeightsAreProbabilities) {
  CountFormula formula;
  formula.clauses.add({1, 2});
  const Compiled compiled = compile(formula, everything(formula), {});
  std::vector<double> weights(6, 0);
  weights[slot(1)] = weights[slot(-1)] = 0.5;
  weights[slot(2)] = 0.25;
  weights[slot(-2)] = 0.75;
  EXPECT_DOUBLE_EQ(compiled.circuit.value<double>(weights), 0.625);
  EXPECT_DOUBLE_EQ(compiled.circuit.by_literal<double>(weights)[slot(2)], 0.25);
  weights[slot(1)] = 0;
  EXPECT_DOUBLE_EQ(compiled.circuit.value<double>(weights), 0.125);
  EXPECT_DOUBLE_EQ(compiled.circuit.by_literal<double>(weights)[slot(1)], 0);
}

TEST(Compile, CircuitsStaySmallWhereTheFormulaIsNarrow) {
  CountFormula chain;
  constexpr int32_t kLength = 500;
  for (int32_t v = 1; v + 2 <= kLength; ++v) chain.clauses.add({-v, v + 1, -(v + 2)});
  const Compiled compiled = compile(chain, everything(chain), {});
  EXPECT_LT(compiled.circuit.edges(), 50'000u);
  const std::vector<mpz_class> weights = ones(kLength);
  EXPECT_EQ(compiled.circuit.value<mpz_class>(weights), count_models(chain, {}).models);
}

// One of many pairs holds. The circuit need not say which.
TEST(Compile, WhatIsNotKeptIsLeftOut) {
  constexpr int32_t kVariables = 20;
  CountFormula formula;
  formula.clauses.need_variables(kVariables);
  std::vector<bool> kept(kVariables + 1, true);
  std::vector<Literal> any;
  for (int32_t a = 1; a <= kVariables; ++a) {
    for (int32_t b = 1; b < a; ++b) {
      any.push_back(formula.new_variable());
      formula.clauses.add({-any.back(), a});
      formula.clauses.add({-any.back(), b});
      formula.clauses.add({any.back(), -a, -b});
    }
  }
  formula.clauses.add(any);
  const Compiled compiled = compile(formula, kept, {});
  const std::vector<mpz_class> weights = ones(formula.variables());
  const mpz_class all = mpz_class(1) << kVariables;
  EXPECT_EQ(compiled.circuit.value<mpz_class>(weights), all - kVariables - 1);
  EXPECT_EQ(compiled.circuit.by_literal<mpz_class>(weights)[slot(7)], all / 2 - 1);
  EXPECT_LT(compiled.circuit.edges(), 20'000u);
}

TEST(Compile, LimitsLeaveNoCircuit) {
  const Interrupt now = true;
  Limits limits;
  limits.interrupt = &now;
  CountFormula formula;
  formula.clauses.add({1, 2});
  EXPECT_EQ(compile(formula, {}, limits).outcome, Outcome::Unknown);
}

}  // namespace
}  // namespace xlog::solve
