#include <gtest/gtest.h>

#include "base/diagnostic.h"

namespace xlog {
namespace {

TEST(Suggest, FindsTheNearest) {
  EXPECT_EQ(did_you_mean("egde", {"node", "edge", "wedge"}), "edge");
  EXPECT_EQ(did_you_mean("parents", {"parent", "grandparent"}), "parent");
  EXPECT_EQ(did_you_mean("U32", {"u64", "u32"}), "u32");
  EXPECT_EQ(did_you_mean("ancester", {"ancestor"}), "ancestor");
}

TEST(Suggest, FirstOfEquallyNear) { EXPECT_EQ(did_you_mean("cat", {"bat", "hat"}), "bat"); }

TEST(Suggest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(did_you_mean("edge", {"safe", "person"}), std::nullopt);
  EXPECT_EQ(did_you_mean("p", {"q", "r"}), std::nullopt);
  EXPECT_EQ(did_you_mean("edge", {"edge"}), std::nullopt);
  EXPECT_EQ(did_you_mean("edge", {}), std::nullopt);
  EXPECT_EQ(did_you_mean("", {"a", ""}), std::nullopt);
}

TEST(Suggest, HugeNamesCostNothing) {
  const std::string huge(1'000'000, 'a'), other = huge + "b";
  EXPECT_EQ(did_you_mean(huge, {other}), std::nullopt);
}

}  // namespace
}  // namespace xlog
