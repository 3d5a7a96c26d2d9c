#include "solve/local_search.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/sanitized.h"
#include "device/test_devices.h"
#include "solve/walk_formula.h"

namespace xlog::solve {
namespace {

// Clauses of `length` distinct variables that a hidden assignment satisfies.
Cnf planted(int32_t variables, size_t clauses, size_t length, uint64_t seed) {
  std::mt19937_64 random(seed);
  Model hidden(variables);
  for (int32_t v = 1; v <= variables; ++v) {
    if (random() % 2 == 0) hidden.set(v);
  }
  Cnf cnf;
  cnf.need_variables(variables);
  while (cnf.size() < clauses) {
    std::vector<Literal> clause;
    while (clause.size() < length) {
      const auto v = static_cast<Literal>(random() % static_cast<uint64_t>(variables)) + 1;
      const auto same = [v](Literal literal) { return variable_of(literal) == v; };
      if (std::ranges::none_of(clause, same)) clause.push_back(random() % 2 == 0 ? v : -v);
    }
    if (hidden.satisfies(clause)) cnf.add(clause);
  }
  return cnf;
}

std::vector<std::string> devices() {
  if (std::getenv("XLOG_TEST_DEVICES") != nullptr) return device::test_device_names();
  std::vector<std::string> names = {"oracle", "interp", "cpu"};
  if (device::open_device("opencl", {.cache_folder = "none"}).ok()) names.emplace_back("opencl");
  return names;
}

class LocalSearchOn : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Solver> solver(const LocalSearchOptions& options) {
    auto made = local_search_solver(*device_, options);
    return device::good(made) ? std::move(*made) : nullptr;
  }

