#include "solve/stable_formula.h"

#include <gmpxx.h>
#include <gtest/gtest.h>

#include "solve/compile.h"
#include "solve/model_count.h"
#include "solve/stable_models.h"
#include "solve/stable_testing.h"

namespace xlog::solve {
namespace {

// Which edges of the complete graph there are, so that all nodes are reached from the first.
GroundProgram connected_graphs(Atom nodes) {
  GroundProgram program;
  program.need_atoms(nodes);
  program.add_rule(HeadKind::Disjunction, {1}, {});
  for (Atom a = 1; a <= nodes; ++a) {
    for (Atom b = 1; b < a; ++b) {
      const Atom edge = program.new_atom();
      program.add_rule(HeadKind::Choice, {edge}, {});
      program.add_rule(HeadKind::Disjunction, {a}, {b, edge});
      program.add_rule(HeadKind::Disjunction, {b}, {a, edge});
    }
    program.add_rule(HeadKind::Disjunction, {}, {-a});
  }
  return program;
}

TEST(StableFormula, CountsConnectedGraphs) {
  const uint64_t known[] = {1, 1, 4, 38, 728, 26704};  // with labelled nodes, OEIS A001187
  for (Atom nodes = 1; nodes <= 6; ++nodes) {
    const std::optional<StableFormula> plain = stable_formula(connected_graphs(nodes));
    ASSERT_TRUE(plain.has_value());
    EXPECT_EQ(count_models(plain->formula, {}).models, known[nodes - 1]) << nodes;
  }
}

// Larger than what the definition can list: every model once, and how many have each atom.
TEST(StableFormula, CountsWhatTheSearchEnumerates) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    std::mt19937 random(seed);
    RandomProgramShape shape;
    shape.atoms = static_cast<int32_t>(10 + random() % 20);
    shape.rules = shape.atoms + static_cast<int32_t>(random() % 30);
    shape.disjunctions = false;
    shape.constraints = random() % 2 == 0;
    const GroundProgram program = random_program(random, shape);
    StableModels solver;
    ASSERT_TRUE(solver.add(program).ok());
    std::vector<uint64_t> with(static_cast<size_t>(program.atoms()) + 1, 0);
    const Enumeration listed = solver.enumerate({}, [&](const StableModels& model) {
      for (Atom a = 1; a <= program.atoms(); ++a) with[static_cast<size_t>(a)] += model.holds(a);
      return ++with[0] < 2000;
    });
    if (listed.outcome != Outcome::Unsat) continue;
    const std::optional<StableFormula> plain = stable_formula(program);
    ASSERT_TRUE(plain.has_value());
    const CountFormula& formula = plain->formula;
    ASSERT_EQ(count_models(formula, {}).models, listed.models) << "seed " << seed;
    const std::vector<bool> kept(static_cast<size_t>(formula.variables()) + 1, true);
    const Compiled compiled = compile(formula, kept, {});
    const std::vector<mpz_class> ones(2 * kept.size(), 1);
    const std::vector<mpz_class> sums = compiled.circuit.by_literal<mpz_class>(ones);
    for (Atom a = 1; a <= program.atoms(); ++a) {
      const Literal l = plain->literals[static_cast<size_t>(a)];
      ASSERT_EQ(sums[slot(l)], with[static_cast<size_t>(a)]) << "seed " << seed << ", atom " << a;
    }
  }
}

TEST(StableFormula, NoneWhereHeadsAreOnACycle) {
  GroundProgram program;
  program.add_rule(HeadKind::Disjunction, {1, 2}, {});
  program.add_rule(HeadKind::Disjunction, {1}, {2});
  EXPECT_TRUE(stable_formula(program).has_value());
  program.add_rule(HeadKind::Disjunction, {2}, {1});
  EXPECT_FALSE(stable_formula(program).has_value());
}

}  // namespace
}  // namespace xlog::solve
