#include "engine/database.h"

#include <gtest/gtest.h>

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

TEST(Database, ASampleOfRepeatedValuesHasSeenThemAll) {
  using plan::distinct_from_sample;
  EXPECT_EQ(distinct_from_sample(10, 100, 100), 10u);
  EXPECT_EQ(distinct_from_sample(100, 100, 5000), 5000u);  // all differ
  EXPECT_LT(distinct_from_sample(10, 1000, 100'000), 30u);
}

}  // namespace
}  // namespace xlog::engine
