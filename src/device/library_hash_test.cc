// Hash sets against std::set.
#include "kernel/library_hash.h"

#include <random>
#include <set>

#include "device/plan_fixture.h"
#include "kernel/verify.h"

namespace xlog::device {
namespace {

using kernel::Buffer;
using kernel::Graph;
using kernel::HashSet;
using kernel::PlanBuilder;
using kernel::Scalar;
using kernel::Type;
using kernel::Value;

class HashTest : public PlanTest {};

INSTANTIATE_TEST_SUITE_P(Devices, HashTest, ::testing::ValuesIn(plan_settings()),
                         ::testing::PrintToStringParamName());

TEST_P(HashTest, InsertsEachKeyOnce) {
  Graph graph;
  PlanBuilder p(graph, "set");
  const Value room = p.val(Type::U32, "room");
  const Buffer first = p.in(Type::U64, "first");
  const Buffer second = p.in(Type::U64, "second");
  const Buffer asked = p.in(Type::U64, "asked");
  const HashSet set = hash_set(p, room);
  const Buffer new_first = hash_insert(p, set, first);
  const Buffer new_second = hash_insert_first(p, set, second);
  const Buffer known = hash_contains(p, set, asked);
  const Buffer new_keys = p.reduce(kernel::Fold::Add, new_first);
  const kernel::Id plan = p.finish({new_keys, new_second, known});
  for (const kernel::Problem& problem : verify(graph, plan, kernel::Spec::Plan)) {
    ADD_FAILURE() << problem.message;
  }
  Result<PlanRunner> runner = PlanRunner::make(*device, graph, plan, GetParam().target);
  ASSERT_TRUE(runner.ok()) << runner.error().text();
  for (uint32_t n : {0u, 1u, 7u, 500u, 5000u}) {
    if (n > GetParam().largest) continue;
    for (uint64_t range : {uint64_t{1}, uint64_t{n / 2 + 1}, UINT64_MAX}) {
      SCOPED_TRACE(testing::Message() << n << " keys below " << range);
      std::mt19937_64 random(n + range);
      std::vector<uint64_t> a(n), b(n), c(n);
      for (uint64_t& key : a) key = random() % range;
      // The greatest key and 0, which marks free cells, are keys like others.
      for (uint64_t& key : b) key = random() % 5 == 0 ? UINT64_MAX : random() % range * 2;
      for (uint64_t& key : c) key = random() % range;
      auto done = runner->run(std::vector<PlanValue>{Scalar::u32(2 * n), to_device(*device, a),
                                                     to_device(*device, b), to_device(*device, c)});
      ASSERT_TRUE(done.ok()) << done.error().text();
      const std::vector<PlanValue>& results = *done;
      std::set<uint64_t> seen(a.begin(), a.end());
      EXPECT_EQ(to_host<uint32_t>(*device, results[0])[0], seen.size());
      std::vector<uint32_t> is_new;
      for (uint64_t key : b) is_new.push_back(seen.insert(key).second ? 1 : 0);
      EXPECT_EQ(to_host<uint32_t>(*device, results[1]), is_new);
      std::vector<uint32_t> is_known;
      for (uint64_t key : c) is_known.push_back(seen.contains(key) ? 1 : 0);
      EXPECT_EQ(to_host<uint32_t>(*device, results[2]), is_known);
    }
  }
}

TEST_P(HashTest, AFullTableIsAnError) {
  Graph graph;
  PlanBuilder p(graph, "small");
  const Buffer keys = p.in(Type::U64, "keys");
  const kernel::Id plan = p.finish({hash_insert_first(p, hash_set(p, p.u32(8)), keys)});
  Result<PlanRunner> runner = PlanRunner::make(*device, graph, plan, GetParam().target);
  ASSERT_TRUE(runner.ok());
  auto insert = [&](uint64_t count) {
    std::vector<uint64_t> all;
    for (uint64_t key = 1; key <= count; ++key) all.push_back(key);
    return runner->run(std::vector<PlanValue>{to_device(*device, all)});
  };
  EXPECT_TRUE(insert(16).ok());
  auto full = insert(17);
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.error().message.find("a table has no room left"), std::string::npos)
      << full.error().message;
}

TEST_P(HashTest, ATableThatIsGivenHasTheRightLength) {
  Graph graph;
  PlanBuilder p(graph, "given");
  const Buffer keys = p.in(Type::U64, "keys");
  const HashSet set = hash_set_of(p, p.race(Type::U64, "cells"));
  const kernel::Id plan = p.finish({p.reduce(kernel::Fold::Add, hash_insert(p, set, keys))});
  Result<PlanRunner> runner = make_runner(*device, graph, plan, GetParam().target);
  ASSERT_TRUE(runner.ok());
  const Column three = to_device(*device, std::vector<uint64_t>{0, 7, 7});
  auto insert = [&](size_t cells) {
    return runner->run(
        std::vector<PlanValue>{three, to_device(*device, std::vector<uint64_t>(cells))});
  };
  for (size_t cells : {2, 5, 17}) {
    auto done = insert(cells);
    ASSERT_TRUE(done.ok()) << done.error().text();
    EXPECT_EQ(to_host<uint32_t>(*device, (*done)[0])[0], 2u);
  }
  for (size_t cells : {0, 1, 4, 7, 16}) {
    const auto fails = insert(cells);
    ASSERT_FALSE(fails.ok()) << cells;
    EXPECT_NE(fails.error().message.find("a power of two of cells and one more"), std::string::npos)
        << fails.error().message;
  }
}

}  // namespace
}  // namespace xlog::device
