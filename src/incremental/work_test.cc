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

Work throws(bool tired) {
  co_await rest_if(tired);
  throw 7;
}

Work catches(int& caught, bool tired) {
  try {
    co_await throws(tired);
  } catch (int thrown) {
    caught = thrown;
  }
}

TEST(Work, ThrowsToWhoWaitsForIt) {
  for (const bool tired : {false, true}) {
    int caught = 0;
    Work work = catches(caught, tired);
    while (!work.go_on()) {
    }
    EXPECT_EQ(caught, 7);
    Work bare = throws(tired);
    EXPECT_THROW(while (!bare.go_on()){}, int);
  }
}

}  // namespace
}  // namespace xlog::incremental
