// Queries over Z-sets as plans on a device, against the reference evaluator.
#include "kernel/zset_plan.h"

#include <random>
#include <set>

#include "device/plan_fixture.h"
#include "kernel/zset_random.h"
#include "kernel/zset_reference.h"
#include "kernel/zset_rules.h"

namespace xlog::device {
namespace {

using kernel::Fold;
using kernel::Graph;
using kernel::Id;
using kernel::RandomZSets;
using kernel::RowBuilder;
using kernel::Scalar;
using kernel::Type;
using kernel::Values;
using kernel::ZRow;
using kernel::ZSet;
using kernel::ZSets;
using kernel::ZState;

std::vector<PlanValue> upload_zset(Device& device, const kernel::Schema& schema, const ZSet& set) {
  std::vector<PlanValue> columns;
  for (size_t c = 0; c <= schema.size(); ++c) {
    const Type type = c < schema.size() ? schema[c] : Type::I64;
    std::vector<std::byte> bytes(set.size() * size_of(type));
    std::byte* at = bytes.data();
    for (const auto& [row, weight] : set) {
      store_scalar(c < schema.size() ? row[c] : kernel::Scalar::i64(weight), at);
      at += size_of(type);
    }
    Result<Column> column = upload(device, type, bytes);
    EXPECT_TRUE(column.ok());
    columns.emplace_back(*column);
  }
  return columns;
}

// Rows come back in order, each once, without weights of zero; the map shows only the first.
ZSet download_zset(Device& device, const kernel::Schema& schema,
                   std::span<const PlanValue> columns) {
  std::vector<std::vector<std::byte>> bytes;
  for (const PlanValue& column : columns) {
    bytes.push_back(*download(device, std::get<Column>(column)));
  }
  ZSet set;
  const size_t count = bytes.back().size() / 8;
  for (size_t r = 0; r < count; ++r) {
    ZRow row;
    for (size_t c = 0; c < schema.size(); ++c) {
      row.push_back(kernel::load_scalar(schema[c], &bytes[c][r * size_of(schema[c])]));
    }
    const int64_t weight = kernel::load_scalar(Type::I64, &bytes.back()[r * 8]).as_i64();
    EXPECT_NE(weight, 0);
    EXPECT_TRUE(set.empty() || kernel::ZRowLess()(set.rbegin()->first, row));
    set[row] = weight;
  }
  return set;
}

ZSet leaf_value(const ZSets& zsets, Id leaf, const ZState& state) {
  return *evaluate_zset(zsets, leaf, state);
}

// A query on a device, compiled once.
class DeviceQuery {
 public:
  DeviceQuery(Device& device, ZSets& zsets, Id query, const kernel::PlanTarget& target)
      : device_(device), zsets_(zsets), query_(query) {
    plan_ = zset_plan(zsets, "query", {query});
    Result<PlanRunner> runner = make_runner(device, zsets.graph(), plan_.plan, target);
    EXPECT_TRUE(runner.ok()) << runner.error().text();
    runner_ = std::make_unique<PlanRunner>(std::move(*runner));
  }

  Result<ZSet> run(const ZState& state) {
    std::vector<PlanValue> arguments;
    for (Id leaf : plan_.leaves) {
      for (PlanValue& column :
           upload_zset(device_, zsets_.schema(leaf), leaf_value(zsets_, leaf, state))) {
        arguments.push_back(std::move(column));
      }
    }
    Result<std::vector<PlanValue>> results = runner_->run(arguments);
    if (!results.ok()) return results.error();
    return download_zset(device_, zsets_.schema(query_), *results);
  }

