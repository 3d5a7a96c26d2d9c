#include "solve/solver.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/sanitized.h"
#include "solve/random_formula.h"

namespace xlog::solve {
namespace {

using std::chrono::steady_clock;

std::unique_ptr<Solver> cadical(const CadicalOptions& options = {}) {
  auto made = cadical_solver(options);
  EXPECT_TRUE(made.ok());
  return std::move(*made);
}

TEST(Solver, AssumptionsHoldUntilTheyAreRetracted) {
  const auto solver = cadical();
  solver->add({1, 2});
  solver->add({-1, 3});
  solver->assume(-2);
  ASSERT_EQ(solver->solve({}), Outcome::Sat);
  EXPECT_TRUE(solver->model().holds(1));
  EXPECT_TRUE(solver->model().holds(3));
  solver->assume(-3);
  ASSERT_EQ(solver->solve({}), Outcome::Unsat);
  EXPECT_EQ(solver->failed(), (std::vector<Literal>{-2, -3}));
  solver->retract(-2);
  ASSERT_EQ(solver->solve({}), Outcome::Sat);
  EXPECT_TRUE(solver->model().holds(2));
}

TEST(Solver, AssumingTwiceIsAssumingOnce) {
  const auto solver = cadical();
  solver->assume(5);
  solver->assume(-3);
  solver->assume(5);
  EXPECT_EQ(solver->assumptions(), (std::vector<Literal>{5, -3}));
  solver->retract(5);
  solver->retract(5);
  solver->retract(4);
  solver->retract(100'000);
  EXPECT_EQ(solver->assumptions(), (std::vector<Literal>{-3}));
  solver->retract_all();
  EXPECT_TRUE(solver->assumptions().empty());
  solver->assume(-3);
  EXPECT_EQ(solver->assumptions(), (std::vector<Literal>{-3}));
}

TEST(Solver, AnEmptyClauseFailsWithoutAssumptions) {
  const auto solver = cadical();
  solver->assume(4);
  solver->add(std::span<const Literal>());
  ASSERT_EQ(solver->solve({}), Outcome::Unsat);
  EXPECT_TRUE(solver->failed().empty());
}

TEST(Solver, AssumptionsThatContradictEachOtherFail) {
  const auto solver = cadical();
  solver->add({1, 2, 3});
  solver->assume(3);
  solver->assume(-1);
  solver->assume(1);
  ASSERT_EQ(solver->solve({}), Outcome::Unsat);
  EXPECT_EQ(solver->failed(), (std::vector<Literal>{-1, 1}));
  solver->retract(-1);
  EXPECT_EQ(solver->solve({}), Outcome::Sat);
}

TEST(Solver, AModelHasAValueForEachVariable) {
  const auto solver = cadical();
  solver->need_variables(10);
  ASSERT_EQ(solver->solve({}), Outcome::Sat);
  EXPECT_EQ(solver->model().variables(), 10);
  solver->assume(20);
  ASSERT_EQ(solver->solve({}), Outcome::Sat);
  EXPECT_TRUE(solver->model().holds(20));
}

// Clauses and assumptions come and go in any order; each solve is compared with the table of all
// assignments.
void check_incremental(uint64_t seed, const CadicalOptions& options, size_t solves) {
  SCOPED_TRACE(seed);
  Random random(seed);
  const auto variables = static_cast<int32_t>(1 + below(random, 11));
  const uint32_t longest = 1 + below(random, 5);
  CadicalOptions with_learned = options;
  TruthTable table(variables);
  bool all_implied = true;
  with_learned.on_learned = [&](std::span<const Literal> clause) {
    all_implied = all_implied && table.implies(clause);
  };
  const auto solver = cadical(with_learned);
  solver->need_variables(variables);
  for (size_t round = 0; round < solves; ++round) {
    for (uint32_t i = below(random, 14); i > 0; --i) {
      const std::vector<Literal> clause = random_clause(random, variables, longest);
      solver->add(clause);
      table.require(clause);
    }
    for (uint32_t i = below(random, 4); i > 0; --i) {
      solver->assume(random_literal(random, variables));
    }
    for (uint32_t i = below(random, 4); i > 0; --i) {
      solver->retract(random_literal(random, variables));
    }
    if (below(random, 6) == 0) solver->retract_all();
    TruthTable assumed = table;
    for (const Literal literal : solver->assumptions()) assumed.require(std::span(&literal, 1));
    const Outcome outcome = solver->solve({});
    ASSERT_EQ(outcome, assumed.satisfiable() ? Outcome::Sat : Outcome::Unsat) << "round " << round;
    ASSERT_TRUE(all_implied) << "a learned clause does not follow, round " << round;
    if (outcome == Outcome::Sat) continue;
    TruthTable failing = table;
    for (const Literal literal : solver->failed()) {
      ASSERT_TRUE(std::ranges::count(solver->assumptions(), literal) == 1);
      failing.require(std::span(&literal, 1));
    }
    ASSERT_FALSE(failing.satisfiable());
  }
}

TEST(Solver, AgreesWithAllAssignmentsWhileClausesAndAssumptionsComeAndGo) {
  for (uint64_t seed = 0; seed < 20'000 / kPartOfWork; ++seed) check_incremental(seed, {}, 6);
}

TEST(Solver, AgreesWithAllAssignmentsInEveryStyle) {
  for (uint64_t seed = 0; seed < 4000 / kPartOfWork; ++seed) {
    check_incremental(seed, {.quick = true}, 6);
    check_incremental(seed, {.style = CadicalStyle::Sat}, 4);
    check_incremental(seed, {.style = CadicalStyle::Unsat, .seed = 7}, 4);
  }
}

TEST(Solver, ConflictsEndASolveAndTheNextGoesOn) {
  const auto solver = cadical();
  solver->add(pigeon_holes(8));
  EXPECT_EQ(solver->solve({.conflicts = 0}), Outcome::Unknown);
  EXPECT_EQ(solver->solve({.conflicts = 100}), Outcome::Unknown);
  EXPECT_GT(solver->learned(), 50U);
  EXPECT_EQ(solver->solve({.conflicts = UINT64_MAX}), Outcome::Unsat);
}

TEST(Solver, TimeAndMemoryEndASolve) {
  const auto solver = cadical();
  solver->add(pigeon_holes(13));
  EXPECT_EQ(solver->solve({.deadline = steady_clock::now() - std::chrono::seconds(1)}),
            Outcome::Timeout);
  EXPECT_EQ(solver->solve({.deadline = steady_clock::now() + std::chrono::milliseconds(30)}),
            Outcome::Timeout);
  EXPECT_EQ(solver->solve({.memory_bytes = 1}), Outcome::Unknown);
}

TEST(Solver, AnotherThreadInterruptsAtAnyMoment) {
  const auto solver = cadical();
  solver->add(pigeon_holes(13));
  Interrupt interrupt = true;
  EXPECT_EQ(solver->solve({.interrupt = &interrupt}), Outcome::Unknown);
  for (int round = 0; round < 20; ++round) {
    interrupt = false;
    std::thread other([&, round] {
      std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
      interrupt = true;
    });
    EXPECT_EQ(solver->solve({.interrupt = &interrupt}), Outcome::Unknown);
    other.join();
  }
}

TEST(Solver, ProgressIsCalledWhileItSolves) {
  const auto solver = cadical();
  solver->add(pigeon_holes(13));
  int calls = 0;
  Interrupt interrupt = false;
  const auto progress = [&] { interrupt = ++calls == 3; };
  EXPECT_EQ(solver->solve({.interrupt = &interrupt, .progress = progress}), Outcome::Unknown);
  EXPECT_EQ(calls, 3);
}

TEST(Solver, AProofThatCannotBeWrittenIsAnError) {
  const auto made = cadical_solver({.proof_path = "/nonexistent/proof.drat"});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().help, "");
}

}  // namespace
}  // namespace xlog::solve
