// The skeletons against obvious code of the standard library, on all devices and both lowerings.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "device/plan_fixture.h"
#include "kernel/scalar.h"

namespace xlog::device {
namespace {

using kernel::Buffer;
using kernel::Columns;
using kernel::Fold;
using kernel::Graph;
using kernel::PlanBuilder;
using kernel::Rows;
using kernel::Scalar;
using kernel::Type;
using kernel::Value;
using kernel::Values;

INSTANTIATE_TEST_SUITE_P(Devices, PlanTest, ::testing::ValuesIn(plan_settings()),
                         ::testing::PrintToStringParamName());

// Sizes around the edges of chunks and tiles.
std::vector<uint32_t> sizes(uint32_t largest) {
  std::vector<uint32_t> all = {0,   1,   2,    63,   64,   65,   255,  256,  257,
                               511, 600, 2047, 2048, 2049, 4096, 5000, 9001, 20000};
  std::erase_if(all, [&](uint32_t n) { return n > largest; });
  return all;
}

template <typename T>
T random_value(std::mt19937_64& random, uint64_t range) {
  if constexpr (std::is_floating_point_v<T>) {
    const uint64_t kind = random() % 16;
    if (kind == 0) return std::numeric_limits<T>::quiet_NaN();
    if (kind == 1) return T{0};
    if (kind == 2) return -T{0};
    if (kind == 3) return -std::numeric_limits<T>::infinity();
    return (static_cast<T>(random() % range) - static_cast<T>(range) / 2) / T{7};
  } else {
    return static_cast<T>(range == 0 ? random() : random() % range);
  }
}

// Random, few values, all equal, sorted, reversed.
template <typename T>
std::vector<std::vector<T>> shapes(uint32_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<T>> all(5, std::vector<T>(n));
  for (uint32_t i = 0; i < n; ++i) {
    all[0][i] = random_value<T>(random, std::is_floating_point_v<T> ? 1 << 20 : 0);
    all[1][i] = random_value<T>(random, 3);
    all[2][i] = T{5};
    all[3][i] = static_cast<T>(i);
    all[4][i] = static_cast<T>(n - i);
  }
  return all;
}

// The order of sort, on the host: by value, -0 before +0, NaN last.
template <typename T>
bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    if (a == b) return std::signbit(a) && !std::signbit(b);
  }
  return a < b;
}

template <typename T>
std::vector<uint8_t> bits(const std::vector<T>& rows) {
  std::vector<uint8_t> bytes(rows.size() * sizeof(T));
  if (!rows.empty()) std::memcpy(bytes.data(), rows.data(), bytes.size());
  return bytes;
}

TEST_P(PlanTest, MapAndExpandReadBuffersAndScalars) {
  Graph graph;
  PlanBuilder p(graph, "pairs");
  const Buffer x = p.in(Type::U32, "x");
  const Value limit = p.val(Type::U32, "limit");
  const Columns doubled = p.map(p.len(x), [&](Value i) { return Values{x[i] * 2, i}; });
  const Rows rows = p.expand(p.len(x), [&](Value i) {
    p.for_range(p.u32(0), x[i], [&](Value j) {
      p.if_then(j < limit, [&] { p.emit({i, doubled[0][i] + j}); });
    });
  });
  const kernel::Id plan =
      p.finish_ids({rows.columns[0].id, rows.columns[1].id, rows.count.id, doubled[1].id});
  std::mt19937_64 random(1);
  for (uint32_t n : sizes(GetParam().largest)) {
    std::vector<uint32_t> input(n), index, value, places(n);
    for (uint32_t& v : input) v = static_cast<uint32_t>(random() % 6);
    std::iota(places.begin(), places.end(), 0u);
    for (uint32_t i = 0; i < n; ++i) {
      for (uint32_t j = 0; j < input[i] && j < 4; ++j) {
        index.push_back(i);
        value.push_back(input[i] * 2 + j);
      }
    }
    auto results = run(graph, plan, {to_device(*device, input), Scalar::u32(4)});
    ASSERT_EQ(results.size(), 4u);
    EXPECT_EQ(to_host<uint32_t>(*device, results[0]), index);
    EXPECT_EQ(to_host<uint32_t>(*device, results[1]), value);
    EXPECT_EQ(std::get<Scalar>(results[2]), Scalar::u32(static_cast<uint32_t>(index.size())));
    EXPECT_EQ(to_host<uint32_t>(*device, results[3]), places);
  }
}

