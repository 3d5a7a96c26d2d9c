#include "solve/learned.h"

#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "solve/random_formula.h"

namespace xlog::solve {
namespace {

Cnf one_clause(Literal literal) {
  Cnf cnf;
  cnf.add({literal, literal - 1});
  return cnf;
}

TEST(LearnedClauses, OnlyForTheSameFormula) {
  const Cnf formula = pigeon_holes(7);
  Cnf learned;
  auto first =
      cadical_solver({.on_learned = [&](std::span<const Literal> clause) { learned.add(clause); }});
  ASSERT_TRUE(first.ok());
  (*first)->add(formula);
  ASSERT_EQ((*first)->solve({}), Outcome::Unsat);
  ASSERT_GT(learned.size(), 0U);

  LearnedClauses memory;
  memory.keep(fingerprint((*first)->clauses()), learned);
  auto second = cadical_solver();
  (*second)->add(formula);
  EXPECT_EQ(memory.reuse(**second), learned.size());
  EXPECT_EQ((*second)->clauses(), formula) << "implied clauses are no part of the formula";
  EXPECT_EQ((*second)->solve({}), Outcome::Unsat);
  EXPECT_LT((*second)->learned(), (*first)->learned());

  auto third = cadical_solver();
  (*third)->add(formula);
  (*third)->add({1, 2, 3});
  EXPECT_EQ(memory.reuse(**third), 0U);
}

TEST(LearnedClauses, ForgetsWhatCameFirst) {
  LearnedClauses memory(6);
  for (uint64_t i = 1; i <= 3; ++i) memory.keep({i, i}, one_clause(5));
  EXPECT_EQ(memory.formulas(), 3U);
  memory.keep({4, 4}, one_clause(5));
  EXPECT_EQ(memory.formulas(), 3U);
  EXPECT_EQ(memory.literals(), 6U);
  memory.keep({4, 4}, one_clause(7));
  EXPECT_EQ(memory.formulas(), 2U);
  memory.keep({5, 5}, pigeon_holes(4));
  EXPECT_EQ(memory.formulas(), 2U) << "too much alone";
}

// What one run learned, under assumptions too, given to the next: the answers stay.
TEST(LearnedClauses, ReuseChangesNoAnswer) {
  for (uint64_t seed = 0; seed < 1000 / kPartOfWork; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Cnf cnf = random_formula(random, 12, 40, 3);
    TruthTable table(12);
    table.require(cnf);
    LearnedClauses memory;
    for (int run = 0; run < 3; ++run) {
      Cnf learned;
      auto made = cadical_solver(
          {.on_learned = [&](std::span<const Literal> clause) { learned.add(clause); }});
      ASSERT_TRUE(made.ok());
      Solver& solver = **made;
      solver.add(cnf);
      memory.reuse(solver);
      for (int i = 0; i < 3; ++i) {
        const Literal literal = random_literal(random, 12);
        TruthTable assumed = table;
        assumed.require(std::span(&literal, 1));
        solver.retract_all();
        solver.assume(literal);
        ASSERT_EQ(solver.solve({}), assumed.satisfiable() ? Outcome::Sat : Outcome::Unsat);
      }
      memory.keep(fingerprint(cnf), learned);
    }
  }
}

}  // namespace
}  // namespace xlog::solve
