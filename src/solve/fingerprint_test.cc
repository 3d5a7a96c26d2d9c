#include "solve/fingerprint.h"

#include <gtest/gtest.h>

#include <set>

#include "base/sanitized.h"
#include "solve/random_formula.h"

namespace xlog::solve {
namespace {

TEST(Fingerprint, OrderDoesNotMatter) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Cnf cnf = random_formula(random, 12, 30, 5);
    std::vector<std::vector<Literal>> clauses;
    for (size_t i = 0; i < cnf.size(); ++i) clauses.emplace_back(cnf[i].begin(), cnf[i].end());
    std::ranges::shuffle(clauses, random);
    Cnf other;
    other.need_variables(12);
    for (std::vector<Literal>& clause : clauses) {
      std::ranges::shuffle(clause, random);
      other.add(clause);
    }
    EXPECT_EQ(fingerprint(cnf), fingerprint(other));
  }
}

TEST(Fingerprint, EverythingElseMatters) {
  std::set<Fingerprint> seen;
  Cnf cnf;
  seen.insert(fingerprint(cnf));
  const auto is_new = [&] { return seen.insert(fingerprint(cnf)).second; };
  cnf.add({1, 2});
  EXPECT_TRUE(is_new());
  cnf.add({1, 2});
  EXPECT_TRUE(is_new());
  cnf.new_variable();
  EXPECT_TRUE(is_new());
  cnf.add(std::span<const Literal>());
  EXPECT_TRUE(is_new());
  Cnf split;  // {1, 2} {3} is not {1} {2, 3}
  split.add({1, 2});
  split.add({3});
  Cnf other;
  other.add({1});
  other.add({2, 3});
  EXPECT_NE(fingerprint(split), fingerprint(other));
  EXPECT_EQ(fingerprint(split).text().size(), 32U);

  for (uint64_t seed = 0; seed < 2000 / kPartOfWork; ++seed) {
    Random random(seed);
    cnf = random_formula(random, 10, 20, 4);
    EXPECT_TRUE(is_new()) << seed;
    if (cnf[3].size() != 1) continue;
    const Literal flipped = -cnf[3].front();
    Cnf changed;
    for (size_t i = 0; i < cnf.size(); ++i) {
      std::vector<Literal> clause(cnf[i].begin(), cnf[i].end());
      if (i == 3) clause.front() = flipped;
      changed.add(clause);
    }
    EXPECT_NE(fingerprint(changed), fingerprint(cnf)) << seed;
  }
}

}  // namespace
}  // namespace xlog::solve