// A fold in the order that floats promise: chunks of 256, then the chunks.
template <typename T>
Scalar fold_in_order(Fold fold, const T* rows, size_t n) {
  const Type type = type_for<T>();
  Scalar total = fold_identity(fold, type);
  for (size_t lo = 0; lo < n; lo += 256) {
    Scalar part = fold_identity(fold, type);
    for (size_t r = lo; r < std::min(n, lo + 256); ++r) {
      part = fold_step(fold, part, kernel::load_scalar(type, rows + r));
    }
    total = fold_step(fold, total, part);
  }
  return canonical(total);
}

template <typename T>
std::vector<T> scan_in_order(Fold fold, const std::vector<T>& rows) {
  const Type type = type_for<T>();
  std::vector<T> result(rows.size());
  Scalar before_chunk = fold_identity(fold, type);
  Scalar part = fold_identity(fold, type);
  for (size_t r = 0; r < rows.size(); ++r) {
    store_scalar(canonical(fold_step(fold, before_chunk, part)), &result[r]);
    part = fold_step(fold, part, kernel::load_scalar(type, &rows[r]));
    if (r % 256 != 255) continue;
    before_chunk = fold_step(fold, before_chunk, part);
    part = fold_identity(fold, type);
  }
  return result;
}

template <typename T>
void expect_scans(PlanTest&, Device& device, const PlanSetting& setting,
                  const std::vector<Fold>& folds) {
  for (Fold fold : folds) {
    Graph graph;
    PlanBuilder p(graph, "scans");
    const Buffer x = p.in(type_for<T>(), "x");
    const kernel::Scanned scanned = p.scan(fold, x);
    const Buffer total = p.reduce(fold, x);
    const kernel::Id plan = p.finish_ids({scanned.before.id, scanned.total.id, total.id});
    Result<PlanRunner> runner = make_runner(device, graph, plan, setting.target);
    ASSERT_TRUE(runner.ok()) << runner.error().text();
    for (uint32_t n : sizes(setting.largest)) {
      const std::vector<T> input = shapes<T>(n, n)[0];
      SCOPED_TRACE(fmt::format("{} {} {}", spelling(fold), spelling(type_for<T>()), n));
      Result<std::vector<PlanValue>> results =
          runner->run(std::vector<PlanValue>{to_device(device, input)});
      ASSERT_TRUE(results.ok()) << results.error().text();
      EXPECT_EQ(bits(to_host<T>(device, (*results)[0])), bits(scan_in_order(fold, input)));
      const Scalar sum = fold_in_order(fold, input.data(), input.size());
      EXPECT_EQ(std::get<Scalar>((*results)[1]), sum);
      T cell{};
      store_scalar(sum, &cell);
      EXPECT_EQ(bits(to_host<T>(device, (*results)[2])), bits(std::vector<T>{cell}));
    }
  }
}

TEST_P(PlanTest, ScansAndReductions) {
  expect_scans<uint8_t>(*this, *device, GetParam(), {Fold::Add, Fold::Min});
  expect_scans<uint32_t>(*this, *device, GetParam(), {Fold::Add, Fold::Max, Fold::Xor});
  expect_scans<int64_t>(*this, *device, GetParam(), {Fold::Add, Fold::Min, Fold::And});
  expect_scans<int32_t>(*this, *device, GetParam(), {Fold::Max, Fold::Or});
  expect_scans<uint64_t>(*this, *device, GetParam(), {Fold::Add});
  expect_scans<float>(*this, *device, GetParam(), {Fold::Add, Fold::Max});
  expect_scans<double>(*this, *device, GetParam(), {Fold::Add, Fold::Min});
}

