#include "solve/backbone.h"

#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "solve/random_formula.h"
#include "solve/stable_models.h"

namespace xlog::solve {
namespace {

TEST(Backbone, IsWhatTheFormulaImplies) {
  Random random(5);
  for (int round = 0; round < 300 / int{kPartOfWork}; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 5, round " << round);
    const auto variables = static_cast<int32_t>(1 + below(random, 12));
    const Cnf cnf = random_formula(random, variables, below(random, 40), 3);
    TruthTable table(variables);
    table.require(cnf);
    Result<std::unique_ptr<Solver>> solver = cadical_solver();
    ASSERT_TRUE(solver.ok());
    (*solver)->add(cnf);
    if (round % 2 == 0) {
      const Literal assumed = random_literal(random, variables);
      (*solver)->assume(assumed);
      table.require(std::span(&assumed, 1));
    }
    std::vector<Literal> expected;
    for (Literal v = 1; v <= variables; ++v) {
      for (const Literal literal : {v, -v}) {
        if (table.implies(std::span(&literal, 1))) expected.push_back(literal);
      }
    }
    const Backbone found = backbone(**solver, {});
    ASSERT_EQ(found.outcome, table.satisfiable() ? Outcome::Sat : Outcome::Unsat);
    if (!table.satisfiable()) expected.clear();
    EXPECT_EQ(found.literals, expected);
  }
}

TEST(Backbone, LimitsEndIt) {
  Result<std::unique_ptr<Solver>> solver = cadical_solver();
  ASSERT_TRUE(solver.ok());
  (*solver)->add({1, 2});
  const Interrupt stop = true;
  const Backbone found = backbone(**solver, {.interrupt = &stop});
  EXPECT_TRUE(found.outcome == Outcome::Unknown || found.outcome == Outcome::Sat);
}

// The same formulas as programs: their stable models are the formula's models.
TEST(ProgramOfFormula, HasItsModels) {
  Random random(9);
  for (int round = 0; round < 200 / int{kPartOfWork}; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 9, round " << round);
    const auto variables = static_cast<int32_t>(1 + below(random, 8));
    const Cnf cnf = random_formula(random, variables, below(random, 20), 3);
    StableModels solver;
    ASSERT_TRUE(solver.add(program_of(cnf)).ok());
    uint64_t models = 0;
    for (uint32_t bits = 0; bits < uint32_t{1} << variables; ++bits) {
      Model model(variables);
      for (Literal v = 1; v <= variables; ++v) {
        if (((bits >> (v - 1)) & 1) != 0) model.set(v);
      }
      models += model.satisfies(cnf) ? 1 : 0;
    }
    EXPECT_EQ(solver.count({}).models, mpz_class(models));
    const Enumeration all = solver.enumerate({}, [&](const StableModels& at) {
      EXPECT_TRUE(at.model().satisfies(cnf));
      return true;
    });
    EXPECT_EQ(all.models, models);
  }
}

}  // namespace
}  // namespace xlog::solve
