#include "solve/portfolio.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/sanitized.h"
#include "solve/random_formula.h"
#include "solve/unit_exchange.h"

namespace xlog::solve {
namespace {

using std::chrono::steady_clock;

std::unique_ptr<Solver> portfolio(const std::vector<Engine>& engines) {
  auto made = portfolio_solver(engines);
  EXPECT_TRUE(made.ok());
  return std::move(*made);
}

// Never knows, and waits to be told so; or gives up at once.
class Idle final : public Solver {
 public:
  explicit Idle(bool gives_up) : gives_up_(gives_up) {}

 protected:
  void add_clause(std::span<const Literal>) override {}
  Outcome search(const Limits& limits) override {
    while (!gives_up_ && !*limits.interrupt) std::this_thread::yield();
    return Outcome::Unknown;
  }

 private:
  bool gives_up_;
};

Engine idle(bool gives_up) {
  return {.name = "idle",
          .make = [gives_up](const OnLearned&) -> Result<std::unique_ptr<Solver>> {
            return std::unique_ptr<Solver>(std::make_unique<Idle>(gives_up));
          },
          .in_slices = false};
}

TEST(Portfolio, AgreesWithAllAssignmentsIncrementally) {
  for (uint64_t seed = 0; seed < 300 / kPartOfWork; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto solver = portfolio(cadical_portfolio(1 + below(random, 4)));
    solver->need_variables(10);
    TruthTable table(10);
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 12; ++i) {
        const std::vector<Literal> clause = random_clause(random, 10, 3);
        solver->add(clause);
        table.require(clause);
      }
      solver->retract_all();
      TruthTable assumed = table;
      for (uint32_t i = below(random, 3); i > 0; --i) {
        const Literal literal = random_literal(random, 10);
        solver->assume(literal);
        assumed.require(std::span(&literal, 1));
      }
      const Outcome outcome = solver->solve({});
      ASSERT_EQ(outcome, assumed.satisfiable() ? Outcome::Sat : Outcome::Unsat);
      if (outcome == Outcome::Unsat) {
        for (const Literal literal : solver->failed()) table.require(std::span(&literal, 1));
        ASSERT_FALSE(table.satisfiable());
        break;
      }
    }
  }
}

// Hard enough for several slices, with units to share on the way.
TEST(Portfolio, AgreesWithOneEngineOverSlices) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    const uint32_t engines = 1 + seed % 3;
    Random random(seed);
    const Cnf cnf = random_3sat(random, 200, 880);
    auto alone = cadical_solver();
    (*alone)->add(cnf);
    const auto solver = portfolio(cadical_portfolio(engines));
    solver->add(cnf);
    EXPECT_EQ(solver->solve({}), (*alone)->solve({}));
    // More than a slice. With several engines it depends on who is first.
    if (engines == 1) {
      EXPECT_GT(solver->learned(), 10'000U);
    }
  }
}

TEST(Portfolio, TheFirstAnswerEndsTheOthers) {
  std::vector<Engine> engines = cadical_portfolio(1);
  engines.push_back(idle(false));
  engines.push_back(idle(true));
  const auto solver = portfolio(engines);
  solver->add(pigeon_holes(6));
  EXPECT_EQ(solver->solve({}), Outcome::Unsat);
  EXPECT_EQ(portfolio({idle(true), idle(true)})->solve({}), Outcome::Unknown);
}

TEST(Portfolio, EndsAtItsLimits) {
  const auto solver = portfolio(cadical_portfolio(2));
  solver->add(pigeon_holes(13));
  EXPECT_EQ(solver->solve({.conflicts = 25'000}), Outcome::Unknown);
  EXPECT_EQ(solver->solve({.deadline = steady_clock::now() + std::chrono::milliseconds(30)}),
            Outcome::Timeout);
  EXPECT_EQ(solver->solve({.memory_bytes = 1}), Outcome::Unknown);
  Interrupt interrupt = false;
  for (int round = 0; round < 10; ++round) {
    interrupt = false;
    std::thread other([&, round] {
      std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
      interrupt = true;
    });
    EXPECT_EQ(solver->solve({.interrupt = &interrupt}), Outcome::Unknown);
    other.join();
  }
}

TEST(Portfolio, AnEngineThatCannotBeMadeIsAnError) {
  std::vector<Engine> engines = cadical_portfolio(1);
  engines.push_back(
      {.name = "broken", .make = [](const OnLearned&) -> Result<std::unique_ptr<Solver>> {
         return Error{"no device", "use another"};
       }});
  const auto made = portfolio_solver(engines);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "engine broken: no device");
}

TEST(Portfolio, LocalSearchIsAnEngineLikeOthers) {
  auto device = device::open_device("cpu", {.threads = 1, .cache_folder = "none"});
  ASSERT_TRUE(device.ok());
  std::vector<Engine> engines = cadical_portfolio(1);
  engines.push_back(local_search_engine(**device));
  Random random(3);
  for (int round = 0; round < 40 / int{kPartOfWork}; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 3, round " << round);
    const Cnf cnf = random_3sat(random, 12, 30 + below(random, 40));
    TruthTable table(12);
    table.require(cnf);
    const auto made = portfolio_solver(engines);
    ASSERT_TRUE(made.ok());
    (*made)->add(cnf);
    EXPECT_EQ((*made)->solve({}), table.satisfiable() ? Outcome::Sat : Outcome::Unsat);
  }
  // Alone it answers where there is a model.
  const auto alone = portfolio_solver({local_search_engine(**device)});
  ASSERT_TRUE(alone.ok());
  (*alone)->add({1, 2});
  (*alone)->assume(-1);
  ASSERT_EQ((*alone)->solve({}), Outcome::Sat);
  EXPECT_TRUE((*alone)->model().holds(2));
}

TEST(UnitExchange, EveryThreadGetsEveryUnitOnce) {
  constexpr int32_t kVariables = 20'000;
  UnitExchange exchange;
  exchange.need_variables(kVariables);
  std::vector<std::vector<bool>> seen(3, std::vector<bool>(kVariables + 1));
  std::atomic<bool> wrong = false;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < seen.size(); ++t) {
    threads.emplace_back([&, t] {
      size_t cursor = 0, count = 0;
      for (int32_t v = 1; v <= kVariables; ++v) exchange.share(v % 2 == 0 ? v : -v);
      while (count < kVariables) {
        const Literal unit = exchange.take(cursor);
        if (unit == 0) continue;
        const auto v = static_cast<size_t>(variable_of(unit));
        if (seen[t][v] || (unit > 0) != (v % 2 == 0)) wrong = true;
        seen[t][v] = true;
        ++count;
      }
      if (exchange.take(cursor) != 0) wrong = true;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(wrong);
  exchange.share(kVariables + 1);  // no room: dropped
  exchange.need_variables(kVariables + 1);
  size_t cursor = kVariables;
  EXPECT_EQ(exchange.take(cursor), 0);
  exchange.share(kVariables + 1);
  EXPECT_EQ(exchange.take(cursor), kVariables + 1);
}

}  // namespace
}  // namespace xlog::solve
