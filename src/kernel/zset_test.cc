// The laws of Z-sets, and the rules that derive incremental queries, on the reference evaluator.
#include "kernel/zset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/sanitized.h"
#include "kernel/zset_random.h"
#include "kernel/zset_reference.h"
#include "kernel/zset_rules.h"

namespace xlog::kernel {
namespace {

constexpr uint64_t kSeeds = 400 / kPartOfWork;

std::string text(const ZSet& set) {
  std::string all;
  for (const auto& [row, weight] : set) {
    for (Scalar v : row) all += to_text(v) + " ";
    all += "x " + std::to_string(weight) + "\n";
  }
  return all;
}

ZSet evaluate_or_fail(const ZSets& zsets, Id node, const ZState& state) {
  Result<ZSet> value = evaluate_zset(zsets, node, state);
  EXPECT_TRUE(value.ok()) << zsets.text(node);
  return value.ok() ? *value : ZSet();
}

ZSet sum(const ZSet& a, const ZSet& b) {
  Result<ZSet> all = add_zsets(a, b);
  EXPECT_TRUE(all.ok());
  return *all;
}

ZSet negated(const ZSet& a) {
  ZSet result;
  for (const auto& [row, weight] : a) result[row] = -weight;
  return result;
}

// delta on inputs only; prev on inputs and what is kept.
void expect_pushed_down(const ZSets& zsets, Id node, const std::set<Id>& kept) {
  const Graph& graph = zsets.graph();
  const Op op = graph.op(node);
  if (op == Op::Delta || op == Op::Prev) {
    const Id of = graph.operand(node, 0);
    EXPECT_TRUE(graph.op(of) == Op::Input || (op == Op::Prev && kept.contains(of)))
        << zsets.text(node);
    return;
  }
  EXPECT_NE(op, Op::Input) << "an incremental query looks at inputs through delta and prev";
  for (Id operand : relations(graph, node)) expect_pushed_down(zsets, operand, kept);
}

// Feeds a stream of updates to a query and to its incremental form; they agree at every step.
void check_stream(uint64_t seed, Type type) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Graph graph;
  RandomZSets r(graph, seed, type);
  const Id query = r.query(1 + static_cast<int>(seed % 4));
  SCOPED_TRACE(r.zsets.text(query));
  const std::set<Id> kept = seed % 2 == 0 ? std::set<Id>() : worth_keeping(r.zsets, query);
  const Id change = incremental(r.zsets, query, kept);
  expect_pushed_down(r.zsets, change, kept);
  EXPECT_EQ(r.zsets.schema(change), r.zsets.schema(query));
  ZState state;
  ZSet answer = evaluate_or_fail(r.zsets, query, state);
  for (int step = 0; step < 6; ++step) {
    for (Id input : r.inputs) state.change[input] = r.update(4);
    const ZSet by_rules = evaluate_or_fail(r.zsets, change, state);
    const ZSet by_definition = evaluate_or_fail(r.zsets, r.zsets.delta(query), state);
    ASSERT_EQ(text(by_rules), text(by_definition)) << "step " << step;
    answer = sum(answer, by_rules);
    std::map<Id, ZSet> kept_now;
    ZState plain = state;
    for (Id sub : kept) plain.before.erase(sub);
    for (Id sub : kept) kept_now[sub] = evaluate_or_fail(r.zsets, sub, plain);
    for (Id input : r.inputs) {
      state.before[input] = sum(state.before[input], state.change[input]);
    }
    for (auto& [sub, value] : kept_now) state.before[sub] = value;
    state.change.clear();
    ASSERT_EQ(text(answer), text(evaluate_or_fail(r.zsets, query, state))) << "step " << step;
  }
}

TEST(ZSets, IncrementalQueriesFollowTheDefinition) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) check_stream(seed, Type::I64);
}

TEST(ZSets, IncrementalQueriesOverFloatsFollowTheDefinition) {
  for (uint64_t seed = 1; seed <= kSeeds / 2; ++seed) check_stream(seed, Type::F64);
}

