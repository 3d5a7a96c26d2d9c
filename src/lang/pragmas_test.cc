#include "lang/pragmas.h"

#include <gtest/gtest.h>

#include "lang/lower_fixture.h"

namespace xlog::lang {
namespace {

TEST(Pragmas, Defaults) {
  const Pragmas pragmas;
  EXPECT_EQ(pragmas.epistemic_mode, "faeel");
  EXPECT_EQ(pragmas.max_recursion_depth, 1000u);
  EXPECT_EQ(pragmas.prob_confidence, 0.95);
  EXPECT_EQ(all_pragmas().size(), 11u);
  EXPECT_EQ(all_pragmas()[0].initial, "faeel");
}

TEST(Pragmas, SetEachKind) {
  Lowered low(
      "#pragma epistemic_mode = g91\n#pragma prob_samples = 5\n#pragma prob_confidence = "
      "0.5\np(1).");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.program->pragmas.epistemic_mode, "g91");
  EXPECT_EQ(low.program->pragmas.prob_samples, 5u);
  EXPECT_EQ(low.program->pragmas.prob_confidence, 0.5);
}

TEST(Pragmas, UnknownKeyIsSuggested) {
  Lowered low("#pragma epistemic_mod = g91\np(1).");
  EXPECT_EQ(low.codes(), "E0202");
  EXPECT_NE(low.first().help_text.find("epistemic_mode"), std::string::npos);
}

TEST(Pragmas, ValuesAreChecked) {
  EXPECT_EQ(Lowered("#pragma epistemic_mode = maybe\np(1).").codes(), "E0203");
  EXPECT_EQ(Lowered("#pragma prob_samples = 0\np(1).").codes(), "E0203");
  EXPECT_EQ(Lowered("#pragma epistemic_mode = g91\n#pragma epistemic_mode = faeel\np(1).").codes(),
            "E0205");
  EXPECT_EQ(Lowered("#pragma epistemic_mode = g91\n#pragma epistemic_mode = g91\np(1).").codes(),
            "");
  EXPECT_EQ(Lowered("#pragma prob_samples = many\np(1).").codes(), "E0203");
  EXPECT_EQ(Lowered("#pragma prob_confidence = 1.5\np(1).").codes(), "E0203");
  EXPECT_EQ(Lowered("#pragma prob_seed = 0\np(1).").codes(), "");
}

}  // namespace
}  // namespace xlog::lang
