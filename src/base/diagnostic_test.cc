#include "base/diagnostic.h"

#include <gtest/gtest.h>

#include <set>

namespace xlog {
namespace {

TEST(Diagnostics, CodesAreUniqueAndFound) {
  std::set<std::string_view> seen;
  for (const CodeInfo& info : all_codes()) {
    EXPECT_TRUE(seen.insert(info.name).second) << info.name;
    EXPECT_EQ(find_code(info.name), info.code);
    EXPECT_EQ(code_info(info.code).name, info.name);
    EXPECT_FALSE(info.title.empty());
    EXPECT_FALSE(info.text.empty());
    EXPECT_EQ(info.name[0] == 'E', info.severity == Severity::Error) << info.name;
  }
  EXPECT_EQ(find_code("e0412"), Code::ConflictingColumnTypes);
  EXPECT_EQ(find_code("E9999"), std::nullopt);
  EXPECT_EQ(find_code(""), std::nullopt);
}

TEST(Diagnostics, CountsErrorsAndNotWarnings) {
  Diagnostics diagnostics;
  diagnostics.report(Code::UndefinedPredicate, {}, "a warning");
  EXPECT_FALSE(diagnostics.has_errors());
  Diagnostic& error = diagnostics.report(Code::TypeMismatch, {1, 2}, "an error");
  error.label({3, 4}, "here").note("a note").help("a help").at("there");
  EXPECT_TRUE(diagnostics.has_errors());
  ASSERT_EQ(diagnostics.all().size(), 2u);
  EXPECT_EQ(diagnostics.all()[1].labels[0].text, "here");
  EXPECT_EQ(diagnostics.all()[1].help_text, "a help");
  diagnostics.clear();
  EXPECT_TRUE(diagnostics.all().empty());
  EXPECT_FALSE(diagnostics.has_errors());
}

TEST(Diagnostics, KeepsOnlySoManyErrorsButEveryWarning) {
  Diagnostics diagnostics;
  for (size_t i = 0; i < Diagnostics::kMaxErrors + 37; ++i) {
    diagnostics.report(Code::TypeMismatch, {1, 2}, "error").note("a note");
  }
  diagnostics.report(Code::DivisionByZero, {}, "warning");
  EXPECT_TRUE(diagnostics.full());
  EXPECT_EQ(diagnostics.error_count(), Diagnostics::kMaxErrors + 37);
  EXPECT_EQ(diagnostics.all().size(), Diagnostics::kMaxErrors + 1);
}

TEST(Diagnostics, OrderIsByPlaceThenAsReported) {
  Diagnostics diagnostics;
  diagnostics.report(Code::CannotReadFile, {}, "nowhere");
  diagnostics.report(Code::TypeMismatch, {9, 10}, "late");
  diagnostics.report(Code::TypeMismatch, {2, 3}, "early");
  diagnostics.report(Code::UnknownType, {2, 5}, "early too");
  std::vector<std::string> messages;
  for (const Diagnostic* d : in_order_of_place(diagnostics)) messages.push_back(d->message);
  EXPECT_EQ(messages, (std::vector<std::string>{"early", "early too", "late", "nowhere"}));
}

}  // namespace
}  // namespace xlog
