// One plan with every skeleton in it, on every device and in both lowerings: all its results, to
// the last bit, are those of the interpreter.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device/plan_fixture.h"
#include "device/record_log.h"
#include "kernel/library_hash.h"

namespace xlog::device {
namespace {

using kernel::Buffer;
using kernel::Columns;
using kernel::Fold;
using kernel::Graph;
using kernel::PlanBuilder;
using kernel::Rows;
using kernel::Type;
using kernel::Value;
using kernel::Values;

constexpr uint32_t kRows = 2500;  // more than one tile, many chunks, a multiple of neither

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, 2011): four random words for each counter and key.
Values philox(PlanBuilder& p, Value counter, Value key_low, Value key_high) {
  const Value first = p.u32(0xD2511F53), second = p.u32(0xCD9E8D57);
  Values c = {counter, p.u32(0), p.u32(0), p.u32(0)};
  for (int round = 0; round < 10; ++round) {
    c = {p.mulhi(second, c[2]) ^ c[1] ^ key_low, second * c[2],
         p.mulhi(first, c[0]) ^ c[3] ^ key_high, first * c[0]};
    key_low = key_low + 0x9E3779B9;
    key_high = key_high + 0xBB67AE85;
  }
  return c;
}

// Floats whose sum depends on the order, and small ones with many equals, -0 and NaN.
Values floats_of(PlanBuilder& p, Value a, Value b) {
  const Value wide = p.cast(Type::F64, p.cast(Type::I32, a)) * p.constant(Scalar::f64(1e-3));
  const Value few = p.cast(Type::F32, p.cast(Type::I32, a % 9) - 4) / p.constant(Scalar::f32(8));
  const Value kind = b % 16;
  const Value nan = p.constant(kernel::canonical_nan(Type::F32));
  const Value zero = p.constant(Scalar::f32(-0.0f));
  return {wide, p.select(kind == 0, nan, p.select(kind == 1, zero, few))};
}

// Where each set bit of a bitset is, found by rank: the word by a search in the scanned counts, the
// bit in it by clearing those before it.
Buffer set_bits(PlanBuilder& p, Buffer random) {
  const Value n = p.len(random);
  const Columns words = p.map((n + 31) / 32, [&](Value w) {
    const Value first = w * 32;
    const Value word = p.for_range(
        p.u32(0), p.min(p.u32(32), n - first), {p.u32(0)}, [&](Value j, const Values& c) {
          return Values{c[0] | p.cast(Type::U32, random[first + j] % 3 == 0) << j};
        })[0];
    return Values{word, p.popc(word)};
  });
  const kernel::Scanned before = p.scan(Fold::Add, words[1]);
  return p.map(before.total, [&](Value rank) {
    // The last word that has at most `rank` bits before it.
    const Values found = p.loop(p.u32(33), p.boolean(true), {p.u32(0), p.len(words[0])},
                                [&](Value, const Values& c) -> std::pair<Value, Values> {
                                  const Value middle = (c[0] + c[1]) >> 1;
                                  const Value here = before.before[middle] <= rank;
                                  const Value low = p.select(here, middle, c[0]);
                                  const Value high = p.select(here, c[1], middle);
                                  return {low + 1 < high, {low, high}};
                                });
    const Value w = found[0];
    const Values rest =
        p.for_range(p.u32(0), rank - before.before[w], {words[0][w]},
                    [&](Value, const Values& c) { return Values{c[0] & (c[0] - 1)}; });
    return Values{w * 32 + p.ctz(rest[0])};
  })[0];
}

// Parameters: rows, and the two halves of the random numbers' key. A driver may take a second for
// half a dozen kernels, so the maps are few.
kernel::Id build_plan(Graph& graph) {
  PlanBuilder p(graph, "everything");
  const Value n = p.val(Type::U32, "n");
  const Value key_low = p.val(Type::U32, "key_low"), key_high = p.val(Type::U32, "key_high");
  const Columns data = p.map(n, [&](Value i) {
    const Values r = philox(p, i, key_low, key_high);
    const Values floats = floats_of(p, r[1], r[2]);
    return Values{r[0],
                  r[1],
                  r[2],
                  r[3],
                  r[0] % 50,
                  p.cast(Type::I32, r[2] % 5) - 2,
                  floats[0],
                  floats[1],
                  p.cast(Type::U64, r[3] % (n / 2)),
                  p.cast(Type::U64, i * 3),
                  p.cast(Type::U64, r[1] % (n * 4))};
  });
  const Buffer few = data[4], small = data[5], wide = data[6], single = data[7];

  const kernel::Scanned sums = p.scan(Fold::Add, few), float_sums = p.scan(Fold::Add, wide);
  const kernel::Sorted sorted = p.sort({few, single, small});
  const kernel::Partitioned parts = p.partition(few, p.u32(50));
  // The runs of equal rows of the first column: where they start, and what is summed over them.
  const Columns runs = p.map(n, [&](Value i) {
    const Value before = sorted.columns[0][p.select(i == 0, i, i - 1)];
    const Value row = sorted.permutation[i];
    return Values{p.cast(Type::U8, (i == 0) | (before != sorted.columns[0][i])),
                  p.cast(Type::I64, data[0][row]) << 20, wide[row]};
  });
  const Columns ascending = p.map(n / 3, [&](Value i) { return Values{i / 15}; });
  // A few indexes emit thousands of rows, most of them none.
  const Rows skewed = p.expand(n, [&](Value i) {
    const Value some = p.select(data[3][i] % 16 == 0, p.u32(2), p.u32(0));
    p.for_range(p.u32(0), p.select(i % 1000 == 7, p.u32(3001), some), [&](Value j) {
      p.emit({i, data[0][i] ^ j});
    });
  });
  const kernel::HashSet set = kernel::hash_set(p, n * 2);
  const Buffer is_new = kernel::hash_insert_first(p, set, data[8]);
  const Buffer inserted = kernel::hash_insert(p, set, data[9]);
  const Buffer known = kernel::hash_contains(p, set, data[10]);

  return p.finish_ids({
      data[0].id,
      data[1].id,
      data[2].id,
      data[3].id,
      sums.before.id,
      sums.total.id,
      float_sums.before.id,
      float_sums.total.id,
      sorted.permutation.id,
      sorted.columns[0].id,
      sorted.columns[1].id,
      sorted.columns[2].id,
      parts.starts.id,
      parts.rows.id,
      p.segment(Fold::Add, runs[0], runs[1]).id,
      p.segment(Fold::Add, runs[0], runs[2]).id,
      p.merge({sorted.columns[0]}, ascending).id,
      skewed.columns[0].id,
      skewed.columns[1].id,
      skewed.count.id,
      is_new.id,
      p.reduce(Fold::Add, inserted).id,
      known.id,
      p.reduce(Fold::Add, wide).id,
      set_bits(p, data[1]).id,
  });
}

using Results = std::vector<std::vector<std::byte>>;

Results run_plan(Device& device, const kernel::PlanTarget& target) {
  Graph graph;
  Result<PlanRunner> runner = make_runner(device, graph, build_plan(graph), target);
  if (!good(runner)) return {};
  Result<std::vector<PlanValue>> values =
      runner->run(std::vector<PlanValue>{Scalar::u32(kRows), Scalar::u32(0), Scalar::u32(0)});
  if (!good(values)) return {};
  Results results;
  for (const PlanValue& value : *values) {
    if (const auto* scalar = std::get_if<Scalar>(&value)) {
      results.emplace_back(kernel::size_of(scalar->type));
      kernel::store_scalar(*scalar, results.back().data());
      continue;
    }
    Result<std::vector<std::byte>> bytes = download(device, std::get<Column>(value));
    if (!good(bytes)) return {};
    results.push_back(std::move(*bytes));
  }
  return results;
}

// One digest of all results and their sizes.
std::string digest_of(const Results& results) {
  std::string all;
  for (const auto& bytes : results) all += digest_text(bytes) + fmt::format(" {}\n", bytes.size());
  return digest_text(std::as_bytes(std::span(all)));
}

const Results& interpreted() {
  static const Results results =
      run_plan(*open_for_test("interp"), {.groups = false, .threads = 2, .min_chunk = 64});
  return results;
}

struct Setting {
  std::string device;
  uint32_t threads;  // 0: as many as there are

