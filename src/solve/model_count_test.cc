#include "solve/model_count.h"

#include <gtest/gtest.h>

#include "solve/random_formula.h"

namespace xlog::solve {
namespace {

bool satisfies(const CountFormula& formula, const Model& model) {
  for (const CountSum& sum : formula.sums) {
    int64_t weight = 0;
    for (const WeightedLiteral& t : sum.terms) weight += model.holds(t.literal) ? t.weight : 0;
    for (const CountSum::Threshold& t : sum.thresholds) {
      if (model.holds(t.holds) != (weight >= t.bound)) return false;
    }
  }
  return model.satisfies(formula.clauses);
}

uint64_t count_by_trying(const CountFormula& formula) {
  uint64_t count = 0;
  const int32_t n = formula.variables();
  for (uint32_t bits = 0; bits < uint32_t{1} << n; ++bits) {
    Model model(n);
    for (int32_t v = 1; v <= n; ++v) model.set((bits >> (v - 1)) & 1 ? v : -v);
    count += satisfies(formula, model);
  }
  return count;
}

TEST(ModelCount, OfRandomFormulas) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const auto variables = static_cast<int32_t>(1 + below(random, 12));
    CountFormula formula;
    formula.clauses = random_formula(random, variables, below(random, 30), 2 + below(random, 4));
    for (uint32_t sums = below(random, 3); sums > 0; --sums) {
      std::vector<WeightedLiteral> terms;
      for (uint32_t i = 2 + below(random, 5); i > 0; --i) {
        terms.push_back({random_literal(random, variables), 1 + below(random, 4)});
      }
      for (uint32_t i = 1 + below(random, 3); i > 0; --i) {
        formula.add_sum(random_literal(random, variables), below(random, 12), terms);
      }
    }
    if (formula.variables() > 14) continue;
    const ModelCount count = count_models(formula, {});
    ASSERT_EQ(count.models, count_by_trying(formula)) << "seed " << seed;
    EXPECT_EQ(count.outcome, count.models == 0 ? Outcome::Unsat : Outcome::Sat);
  }
}

// A cache of a few entries is emptied all the time, and the count stays the same.
TEST(ModelCount, WithLittleMemory) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    CountFormula formula;
    formula.clauses = random_3sat(random, 30, 60);
    EXPECT_EQ(count_models(formula, {}, {.cache_bytes = 2000}).models,
              count_models(formula, {}).models);
  }
}

// Any of n pairs of n variables: what the pairs define falls away once one of them holds.
TEST(ModelCount, ForgetsDefinitionsThatNobodyAsksFor) {
  constexpr int32_t kVariables = 80;
  CountFormula formula;
  formula.clauses.need_variables(kVariables);
  std::vector<Literal> any;
  for (int32_t a = 1; a <= kVariables; ++a) {
    for (int32_t b = 1; b < a; ++b) {
      const Literal both = formula.new_variable();
      formula.clauses.add({-both, a});
      formula.clauses.add({-both, b});
      formula.clauses.add({both, -a, -b});
      any.push_back(both);
    }
  }
  formula.clauses.add(any);
  EXPECT_EQ(count_models(formula, {}).models, (mpz_class(1) << kVariables) - kVariables - 1);
}

// How many of 200 variables hold, as 201 comparisons.
TEST(ModelCount, SumsAreNumbers) {
  constexpr int32_t kTerms = 200;
  CountFormula formula;
  std::vector<WeightedLiteral> terms;
  for (int32_t v = 1; v <= kTerms; ++v) terms.push_back({formula.new_variable(), 1});
  std::vector<Literal> at_least;
  for (int64_t k = 1; k <= kTerms; ++k) {
    at_least.push_back(formula.new_variable());
    formula.add_sum(at_least.back(), k, terms);
  }
  EXPECT_EQ(count_models(formula, {}).models, mpz_class(1) << kTerms);
  // Exactly half of them.
  formula.clauses.add({at_least[kTerms / 2 - 1]});
  formula.clauses.add({-at_least[kTerms / 2]});
  mpz_class half;
  mpz_bin_uiui(half.get_mpz_t(), kTerms, kTerms / 2);
  EXPECT_EQ(count_models(formula, {}).models, half);
}

// p and q need x or y, or each other.
TEST(ModelCount, DerivedVariablesNeedAReason) {
  CountFormula formula;
  const Literal x = formula.new_variable(), y = formula.new_variable();
  const Literal p = formula.new_variable(), q = formula.new_variable();
  const Literal a = formula.new_derived_variable(p), b = formula.new_derived_variable(q);
  formula.clauses.add({-a, b, -q});
  formula.clauses.add({-b, a, -p});
  formula.clauses.add({-x, a, -p});
  formula.clauses.add({-y, b, -q});
  // Without p and q 4, with one of them 2 each, with both 3.
  EXPECT_EQ(count_models(formula, {}).models, 11);
}

TEST(ModelCount, KeepsToLimits) {
  Random random(1);
  CountFormula formula;
  formula.clauses = random_3sat(random, 300, 600);
  Limits limits;
  limits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  EXPECT_EQ(count_models(formula, limits).outcome, Outcome::Timeout);
  const Interrupt now = true;
  EXPECT_EQ(count_models(formula, {.interrupt = &now}).outcome, Outcome::Unknown);
}

}  // namespace
}  // namespace xlog::solve
