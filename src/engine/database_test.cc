#include "engine/database.h"

#include <gtest/gtest.h>

#include <map>

#include "plan/estimate.h"

namespace xlog::engine {
namespace {

// `xlog explain --stage plan` shows the plan of a run only where both see the same sizes.
TEST(Database, FactsHaveTheSizesThatThePlanWasExplainedWith) {
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", R"(
    pred small(u32, u32). small(0..9, 0..99).
    pred sparse(u32, symbol). sparse(7, a). sparse(1000000, b). sparse(3, a).
    pred other(i64, f64, bool). other(1..20, 0.5, true). other(-3, 1.5, false).
    pred far(i64, i64). far(-50..49, 0..9).
    flag. empty(X) :- small(X, X), flag, sparse(X, _), other(_, _, true).
  )");
  std::optional<lang::Program> program = lang::load(*file, session);
  ASSERT_TRUE(program);
  const std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  ASSERT_TRUE(analysis);
  Result<std::unique_ptr<device::Device>> device = device::open_device("interp");
  ASSERT_TRUE(device.ok()) << device.error().text();
  relation::Machine machine(**device, relation::form_for(**device));
  Database database(machine, *program, session.names);
  plan::Estimates estimates(*program, *analysis);
  for (uint32_t c = 0; c < analysis->components.size(); ++c) {
    estimates.begin(c);
    if (!analysis->components[c].rules.empty()) continue;
    for (const lang::PredId pred : analysis->components[c].predicates) {
      ASSERT_TRUE(database.load_facts(pred).ok());
      ASSERT_TRUE(database[pred].next_round().ok());
      ASSERT_TRUE(database[pred].finish().ok());
      Result<plan::Statistics> known = database.statistics(pred);
      ASSERT_TRUE(known.ok()) << known.error().text();
      const std::string name = lang::predicate_signature((*program)[pred], session.names);
      EXPECT_EQ(estimates[pred].rows, known->rows) << name;
      known->distinct.resize((*program)[pred].columns.size());  // `flag` has a cell of its own
      EXPECT_EQ(estimates[pred].distinct, known->distinct) << name;
    }
  }
}

// Numbers that are close together are counted, others sorted; an index has its own table.
TEST(Database, DegreesAreThoseOfTheRows) {
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", R"(
    pred dense(u32, u32). dense(0, 0..99). dense(1..9, 3). dense(17, 4..6).
    pred sparse(u32, i64). sparse(4000000000, -5..5). sparse(7, 1). sparse(8, 1).
    pred one(f64, symbol). one(0.5, a). one(-0.5, a). one(0.5, b).
    ?- dense(X, Y).
  )");
  std::optional<lang::Program> program = lang::load(*file, session);
  ASSERT_TRUE(program);
  const std::map<std::string, std::vector<std::string>> wanted = {
      {"dense/2",
       {"11 values: 9 in 1 row, 1 in 2 to 3 rows, 1 in 64 to 127 rows",
        "100 values: 96 in 1 row, 3 in 2 to 3 rows, 1 in 8 to 15 rows"}},
      {"sparse/2",
       {"3 values: 2 in 1 row, 1 in 8 to 15 rows", "11 values: 10 in 1 row, 1 in 2 to 3 rows"}},
      {"one/2",
       {"2 values: 1 in 1 row, 1 in 2 to 3 rows", "2 values: 1 in 1 row, 1 in 2 to 3 rows"}}};
  for (const char* name : {"interp", "oracle", "cpu"}) {
    Result<std::unique_ptr<device::Device>> device = device::open_device(name);
    ASSERT_TRUE(device.ok()) << device.error().text();
    relation::Machine machine(**device, relation::form_for(**device));
    Database database(machine, *program, session.names);
    for (uint32_t p = 0; p < program->predicates.size(); ++p) {
      const std::string signature =
          lang::predicate_signature(program->predicates[p], session.names);
      const auto found = wanted.find(signature);
      if (found == wanted.end()) continue;
      relation::Relation& relation = database[{p}];
      ASSERT_TRUE(database.load_facts({p}).ok());
      ASSERT_TRUE(relation.next_round().ok());
      ASSERT_TRUE(relation.finish().ok());
      for (const bool indexed : {false, true}) {
        for (uint32_t c = 0; c < 2; ++c) {
          if (indexed) {
            ASSERT_TRUE(relation.index({c}).ok());
          }
          Result<std::optional<plan::Degrees>> degrees = relation.degrees(c);
          ASSERT_TRUE(degrees.ok() && degrees->has_value()) << name << " " << signature;
          EXPECT_EQ(plan::to_text(**degrees), found->second[c]) << name << " " << signature;
          EXPECT_EQ((*degrees)->rows, relation.rows());
          if (signature == "dense/2" && c == 0) {
            EXPECT_EQ((*degrees)->squares, 100.0 * 100 + 9 + 9);
          }
        }
      }
    }
  }
}

TEST(Database, ASampleOfRepeatedValuesHasSeenThemAll) {
  using plan::distinct_from_sample;
  EXPECT_EQ(distinct_from_sample(10, 100, 100), 10u);
  EXPECT_EQ(distinct_from_sample(100, 100, 5000), 5000u);  // all differ
  EXPECT_LT(distinct_from_sample(10, 1000, 100'000), 30u);
}

// Rows that have no columns are counted all the same.
TEST(Database, ManyRowsWithoutColumnsAreRefusedAndNotCountedFromTheStartAgain) {
  Result<std::unique_ptr<device::Device>> device = device::open_device("interp");
  ASSERT_TRUE(device.ok()) << device.error().text();
  relation::Machine machine(**device, relation::form_for(**device));
  lang::Type number;
  number.kind = lang::TypeKind::U32;
  relation::Relation pairs(machine, "pairs/2", {number, number});
  ASSERT_TRUE(pairs.add_forgotten(UINT32_MAX - 1).ok());
  ASSERT_TRUE(pairs.add_forgotten(1).ok());
  const Status full = pairs.add_forgotten(1);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().message, "more than 4294967295 rows");
  EXPECT_EQ(pairs.stored(), UINT32_MAX);
}

}  // namespace
}  // namespace xlog::engine
