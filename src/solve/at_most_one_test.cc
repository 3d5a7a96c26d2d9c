#include "solve/at_most_one.h"

#include <gtest/gtest.h>

namespace xlog::solve {
namespace {

TEST(UnitPropagation, FollowsChainsAndForgetsThem) {
  UnitPropagation propagation(5);
  propagation.add(std::vector<Literal>{-1, 2});
  propagation.add(std::vector<Literal>{-1, -2, 3});
  propagation.add(std::vector<Literal>{-4, -3, 5});
  propagation.add(std::vector<Literal>{-4, -5, -3});
  ASSERT_TRUE(propagation.probe(1));
  EXPECT_EQ(std::vector(propagation.implied().begin(), propagation.implied().end()),
            (std::vector<Literal>{1, 2, 3}));
  ASSERT_TRUE(propagation.probe(4));
  propagation.add(std::vector<Literal>{3, 3});
  EXPECT_FALSE(propagation.probe(4));
  EXPECT_FALSE(propagation.contradiction());
  propagation.add(std::vector<Literal>{4});
  EXPECT_TRUE(propagation.contradiction());
}

TEST(AtMostOne, FindsGroupsAndWhatCannotHold) {
  UnitPropagation propagation(7);
  for (Literal a = 1; a <= 4; ++a) {
    for (Literal b = 1; b < a; ++b) propagation.add(std::vector<Literal>{-a, -b});
  }
  propagation.add(std::vector<Literal>{-5, 7});  // 5 and 6 exclude each other through 7
  propagation.add(std::vector<Literal>{-7, -6});
  propagation.add(std::vector<Literal>{5, 6, 1});
  const std::vector<Literal> literals{1, 2, 3, 4, 5, 6, -7};
  const Exclusions exclusions(literals, propagation, 1000);
  EXPECT_TRUE(exclusions.impossible().empty());
  EXPECT_TRUE(exclusions.exclude(5, 6));
  EXPECT_TRUE(exclusions.exclude(6, 5));
  EXPECT_FALSE(exclusions.exclude(4, 5));
  EXPECT_EQ(exclusions.groups(std::vector<Literal>{4, 6, 2, 5, 1}),
            (std::vector<std::vector<Literal>>{{4, 2, 1}, {6, 5}}));
  EXPECT_TRUE(exclusions.groups(std::vector<Literal>{1, 5}).empty());
}

}  // namespace
}  // namespace xlog::solve
