#include "solve/aspif.h"

#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "solve/stable_testing.h"

namespace xlog::solve {
namespace {

GroundProgram read(std::string_view text) {
  auto result = read_aspif(text, "test.lp");
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text());
  return result.ok() ? result->program : GroundProgram();
}

std::string error_of(std::string_view text) {
  auto result = read_aspif(text, "test.lp");
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? "" : result.error().message;
}

TEST(Aspif, ReadsWhatGringoPrints) {
  const GroundProgram program = read(R"(asp 1 0 0
10 a comment
5 1 2
1 0 1 3 0 1 1
3 1 5
1 0 2 6 7 0 1 5
1 0 0 0 2 -8 -5
1 0 1 11 1 3 3 5 2 8 1 -10 1
1 1 2 5 8 0 0
2 1 2 8 -2 -5 3
6 2 5 -8
4 1 a 1 5
4 6 t(a,b) 2 5 -8
4 0  0
0
)");
  EXPECT_EQ(program.atoms(), 11);
  ASSERT_EQ(program.rules(), 5u);
  EXPECT_EQ(program.rule(1).head.size(), 2u);
  EXPECT_TRUE(program.rule(2).head.empty());
  const Rule weighted = program.rule(3);
  EXPECT_TRUE(weighted.weighted);
  EXPECT_EQ(weighted.bound, 3);
  EXPECT_EQ(std::vector(weighted.body.begin(), weighted.body.end()),
            (std::vector<Literal>{5, 8, -10}));
  EXPECT_EQ(std::vector(weighted.weights.begin(), weighted.weights.end()),
            (std::vector<int64_t>{2, 1, 1}));
  EXPECT_EQ(program.rule(4).head_kind, HeadKind::Choice);
  ASSERT_EQ(program.externals.size(), 1u);
  EXPECT_EQ(program.externals[0].value, ExternalValue::False);
  EXPECT_EQ(program.projection, (std::vector<Atom>{5}));
  EXPECT_EQ(program.assumptions, (std::vector<Literal>{5, -8}));
  ASSERT_EQ(program.shown.size(), 3u);
  EXPECT_EQ(program.shown[1].text, "t(a,b)");
  EXPECT_EQ(program.name(5), "a");
  ASSERT_EQ(program.minimize.size(), 1u);
  EXPECT_EQ(program.minimize[0].literals[1], (WeightedLiteral{-5, 3}));
}

TEST(Aspif, TextsMayHoldAnyBytes) {
  GroundProgram program;
  program.add_rule(HeadKind::Choice, {1}, {});
  program.shown.push_back({"two\nlines \xff 0", {1}});
  EXPECT_EQ(read(write_aspif(program)), program);
  // Lines are still counted.
  EXPECT_EQ(error_of("asp 1 0 0\n4 3 a\nb 1 1\nx\n"),
            "test.lp:4: expected a statement, which starts with its number, found `x`");
}

TEST(Aspif, WindowsLineEndsAreFine) {
  EXPECT_EQ(read("asp 1 0 0\r\n1 0 1 1 0 0\r\n0\r\n").rules(), 1u);
}

TEST(Aspif, HeuristicsGetANote) {
  auto result = read_aspif("asp 1 0 0\n7 0 1 2 3 0\n0\n", "test.lp");
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->notes.size(), 1u);
  EXPECT_EQ(result->notes[0],
            "1 heuristic statements were left out; they do not change the models");
}

TEST(Aspif, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(error_of(""), "test.lp:1: a ground program starts with `asp 1 0 0`");
  EXPECT_EQ(error_of("a :- b.\n"), "test.lp:1: a ground program starts with `asp 1 0 0`");
  EXPECT_EQ(error_of("asp 2 0 0\n0\n"),
            "test.lp:1: `asp 2 0 0`: only version 1 of the format can be read");
  EXPECT_EQ(error_of("asp 1 0 0 incremental\n0\n"),
            "test.lp:1: the program is in several steps (incremental)");
  EXPECT_EQ(error_of("asp 1 0 0\n"), "test.lp:2: the text ends without the line `0`");
  EXPECT_EQ(error_of("asp 1 0 0\n0\n0\n"), "test.lp:3: text after the line `0`");
  EXPECT_EQ(error_of("asp 1 0 0\n1 0 1 1 0 1\n0\n"),
            "test.lp:2: expected a literal, the line ends");
  EXPECT_EQ(error_of("asp 1 0 0\n1 0 1 0 0 0\n0\n"),
            "test.lp:2: expected a literal, found 0; atoms here are 1 to 67072");
  EXPECT_EQ(error_of("asp 1 0 0\n1 0 1 -1 0 0\n0\n"), "test.lp:2: expected an atom, found -1");
  EXPECT_EQ(error_of("asp 1 0 0\n1 2 1 1 0 0\n0\n"),
            "test.lp:2: expected the kind of the head, 0 (disjunction) or 1 (choice), found 2");
  EXPECT_EQ(error_of("asp 1 0 0\n1 0 1 1 0 0 5\n0\n"),
            "test.lp:2: expected the end of the line, found `5`");
  EXPECT_EQ(error_of("asp 1 0 0\n1 0 1 1 1 1 1 2 -4\n0\n"),
            "test.lp:2: expected a weight that is not negative, found -4");
  EXPECT_EQ(error_of("asp 1 0 0\n2 0 1 1 99999999999999999999\n0\n"),
            "test.lp:2: expected a weight, found `99999999999999999999`: it does not fit in 64 "
            "bits");
  EXPECT_EQ(error_of("asp 1 0 0\n1 0 1 1 1 1 2 2 9223372036854775807 3 1\n0\n"),
            "test.lp:2: the weights of the body add up to more than 63 bits hold");
  EXPECT_EQ(error_of("asp 1 0 0\n1 0 1 500000000 0 0\n0\n"),
            "test.lp:2: expected a literal, found 500000000; atoms here are 1 to 67584");
  EXPECT_EQ(error_of("asp 1 0 0\n4 1000 a 1 1\n0\n"),
            "test.lp:2: a text of 1000 bytes, but only 8 are left");
  EXPECT_EQ(error_of("asp 1 0 0\n8 0 1 0\n0\n"),
            "test.lp:2: acyclicity edges (`#edge`) cannot be solved");
  EXPECT_EQ(error_of("asp 1 0 0\n9 0 1 2\n0\n"), "test.lp:2: theory atoms cannot be solved");
  EXPECT_EQ(error_of("asp 1 0 0\n11 0\n0\n"), "test.lp:2: there is no statement 11");
  EXPECT_EQ(error_of("asp 1 0 0\n1 0 99999999999 1\n0\n"),
            "test.lp:2: expected a literal, the line ends");
}

TEST(Aspif, WritingAndReadingGiveTheSameProgram) {
  for (uint32_t seed = 1; seed <= 500 / kPartOfWork; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    GroundProgram program = random_program(random, {.atoms = 9, .rules = 12});
    program.add_rule(HeadKind::Choice, {9}, {});
    program.minimize.push_back({static_cast<int64_t>(random() % 5) - 2, {{1, 3}, {-2, -7}}});
    program.shown.push_back({"a b", {1, -2}});
    program.externals.push_back({3, static_cast<ExternalValue>(random() % 4)});
    program.assumptions = {4, -5};
    program.projection = std::vector<Atom>{1, 2};
    const std::string text = write_aspif(program);
    const GroundProgram again = read(text);
    ASSERT_EQ(again, program) << text;
    ASSERT_EQ(write_aspif(again), text);
  }
}

}  // namespace
}  // namespace xlog::solve
