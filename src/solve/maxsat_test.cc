#include "solve/maxsat.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "base/sanitized.h"

namespace xlog::solve {
namespace {

using Random = std::mt19937;

uint32_t below(Random& random, uint32_t n) { return static_cast<uint32_t>(random() % n); }

std::vector<Literal> random_clause(Random& random, int32_t variables, uint32_t size) {
  std::vector<Literal> clause;
  for (uint32_t i = 0; i < size; ++i) {
    const auto v = static_cast<Literal>(1 + below(random, static_cast<uint32_t>(variables)));
    clause.push_back(below(random, 2) == 0 ? v : -v);
  }
  return clause;
}

void add_soft(WeightedCnf& formula, const std::vector<Literal>& clause, uint64_t weight) {
  formula.soft.add(clause);
  formula.weights.push_back(weight);
}

// Small formulas of many shapes: few or many hard clauses, soft clauses that are empty, single
// literals, repeated, contradictory or always true, weights of one size or of all sizes.
WeightedCnf random_formula(Random& random) {
  WeightedCnf formula;
  const auto variables = static_cast<int32_t>(1 + below(random, 9));
  formula.hard.need_variables(variables);
  const uint32_t hard = below(random, 4) == 0 ? 0 : below(random, 5 * 9);
  for (uint32_t i = 0; i < hard; ++i) {
    formula.hard.add(random_clause(random, variables, 1 + below(random, 3) + below(random, 3)));
  }
  const uint32_t soft = below(random, 16);
  const uint32_t kind = below(random, 4);
  for (uint32_t i = 0; i < soft; ++i) {
    const uint64_t weight = kind == 0   ? 1
                            : kind == 1 ? 1 + below(random, 10)
                            : kind == 2 ? uint64_t{1} << below(random, 59)
                                        : below(random, 100);
    const uint32_t size = below(random, 12) == 0 ? 0 : 1 + below(random, 3);
    const std::vector<Literal> clause = random_clause(random, variables, size);
    add_soft(formula, clause, weight);
    if (below(random, 8) == 0) add_soft(formula, clause, weight);
  }
  return formula;
}

std::optional<uint64_t> least_cost(const WeightedCnf& formula) {
  std::optional<uint64_t> least;
  const int32_t variables = formula.variables();
  for (uint32_t values = 0; values < uint32_t{1} << variables; ++values) {
    Model model(variables);
    for (int32_t v = 1; v <= variables; ++v) model.set((values >> (v - 1) & 1) != 0 ? v : -v);
    if (!model.satisfies(formula.hard)) continue;
    const uint64_t cost = cost_of(formula, model);
    if (!least || cost < *least) least = cost;
  }
  return least;
}

TEST(Maxsat, FindsTheOptimumOfRandomFormulas) {
  for (uint32_t seed = 0; seed < 20'000 / kPartOfWork; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const WeightedCnf formula = random_formula(random);
    const std::optional<uint64_t> expected = least_cost(formula);
    const MaxsatResult result = solve_maxsat(formula, {});
    ASSERT_EQ(result.outcome, expected ? Outcome::Optimal : Outcome::Unsat);
    if (!expected) continue;
    ASSERT_EQ(result.cost, *expected);
    ASSERT_EQ(result.lower_bound, *expected);
    ASSERT_TRUE(result.model.satisfies(formula.hard));
    ASSERT_EQ(cost_of(formula, result.model), *expected);
  }
}

// Exactly one of each group of literals holds, each has a price, and some pairs exclude each other:
// groups that exclude each other, cores of cores and totalizers of many inputs.
WeightedCnf random_assignment(Random& random, int32_t groups, int32_t choices, uint32_t pairs,
                              uint32_t prices) {
  WeightedCnf formula;
  for (int32_t g = 0; g < groups; ++g) {
    std::vector<Literal> some;
    for (int32_t c = 1; c <= choices; ++c) {
      some.push_back(g * choices + c);
      add_soft(formula, {-(g * choices + c)}, 1 + below(random, prices));
      for (int32_t d = 1; d < c; ++d) formula.hard.add({-(g * choices + c), -(g * choices + d)});
    }
    formula.hard.add(some);
  }
  const auto all = static_cast<uint32_t>(groups * choices);
  for (uint32_t i = 0; i < pairs; ++i) {
    formula.hard.add({-static_cast<Literal>(1 + below(random, all)),
                      -static_cast<Literal>(1 + below(random, all))});
  }
  return formula;
}

TEST(Maxsat, FindsTheOptimumOfAssignments) {
  for (uint32_t seed = 0; seed < 300 / kPartOfWork; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const WeightedCnf formula =
        random_assignment(random, 4, 3, 4 + below(random, 6), seed % 2 == 0 ? 3 : 1000);
    const std::optional<uint64_t> expected = least_cost(formula);
    const MaxsatResult result = solve_maxsat(formula, {});
    ASSERT_EQ(result.outcome, expected ? Outcome::Optimal : Outcome::Unsat);
    if (!expected) continue;
    ASSERT_EQ(result.cost, *expected);
  }
}

TEST(Maxsat, WeightsMayFill64Bits) {
  WeightedCnf formula;
  add_soft(formula, {1}, UINT64_MAX / 2);
  add_soft(formula, {-1, 2}, 1);
  add_soft(formula, {-1, -2}, UINT64_MAX / 2);
  const MaxsatResult result = solve_maxsat(formula, {});
  ASSERT_EQ(result.outcome, Outcome::Optimal);
  EXPECT_EQ(result.cost, 1u);

  WeightedCnf hopeless;
  add_soft(hopeless, {}, UINT64_MAX);
  EXPECT_EQ(solve_maxsat(hopeless, {}).cost, UINT64_MAX);

  WeightedCnf exclusive;  // at most one of three holds
  for (Literal v = 1; v <= 3; ++v) add_soft(exclusive, {v}, UINT64_MAX / 3);
  exclusive.hard.add({-1, -2});
  exclusive.hard.add({-1, -3});
  exclusive.hard.add({-2, -3});
  EXPECT_EQ(solve_maxsat(exclusive, {}).cost, UINT64_MAX / 3 * 2);
}

TEST(Maxsat, NothingToSolve) {
  const MaxsatResult result = solve_maxsat({}, {});
  EXPECT_EQ(result.outcome, Outcome::Optimal);
  EXPECT_EQ(result.cost, 0u);

  WeightedCnf contradiction;
  contradiction.hard.add(std::vector<Literal>{});
  EXPECT_EQ(solve_maxsat(contradiction, {}).outcome, Outcome::Unsat);
}

TEST(Maxsat, ManyVariablesOfWhichFewAreUsed) {
  WeightedCnf formula;
  const Literal far = 50'000'000;
  formula.hard.need_variables(kMostVariables / 16);
  formula.hard.add({far, 7});
  add_soft(formula, {-far}, 3);
  add_soft(formula, {-7}, 2);
  const Model* seen = nullptr;
  MaxsatOptions options;
  options.progress = [&](const MaxsatProgress& progress) {
    if (!progress.better_model) return;
    seen = progress.model;
    EXPECT_EQ(cost_of(formula, *progress.model), progress.cost);
  };
  const MaxsatResult result = solve_maxsat(formula, {}, options);
  EXPECT_NE(seen, nullptr);
  ASSERT_EQ(result.outcome, Outcome::Optimal);
  EXPECT_EQ(result.cost, 2u);
  EXPECT_EQ(result.model.variables(), kMostVariables / 16);
  EXPECT_TRUE(result.model.holds(7));
  EXPECT_FALSE(result.model.holds(far));
}

// Max-cut of a dense graph: far more work than any test should take.
WeightedCnf hard_formula() {
  Random random(7);
  WeightedCnf formula;
  for (int i = 0; i < 900; ++i) {
    const std::vector<Literal> edge = random_clause(random, 90, 2);
    if (variable_of(edge[0]) == variable_of(edge[1])) continue;
    const uint64_t weight = 1 + below(random, 20);
    add_soft(formula, edge, weight);
    add_soft(formula, {-edge[0], -edge[1]}, weight);
  }
  return formula;
}

TEST(Maxsat, StoppedItGivesTheBestModelAndBounds) {
  const WeightedCnf formula = hard_formula();
  Limits limits;
  limits.conflicts = 2000;
  const MaxsatResult result = solve_maxsat(formula, limits);
  ASSERT_EQ(result.outcome, Outcome::Sat);
  EXPECT_EQ(result.cost, cost_of(formula, result.model));
  EXPECT_GT(result.lower_bound, 0u);
  EXPECT_LT(result.lower_bound, result.cost);
}

TEST(Maxsat, StopsAtItsDeadline) {
  Limits limits;
  limits.deadline = std::chrono::steady_clock::now();
  EXPECT_EQ(solve_maxsat(hard_formula(), limits).outcome, Outcome::Timeout);
  limits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  EXPECT_EQ(solve_maxsat(hard_formula(), limits).outcome, Outcome::Sat);
}

TEST(Maxsat, CanBeInterruptedAtEachStep) {
  const WeightedCnf formula = hard_formula();
  for (int steps : {0, 1, 2, 10, 50}) {
    Interrupt interrupt = steps == 0;
    int seen = 0;
    MaxsatOptions options;
    options.progress = [&](const MaxsatProgress&) { interrupt = ++seen >= steps; };
    Limits limits;
    limits.interrupt = &interrupt;
    const MaxsatResult result = solve_maxsat(formula, limits, options);
    EXPECT_EQ(result.outcome, steps == 0 ? Outcome::Unknown : Outcome::Sat);
  }
}

TEST(Maxsat, ProgressOnlyImproves) {
  Random random(3);
  const WeightedCnf formula = random_assignment(random, 12, 5, 120, 50);
  uint64_t lower = 0;
  std::optional<uint64_t> upper;
  MaxsatOptions options;
  options.progress = [&](const MaxsatProgress& progress) {
    EXPECT_GE(progress.lower_bound, lower);
    lower = progress.lower_bound;
    if (progress.model == nullptr) return;
    EXPECT_EQ(cost_of(formula, *progress.model), progress.cost);
    EXPECT_LE(lower, progress.cost);
    if (progress.better_model) {
      EXPECT_TRUE(!upper || progress.cost < *upper);
      upper = progress.cost;
    }
  };
  const MaxsatResult result = solve_maxsat(formula, {}, options);
  ASSERT_EQ(result.outcome, Outcome::Optimal);
  EXPECT_EQ(upper, result.cost);
}

TEST(Maxsat, LimitsAreLookedAtWhileItRuns) {
  Random random(3);
  const WeightedCnf formula = random_assignment(random, 12, 5, 120, 50);
  int looks = 0;
  solve_maxsat(formula, {.progress = [&] { ++looks; }});
  EXPECT_GT(looks, 0);
}

// The optimum as z3 finds it, from the model that it prints: nothing where it takes too long.
std::optional<uint64_t> cost_by_z3(const WeightedCnf& formula, const std::string& path) {
  std::ofstream out(path);
  const auto term = [](std::span<const Literal> clause) {
    std::string text = "(or false";
    for (const Literal literal : clause) {
      const std::string variable = "x" + std::to_string(variable_of(literal));
      text += literal > 0 ? " " + variable : " (not " + variable + ")";
    }
    return text + ")";
  };
  for (int32_t v = 1; v <= formula.variables(); ++v) out << "(declare-const x" << v << " Bool)\n";
  for (size_t i = 0; i < formula.hard.size(); ++i) {
    out << "(assert " << term(formula.hard[i]) << ")\n";
  }
  for (size_t i = 0; i < formula.soft.size(); ++i) {
    out << "(assert-soft " << term(formula.soft[i]) << " :weight " << formula.weights[i] << ")\n";
  }
  out << "(check-sat)\n(get-objectives)\n";
  out.close();
  std::FILE* pipe = popen(("z3 -T:20 " + path + " 2>&1").c_str(), "r");
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), pipe));
  pclose(pipe);
  const size_t digits = text.find_first_of("0123456789");
  if (!text.starts_with("sat") || digits == std::string::npos) return std::nullopt;
  return std::strtoull(text.c_str() + digits, nullptr, 10);
}

TEST(Maxsat, AgreesWithZ3) {
  if (std::system("z3 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no z3 here";
  const std::string path =
      std::filesystem::temp_directory_path() / ("maxsat_" + std::to_string(getpid()) + ".smt2");
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    WeightedCnf formula;
    if (seed % 2 == 0) {
      formula = random_assignment(random, 12, 5, 100, 20);
    } else {
      for (int i = 0; i < 100; ++i) formula.hard.add(random_clause(random, 50, 3));
      for (int i = 0; i < 90; ++i) {
        add_soft(formula, random_clause(random, 50, 1 + below(random, 2)), 1 + below(random, 30));
      }
    }
    const std::optional<uint64_t> expected = cost_by_z3(formula, path);
    const MaxsatResult result = solve_maxsat(formula, {});
    if (!expected) continue;
    ASSERT_EQ(result.outcome, Outcome::Optimal);
    ASSERT_EQ(result.cost, *expected);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace xlog::solve
