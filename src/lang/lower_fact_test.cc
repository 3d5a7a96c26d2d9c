#include "lang/lower_fixture.h"

namespace xlog::lang {
namespace {

TEST(Facts, AllFormsEndInTheTable) {
  Lowered low(
      "p(1, a). p(2, b). p(1 + 2, \"B c\"). p(-4, f(x, [1])). p(5, [a, b]). r :- p(1, a). p(6, "
      "c).");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.facts("p/2"), "(1, a) (2, b) (6, c) (3, \"B c\") (-4, f(x, [1])) (5, [a, b])");
}

TEST(Facts, Intervals) {
  Lowered low("#const n = 3.\np(1..n, a, 0..1). q(n..1). s(2..2). t(-1..n - 3).");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.facts("p/3"), "(1, a, 0) (1, a, 1) (2, a, 0) (2, a, 1) (3, a, 0) (3, a, 1)");
  EXPECT_EQ(low.facts("q/1"), "none");
  EXPECT_EQ(low.facts("s/1"), "(2)");
  EXPECT_EQ(low.facts("t/1"), "(-1) (0)");
}

TEST(Facts, IntervalErrors) {
  EXPECT_EQ(Lowered("p(1..a).").codes(), "E0209");
  EXPECT_EQ(Lowered("p(1..2.5).").codes(), "E0209");
  EXPECT_EQ(Lowered("p(1..X).").codes(), "E0208");
  EXPECT_EQ(Lowered("p(1..10000001).").codes(), "E0702");
  EXPECT_EQ(Lowered("p(1..10000, 1..10000).").codes(), "E0702");
  EXPECT_EQ(Lowered("p(-9223372036854775808..9223372036854775807).").codes(), "E0702");
  EXPECT_EQ(Lowered("p(1..100000, 1..0).").codes(), "");
}

TEST(Facts, MustBeGround) {
  EXPECT_EQ(Lowered("p(X).").codes(), "E0208");
  EXPECT_EQ(Lowered("p(_).").codes(), "E0208");
  EXPECT_EQ(Lowered("p(f(a, [X])).").codes(), "E0208");
}

TEST(Facts, CastMakesARule) {
  Lowered low("p(cast(1, u64), 2).");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(), "p(_1, 2) :- _1 = cast(1, u64).\n");
}

TEST(Facts, PlacesOfRows) {
  Lowered low("p(1). p(2).\np(3 + 4). p(8..9).\nr :- p(1).\np(5).");
  const FactTable& table = *low.find("p/1")->facts;
  ASSERT_EQ(table.rows, 6u);
  const auto text = [&](size_t row) {
    const Span span = fact_span(table, row, low.session.sources);
    return low.session.sources.place(span);
  };
  EXPECT_EQ(low.facts("p/1"), "(1) (2) (5) (7) (8) (9)");
  EXPECT_EQ(text(1).line, 1u);
  EXPECT_EQ(text(2).line, 4u);
  EXPECT_EQ(text(3).line, 2u);
  EXPECT_EQ(text(3).column, 1u);
  EXPECT_EQ(text(5).line, 2u);
  EXPECT_EQ(text(5).column, 11u);
}

TEST(Facts, TablesAreMoved) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "p(" + std::to_string(i) + ").\n";
  Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", text);
  Module main = parse(*file, session.names.symbols, session.diagnostics);
  ASSERT_EQ(main.facts.size(), 1u);
  const uint32_t* before = main.facts[0].columns[0].narrow().data();
  LinkedModules modules;
  ASSERT_TRUE(link(std::move(main), session, {}, modules));
  const std::optional<Program> program = lower(std::move(modules), session, {});
  EXPECT_EQ(program->predicates[0].facts->columns[0].narrow().data(), before);
  EXPECT_EQ(program->predicates[0].facts->rows, 100000u);
}

TEST(Facts, StrongNegationIsAnotherTable) {
  Lowered low("p(1). -p(2). -p(1 + 2).");
  EXPECT_EQ(low.facts("p/1"), "(1)");
  EXPECT_EQ(low.facts("-p/1"), "(2) (3)");
}

}  // namespace
}  // namespace xlog::lang
