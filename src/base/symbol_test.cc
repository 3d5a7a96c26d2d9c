#include "base/symbol.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace xlog {
namespace {

TEST(Interner, GivesEachTextOneSymbolAndKeepsItInPlace) {
  Interner names;
  std::vector<std::string_view> views;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20000; ++i) {
      const Symbol s = names.intern("name" + std::to_string(i));
      if (round == 0) views.push_back(names.text(s));
      EXPECT_EQ(names.text(s).data(), views[static_cast<size_t>(i)].data());
    }
  }
  EXPECT_EQ(names.size(), 20001u);  // and the empty text
  EXPECT_TRUE(names.intern("").empty());
}

TEST(Interner, KeepsLongTexts) {
  Interner names;
  const std::string text(1'000'000, 'x');
  const Symbol s = names.intern(text);
  names.intern("short");
  EXPECT_EQ(names.text(s), text);
  EXPECT_EQ(names.intern(text), s);
}

TEST(Interner, ManyAtOnceAreTheSameAsOneByOne) {
  Interner one_by_one;
  Interner together;
  std::vector<std::string> texts;
  for (int i = 0; i < 100'000; ++i) texts.push_back("name" + std::to_string(i * 7919 % 60'000));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  std::vector<Symbol> symbols(views.size());
  together.intern_all(views, symbols);
  for (size_t i = 0; i < views.size(); ++i) ASSERT_EQ(symbols[i], one_by_one.intern(views[i]));
  EXPECT_EQ(together.size(), one_by_one.size());
}

}  // namespace
}  // namespace xlog