TEST(ZSets, LinearAndBilinearLaws) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Graph graph;
    RandomZSets r(graph, seed, Type::I64);
    ZSets& z = r.zsets;
    const Id x = r.inputs[0];
    const Id y = r.inputs[1];
    const ZSet a = r.update(8), b = r.update(8), c = r.update(8);
    auto value = [&](Id node, const ZSet& vx, const ZSet& vy) {
      ZState state;
      state.before[x] = vx;
      state.before[y] = vy;
      return evaluate_or_fail(z, node, state);
    };
    const Id doubled = z.flat_map(x, [](RowBuilder& k, const Values& row) {
      k.emit(row);
      k.emit({row[0], row[1] * row[1]});
    });
    for (Id linear : {doubled, z.negate(x), z.plus(x, x)}) {
      EXPECT_EQ(value(linear, sum(a, b), {}), sum(value(linear, a, {}), value(linear, b, {})));
    }
    const Id join = z.join(1, x, y);
    EXPECT_EQ(value(join, sum(a, b), c), sum(value(join, a, c), value(join, b, c)));
    EXPECT_EQ(value(join, c, sum(a, b)), sum(value(join, c, a), value(join, c, b)));
    EXPECT_EQ(value(z.distinct(z.distinct(x)), a, {}), value(z.distinct(x), a, {}));
    EXPECT_EQ(value(z.plus(x, z.negate(x)), a, {}), ZSet());
  }
}

TEST(ZSets, RetractionUndoesInsertionAndBatchesCommute) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Graph graph;
    RandomZSets r(graph, seed, seed % 2 == 0 ? Type::I64 : Type::F64);
    const Id query = r.query(3);
    SCOPED_TRACE(r.zsets.text(query));
    const Id change = incremental(r.zsets, query);
    const Id input = r.inputs[0];
    auto apply = [&](ZState& state, ZSet& answer, const ZSet& update) {
      state.change[input] = update;
      answer = sum(answer, evaluate_or_fail(r.zsets, change, state));
      state.before[input] = sum(state.before[input], update);
      state.change.clear();
    };
    ZState start;
    for (Id each : r.inputs) start.before[each] = r.update(6);
    const ZSet first = evaluate_or_fail(r.zsets, query, start);
    const ZSet a = r.update(4), b = r.update(4);
    ZState one = start, other = start;
    ZSet x = first, y = first;
    apply(one, x, a);
    apply(one, x, b);
    apply(other, y, b);
    apply(other, y, a);
    EXPECT_EQ(text(x), text(y));
    apply(one, x, negated(b));
    apply(one, x, negated(a));
    EXPECT_EQ(text(x), text(first));
  }
}

TEST(ZSets, WeightsThatDoNotFitAreErrors) {
  Graph graph;
  ZSets z(graph);
  const Id x = z.input("x", {Type::U32});
  ZState state;
  state.before[x][{Scalar::u32(1)}] = INT64_MAX;
  EXPECT_TRUE(evaluate_zset(z, x, state).ok());
  EXPECT_FALSE(evaluate_zset(z, z.plus(x, x), state).ok());
  EXPECT_FALSE(evaluate_zset(z, z.join(1, x, x), state).ok());
  EXPECT_TRUE(evaluate_zset(z, z.plus(x, z.negate(x)), state).ok());
  state.before[x][{Scalar::u32(1)}] = INT64_MIN;
  EXPECT_FALSE(evaluate_zset(z, z.negate(x), state).ok());
}

TEST(ZSets, TextShowsAttributesAndTheLogSaysWhichRulesFired) {
  Graph graph;
  ZSets z(graph);
  const Id edge = z.input("edge", {Type::U32, Type::U32});
  const Id query = z.aggregate(Fold::Max, 1, z.distinct(z.join(1, edge, edge)));
  EXPECT_EQ(z.text(query), "(aggregate max 1 (distinct (join 1 edge edge)))");
  std::vector<ZSetRewrite> log;
  const Id change = incremental(z, z.join(1, edge, z.negate(edge)), {}, &log);
  EXPECT_EQ(z.text(change),
            "(plus (plus (join 1 (delta edge) (negate (prev edge)))"
            " (join 1 (prev edge) (negate (delta edge))))"
            " (join 1 (delta edge) (negate (delta edge))))");
  std::vector<std::string_view> names;
  for (const ZSetRewrite& each : log) names.push_back(each.rule);
  EXPECT_EQ(names, (std::vector<std::string_view>{"delta-join", "prev-negate", "delta-negate"}));
}

TEST(ZSets, EveryRuleFires) {
  std::set<std::string_view> fired;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Graph graph;
    RandomZSets r(graph, seed, Type::I64);
    std::vector<ZSetRewrite> log;
    incremental(r.zsets, r.query(4), {}, &log);
    for (const ZSetRewrite& each : log) fired.insert(each.rule);
  }
  for (const ZSetRule& rule : zset_rules()) EXPECT_TRUE(fired.contains(rule.name)) << rule.name;
}

}  // namespace
}  // namespace xlog::kernel
