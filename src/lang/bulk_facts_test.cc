#include "lang/bulk_facts.h"

#include <gtest/gtest.h>

#include "lang/syntax_fixture.h"

namespace xlog::lang {
namespace {

struct Bulk : Parsed {
  explicit Bulk(std::string text) : Parsed(std::move(text), ParseOptions{}) {}

  // "p/2 x 3" for a run of three facts, "-" for any other statement.
  std::vector<std::string> runs() const {
    std::vector<std::string> out;
    for (const ast::Statement& statement : module.statements) {
      const auto* run = std::get_if<ast::FactRun>(&statement.node);
      if (run == nullptr) {
        out.push_back("-");
        continue;
      }
      const FactTable& table = module.facts[run->table];
      out.push_back(std::string(table.strong_negation ? "-" : "") +
                    std::string(names.text(table.name)) + "/" + std::to_string(table.arity) +
                    " x " + std::to_string(run->rows));
    }
    return out;
  }

  std::string place(size_t table, size_t row) const {
    return std::string(sources.text(fact_span(module.facts[table], row, sources)));
  }
};

using Runs = std::vector<std::string>;

TEST(BulkFacts, PutsPlainFactsIntoColumns) {
  const Bulk bulk("edge(1,2).\nedge( 3 , 4 ) .\nedge(5,\n6).");
  EXPECT_EQ(bulk.runs(), Runs{"edge/2 x 3"});
  const FactTable& table = bulk.module.facts[0];
  EXPECT_EQ(table.rows, 3u);
  EXPECT_EQ(table.columns[0].form(), ColumnForm::Nat32);
  EXPECT_EQ(table.columns[1].at(2), Value::i64(6));
}

TEST(BulkFacts, KnowsEveryKindOfConstant) {
  Bulk bulk(
      "p(0, -1, 4294967296, 18446744073709551615, 1.5, -0.25, abc, \"x y\", \"\", 007, 1.5e3, "
      "-9223372036854775808).");
  ASSERT_EQ(bulk.runs(), Runs{"p/12 x 1"});
  const auto& columns = bulk.module.facts[0].columns;
  const auto symbol = [&](std::string_view text) { return Value::symbol(bulk.names.intern(text)); };
  const Value expected[] = {Value::i64(0),          Value::i64(-1),   Value::i64(4294967296),
                            Value::u64(UINT64_MAX), Value::f64(1.5),  Value::f64(-0.25),
                            symbol("abc"),          symbol("x y"),    symbol(""),
                            Value::i64(7),          Value::f64(1500), Value::i64(INT64_MIN)};
  for (size_t i = 0; i < columns.size(); ++i) EXPECT_EQ(columns[i].at(0), expected[i]) << i;
}

TEST(BulkFacts, KeepsPredicatesApart) {
  const Bulk bulk("p. p(). p(1). -p(1). p(1, 2). q(1). p(2).");
  EXPECT_EQ(bulk.runs(), (Runs{"p/0 x 2", "p/1 x 2", "-p/1 x 1", "p/2 x 1", "q/1 x 1"}));
}

TEST(BulkFacts, OtherStatementsEndARun) {
  const Bulk bulk("p(1). p(2). r :- p(X). p(3). p(f(a)). p(4).");
  EXPECT_EQ(bulk.runs(), (Runs{"p/1 x 2", "-", "p/1 x 1", "-", "p/1 x 1"}));
  EXPECT_EQ(bulk.module.facts[0].runs.size(), 3u);
}

TEST(BulkFacts, RunsSpanTheirFacts) {
  const Bulk bulk(" p(1). q(2). p(3).  r :- s. ");
  EXPECT_EQ(bulk.sources.text(bulk.module.statements[0].span), "p(1). q(2). p(3).");
  EXPECT_EQ(bulk.sources.text(bulk.module.statements[1].span), "q(2).");
}

TEST(BulkFacts, LeavesTheRestToTheParser) {
  for (const char* text : {
           "p(X).",   "p(f(a)).",   "p([1]).", "p(1..5).",  "p(0xff).",           "p(1_000).",
           "p(1e9).", "p(1.5e-3).", "p(- 1).", "p(1 + 2).", "p(\"a\\n\").",       "p(a) :- q.",
           "p ; q.",  "0.5::p.",    "{ p }.",  "query(a).", "evidence(a, true).", "p( /* c */ 1).",
           "p(_).",   "?- p(1).",   "-(p).",   "p((1)).",
       }) {
    const Bulk bulk(text);
    EXPECT_TRUE(bulk.errors().empty()) << text;
    EXPECT_EQ(bulk.runs(), Runs{"-"}) << text;
    EXPECT_TRUE(bulk.module.facts.empty()) << text;
  }
}

TEST(BulkFacts, AppendsNothingOfABrokenFact) {
  const Bulk bulk("p(1, 2). p(3, 4 5). p(6, not). p(7, 8). p(9, 1)..");
  EXPECT_EQ(bulk.module.facts.size(), 1u);
  EXPECT_EQ(bulk.module.facts[0].rows, 2u);
  EXPECT_EQ(bulk.module.facts[0].columns[0].size(), 2u);
  EXPECT_EQ(bulk.module.facts[0].columns[1].at(1), Value::i64(8));
  EXPECT_EQ(bulk.errors().size(), 3u);
}

TEST(BulkFacts, AQuotedNameIsNeverAConstant) {
  EXPECT_EQ(Bulk("p(n). p(\"n\").").runs(), Runs{"p/1 x 2"});
  EXPECT_EQ(Bulk("#const n = 5. p(n). p(\"n\"). p(\"N n\").").runs(),
            (Runs{"-", "p/1 x 1", "-", "p/1 x 1"}));
}

TEST(BulkFacts, ReadsAcrossComments) {
  const Bulk bulk("p(1). // one\n/* two */ p(2).\n// three\np(3). /");
  EXPECT_EQ(bulk.runs(), Runs{"p/1 x 3"});
  EXPECT_EQ(bulk.errors(), std::vector<std::string>{"E0107 4:7"});
}

TEST(BulkFacts, FindsThePlaceOfARow) {
  const Bulk bulk("p(1). q(\"p(9).\"). /* p(8). */ p( 2 ).\nr :- s.\n-p(1). p(3). // p(7).\np(4).");
  EXPECT_EQ(bulk.place(0, 0), "p(1).");
  EXPECT_EQ(bulk.place(0, 1), "p( 2 ).");
  EXPECT_EQ(bulk.place(0, 2), "p(3).");
  EXPECT_EQ(bulk.place(0, 3), "p(4).");
  EXPECT_EQ(bulk.place(1, 0), "q(\"p(9).\").");
  EXPECT_EQ(bulk.place(2, 0), "-p(1).");
}

TEST(BulkFacts, FindsThePlaceOfARowAmongMany) {
  constexpr size_t kFacts = 50'000;
  std::string text;
  for (size_t i = 0; i < kFacts; ++i)
    text += (i % 3 == 0 ? "q(" : "p(") + std::to_string(i) + ").\n";
  const Bulk bulk(text);
  EXPECT_EQ(bulk.runs().size(), 2u);
  for (const FactTable& table : bulk.module.facts) {
    EXPECT_LT(table.runs.size(), 20u);
    for (size_t row = 0; row < table.rows; row += 997) {
      const std::string expected = std::string(bulk.names.text(table.name)) + "(" +
                                   std::to_string(table.columns[0].at(row).bits) + ").";
      EXPECT_EQ(bulk.sources.text(fact_span(table, row, bulk.sources)), expected);
    }
  }
}

TEST(BulkFacts, CostsLittleMoreThanItsColumns) {
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text +=
        (i % 2 == 0 ? "edge(" : "node(") + std::to_string(i) + "," + std::to_string(i / 2) + ").";
  const Bulk bulk(text);
  size_t bytes = bulk.module.statements.capacity() * sizeof(ast::Statement);
  for (const FactTable& table : bulk.module.facts) bytes += table.bytes();
  EXPECT_LE(bytes, 100'000 * 8 * 2);
}

TEST(BulkFacts, ManyPredicatesAndSymbols) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += "pred_" + std::to_string(i % 1000) + "(s" + std::to_string(i) + ", long_symbol_" +
            std::to_string(i) + ").\n";
  }
  const Bulk bulk(text);
  ASSERT_EQ(bulk.module.facts.size(), 1000u);
  for (size_t t = 0; t < 1000; ++t) {
    const FactTable& table = bulk.module.facts[t];
    ASSERT_EQ(table.rows, 3u);
    for (size_t row = 0; row < 3; ++row) {
      const std::string number = std::to_string(t + 1000 * row);
      EXPECT_EQ(bulk.names.text(table.columns[0].at(row).as_symbol()), "s" + number);
      EXPECT_EQ(bulk.names.text(table.columns[1].at(row).as_symbol()), "long_symbol_" + number);
    }
  }
}

TEST(BulkFacts, PlaceOfARowThatAnotherStatementMade) {
  Bulk bulk("p(1..5). p(6).");
  FactTable& table = bulk.module.facts[0];
  table.runs.clear();
  table.runs.push_back({0, bulk.module.statements[0].span.begin});
  EXPECT_EQ(bulk.sources.place(fact_span(table, 3, bulk.sources)).column, 1u);
}

}  // namespace
}  // namespace xlog::lang