  std::unique_ptr<device::Device> device_ = device::open_for_test(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Devices, LocalSearchOn, testing::ValuesIn(devices()),
                         [](const auto& about) {
                           std::string name = about.param;
                           std::erase_if(name, [](char c) { return c == ':'; });
                           return name;
                         });

TEST_P(LocalSearchOn, FindsModelsOfPlantedFormulas) {
  const bool slow = GetParam() == "oracle" || GetParam() == "interp";
  const int32_t most = slow ? 50 : 400;
  for (const size_t length : {2, 3, 4, 5, 8}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(testing::Message() << "length " << length << ", seed " << seed);
      const auto clauses = static_cast<size_t>(most) * (length == 2 ? 1 : length);
      auto search = solver({.seed = seed, .walks = 3, .flips = 1'000'000});
      search->add(planted(most, clauses, length, seed));
      EXPECT_EQ(search->solve({}), Outcome::Sat);  // which checks the model
    }
  }
}

TEST_P(LocalSearchOn, GivesTheModelThatTheInterpreterGives) {
  const auto reference = device::open_for_test("interp");
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const LocalSearchOptions options = {.seed = seed, .walks = 5, .flips = 100'000};
    auto search = solver(options);
    auto other = local_search_solver(*reference, options);
    ASSERT_TRUE(device::good(other));
    const Cnf cnf = planted(60, 230, 3, 17);
    search->add(cnf);
    (*other)->add(cnf);
    ASSERT_EQ(search->solve({}), Outcome::Sat);
    ASSERT_EQ((*other)->solve({}), Outcome::Sat);
    EXPECT_EQ(search->model(), (*other)->model());
  }
}

TEST_P(LocalSearchOn, KeepsToAssumptionsAndUnits) {
  auto search = solver({.walks = 2, .flips = 100'000});
  search->add(planted(40, 100, 3, 5));
  search->add({41});
  search->add({-41, 42});
  search->add({-42, 43, 1, 1});
  search->assume(-1);
  ASSERT_EQ(search->solve({}), Outcome::Sat);
  EXPECT_TRUE(search->model().holds(42));
  EXPECT_TRUE(search->model().holds(43));
  search->assume(-42);
  EXPECT_EQ(search->solve({}), Outcome::Unknown);  // never Unsat
  search->retract(-42);
  EXPECT_EQ(search->solve({}), Outcome::Sat);
}

TEST_P(LocalSearchOn, EndsAfterItsFlips) {
  auto search = solver({.walks = 2, .flips = 1000});
  for (const Literal a : {1, -1}) {
    for (const Literal b : {2, -2}) search->add({a, b});
  }
  EXPECT_EQ(search->solve({}), Outcome::Unknown);
  search->add({3});
  Limits limits;
  limits.conflicts = 10;
  EXPECT_EQ(search->solve(limits), Outcome::Unknown);
}

TEST_P(LocalSearchOn, EndsWhenItsTimeIsOverOrItIsInterrupted) {
  auto search = solver({.walks = 2});
  for (const Literal a : {1, -1}) {
    for (const Literal b : {2, -2}) search->add({a, b});
  }
  Limits limits;
  limits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  EXPECT_EQ(search->solve(limits), Outcome::Timeout);
  Interrupt interrupt = false;
  limits = {};
  limits.interrupt = &interrupt;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    interrupt = true;
  });
  EXPECT_EQ(search->solve(limits), Outcome::Unknown);
  other.join();
}

TEST_P(LocalSearchOn, HasNoUseForALimitBelowWhatOneWalkTakes) {
  if (device_->info().has_groups) GTEST_SKIP() << "walks are in memory of the device's own";
  auto search = solver({.walks = 2, .flips = 1000});
  search->add(planted(40, 100, 3, 5));
  Limits limits;
  limits.memory_bytes = 1;
  EXPECT_EQ(search->solve(limits), Outcome::Unknown);
}

TEST_P(LocalSearchOn, AnEmptyFormulaHasAModel) {
  auto search = solver({});
  search->need_variables(3);
  EXPECT_EQ(search->solve({}), Outcome::Sat);
  EXPECT_EQ(search->model().variables(), 3);
  search->add(std::span<const Literal>());
  EXPECT_EQ(search->solve({}), Outcome::Unknown);
}

TEST(WalkFormula, PropagatesUnitsAndDropsWhatHolds) {
  Cnf cnf;
  cnf.add({1});
  cnf.add({-1, 2, 2});
  cnf.add({-2, 3, 4, 3});
  cnf.add({-3, -4});
  cnf.add({2, 5});
  cnf.add({5, -5, 3});
  const WalkFormula formula = walk_formula(cnf, {});
  EXPECT_FALSE(formula.contradiction);
  EXPECT_TRUE(formula.fixed.holds(1));
  EXPECT_TRUE(formula.fixed.holds(2));
  EXPECT_EQ(formula.original, (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(formula.literals, (std::vector<uint32_t>{0, 2, 1, 3}));
  EXPECT_EQ(formula.clause_starts, (std::vector<uint32_t>{0, 2, 4}));
  EXPECT_EQ(formula.occurrence_starts, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  const Literal assumed[] = {-3, -4};
  EXPECT_TRUE(walk_formula(cnf, assumed).contradiction);
}

// What is left has a model exactly where the formula has one.
TEST(WalkFormula, KeepsModels) {
  for (uint64_t seed = 1; seed <= 2000 / kPartOfWork; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Cnf cnf;
    cnf.need_variables(6);
    for (int c = 0; c < 8; ++c) {
      std::vector<Literal> clause;
      for (uint64_t l = 0; l < 1 + random() % 3; ++l) {
        const auto v = static_cast<Literal>(random() % 6) + 1;
        clause.push_back(random() % 2 == 0 ? v : -v);
      }
      cnf.add(clause);
    }
    const WalkFormula formula = walk_formula(cnf, {});
    uint32_t models = 0;
    uint32_t models_left = 0;
    for (uint32_t bits = 0; bits < 64; ++bits) {
      Model model(6);
      Model of_rest = formula.fixed;
      for (int v = 0; v < 6; ++v) {
        if ((bits >> v & 1) != 0) model.set(v + 1);
      }
      models += model.satisfies(cnf) ? 1 : 0;
      if (formula.contradiction || bits >> formula.variables() != 0) continue;
      for (uint32_t v = 0; v < formula.variables(); ++v) {
        of_rest.set((bits >> v & 1) != 0 ? formula.original[v] : -formula.original[v]);
      }
      bool holds = true;
      for (uint32_t c = 0; c < formula.clauses(); ++c) {
        bool clause = false;
        for (uint32_t l = formula.clause_starts[c]; l < formula.clause_starts[c + 1]; ++l) {
          clause = clause || (bits >> (formula.literals[l] / 2) & 1) != formula.literals[l] % 2;
        }
        holds = holds && clause;
      }
      if (!holds) continue;
      ++models_left;
      ASSERT_TRUE(of_rest.satisfies(cnf));
    }
    ASSERT_EQ(models > 0, models_left > 0);
  }
}

}  // namespace
}  // namespace xlog::solve
