#include "solve/dimacs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "solve/random_formula.h"

namespace xlog::solve {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Cnf cnf_of(std::string_view text) {
  Result<Cnf> cnf = read_cnf(text, "f.cnf");
  EXPECT_TRUE(cnf.ok()) << (cnf.ok() ? "" : cnf.error().text());
  return cnf.ok() ? *cnf : Cnf();
}

WeightedCnf weighted_of(std::string_view text) {
  Result<WeightedCnf> cnf = read_weighted_cnf(text, "f.wcnf");
  EXPECT_TRUE(cnf.ok()) << (cnf.ok() ? "" : cnf.error().text());
  return cnf.ok() ? *cnf : WeightedCnf();
}

// The message; the way out must be there too.
std::string error_of(std::string_view text) {
  Result<Cnf> cnf = read_cnf(text, "f.cnf");
  if (cnf.ok()) return "no error";
  EXPECT_NE(cnf.error().help, "");
  return cnf.error().message;
}

std::string weighted_error_of(std::string_view text) {
  Result<WeightedCnf> cnf = read_weighted_cnf(text, "f.wcnf");
  if (cnf.ok()) return "no error";
  EXPECT_NE(cnf.error().help, "");
  return cnf.error().message;
}

TEST(Dimacs, ReadsWhatSolversCommonlyTake) {
  Cnf wanted;
  wanted.need_variables(4);
  wanted.add({1, -2});
  wanted.add({3});
  EXPECT_EQ(cnf_of("p cnf 4 2\n1 -2 0\n3 0\n"), wanted);
  EXPECT_EQ(cnf_of("c one\nc\np cnf 4 2\nc two\n1\n -2 0 3\nc inside\n0"), wanted);
  EXPECT_EQ(cnf_of("p  cnf\t4 2\r\n1 -2 0\r\n  c indented\r\n3 0\r\n"), wanted);
  EXPECT_EQ(cnf_of("p cnf 4 2\n1 -2 0\n3 0\n%\n0\n\n"), wanted);
  wanted.add(std::span<const Literal>());
  EXPECT_EQ(cnf_of("p cnf 4 3 1 -2 0 3 0 0"), wanted);
  EXPECT_EQ(cnf_of("p cnf 0 0\n"), Cnf());
}

TEST(Dimacs, HugeHeadersTakeNoMemory) {
  EXPECT_EQ(cnf_of("p cnf 2147483646 0\n").variables(), 2147483646);
  EXPECT_THAT(error_of("p cnf 2147483646 18446744073709551615\n1 0\n"),
              StartsWith("f.cnf:3: 1 clauses where the header says 18446744073709551615"));
  EXPECT_THAT(error_of("p cnf 2147483647 1\n"), StartsWith("f.cnf:1: 2147483647 variables"));
  EXPECT_THAT(error_of("p cnf 99999999999999999999 1\n"), HasSubstr("is past 64 bits"));
  EXPECT_THAT(error_of("p cnf 1 99999999999999999999\n"), HasSubstr("is past 64 bits"));
}

TEST(Dimacs, SaysAtWhichLineATextIsWrong) {
  EXPECT_THAT(error_of(""), StartsWith("f.cnf:1: there is no formula"));
  EXPECT_THAT(error_of("c\n1 2 0\n"), StartsWith("f.cnf:2: `1` where the header should be"));
  EXPECT_THAT(error_of("p cnf\n"), StartsWith("f.cnf:2: the text ends where"));
  EXPECT_THAT(error_of("p cnf 2\n1 0\n"), StartsWith("f.cnf:1: the header goes on"));
  EXPECT_THAT(error_of("p dnf 1 1\n"), StartsWith("f.cnf:1: the header cannot be read"));
  EXPECT_THAT(error_of("p wcnf 1 1 3\n"), HasSubstr("in the form `wcnf`"));
  EXPECT_THAT(error_of("p cnf -1 1\n"), HasSubstr("`-1` where a number of variables"));
  EXPECT_THAT(error_of("p cnf 3 1\n\n1 -4 0\n"), StartsWith("f.cnf:3: literal `-4` is beyond"));
  EXPECT_THAT(error_of("p cnf 3 2\n1 0\n1 2\n3\n"),
              StartsWith("f.cnf:3: the clause that begins here does not end with 0"));
  EXPECT_THAT(error_of("p cnf 3 1\n1 x 0\n"), StartsWith("f.cnf:2: `x` where a literal"));
  EXPECT_THAT(error_of("p cnf 3 1\n1 2x 0\n"), StartsWith("f.cnf:2: `2x` where a literal"));
  EXPECT_THAT(error_of("p cnf 3 1\n1 -0 0\n"), StartsWith("f.cnf:2: `-0` where a literal"));
  EXPECT_THAT(error_of("p cnf 3 1\n1 - 0\n"), StartsWith("f.cnf:2: `-` where a literal"));
  EXPECT_THAT(error_of("p cnf 3 1\n1 \x1b[31m 0\n"), HasSubstr("\\x1b"));
  EXPECT_THAT(error_of("p cnf 3 1\n1 0\n2 0\n"), StartsWith("f.cnf:3: a clause more than the 1"));
  EXPECT_THAT(error_of("p cnf 3 3\n1 0\n2 0\n"), StartsWith("f.cnf:4: 2 clauses where"));
  EXPECT_THAT(error_of("p cnf 2147483646 1\n2147483647 0\n"), HasSubstr("is no literal"));
  EXPECT_THAT(error_of("p cnf 2147483646 1\n-99999999999999999999 0\n"),
              HasSubstr("is no literal"));
}

TEST(Dimacs, ReadsBothWeightedForms) {
  WeightedCnf wanted;
  wanted.hard.need_variables(3);
  wanted.hard.add({1, -2});
  wanted.soft.add({2, 3});
  wanted.soft.add({-3});
  wanted.weights = {4, 6};
  EXPECT_EQ(weighted_of("c\np wcnf 3 3 10\n10 1 -2 0\n4 2 3 0\n6 -3 0\n"), wanted);
  EXPECT_EQ(weighted_of("c\nh 1 -2 0\n4 2 3 0\nc\n6 -3 0\n"), wanted);
  EXPECT_EQ(weighted_of("4 2 3 0\nh 1 -2\n 0\n0 1 0\n6 -3 0"), wanted);
  const WeightedCnf all_soft = weighted_of("p wcnf 2 2\n10 1 0\n1 2 0\n");
  EXPECT_EQ(all_soft.hard.size(), 0U);
  EXPECT_EQ(all_soft.weights, (std::vector<uint64_t>{10, 1}));
  EXPECT_EQ(weighted_of("h 0\n3 0\n").soft.size(), 1U);
  EXPECT_EQ(weighted_of("").variables(), 0);
}

TEST(Dimacs, WeightsStayWithin64Bits) {
  EXPECT_EQ(weighted_of("18446744073709551615 1 0\n").weights[0], UINT64_MAX);
  EXPECT_THAT(weighted_error_of("1 1 0\n18446744073709551616 1 0\n"),
              StartsWith("f.wcnf:2: the weight 18446744073709551616 is past 64 bits"));
  EXPECT_THAT(weighted_error_of("18446744073709551615 1 0\nh 2 0\n1 1 0\n"),
              StartsWith("f.wcnf:3: the weights of the soft clauses add up"));
  EXPECT_THAT(weighted_error_of("p wcnf 1 1 18446744073709551616\n"), HasSubstr("past 64 bits"));
  EXPECT_THAT(weighted_error_of("-3 1 0\n"), StartsWith("f.wcnf:1: `-3` where a clause"));
  EXPECT_THAT(weighted_error_of("1.5 1 0\n"), StartsWith("f.wcnf:1: `1.5` where a weight"));
  EXPECT_THAT(weighted_error_of("p wcnf 1 1 5\nh 1 0\n"), HasSubstr("`h` where a weight"));
  EXPECT_THAT(weighted_error_of("h 1 2\n"), HasSubstr("does not end with 0"));
  EXPECT_THAT(weighted_error_of("p cnf 1 1\n1 0\n"), HasSubstr("in the form `cnf`"));
  EXPECT_THAT(weighted_error_of("p wcnf 1 2 5\n5 1 0\n"), HasSubstr("1 clauses where"));
}

TEST(Dimacs, WhatIsWrittenIsReadBack) {
  for (uint64_t seed = 0; seed < 500 / kPartOfWork; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Cnf cnf =
        random_formula(random, 1 + static_cast<int32_t>(below(random, 30)), below(random, 40), 5);
    EXPECT_EQ(cnf_of(cnf_text(cnf)), cnf);
    WeightedCnf weighted{cnf, {}, {}};
    for (uint32_t i = below(random, 20); i > 0; --i) {
      weighted.soft.add(random_clause(random, cnf.variables(), 4));
      weighted.weights.push_back(1 + (random() >> (5 + below(random, 58))));
    }
    EXPECT_EQ(weighted_of(*old_weighted_cnf_text(weighted)), weighted);
    const WeightedCnf again = weighted_of(weighted_cnf_text(weighted));
    EXPECT_EQ(again.soft, weighted.soft);
    EXPECT_EQ(again.weights, weighted.weights);
    EXPECT_EQ(weighted_cnf_text(again), weighted_cnf_text(weighted));
  }
}

TEST(Dimacs, TheOldFormHasNoRoomAboveTheLargestWeight) {
  WeightedCnf cnf;
  cnf.soft.add({1});
  cnf.weights = {UINT64_MAX};
  EXPECT_FALSE(old_weighted_cnf_text(cnf).ok());
  cnf.soft.add({2});
  cnf.weights = {UINT64_MAX - 1, 1};
  EXPECT_EQ(weighted_of(*old_weighted_cnf_text(cnf)).weights, cnf.weights);
}

}  // namespace
}  // namespace xlog::solve
