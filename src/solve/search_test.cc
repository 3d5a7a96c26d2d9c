#include "solve/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/sanitized.h"

namespace xlog::solve {
namespace {

struct Weighted {
  Literal holds = 0;
  int64_t bound = 0;
  std::vector<WeightedLiteral> terms;
};

struct Problem {
  int32_t variables = 0;
  std::vector<std::vector<Literal>> clauses;
  std::vector<Weighted> sums;

  bool accepts(uint32_t set) const {
    const auto holds = [&](Literal l) { return ((set >> (variable_of(l) - 1)) & 1) == (l > 0); };
    for (const auto& clause : clauses) {
      if (std::ranges::none_of(clause, holds)) return false;
    }
    for (const Weighted& sum : sums) {
      int64_t weight = 0;
      for (const auto& [literal, w] : sum.terms) weight += holds(literal) ? w : 0;
      if (holds(sum.holds) != (weight >= sum.bound)) return false;
    }
    return true;
  }
};

Problem random_problem(std::mt19937& random) {
  Problem problem;
  problem.variables = 2 + static_cast<int32_t>(random() % 9);
  const auto literal = [&] {
    const auto v = static_cast<Literal>(1 + random() % static_cast<uint32_t>(problem.variables));
    return random() % 2 == 0 ? v : -v;
  };
  for (uint32_t n = random() % 30; n > 0; --n) {
    auto& clause = problem.clauses.emplace_back();
    for (uint32_t k = 1 + random() % 4; k > 0; --k) clause.push_back(literal());
  }
  for (uint32_t n = random() % 4; n > 0; --n) {
    Weighted& sum = problem.sums.emplace_back();
    sum.holds = literal();
    for (uint32_t k = 1 + random() % 6; k > 0; --k) {
      sum.terms.push_back({literal(), static_cast<int64_t>(1 + random() % 5)});
    }
    sum.bound = static_cast<int64_t>(random() % 14);
  }
  return problem;
}

// Few models, and most of the conflicts from sums.
Problem random_sums(std::mt19937& random) {
  Problem problem;
  problem.variables = 14;
  const auto literal = [&] {
    const auto v = static_cast<Literal>(1 + random() % 12);
    return random() % 2 == 0 ? v : -v;
  };
  for (uint32_t n = 12; n > 0; --n) {
    Weighted& sum = problem.sums.emplace_back();
    sum.holds = n % 3 != 0 ? 13 : (random() % 2 == 0 ? 14 : literal());
    int64_t total = 0;
    for (uint32_t k = 4 + random() % 5; k > 0; --k) {
      sum.terms.push_back({literal(), static_cast<int64_t>(1 + random() % 6)});
      total += sum.terms.back().weight;
    }
    sum.bound = total / 2 - 2 + static_cast<int64_t>(random() % 5);
  }
  return problem;
}

uint32_t set_of(const Search& search, int32_t variables) {
  uint32_t set = 0;
  for (int32_t v = 1; v <= variables; ++v) {
    if (search.value(v) > 0) set |= 1u << (v - 1);
  }
  return set;
}

TEST(Search, FindsTheModelsOfRandomProblems) {
  for (uint32_t seed = 1; seed <= 6000 / kPartOfWork; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const Problem problem = random_problem(random);
    Search search;
    search.need_variables(problem.variables);
    for (const auto& clause : problem.clauses) search.add(clause);
    for (const Weighted& sum : problem.sums)
      search.add_weighted_sum(sum.holds, sum.bound, sum.terms);
    std::set<uint32_t> expected;
    for (uint32_t set = 0; set < 1u << problem.variables; ++set) {
      if (problem.accepts(set)) expected.insert(set);
    }
    ASSERT_EQ(search.solve({}), expected.empty() ? Outcome::Unsat : Outcome::Sat);
    if (!expected.empty()) {
      ASSERT_TRUE(problem.accepts(set_of(search, problem.variables)));
    }
    for (int round = 0; round < 3; ++round) {
      std::vector<Literal> assumed;
      for (uint32_t n = random() % 4; n > 0; --n) {
        const auto v =
            static_cast<Literal>(1 + random() % static_cast<uint32_t>(problem.variables));
        assumed.push_back(random() % 2 == 0 ? v : -v);
      }
      const auto agrees = [](uint32_t set, const std::vector<Literal>& with) {
        return std::ranges::all_of(
            with, [&](Literal l) { return ((set >> (variable_of(l) - 1)) & 1) == (l > 0); });
      };
      std::set<uint32_t> left;
      for (const uint32_t set : expected) {
        if (agrees(set, assumed)) left.insert(set);
      }
      search.set_assumptions(assumed);
      ASSERT_EQ(search.solve({}), left.empty() ? Outcome::Unsat : Outcome::Sat);
      if (left.empty()) {
        // The failed assumptions alone leave no model either.
        const std::vector<Literal>& failed = search.failed();
        for (const uint32_t set : expected) ASSERT_FALSE(agrees(set, failed));
      }
      std::multiset<uint32_t> found;
      search.start_enumeration();
      while (search.next({}) == Outcome::Sat) found.insert(set_of(search, problem.variables));
      ASSERT_EQ(std::vector(found.begin(), found.end()), std::vector(left.begin(), left.end()));
      ASSERT_EQ(search.next({}), Outcome::Unsat);
    }
  }
}

TEST(Search, FindsTheModelsOfRandomSums) {
  uint64_t conflicts = 0;
  for (uint32_t seed = 1; seed <= 300 / kPartOfWork; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const Problem problem = random_sums(random);
    std::vector<uint32_t> expected;
    for (uint32_t set = 0; set < 1u << problem.variables; ++set) {
      if (problem.accepts(set)) expected.push_back(set);
    }
    Search search;
    search.need_variables(problem.variables);
    for (const Weighted& sum : problem.sums)
      search.add_weighted_sum(sum.holds, sum.bound, sum.terms);
    for (int round = 0; round < 2; ++round) {
      std::vector<uint32_t> found;
      search.start_enumeration();
      while (search.next({}) == Outcome::Sat) found.push_back(set_of(search, problem.variables));
      std::ranges::sort(found);
      ASSERT_EQ(found, expected);
    }
    conflicts += search.conflicts();
  }
  EXPECT_GT(conflicts, 2000u / kPartOfWork);
}

// n + 1 pigeons in n holes: many conflicts, so that clauses are learned, forgotten and moved.
void add_pigeons(Search& search, int32_t holes, Literal unless) {
  const int32_t before = search.variables();
  const auto in = [&](int32_t pigeon, int32_t hole) { return before + pigeon * holes + hole + 1; };
  search.need_variables(in(holes, holes - 1));
  for (int32_t p = 0; p <= holes; ++p) {
    std::vector<Literal> clause = {unless};
    for (int32_t h = 0; h < holes; ++h) clause.push_back(in(p, h));
    search.add(clause);
    for (int32_t q = 0; q < p; ++q) {
      for (int32_t h = 0; h < holes; ++h) search.add({-in(p, h), -in(q, h)});
    }
  }
}

TEST(Search, LearnsForgetsAndStaysUsable) {
  Search search;
  const Literal unless = search.new_variable();
  const Literal also = search.new_variable();
  add_pigeons(search, 7, unless);
  search.set_assumptions({also, -unless});
  ASSERT_EQ(search.solve({}), Outcome::Unsat);
  EXPECT_GT(search.conflicts(), 2000u) << "too few to forget clauses";
  EXPECT_EQ(search.failed(), std::vector<Literal>{-unless});
  search.set_assumptions({unless});
  EXPECT_EQ(search.solve({}), Outcome::Sat);
  search.set_assumptions({});
  EXPECT_EQ(search.solve({}), Outcome::Sat);
  EXPECT_EQ(search.value(unless), 1);
}

TEST(Search, ContradictoryAssumptionsFailTogether) {
  Search search;
  const Literal a = search.new_variable();
  search.set_assumptions({a, -a});
  EXPECT_EQ(search.solve({}), Outcome::Unsat);
  std::vector<Literal> failed = search.failed();
  std::ranges::sort(failed);
  EXPECT_EQ(failed, (std::vector<Literal>{-a, a}));
}

TEST(Search, AnEmptyClauseFailsWithoutAssumptions) {
  Search search;
  const Literal a = search.new_variable();
  search.add(std::span<const Literal>());
  search.set_assumptions({a});
  EXPECT_EQ(search.solve({}), Outcome::Unsat);
  EXPECT_TRUE(search.failed().empty());
}

TEST(Search, StopsAtLimitsAndGoesOn) {
  Search search;
  const Literal unless = search.new_variable();
  add_pigeons(search, 7, unless);
  search.set_assumptions({-unless});
  Limits few;
  few.conflicts = 10;
  EXPECT_EQ(search.solve(few), Outcome::Unknown);
  Limits late;
  late.deadline = std::chrono::steady_clock::now();
  EXPECT_EQ(search.solve(late), Outcome::Timeout);
  Interrupt stop = true;
  Limits interrupted;
  interrupted.interrupt = &stop;
  EXPECT_EQ(search.solve(interrupted), Outcome::Unknown);
  Limits small;
  small.memory_bytes = 1;
  EXPECT_EQ(search.solve(small), Outcome::Unknown);
  EXPECT_EQ(search.solve({}), Outcome::Unsat);
}

TEST(Search, BoundsRiseUntilNothingIsLeft) {
  // Weights 1, 2, 4, 8 of open variables: every sum from 0 to 15.
  Search search;
  std::vector<WeightedLiteral> terms;
  for (int64_t weight = 1; weight <= 8; weight *= 2)
    terms.push_back({search.new_variable(), weight});
  const Literal guard = search.new_variable();
  const uint32_t constraint = search.add_weight_constraint(guard, 1, terms, false);
  search.set_assumptions({guard});
  for (int64_t bound = 1; bound <= 15; ++bound) {
    search.raise_bound(constraint, bound);
    ASSERT_EQ(search.solve({}), Outcome::Sat);
    int64_t sum = 0;
    for (const auto& [literal, weight] : terms) sum += search.value(literal) > 0 ? weight : 0;
    ASSERT_GE(sum, bound);
  }
  search.raise_bound(constraint, 16);
  EXPECT_EQ(search.solve({}), Outcome::Unsat);
  search.add({-guard});
  search.remove_weight_constraint(constraint);
  search.set_assumptions({});
  search.start_enumeration();
  int models = 0;
  while (search.next({}) == Outcome::Sat) ++models;
  EXPECT_EQ(models, 16);
}

}  // namespace
}  // namespace xlog::solve