template <typename T>
void expect_sorted(Device& device, const PlanSetting& setting) {
  Graph graph;
  PlanBuilder p(graph, "sort");
  const Buffer x = p.in(type_for<T>(), "x");
  const kernel::Sorted sorted = p.sort({x});
  const kernel::Id plan = p.finish({sorted.permutation, sorted.columns[0]});
  Result<PlanRunner> runner = make_runner(device, graph, plan, setting.target);
  ASSERT_TRUE(runner.ok()) << runner.error().text();
  for (uint32_t n : sizes(setting.largest)) {
    for (const std::vector<T>& input : shapes<T>(n, n + 7)) {
      std::vector<uint32_t> order(n);
      std::iota(order.begin(), order.end(), 0u);
      std::ranges::stable_sort(order,
                               [&](uint32_t a, uint32_t b) { return before(input[a], input[b]); });
      std::vector<T> expected;
      for (uint32_t r : order) expected.push_back(input[r]);
      Result<std::vector<PlanValue>> results =
          runner->run(std::vector<PlanValue>{to_device(device, input)});
      ASSERT_TRUE(results.ok()) << results.error().text();
      EXPECT_EQ(to_host<uint32_t>(device, (*results)[0]), order) << spelling(type_for<T>()) << n;
      EXPECT_EQ(bits(to_host<T>(device, (*results)[1])), bits(expected));
    }
  }
}

TEST_P(PlanTest, SortsEveryType) {
  expect_sorted<uint8_t>(*device, GetParam());
  expect_sorted<uint32_t>(*device, GetParam());
  expect_sorted<int32_t>(*device, GetParam());
  expect_sorted<uint64_t>(*device, GetParam());
  expect_sorted<int64_t>(*device, GetParam());
  expect_sorted<float>(*device, GetParam());
  expect_sorted<double>(*device, GetParam());
}

// Without the permutation, which is then not even computed.
TEST_P(PlanTest, SortsKeysAlone) {
  kernel::Graph graph;
  PlanBuilder p(graph, "sort");
  const kernel::Id plan = p.finish({p.sort({p.in(kernel::Type::U64, "x")}).columns[0]});
  std::vector<uint64_t> rows(std::min(GetParam().largest, 4000u));
  uint64_t state = 3;
  for (uint64_t& row : rows) row = (state = state * 6364136223846793005u + 1442695040888963407u);
  Result<PlanRunner> runner = make_runner(*device, graph, plan, GetParam().target);
  ASSERT_TRUE(runner.ok()) << runner.error().text();
  const auto results = runner->run(std::vector<PlanValue>{to_device(*device, rows)});
  ASSERT_TRUE(results.ok()) << results.error().text();
  std::ranges::sort(rows);
  EXPECT_EQ(to_host<uint64_t>(*device, (*results)[0]), rows);
}