  friend std::ostream& operator<<(std::ostream& out, const Setting& s) {
    std::string name = s.device;
    std::ranges::replace(name, ':', '_');
    return s.threads == 0 ? out << name : out << name << "_" << s.threads;
  }
};

std::vector<Setting> every_setting() {
  std::vector<Setting> settings;
  for (const std::string& name : test_device_names()) {
    if (name == "native") {
      for (uint32_t threads : {1, 2, 8}) settings.push_back({name, threads});
    } else {
      settings.push_back({name, 0});
    }
  }
  return settings;
}

class EverySkeleton : public ::testing::TestWithParam<Setting> {};

INSTANTIATE_TEST_SUITE_P(Devices, EverySkeleton, ::testing::ValuesIn(every_setting()),
                         ::testing::PrintToStringParamName());

TEST_P(EverySkeleton, GivesTheSameBits) {
  auto device = open_for_test(GetParam().device, {.threads = GetParam().threads});
  const kernel::Target* target = device->info().target;
  if (target != nullptr && (!target->f64 || !target->atomic64)) {
    GTEST_SKIP() << "the device has no f64 or no 64-bit atomics";
  }
  const Results& expected = interpreted();
  // Drivers of CPUs compile kernels with groups for seconds each: only where they are asked to.
  const bool is_slow = GetParam().device.starts_with("opencl") && !device->info().has_groups &&
                       std::getenv("XLOG_TEST_DEVICES") == nullptr;
  // On one device, so that what both lowerings need is compiled once.
  for (bool groups : {false, true}) {
    if (groups && is_slow) continue;
    SCOPED_TRACE(groups ? "tiled" : "serial");
    // Chunks are small, so that few rows make many of them, and there are more with more threads.
    const Results results = run_plan(
        *device, {.groups = groups, .threads = std::max(2u, GetParam().threads), .min_chunk = 64});
    ASSERT_EQ(results.size(), expected.size());
    for (size_t k = 0; k < results.size(); ++k) {
      EXPECT_EQ(results[k].size(), expected[k].size()) << "result " << k;
      const auto [a, b] = std::ranges::mismatch(results[k], expected[k]);
      EXPECT_EQ(a, results[k].end()) << "result " << k << ", byte " << a - results[k].begin();
    }
    EXPECT_EQ(digest_of(results), digest_of(expected));
  }
}

// What the comparison rests on.
TEST(EverySkeletonReference, IsWhatItShouldBe) {
  const Results& results = interpreted();
  ASSERT_EQ(results.size(), 25u);
  auto column = [&](size_t k) {
    std::vector<uint32_t> rows(results[k].size() / 4);
    std::memcpy(rows.data(), results[k].data(), results[k].size());
    return rows;
  };
  // The published answer for counter 0 and key 0.
  EXPECT_EQ(column(0)[0], 0x6627e8d5u);
  EXPECT_EQ(column(1)[0], 0xe169c58du);
  EXPECT_EQ(column(2)[0], 0xbc57ac4cu);
  EXPECT_EQ(column(3)[0], 0x9b00dbd8u);
  const std::vector<uint32_t> random = column(1), index = column(17);
  std::vector<uint32_t> bits;
  for (uint32_t i = 0; i < kRows; ++i) {
    if (random[i] % 3 == 0) bits.push_back(i);
  }
  EXPECT_EQ(column(24), bits);
  EXPECT_EQ(std::ranges::count(index, 1007u), 3001);
  EXPECT_EQ(column(19)[0], index.size());
}

}  // namespace
}  // namespace xlog::device
