#include "solve/simplify.h"

#include <gtest/gtest.h>

#include <set>

#include "base/sanitized.h"
#include "solve/random_formula.h"
#include "solve/solver.h"

namespace xlog::solve {
namespace {

TEST(Simplify, UnitsPureLiteralsAndSubsumption) {
  Cnf cnf;
  cnf.need_variables(20);
  cnf.add({1});
  cnf.add({-1, 2, 2});    // 2
  cnf.add({-2, 7, 8});    // 7 or 8
  cnf.add({-7, -8});      // not both
  cnf.add({7, 8, 9});     // subsumed; and then 9 is in no clause
  cnf.add({10, -10, 3});  // always holds
  cnf.add({5, 6});        // 5 and 6 are pure
  const Simplified small = simplify(cnf);
  EXPECT_FALSE(small.unsat);
  EXPECT_EQ(small.formula.size(), 2U);
  EXPECT_EQ(small.formula.variables(), 2);
  EXPECT_EQ(small.original, (std::vector<int32_t>{7, 8}));
  Model model(2);
  model.set(1);
  const Model back = small.extend(model);
  EXPECT_EQ(back.variables(), 20);
  EXPECT_TRUE(back.satisfies(cnf));
  EXPECT_TRUE(back.holds(7));
}

TEST(Simplify, FindsThatUnitsContradict) {
  Cnf cnf;
  cnf.add({1, 2});
  cnf.add({-1});
  cnf.add({-2});
  EXPECT_TRUE(simplify(cnf).unsat);
  EXPECT_EQ(simplify(cnf).formula.size(), 1U);
  Cnf empty;
  empty.add(std::span<const Literal>());
  EXPECT_TRUE(simplify(empty).unsat);
}

TEST(Simplify, FewOfManyVariables) {
  Cnf cnf;
  cnf.add({2'000'000'000, -1'000'000'000});
  cnf.add({-2'000'000'000, 1'000'000'000});
  const Simplified small = simplify(cnf);
  EXPECT_EQ(small.formula.variables(), 2);
  EXPECT_EQ(small.original, (std::vector<int32_t>{1'000'000'000, 2'000'000'000}));
}

TEST(Simplify, TheAnswerStaysAndModelsComeBack) {
  for (uint64_t seed = 0; seed < 20'000 / kPartOfWork; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto variables = static_cast<int32_t>(1 + below(random, 12));
    const Cnf cnf = random_formula(random, variables, below(random, 50), 1 + below(random, 5));
    TruthTable table(variables);
    table.require(cnf);
    // Now and then there is not enough time for subsumption.
    const Simplified small = simplify(cnf, {.subsumption_steps = below(random, 2) * random()});
    if (small.unsat) {
      ASSERT_FALSE(table.satisfiable());
      continue;
    }
    auto solver = cadical_solver({.quick = true});
    ASSERT_TRUE(solver.ok());
    (*solver)->add(small.formula);
    const bool sat = (*solver)->solve({}) == Outcome::Sat;
    ASSERT_EQ(sat, table.satisfiable());
    if (sat) {
      ASSERT_TRUE(small.extend((*solver)->model()).satisfies(cnf));
    }
  }
}

TEST(Simplify, NothingIsLeftToDo) {
  for (uint64_t seed = 0; seed < 2000 / kPartOfWork; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Simplified small = simplify(random_formula(random, 12, 30, 4));
    if (small.unsat) continue;
    std::set<Literal> there;
    std::vector<std::set<Literal>> clauses;
    for (size_t i = 0; i < small.formula.size(); ++i) {
      clauses.emplace_back(small.formula[i].begin(), small.formula[i].end());
      ASSERT_GT(clauses.back().size(), 1U);
      ASSERT_EQ(clauses.back().size(), small.formula[i].size());
      there.insert(clauses.back().begin(), clauses.back().end());
    }
    for (const Literal literal : there) ASSERT_TRUE(there.contains(-literal)) << "pure";
    for (size_t a = 0; a < clauses.size(); ++a) {
      for (size_t b = 0; b < clauses.size(); ++b) {
        ASSERT_FALSE(a != b && std::ranges::includes(clauses[a], clauses[b])) << "subsumed";
      }
    }
  }
}

}  // namespace
}  // namespace xlog::solve
