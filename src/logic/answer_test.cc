#include "logic/answer.h"

#include <gtest/gtest.h>

namespace xlog::logic {
namespace {

TEST(Answer, SpellingsAreThoseOfTheContract) {
  EXPECT_EQ(spelling(Mode::G91), "g91");
  EXPECT_EQ(spelling(Mode::Faeel), "faeel");
  EXPECT_EQ(spelling(Mode::Faeel19), "faeel19");
  EXPECT_EQ(spelling(RowStatus::Known), "known");
  EXPECT_EQ(spelling(RowStatus::Possible), "possible");
  EXPECT_EQ(spelling(RowStatus::True), "true");
  EXPECT_EQ(spelling(RowStatus::Undefined), "undefined");
}

}  // namespace
}  // namespace xlog::logic
