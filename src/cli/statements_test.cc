#include "cli/statements.h"

#include <gtest/gtest.h>

namespace xlog::cli {
namespace {

using Texts = std::vector<std::string>;

Texts texts(std::string_view typed) {
  Texts all;
  const TypedText split = split_statements(typed);
  for (const TypedStatement& s : split.statements)
    all.push_back((s.is_query ? "query " : "") + s.text);
  if (!split.rest.empty()) all.push_back("rest " + split.rest);
  return all;
}

TEST(Statements, EndAtTheirPeriod) {
  EXPECT_EQ(texts(""), Texts{});
  EXPECT_EQ(texts("  // nothing\n"), Texts{});
  EXPECT_EQ(texts("p(1). q(X) :- p(X).\n?- q(X).\n"),
            (Texts{"p(1).", "q(X) :- p(X).", "query ?- q(X)."}));
  EXPECT_EQ(texts("p(1). q(X) :-"), (Texts{"p(1).", "rest q(X) :-"}));
}

TEST(Statements, NotAtOtherPeriods) {
  EXPECT_EQ(texts("p(1.5, \"a. b\", 1..3) /* . */ ."), (Texts{"p(1.5, \"a. b\", 1..3) /* . */ ."}));
  EXPECT_EQ(texts("p // a. b\n."), (Texts{"p // a. b\n."}));
}

TEST(Statements, PragmasEndWithTheirLine) {
  EXPECT_EQ(texts("#pragma epistemic_mode = g91\np.\n"),
            (Texts{"#pragma epistemic_mode = g91\n", "p."}));
  EXPECT_EQ(texts("#pragma epistemic_mode = g91\n"), (Texts{"#pragma epistemic_mode = g91\n"}));
  EXPECT_EQ(texts("#pragma epistemic_mode = g91."), (Texts{"#pragma epistemic_mode = g91."}));
  EXPECT_EQ(texts("#pragma epistemic_mode"), (Texts{"rest #pragma epistemic_mode"}));
}

TEST(Statements, OpenComment) { EXPECT_EQ(texts("p. /* q. \n"), (Texts{"p.", "rest  /* q. \n"})); }

}  // namespace
}  // namespace xlog::cli