TEST_P(PlanTest, SortsBySeveralColumns) {
  Graph graph;
  PlanBuilder p(graph, "sort");
  const Columns in = {p.in(Type::U32, "a"), p.in(Type::F64, "b"), p.in(Type::I32, "c"),
                      p.in(Type::U8, "d")};
  const kernel::Sorted sorted = p.sort(in);
  const kernel::Id plan = p.finish({sorted.permutation, sorted.columns[0], sorted.columns[1],
                                    sorted.columns[2], sorted.columns[3]});
  std::mt19937_64 random(11);
  for (uint32_t n : sizes(GetParam().largest)) {
    std::vector<uint32_t> a(n), order(n);
    std::vector<double> b(n);
    std::vector<int32_t> c(n);
    std::vector<uint8_t> d(n);
    for (uint32_t i = 0; i < n; ++i) {
      a[i] = static_cast<uint32_t>(random() % 3);
      b[i] = random_value<double>(random, 4);
      c[i] = static_cast<int32_t>(random() % 4) - 2;
      d[i] = static_cast<uint8_t>(random() % 2);
      order[i] = i;
    }
    std::ranges::stable_sort(order, [&](uint32_t x, uint32_t y) {
      if (a[x] != a[y]) return a[x] < a[y];
      if (before(b[x], b[y]) || before(b[y], b[x])) return before(b[x], b[y]);
      if (c[x] != c[y]) return c[x] < c[y];
      return d[x] < d[y];
    });
    auto results = run(graph, plan,
                       {to_device(*device, a), to_device(*device, b), to_device(*device, c),
                        to_device(*device, d)});
    ASSERT_EQ(results.size(), 5u);
    EXPECT_EQ(to_host<uint32_t>(*device, results[0]), order) << n;
    std::vector<int32_t> sorted_c;
    std::vector<uint8_t> sorted_d;
    for (uint32_t r : order) {
      sorted_c.push_back(c[r]);
      sorted_d.push_back(d[r]);
    }
    EXPECT_EQ(to_host<int32_t>(*device, results[3]), sorted_c);
    EXPECT_EQ(to_host<uint8_t>(*device, results[4]), sorted_d);
  }
}

TEST_P(PlanTest, PartitionsIntoAnyNumberOfBuckets) {
  Graph graph;
  PlanBuilder p(graph, "partition");
  const Buffer ids = p.in(Type::U32, "ids");
  const Value buckets = p.val(Type::U32, "buckets");
  const kernel::Partitioned parts = p.partition(ids, buckets);
  const kernel::Id plan = p.finish({parts.starts, parts.rows});
  std::mt19937_64 random(3);
  for (uint32_t n : sizes(GetParam().largest)) {
    for (uint32_t b : {1u, 2u, 255u, 700u}) {
      std::vector<uint32_t> input(n), starts, rows;
      // Half of the rows are in one bucket.
      for (uint32_t& id : input)
        id = static_cast<uint32_t>(random() % 2 == 0 ? b / 2 : random() % b);
      for (uint32_t bucket = 0; bucket < b; ++bucket) {
        starts.push_back(static_cast<uint32_t>(rows.size()));
        for (uint32_t r = 0; r < n; ++r) {
          if (input[r] == bucket) rows.push_back(r);
        }
      }
      starts.push_back(n);
      auto results = run(graph, plan, {to_device(*device, input), Scalar::u32(b)});
      ASSERT_EQ(results.size(), 2u);
      EXPECT_EQ(to_host<uint32_t>(*device, results[0]), starts) << n << " " << b;
      EXPECT_EQ(to_host<uint32_t>(*device, results[1]), rows) << n << " " << b;
    }
  }
}

TEST_P(PlanTest, APartitionChecksItsIds) {
  Graph graph;
  PlanBuilder p(graph, "partition");
  const Buffer ids = p.in(Type::U32, "ids");
  const Value buckets = p.val(Type::U32, "buckets");
  const kernel::Partitioned parts = p.partition(ids, buckets);
  const kernel::Id plan = p.finish({parts.starts, parts.rows});
  Result<PlanRunner> runner = make_runner(*device, graph, plan, GetParam().target);
  ASSERT_TRUE(runner.ok()) << runner.error().text();
  auto with_id = [&](uint32_t id, uint32_t b) {
    std::vector<uint32_t> rows(100, 0);
    rows[37] = id;
    return runner->run(std::vector<PlanValue>{to_device(*device, rows), Scalar::u32(b)});
  };
  EXPECT_TRUE(with_id(6, 7).ok());
  for (uint32_t id : {7u, 8u, 1000u, UINT32_MAX}) {
    const auto fails = with_id(id, 7);
    ASSERT_FALSE(fails.ok()) << id;
    EXPECT_NE(fails.error().message.find("an index is outside its range (check 3"),
              std::string::npos)
        << fails.error().message;
  }
  EXPECT_FALSE(with_id(0, 0).ok()) << "without buckets there is no place for a row";
}

