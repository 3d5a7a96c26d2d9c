#include "solve/renumber.h"

#include <gtest/gtest.h>

namespace xlog::solve {
namespace {

TEST(Renumbering, UsedVariablesMoveTogether) {
  Cnf cnf;
  cnf.add({-2'000'000'000, 5});
  cnf.add({});
  const Literal also[] = {-70};
  const Renumbering numbers({&cnf}, also);
  EXPECT_EQ(numbers.used(), (std::vector<int32_t>{5, 70, 2'000'000'000}));
  Cnf expected;
  expected.need_variables(3);
  expected.add({-3, 1});
  expected.add({});
  EXPECT_EQ(numbers.renamed(cnf), expected);
  EXPECT_EQ(numbers.renamed(-70), -2);
  EXPECT_EQ(numbers.original(-3), -2'000'000'000);
}

TEST(Renumbering, ModelsComeBack) {
  Cnf cnf;
  cnf.add({3, 9});
  const Renumbering numbers({&cnf});
  Model model(2);
  model.set(2);
  const Model original = numbers.original(model, 10);
  EXPECT_EQ(original.variables(), 10);
  for (Literal v = 1; v <= 10; ++v) EXPECT_EQ(original.holds(v), v == 9) << v;
}

}  // namespace
}  // namespace xlog::solve
