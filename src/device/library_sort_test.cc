// The radix sort runs a pass for each digit that varies: every choice of digits, so every number of
// passes and the buffer that each of them begins with.
#include <algorithm>
#include <numeric>
#include <random>

#include "device/plan_fixture.h"

namespace xlog::device {
namespace {

using kernel::Graph;
using kernel::PlanBuilder;

class SortTest : public PlanTest {
 protected:
  // Sorts keys that vary in the bits of each mask, in a column of T, with the permutation or alone.
  template <typename T>
  void expect_sorted(const std::vector<T>& masks, bool with_rows) {
    Graph graph;
    PlanBuilder p(graph, "sort");
    const kernel::Buffer x = p.in(type_for<T>(), "x");
    const kernel::Sorted sorted = p.sort({x});
    kernel::Columns wanted = {sorted.columns[0], x};
    if (with_rows) wanted.push_back(sorted.permutation);
    Result<PlanRunner> runner = make_runner(*device, graph, p.finish(wanted), GetParam().target);
    ASSERT_TRUE(runner.ok()) << runner.error().text();
    std::mt19937_64 random(5);
    for (T mask : masks) {
      SCOPED_TRACE(fmt::format("bits {:x} vary, with rows: {}", mask, with_rows));
      std::vector<T> keys(150);  // more than one chunk
      const T common = static_cast<T>(random()) & ~mask;
      for (T& key : keys) key = common | (static_cast<T>(random()) & mask);
      std::vector<uint32_t> order(keys.size());
      std::iota(order.begin(), order.end(), 0u);
      std::ranges::stable_sort(order, {}, [&](uint32_t row) { return keys[row]; });
      std::vector<T> expected;
      for (uint32_t row : order) expected.push_back(keys[row]);
      const auto results = runner->run(std::vector<PlanValue>{to_device(*device, keys)});
      ASSERT_TRUE(results.ok()) << results.error().text();
      EXPECT_EQ(to_host<T>(*device, (*results)[0]), expected);
      EXPECT_EQ(to_host<T>(*device, (*results)[1]), keys) << "the column stays as it was";
      if (!with_rows) continue;
      EXPECT_EQ(to_host<uint32_t>(*device, (*results)[2]), order);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, SortTest, ::testing::ValuesIn(plan_settings()),
                         ::testing::PrintToStringParamName());

TEST_P(SortTest, AnyDigitsOfU32) {
  std::vector<uint32_t> masks;
  for (uint32_t digits = 0; digits < 16; ++digits) {
    uint32_t mask = 0;
    // Two bits of a digit: enough rows are equal to see whether the sort is stable.
    for (uint32_t d = 0; d < 4; ++d) mask |= (digits >> d & 1) * (0x81u << (8 * d));
    masks.push_back(mask);
  }
  for (bool with_rows : {false, true}) expect_sorted(masks, with_rows);
}

TEST_P(SortTest, AnyNumberOfDigitsOfU64) {
  std::vector<uint64_t> masks = {0};
  for (uint32_t d = 0; d < 8; ++d) masks.push_back(masks.back() | uint64_t{0x30} << (8 * d));
  for (bool with_rows : {false, true}) expect_sorted(masks, with_rows);
}

}  // namespace
}  // namespace xlog::device
