#include "solve/rup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "base/sanitized.h"
#include "solve/random_formula.h"

namespace xlog::solve {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// What CaDiCaL writes while it refutes the formula; "" where it has a model.
std::string proof_of(const Cnf& cnf) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* file = open_memstream(&text, &size);
  Outcome outcome = Outcome::Unknown;
  {
    auto solver = cadical_solver({.proof_file = file});
    EXPECT_TRUE(solver.ok());
    (*solver)->add(cnf);
    outcome = (*solver)->solve({});
  }
  std::fclose(file);
  std::string proof(text, size);
  free(text);  // NOLINT(cppcoreguidelines-no-malloc)
  return outcome == Outcome::Unsat ? proof : "";
}

std::string error_of(const Cnf& cnf, std::string_view proof) {
  const Result<CheckedProof> checked = check_proof(cnf, proof, "p.drat");
  return checked.ok() ? "no error" : checked.error().message;
}

Cnf formula(std::initializer_list<std::vector<Literal>> clauses) {
  Cnf cnf;
  for (const std::vector<Literal>& clause : clauses) cnf.add(clause);
  return cnf;
}

const Cnf& all_four() {
  static const Cnf cnf = formula({{1, 2}, {1, -2}, {-1, 2}, {-1, -2}});
  return cnf;
}

TEST(Rup, AcceptsARefutation) {
  for (const std::string_view proof : {"1 0\n0\n", "c so\n1 0 0", "1 0\nd 1 2 0\n0\n", "-2 0\n"}) {
    EXPECT_EQ(error_of(all_four(), proof), "no error") << proof;
  }
  EXPECT_EQ(error_of(formula({{}}), ""), "no error") << "nothing is left to show";
  EXPECT_EQ(error_of(formula({{1}, {-1}}), ""), "no error");
}

TEST(Rup, SaysWhichStepDoesNotFollow) {
  EXPECT_THAT(error_of(all_four(), "0\n"), StartsWith("p.drat:1: the clause `0` does not follow"));
  EXPECT_THAT(error_of(formula({{1, 2}}), "c\n1 2 0\n1 0\n-1 0\n"),
              StartsWith("p.drat:4: the clause `-1 0` does not follow"));
  EXPECT_THAT(error_of(all_four(), "d 1 2 0\nd 1 -2 0\n-1 0\n"), HasSubstr("ends before"));
  EXPECT_THAT(error_of(all_four(), ""), HasSubstr("ends before the empty clause"));
  EXPECT_THAT(error_of(all_four(), "1 2"), HasSubstr("does not end with 0"));
  EXPECT_THAT(error_of(all_four(), "1 z 0"), HasSubstr("no step of a proof"));
  EXPECT_THAT(error_of(all_four(), "1 2147483647 0"), HasSubstr("no step of a proof"));
  EXPECT_THAT(error_of(all_four(), "1 -2147483648 0"), HasSubstr("no step of a proof"));
  EXPECT_THAT(error_of(all_four(), "2000000000 0"), HasSubstr("neither the formula's nor"));
}

TEST(Rup, ReadsTheBinaryForm) {
  const std::string unit_then_empty("a\x02\0a\0", 5);
  EXPECT_EQ(error_of(all_four(), unit_then_empty), "no error");
  EXPECT_THAT(error_of(all_four(), std::string_view(unit_then_empty).substr(0, 2)),
              StartsWith("p.drat:byte 0: the binary clause does not end"));
  const std::string deletes("d\x02\x04\0a\x02\0a\0", 9);
  EXPECT_EQ(error_of(all_four(), deletes), "p.drat:byte 4: the clause `1 0` does not follow");
  EXPECT_THAT(error_of(all_four(), "a\xff\xff\xff\xff\xff\xff\x01"), HasSubstr("past 32 bits"));
  EXPECT_THAT(error_of(all_four(), "a\x01"), HasSubstr("past 32 bits"));
}

