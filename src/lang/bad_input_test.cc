// Whatever the bytes, the parser ends soon and says something sensible.
#include <gtest/gtest.h>

#include "lang/syntax_fixture.h"

namespace xlog::lang {
namespace {

void expect_codes(const std::string& text, const std::vector<std::string_view>& codes) {
  for (const bool bulk : {true, false}) {
    const Parsed parsed(text, {.bulk_facts = bulk});
    std::vector<std::string_view> found;
    for (const Diagnostic& d : parsed.diagnostics.all()) found.push_back(code_info(d.code).name);
    EXPECT_EQ(found, codes) << text.substr(0, 80);
  }
}

constexpr size_t kDeep = 100'000;

TEST(BadInput, DeepNestingIsOneError) {
  expect_codes("p(" + repeat("(", kDeep) + "1" + repeat(")", kDeep) + ").", {"E0109"});
  expect_codes("p(" + repeat("[", kDeep) + repeat("]", kDeep) + ").", {"E0109"});
  expect_codes("p(" + repeat("f(", kDeep) + "a" + repeat(")", kDeep) + ").", {"E0109"});
  expect_codes("p(" + repeat("-", kDeep) + "X).", {"E0109"});
  expect_codes("p :- " + repeat("not ", kDeep) + "q.", {"E0109"});
  expect_codes("p :- " + repeat("X = count : { ", kDeep) + "q" + repeat(" }", kDeep) + ".",
               {"E0109"});
  expect_codes("pred p(" + repeat("list<", kDeep) + "u32" + repeat(">", kDeep) + ").", {"E0109"});
  expect_codes("func f(X) = " + repeat("if X < 1 then 2 else ", kDeep) + "3.", {"E0109"});
  expect_codes("func f(X) = " + repeat("if ", kDeep) + "3.", {"E0109"});
  expect_codes("p(" + repeat("[a | ", kDeep) + "b" + repeat("]", kDeep) + ").", {"E0109"});
}

TEST(BadInput, LongOperatorChainsAreOneError) {
  expect_codes("p(" + repeat("1+", kDeep) + "1).", {"E0109"});
  expect_codes("p(" + repeat("X*", kDeep) + "1).", {"E0109"});
  expect_codes("p :- X = " + repeat("1-", kDeep) + "1.", {"E0109"});
}

TEST(BadInput, DeepNestingWithoutItsEnd) {
  expect_codes("p" + repeat("(", kDeep), {"E0109"});
  expect_codes("p(" + repeat("(", kDeep), {"E0109"});
  expect_codes("p(" + repeat("[", kDeep), {"E0109"});
  expect_codes(repeat("{", kDeep), {"E0107"});
  expect_codes(repeat("f(", kDeep), {"E0109"});
  expect_codes(repeat("-", kDeep), {"E0109"});
  expect_codes("p :- " + repeat("not ", kDeep), {"E0109"});
}

TEST(BadInput, NestingUpToTheLimitIsFine) {
  const size_t depth = ast::kMaxDepth - 2;
  expect_codes("p(" + repeat("f(", depth) + "a" + repeat(")", depth) + ").", {});
  expect_codes("p(" + repeat("(", depth) + "1" + repeat(")", depth) + ").", {});
  expect_codes("p(" + repeat("1+", depth) + "1).", {});
  expect_codes("p :- " + repeat("not ", depth) + "q.", {});
}

TEST(BadInput, LongFlatThingsAreFine) {
  expect_codes("p :- q" + repeat(", q", kDeep) + ".", {});
  expect_codes("p([1" + repeat(", 1", kDeep) + "]).", {});
  expect_codes("p(1" + repeat(", 1", kDeep) + ").", {});
  expect_codes("a" + repeat(" ; a", kDeep) + ".", {});
  expect_codes("{ a" + repeat(" ; a", kDeep) + " }.", {});
}

TEST(BadInput, TenMegabytesOnOneLine) {
  constexpr size_t kBytes = 10'000'000;
  expect_codes(std::string(kBytes, ' '), {});
  expect_codes(std::string(kBytes, 'a') + ".", {});
  expect_codes("p(\"" + std::string(kBytes, 'x') + "\").", {});
  expect_codes("// " + std::string(kBytes, 'x'), {});
  EXPECT_TRUE(Parsed(repeat("p(1). ", kBytes / 6), ParseOptions{}).errors().empty());
  expect_codes(repeat("p(1). ", kDeep), {});
  expect_codes("p(" + std::string(kBytes, '9') + ").", {"E0106"});
  expect_codes("p(0." + std::string(kBytes, '9') + ").", {});
  expect_codes("p(\"" + std::string(kBytes, 'x'), {"E0103"});
  expect_codes("/*" + std::string(kBytes, '*'), {"E0104"});
  expect_codes(std::string(kBytes, '.'), {"E0107"});
  expect_codes(std::string(kBytes, '\0'), {"E0102"});
  expect_codes(std::string(kBytes, '@'), {"E0102"});
}

TEST(BadInput, ManyErrorsEndSoon) {
  for (const char* piece : {"p(1 2).\n", "p(1 2) ", "%\n", "\" ", "\"\n", "@ ", "Edge(1).\n", ") ",
                            "p(\n", ":- ", "' ", "é\n", "p\n", "#x ", "1 ", "\x01 ", "/ ", ". "}) {
    const Parsed parsed(repeat(piece, 500'000), ParseOptions{});
    EXPECT_TRUE(parsed.diagnostics.has_errors()) << piece;
    EXPECT_LE(parsed.diagnostics.all().size(), Diagnostics::kMaxErrors) << piece;
  }
}

TEST(BadInput, EveryPrefixOfAProgramEnds) {
  const std::string text =
      "#pragma epistemic_mode = faeel\n#const n = 5. /* c */ use a/b::{x}. domain d : u32. private "
      "pred p(list<u32>, n: d).\n"
      "func f(X: d) -> d = if X < 1 then [X | \"\\u{41}\"] else -f(X). 1 { p(X) : q(X) ; r } 2 :- "
      "not know not s.\n"
      "0.3::a ; 0.7::b. nn(m, [X], Y, [0]) :: e(X, Y). trainable_rule(t, weight=0.5) :: a :- N = "
      "sum X : { p(X) }.\n"
      "query(a). evidence(-a, true). ?- T =.. L, X is 1e-3 + 0xff. -p(1, -2.5, \"x\"). // end";
  EXPECT_TRUE(Parsed(text).errors().empty());
  for (size_t n = 0; n <= text.size(); ++n) {
    for (const bool bulk : {true, false}) {
      const Parsed parsed(text.substr(0, n), {.bulk_facts = bulk, .keep_comments = true});
      EXPECT_LE(parsed.errors().size(), 2u) << text.substr(0, n);
    }
  }
}

TEST(BadInput, RandomBytesEnd) {
  uint64_t state = 42;
  const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += static_cast<char>(next() >> 56);
    const Parsed parsed(text, ParseOptions{});
    EXPECT_TRUE(parsed.diagnostics.has_errors());
  }
}

}  // namespace
}  // namespace xlog::lang