// Only native code counts to 2^32 in time.
TEST(PlanOverflow, AnIndexThatEmitsTooManyRows) {
  auto device = open_for_test("native");
  Graph graph;
  PlanBuilder p(graph, "many");
  const Buffer x = p.in(Type::U32, "x");
  const Rows rows = p.expand(p.len(x), [&](Value i) {
    p.for_range(p.u32(0), x[i], [&](Value) {
      p.for_range(p.u32(0), p.u32(1u << 16), [&](Value) { p.emit({i}); });
    });
  });
  Result<PlanRunner> runner =
      make_runner(*device, graph, p.finish_ids({rows.count.id}), kernel::PlanTarget{});
  ASSERT_TRUE(runner.ok()) << runner.error().text();
  auto run = [&](const std::vector<uint32_t>& counts) {
    return runner->run(std::vector<PlanValue>{to_device(*device, counts)});
  };
  EXPECT_TRUE(run({0, 3, 0}).ok());
  // 2^32 rows of one index would be 0 in 32 bits; those of two indexes are too many together.
  for (const std::vector<uint32_t>& counts :
       {std::vector<uint32_t>{0, 1u << 16}, std::vector<uint32_t>{1u << 15, 1u << 15}}) {
    const auto fails = run(counts);
    ASSERT_FALSE(fails.ok());
    EXPECT_NE(fails.error().message.find("a weight or count does not fit (check 1"),
              std::string::npos)
        << fails.error().message;
  }
}

template <typename T>
void expect_segments(Device& device, const PlanSetting& setting, Fold fold) {
  Graph graph;
  PlanBuilder p(graph, "segment");
  const Buffer heads = p.in(Type::U8, "heads");
  const Buffer x = p.in(type_for<T>(), "x");
  const kernel::Id plan = p.finish({p.segment(fold, heads, x)});
  Result<PlanRunner> runner = make_runner(device, graph, plan, setting.target);
  ASSERT_TRUE(runner.ok()) << runner.error().text();
  std::mt19937_64 random(5);
  for (uint32_t n : sizes(setting.largest)) {
    for (uint32_t length : {1u, 3u, 300u, 1000000u}) {  // of a run, about
      std::vector<uint8_t> flags(n);
      for (uint8_t& flag : flags) flag = random() % length == 0 ? 1 : 0;
      const std::vector<T> input = shapes<T>(n, n + length)[0];
      std::vector<T> expected;
      for (uint32_t lo = 0; lo < n;) {
        uint32_t hi = lo + 1;
        while (hi < n && flags[hi] == 0) ++hi;
        T cell{};
        store_scalar(fold_in_order(fold, input.data() + lo, hi - lo), &cell);
        expected.push_back(cell);
        lo = hi;
      }
      Result<std::vector<PlanValue>> results =
          runner->run(std::vector<PlanValue>{to_device(device, flags), to_device(device, input)});
      ASSERT_TRUE(results.ok()) << results.error().text();
      EXPECT_EQ(bits(to_host<T>(device, (*results)[0])), bits(expected))
          << spelling(type_for<T>()) << " " << n << " " << length;
    }
  }
}

TEST_P(PlanTest, FoldsSegments) {
  expect_segments<uint32_t>(*device, GetParam(), Fold::Add);
  expect_segments<int64_t>(*device, GetParam(), Fold::Add);
  expect_segments<int64_t>(*device, GetParam(), Fold::Min);
  expect_segments<uint8_t>(*device, GetParam(), Fold::Max);
  expect_segments<uint64_t>(*device, GetParam(), Fold::And);
  expect_segments<float>(*device, GetParam(), Fold::Add);
  expect_segments<double>(*device, GetParam(), Fold::Min);
}

