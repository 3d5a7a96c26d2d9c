#include "lang/modal.h"

#include <gtest/gtest.h>

#include <string>

namespace xlog::lang {
namespace {

// "nkp": not know possible.
CollapsedPrefix of(std::string_view chain) {
  std::vector<ast::PrefixOp> prefix;
  for (const char c : chain) {
    prefix.push_back(c == 'n'   ? ast::PrefixOp::Not
                     : c == 'k' ? ast::PrefixOp::Know
                                : ast::PrefixOp::Possible);
  }
  return collapse(prefix);
}

TEST(Modal, ObjectiveNegationKeepsDoubleNegation) {
  EXPECT_EQ(of("").nots, 0);
  EXPECT_EQ(of("n").nots, 1);
  EXPECT_EQ(of("nn").nots, 2);
  EXPECT_EQ(of("nnn").nots, 1);
  EXPECT_EQ(of("nnnn").nots, 2);
  EXPECT_EQ(of("nn").modal, Modal::None);
}

TEST(Modal, SixForms) {
  EXPECT_EQ(of("k").modal, Modal::Know);
  EXPECT_EQ(of("p").modal, Modal::Possible);
  EXPECT_EQ(of("nk").modal, Modal::NotKnow);
  EXPECT_EQ(of("np").modal, Modal::NotPossible);
  EXPECT_EQ(of("nkn").modal, Modal::NotKnowNot);
  EXPECT_EQ(of("npn").modal, Modal::NotPossibleNot);
  EXPECT_EQ(of("nkn").nots, 0);
}

TEST(Modal, NotBeforeTheAtomSwaps) {
  EXPECT_EQ(of("kn").modal, Modal::NotPossible);
  EXPECT_EQ(of("pn").modal, Modal::NotKnow);
  EXPECT_EQ(of("knn").modal, Modal::NotPossibleNot);
  EXPECT_EQ(of("pnn").modal, Modal::NotKnowNot);
}

TEST(Modal, InnermostOperatorWins) {
  EXPECT_EQ(of("kp").modal, Modal::Possible);
  EXPECT_EQ(of("pk").modal, Modal::Know);
  EXPECT_EQ(of("knp").modal, Modal::NotPossible);
  EXPECT_EQ(of("nknp").modal, Modal::NotKnowNot);
  EXPECT_EQ(of("kpkkp").modal, Modal::Possible);
}

TEST(Modal, EvenNegationsAreNotFolded) {
  EXPECT_EQ(of("nnp").modal, Modal::NotKnowNot);
  EXPECT_EQ(of("nnk").modal, Modal::NotPossibleNot);
  EXPECT_EQ(of("nknn").modal, Modal::NotKnow);
}

// The truth value of every chain up to length 7, computed from the definition in a view where `p`
// is in some world but not in all: `know p` is false and `possible p` true.
TEST(Modal, TruthValueOfEveryChain) {
  const auto truth = [](std::string_view chain, bool all, bool some) {
    // State of the formula read from the inside: what `know` and `possible` of it give, until a
    // modal operator fixes it.
    bool know = all, possible = some, settled = false;
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
      if (*it == 'n') {
        const bool was_know = know;
        know = !possible;
        possible = !was_know;
      } else if (!settled) {
        const bool value = *it == 'k' ? know : possible;
        know = possible = value;
        settled = true;
      }
    }
    return possible;
  };
  const auto value_of = [](Modal modal, bool all, bool some) {
    switch (modal) {
      case Modal::Know:
      case Modal::NotPossibleNot:
        return all;
      case Modal::Possible:
      case Modal::NotKnowNot:
        return some;
      case Modal::NotKnow:
        return !all;
      default:
        return !some;
    }
  };
  for (int length = 1; length <= 7; ++length) {
    int total = 1;
    for (int i = 0; i < length; ++i) total *= 3;
    for (int code = 0; code < total; ++code) {
      std::string chain;
      for (int i = 0, c = code; i < length; ++i, c /= 3) chain += "nkp"[c % 3];
      if (chain.find_first_of("kp") == std::string::npos) continue;
      for (const auto& [all, some] : {std::pair{false, false}, {false, true}, {true, true}}) {
        EXPECT_EQ(value_of(of(chain).modal, all, some), truth(chain, all, some)) << chain;
      }
    }
  }
}

}  // namespace
}  // namespace xlog::lang
