#include "logic/needed.h"

#include <gtest/gtest.h>

#include "logic/test_program.h"

namespace xlog::logic {
namespace {

// The rules that are left, without those of queries.
std::string left(std::string_view text, Asked asked = Asked::Worlds) {
  TestProgram test(text);
  EXPECT_TRUE(test.analysis) << test.rendered();
  if (!test.analysis) return "";
  drop_unneeded(*test.program, *test.analysis, asked);
  EXPECT_TRUE(analyze(*test.program, test.session)) << test.rendered();
  std::string rules;
  for (uint32_t r = 0; r < test.program->rules.size(); ++r) {
    if (!test.rule_text(r).starts_with("__xlog_query")) rules += test.rule_text(r) + "\n";
  }
  return rules;
}

TEST(Needed, WhatQueriesReadStays) {
  EXPECT_EQ(left("e(1, 2). p(X) :- e(X, Y). q(X) :- p(X). r(X) :- e(Y, X). ?- q(X)."),
            "p(X) :- e(X, Y).\nq(X) :- p(X).\n");
}

TEST(Needed, WhatConstraintsReadStays) {
  EXPECT_EQ(left("e(1). p(X) :- e(X). q(X) :- e(X). :- p(2). ?- e(X)."),
            "p(X) :- e(X).\n:- p(2).\n");
}

TEST(Needed, WhatSaysWhichWorldsThereAreStays) {
  EXPECT_EQ(left("e(1). p(X) :- e(X). { c(X) } :- p(X). d(X) :- c(X). n(X) :- e(X). ?- e(X)."),
            "p(X) :- e(X).\n{ c(X) } :- p(X).\nd(X) :- c(X).\n");
}

TEST(Needed, OfTheWellFoundedModelOnlyWhatIsReadStays) {
  EXPECT_EQ(left("e(1, 2). w(X) :- e(X, Y), not w(Y). n(count(X)) :- w(X). v(X) :- e(X, Y), "
                 "not v(Y). :- v(7). ?- w(1).",
                 Asked::WellFounded),
            "w(X) :- e(X, Y), not w(Y).\nv(X) :- e(X, Y), not v(Y).\n:- v(7).\n");
}

TEST(Needed, WhatEvaluatorsRefuseStays) {
  const std::string_view text = "c(1). q(1). 0.5::a(X) ; 0.5::b(X) :- c(X). ?- q(X).";
  EXPECT_NE(left(text, Asked::WellFounded), "");
  EXPECT_NE(left("c(1). q(1). 0.5::a(X) :- c(X). ?- q(X)."), "");
}

TEST(Needed, WhatAggregatesAndNegationReadStays) {
  EXPECT_EQ(left("e(1). p(X) :- e(X). q(X) :- e(X). s(X) :- e(X), not p(X), N = count : { q(Y) }, "
                 "N > 0. t(X) :- s(X). ?- s(X)."),
            "p(X) :- e(X).\nq(X) :- e(X).\ns(X) :- e(X), not p(X), N = count : { q(Y) }, N > 0.\n");
}

}  // namespace
}  // namespace xlog::logic