TEST_P(PlanTest, MergesSortedRuns) {
  Graph graph;
  PlanBuilder p(graph, "merge");
  const Columns a = {p.in(Type::U32, "a0"), p.in(Type::I64, "a1")};
  const Columns b = {p.in(Type::U32, "b0"), p.in(Type::I64, "b1")};
  const kernel::Id plan = p.finish({p.merge(a, b)});
  std::mt19937_64 random(9);
  const auto all = sizes(GetParam().largest);
  for (uint32_t na : all) {
    for (uint32_t nb : {0u, 1u, na / 3, na}) {
      using Row = std::pair<uint32_t, int64_t>;
      std::vector<Row> first(na), second(nb);
      for (auto* run : {&first, &second}) {
        for (Row& row : *run) row = {random() % 4, static_cast<int64_t>(random() % 5) - 2};
        std::ranges::sort(*run);
      }
      std::vector<uint32_t> order(na + nb), a0, b0;
      std::vector<int64_t> a1, b1;
      for (Row row : first) a0.push_back(row.first), a1.push_back(row.second);
      for (Row row : second) b0.push_back(row.first), b1.push_back(row.second);
      std::iota(order.begin(), order.end(), 0u);
      auto row_of = [&](uint32_t r) { return r < na ? first[r] : second[r - na]; };
      std::ranges::stable_sort(order,
                               [&](uint32_t x, uint32_t y) { return row_of(x) < row_of(y); });
      auto results = run(graph, plan,
                         {to_device(*device, a0), to_device(*device, a1), to_device(*device, b0),
                          to_device(*device, b1)});
      ASSERT_EQ(results.size(), 1u);
      EXPECT_EQ(to_host<uint32_t>(*device, results[0]), order) << na << " " << nb;
    }
  }
}

TEST_P(PlanTest, CopiesAndReads) {
  Graph graph;
  PlanBuilder p(graph, "copy");
  const Buffer x = p.in(Type::I64, "x");
  const Buffer both = p.copy({x, x});
  const Value last = p.read(both, p.len(both) - 1);
  const Buffer zeros = p.buf(Type::I64, p.len(x));
  const kernel::Id plan = p.finish_ids({both.id, (last + 1).id, zeros.id});
  auto results = run(graph, plan, {to_device(*device, std::vector<int64_t>{4, -7})});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(to_host<int64_t>(*device, results[0]), (std::vector<int64_t>{4, -7, 4, -7}));
  EXPECT_EQ(std::get<Scalar>(results[1]), Scalar::i64(-6));
  EXPECT_EQ(to_host<int64_t>(*device, results[2]), (std::vector<int64_t>{0, 0}));
}

TEST_P(PlanTest, AFailedCheckNamesItsKernel) {
  Graph graph;
  PlanBuilder p(graph, "strict");
  const Buffer x = p.in(Type::U32, "x");
  const Columns y = p.map(p.len(x), [&](Value i) {
    p.check(kernel::kCheckOverflow, x[i] < 10);
    return Values{x[i]};
  });
  const kernel::Id plan = p.finish(y);
  Result<PlanRunner> runner = make_runner(*device, graph, plan, GetParam().target);
  ASSERT_TRUE(runner.ok());
  auto fails =
      runner->run(std::vector<PlanValue>{to_device(*device, std::vector<uint32_t>{1, 2, 50, 60})});
  ASSERT_FALSE(fails.ok());
  EXPECT_EQ(fails.error().message,
            "plan strict: a weight or count does not fit (check 1, instance 2, in map)");
  EXPECT_TRUE(
      runner->run(std::vector<PlanValue>{to_device(*device, std::vector<uint32_t>{1})}).ok());
  EXPECT_FALSE(runner->run({}).ok());
  EXPECT_FALSE(runner->run(std::vector<PlanValue>{Scalar::u32(3)}).ok());
}

}  // namespace
}  // namespace xlog::device
