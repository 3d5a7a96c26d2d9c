#include "incremental/work.h"

#include <gtest/gtest.h>

#include <string>

namespace xlog::incremental {
namespace {

struct Ending {
  std::string& text;
  ~Ending() { text += "."; }
};

Work inner(std::string& said, bool tired) {
  said += "a";
  co_await rest_if(tired);
  said += "b";
}

Work outer(std::string& said, bool tired, std::string& end) {
  const Ending ending{end};
  for (int i = 0; i < 2; ++i) {
    said += "(";
    co_await inner(said, tired);
    said += ")";
  }
  co_await rest_if(tired);
  said += "!";
}

TEST(Work, RestsWhereTheInnermostDoes) {
  std::string said, end;
  Work work = outer(said, true, end);
  EXPECT_EQ(said, "");
  EXPECT_FALSE(work.go_on());
  EXPECT_EQ(said, "(a");
  EXPECT_FALSE(work.go_on());
  EXPECT_EQ(said, "(ab)(a");
  EXPECT_FALSE(work.go_on());
  EXPECT_EQ(end, "");
  EXPECT_TRUE(work.go_on());
  EXPECT_EQ(said, "(ab)(ab)!");
  EXPECT_EQ(end, ".");
}

TEST(Work, IsDoneAtOnceWhereNothingRests) {
  std::string said, end;
  Work work = outer(said, false, end);
  EXPECT_TRUE(work.go_on());
  EXPECT_EQ(said, "(ab)(ab)!");
}

TEST(Work, LeavesNothingWhenItIsGivenUp) {
  std::string said, end;
  {
    Work work = outer(said, true, end);
    EXPECT_FALSE(work.go_on());
  }
  EXPECT_EQ(said, "(a");
  EXPECT_EQ(end, ".");
}

}  // namespace
}  // namespace xlog::incremental
