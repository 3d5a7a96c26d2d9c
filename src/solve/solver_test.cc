#include "solve/solver.h"

#include <gtest/gtest.h>

namespace xlog::solve {
namespace {

TEST(Solver, AssumptionsHoldUntilTheyAreRetracted) {
  auto made = cadical_solver();
  ASSERT_TRUE(made.ok());
  Solver& solver = **made;
  solver.add({1, 2});
  solver.add({-1, 3});
  solver.assume(-2);
  ASSERT_EQ(solver.solve({}), Outcome::Sat);
  EXPECT_TRUE(solver.model().holds(1));
  EXPECT_TRUE(solver.model().holds(3));
  solver.assume(-3);
  ASSERT_EQ(solver.solve({}), Outcome::Unsat);
  EXPECT_EQ(solver.failed(), (std::vector<Literal>{-2, -3}));
  solver.retract(-2);
  ASSERT_EQ(solver.solve({}), Outcome::Sat);
  EXPECT_TRUE(solver.model().holds(2));
}

TEST(Solver, AnEmptyClauseFailsWithoutAssumptions) {
  auto made = cadical_solver();
  ASSERT_TRUE(made.ok());
  Solver& solver = **made;
  solver.assume(4);
  solver.add(std::span<const Literal>());
  ASSERT_EQ(solver.solve({}), Outcome::Unsat);
  EXPECT_TRUE(solver.failed().empty());
}

}  // namespace
}  // namespace xlog::solve