 private:
  Device& device_;
  ZSets& zsets_;
  Id query_;
  kernel::ZSetPlan plan_;
  std::unique_ptr<PlanRunner> runner_;
};

class ZSetPlanTest : public PlanTest {};

INSTANTIATE_TEST_SUITE_P(Devices, ZSetPlanTest, ::testing::ValuesIn(plan_settings()),
                         ::testing::PrintToStringParamName());

void expect_same(const Result<ZSet>& got, const Result<ZSet>& want) {
  ASSERT_TRUE(got.ok()) << got.error().text();
  ASSERT_TRUE(want.ok());
  EXPECT_TRUE(*got == *want);
}

// A stream of updates through the plan of the incremental query; the query itself now and then.
TEST_P(ZSetPlanTest, RandomQueriesFollowTheReference) {
  const uint64_t seeds = GetParam().device == "interp" && !GetParam().target.groups ? 60 : 6;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Graph graph;
    RandomZSets r(graph, seed, seed % 3 == 0 ? Type::F64 : Type::I64);
    const Id query = r.query(1 + static_cast<int>(seed % 4));
    SCOPED_TRACE(r.zsets.text(query));
    const std::set<Id> kept = seed % 2 == 0 ? std::set<Id>() : worth_keeping(r.zsets, query);
    const Id change = incremental(r.zsets, query, kept);
    DeviceQuery whole(*device, r.zsets, query, GetParam().target);
    DeviceQuery step(*device, r.zsets, change, GetParam().target);
    ZState state;
    ZSet answer = *evaluate_zset(r.zsets, query, state);
    for (int k = 0; k < 3; ++k) {
      for (Id input : r.inputs) state.change[input] = r.update(k == 1 ? 24 : 4);
      const Result<ZSet> delta = step.run(state);
      expect_same(delta, evaluate_zset(r.zsets, change, state));
      if (HasFatalFailure()) return;
      answer = *add_zsets(answer, *delta);
      for (Id input : r.inputs) {
        state.before[input] = *add_zsets(state.before[input], state.change[input]);
      }
      state.change.clear();
      expect_same(whole.run(state), answer);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(ZSetPlanTest, InsertThenRetractLeavesNothing) {
  Graph graph;
  RandomZSets r(graph, 77, Type::F64);
  const Id query = r.zsets.aggregate(Fold::Add, 1, r.zsets.join(1, r.inputs[0], r.inputs[1]));
  DeviceQuery step(*device, r.zsets, incremental(r.zsets, query), GetParam().target);
  ZState state;
  for (Id input : r.inputs) {
    for (int k = 0; k < 30; ++k) state.before[input][r.row()] = 1;
  }
  ZSet update;
  for (uint32_t key = 0; key < 4; ++key) update[{Scalar::u32(key), Scalar::f64(0.1)}] = 1;
  state.change[r.inputs[0]] = update;
  const Result<ZSet> there = step.run(state);
  ASSERT_TRUE(there.ok()) << there.error().text();
  EXPECT_FALSE(there->empty());
  state.before[r.inputs[0]] = *add_zsets(state.before[r.inputs[0]], update);
  for (auto& [row, weight] : state.change[r.inputs[0]]) weight = -weight;
  const Result<ZSet> back = step.run(state);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_TRUE(add_zsets(*there, *back)->empty());
}

// Float sums are no group: what was added cannot be subtracted again. The plan folds what is left.
TEST_P(ZSetPlanTest, FloatSumsAreFoldedAgainNotSubtracted) {
  Graph graph;
  ZSets z(graph);
  const Id x = z.input("x", {Type::U32, Type::F64});
  const Id total = z.aggregate(Fold::Add, 1, x);
  auto row = [](double v) { return ZRow{Scalar::u32(1), Scalar::f64(v)}; };
  ZState state;
  state.before[x] = {{row(1.0), 1}, {row(1e16), 1}};
  state.change[x] = {{row(1e16), -1}};
  ASSERT_NE((1.0 + 1e16) - 1e16, 1.0);
  DeviceQuery step(*device, z, incremental(z, total), GetParam().target);
  expect_same(step.run(state), ZSet{{row(1.0), 1}, {row(1.0 + 1e16), -1}});
}

TEST_P(ZSetPlanTest, CountsAreSumsOfOnes) {
  Graph graph;
  ZSets z(graph);
  const Id x = z.input("x", {Type::U32, Type::U32});
  const Id ones = z.flat_map(x, [](RowBuilder& b, const Values& row) {
    b.emit({row[0], row[1], b.number(Type::U64, 1)});
  });
  const Id count = z.aggregate(Fold::Add, 1, ones);
  ZState state;
  for (uint32_t v = 0; v < 300; ++v) {
    state.before[x][{Scalar::u32(v % 7 == 0 ? 1u : 2u), Scalar::u32(v)}] = 1 + v % 2;
  }
  DeviceQuery whole(*device, z, count, GetParam().target);
  expect_same(whole.run(state), ZSet{{{Scalar::u32(1), Scalar::u64(43)}, 1},
                                     {{Scalar::u32(2), Scalar::u64(257)}, 1}});
}

TEST_P(ZSetPlanTest, WeightsThatDoNotFitAreErrors) {
  Graph graph;
  ZSets z(graph);
  const Id x = z.input("x", {Type::U32});
  const ZRow row = {Scalar::u32(1)};
  auto run_on = [&](Id query, int64_t weight) {
    ZState state;
    state.before[x][row] = weight;
    return DeviceQuery(*device, z, query, GetParam().target).run(state);
  };
  const Id twice = z.plus(x, x);
  expect_same(run_on(twice, INT64_MAX / 2), ZSet{{row, INT64_MAX - 1}});
  expect_same(run_on(twice, -INT64_MAX / 2), ZSet{{row, -INT64_MAX + 1}});
  EXPECT_FALSE(run_on(twice, INT64_MAX / 2 + 1).ok());
  EXPECT_FALSE(run_on(twice, INT64_MIN / 2).ok()) << "INT64_MIN has no negative: it is no weight";
  expect_same(run_on(z.negate(x), -INT64_MAX), ZSet{{row, INT64_MAX}});
  // The sum fits although a part of it does not: the order of addition must not matter.
  expect_same(run_on(z.plus(twice, z.negate(x)), INT64_MAX), ZSet{{row, INT64_MAX}});
  const Id square = z.join(1, x, x);
  expect_same(run_on(square, int64_t{3037000499}), ZSet{{row, 9223372030926249001}});
  EXPECT_FALSE(run_on(square, int64_t{3037000500}).ok());
  EXPECT_FALSE(run_on(square, -INT64_MAX).ok());
  // An input that a caller should not have given is no reason to wrap.
  const kernel::ZSetPlan plan = zset_plan(z, "negate", {z.negate(x)});
  Result<PlanRunner> runner = make_runner(*device, graph, plan.plan, GetParam().target);
  ASSERT_TRUE(runner.ok());
  EXPECT_FALSE(runner->run(upload_zset(*device, {Type::U32}, {{row, INT64_MIN}})).ok());
}

TEST_P(ZSetPlanTest, NearTheLimitsPlanAndReferenceAgree) {
  constexpr int64_t kWeights[] = {
      INT64_MAX, INT64_MAX - 1, INT64_MAX / 2, INT64_MAX / 2 + 1, int64_t{1} << 32, 3037000499, 2,
      1};
  const uint64_t seeds = GetParam().device == "interp" && !GetParam().target.groups ? 200 : 12;
  int errors = 0;
  int stricter = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Graph graph;
    RandomZSets r(graph, seed, Type::I64);
    Id query = r.query(1 + static_cast<int>(seed % 4));
    if (seed % 3 == 0) query = incremental(r.zsets, query);
    const std::string text = r.zsets.text(query);
    SCOPED_TRACE(text);
    DeviceQuery plan(*device, r.zsets, query, GetParam().target);
    for (int step = 0; step < 4; ++step) {
      ZState state;
      for (Id input : r.inputs) {
        for (auto* part : {&state.before, &state.change}) {
          for (int k = 0; k < 3; ++k) {
            const int64_t weight = kWeights[r.pick(std::size(kWeights))];
            (*part)[input][r.row()] = r.pick(2) == 0 ? weight : -weight;
          }
        }
        // What a leaf holds fits.
        if (!add_zsets(state.before[input], state.change[input]).ok()) state.change.erase(input);
      }
      const Result<ZSet> want = evaluate_zset(r.zsets, query, state);
      const Result<ZSet> got = plan.run(state);
      errors += want.ok() ? 0 : 1;
      if (got.ok()) {
        ASSERT_TRUE(want.ok()) << "only the reference refuses this";
        ASSERT_TRUE(*got == *want);
        continue;
      }
      EXPECT_NE(got.error().message.find("does not fit"), std::string::npos);
      if (!want.ok()) continue;
      ++stricter;
      ASSERT_NE(text.find("(join"), std::string::npos) << "only the plan refuses this";
    }
  }
  if (seeds > 100) {
    EXPECT_GT(errors, 50);
    EXPECT_GT(stricter, 0);
  }
}

// A product that does not fit and is taken away again: the difference that docs/zsets.md names.
TEST_P(ZSetPlanTest, APlanLooksAtEachProduct) {
  Graph graph;
  ZSets z(graph);
  const Id x = z.input("x", {Type::U32});
  const Id square = z.join(1, x, x);
  const Id nothing = z.plus(square, z.negate(square));
  ZState state;
  state.before[x][{Scalar::u32(1)}] = INT64_MAX;
  EXPECT_TRUE(evaluate_zset(z, nothing, state).ok());
  EXPECT_FALSE(DeviceQuery(*device, z, nothing, GetParam().target).run(state).ok());
}

TEST_P(ZSetPlanTest, ColumnsAndWeightsHaveOneLength) {
  Graph graph;
  ZSets z(graph);
  const Id x = z.input("x", {Type::U32, Type::U32});
  const kernel::ZSetPlan plan = zset_plan(z, "id", {z.distinct(x)});
  Result<PlanRunner> runner = make_runner(*device, graph, plan.plan, GetParam().target);
  ASSERT_TRUE(runner.ok());
  auto run = [&](size_t a, size_t b, size_t weights) {
    return runner->run(std::vector<PlanValue>{
        to_device(*device, std::vector<uint32_t>(a)), to_device(*device, std::vector<uint32_t>(b)),
        to_device(*device, std::vector<int64_t>(weights, 1))});
  };
  EXPECT_TRUE(run(1, 1, 1).ok());
  for (const auto& fails : {run(2, 1, 1), run(1, 2, 1), run(1, 1, 2)}) {
    ASSERT_FALSE(fails.ok());
    EXPECT_EQ(fails.error().message, "plan id: columns of unequal length in the Z-set x (check 4)");
  }
}

}  // namespace
}  // namespace xlog::device