TEST(Rup, RatAllowsDefinitionsOfNewVariables) {
  Cnf cnf;  // all signs of four variables
  for (int32_t bits = 0; bits < 16; ++bits) {
    const auto sign = [&](int32_t v) { return (bits >> v) % 2 == 0 ? v : -v; };
    cnf.add({sign(1), sign(2), sign(3), bits % 2 == 0 ? 4 : -4});
  }
  // 5 is the conjunction of 1 and 2, which unit propagation cannot know.
  const std::string define = "5 -1 -2 0\n-5 1 0\n-5 2 0\n";
  const std::string refute = "1 2 3 0 1 2 0 1 -2 3 0 1 -2 0 1 0 -2 3 0 -2 0 3 0\n";
  const Result<CheckedProof> checked = check_proof(cnf, define + refute, "p.drat");
  ASSERT_TRUE(checked.ok()) << checked.error().text();
  EXPECT_EQ(checked->by_rat, 3U);
  // Only on the first literal.
  EXPECT_THAT(error_of(formula({{1, 2}}), "3 -1 0\n"), HasSubstr("ends before"));
  EXPECT_THAT(error_of(formula({{1, 2}}), "-1 3 0\n"), HasSubstr("`-1 3 0` does not follow"));
  // A unit that RAT allowed stands against its negation.
  EXPECT_THAT(error_of(formula({{1, 2}}), "1 0\n-2 0\n2 0\n"),
              StartsWith("p.drat:3: the clause `2 0`"));
}

TEST(Rup, WhatUnitsDecidedStaysWhenTheyAreDeleted) {
  const Cnf cnf = formula({{1}, {-1, 2}, {-2, 3, 4}, {-3, 4}, {-4, 5}, {-4, -5}});
  EXPECT_EQ(error_of(cnf, "d 1 0\nd -1 2 0\n4 0\n"), "no error");
  EXPECT_THAT(error_of(cnf, "d 1 0\n-1 0\n"), StartsWith("p.drat:2: the clause `-1 0`"));
}

TEST(Rup, ChecksWhatCadicalWrites) {
  size_t refuted = 0;
  for (uint64_t seed = 0; seed < 6000 / kPartOfWork; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto variables = static_cast<int32_t>(3 + below(random, 40));
    const auto clauses = static_cast<uint32_t>(variables) * (3 + below(random, 4));
    const std::string proof = proof_of(random_formula(random, variables, clauses, 3));
    if (proof.empty()) continue;
    ++refuted;
    Random again(seed);
    below(again, 40);
    below(again, 4);
    ASSERT_EQ(error_of(random_formula(again, variables, clauses, 3), proof), "no error");
  }
  EXPECT_GT(refuted, 3000U / kPartOfWork);
}

TEST(Rup, ChecksHardProofsAndFindsWhatIsMissing) {
  for (const int32_t pigeons : {5, 6, 7, 8}) {
    const Cnf cnf = pigeon_holes(pigeons);
    const std::string proof = proof_of(cnf);
    ASSERT_EQ(error_of(cnf, proof), "no error");
    // Of a formula that has a model, nothing can be refuted.
    Cnf fewer;
    for (size_t i = 1; i < cnf.size(); ++i) fewer.add(cnf[i]);
    ASSERT_NE(error_of(fewer, proof), "no error");
  }
  Random random(1);
  const Cnf hard = random_3sat(random, 150, 900);
  const std::string proof = proof_of(hard);
  ASSERT_NE(proof, "");
  EXPECT_EQ(error_of(hard, proof), "no error");
}

TEST(Rup, KeepsToItsLimits) {
  Interrupt interrupt = true;
  const Result<CheckedProof> checked =
      check_proof(all_four(), "1 0\n", "p.drat", {.interrupt = &interrupt});
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().kind, ErrorKind::Limit);
}

}  // namespace
}  // namespace xlog::solve
