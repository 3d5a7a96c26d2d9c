// One body for every device that opens here: the same kernels and inputs, the same bytes.
#include "device/device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "base/sanitized.h"
#include "device/host_device.h"
#include "device/test_devices.h"
#include "kernel/builder.h"
#include "kernel/random_kernel.h"
#include "kernel/text.h"

namespace xlog::device {
namespace {

using kernel::Fold;
using kernel::Graph;
using kernel::Id;
using kernel::KernelBuilder;
using kernel::Type;
using kernel::Value;
using ::testing::HasSubstr;

// out[i] = mix(in[i]) + add
Id mix_kernel(Graph& graph, std::string_view name = "mix") {
  KernelBuilder k(graph, name);
  Value n = k.val(Type::U32, "n"), add = k.val(Type::U32, "add");
  kernel::Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  Value h = in[i];
  h = (h ^ (h >> 16)) * 0x85ebca6b;
  k.store(out, i, (h ^ (h >> 13)) + add);
  return k.finish();
}

uint32_t mix(uint32_t h, uint32_t add) {
  h = (h ^ (h >> 16)) * 0x85ebca6b;
  return (h ^ (h >> 13)) + add;
}

// total[0] += sum of in[i * length ...]; each instance loops. Fails check 5 where a value is 0.
Id sum_kernel(Graph& graph) {
  KernelBuilder k(graph, "sum");
  Value n = k.val(Type::U32, "n"), length = k.val(Type::U32, "length");
  kernel::Buffer in = k.in(Type::U64, "in"), total = k.acc(Type::U32, "total");
  Value i = k.grid(n);
  Value lo = i * length;
  Value hi = k.min(lo + length, k.len(in));
  kernel::Values sums =
      k.for_range(lo, hi, {k.u32(0)}, [&](Value j, const kernel::Values& carried) {
        Value v = in[j];
        k.check(5, v != 0);
        return kernel::Values{carried[0] + k.cast(Type::U32, v)};
      });
  k.atomic(Fold::Add, total, k.u32(0), sums[0]);
  return k.finish();
}

// Each group writes the exclusive sums of its lanes' values.
Id group_kernel(Graph& graph) {
  KernelBuilder k(graph, "lanes", 64);
  Value n = k.val(Type::U32, "n");
  kernel::Buffer in = k.in(Type::U32, "in"), out = k.out(Type::U32, "out");
  Value at = k.group(n) * 64 + k.lane();
  kernel::Buffer shared = k.local(Type::U32, 64);
  k.store(shared, k.lane(), in[at]);
  k.barrier();
  Value mirrored = shared[k.u32(63) - k.lane()];
  k.store(out, at, k.gscan(Fold::Add, mirrored));
  return k.finish();
}

class EveryDevice : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Device> open(const OpenOptions& options = {}) {
    return open_for_test(GetParam(), options);
  }
  static KernelHandle compile(Device& device, Graph& graph, Id kernel) {
    Result<KernelHandle> handle = device.compile(graph, kernel);
    return good(handle) ? *handle : nullptr;
  }
};

TEST_P(EveryDevice, ComputesTheSameValues) {
  for (uint32_t threads : {1u, 2u, 8u}) {
    std::unique_ptr<Device> device = open({.threads = threads});
    ASSERT_NE(device, nullptr);
    Graph graph;
    KernelHandle kernel = compile(*device, graph, mix_kernel(graph));
    ASSERT_NE(kernel, nullptr);
    for (uint32_t n : {0u, 1u, 255u, 256u, 257u, 100'000u}) {
      std::vector<uint32_t> in(n);
      std::iota(in.begin(), in.end(), 17);
      Buffer x = upload(*device, in);
      Buffer y = upload(*device, std::vector<uint32_t>(n, 0));
      ASSERT_TRUE(good(device->launch(
          kernel, std::vector<Argument>{Scalar::u32(n), Scalar::u32(5), View{x}, View{y}})));
      std::vector<uint32_t> out = download<uint32_t>(*device, {y}, n);
      for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(out[i], mix(in[i], 5)) << i << " of " << n;
    }
  }
}

TEST_P(EveryDevice, LoopsAtomicsLengthsAndChecks) {
  std::unique_ptr<Device> device = open({.threads = 4});
  ASSERT_NE(device, nullptr);
  Graph graph;
  KernelHandle kernel = compile(*device, graph, sum_kernel(graph));
  ASSERT_NE(kernel, nullptr);
  std::vector<uint64_t> in(10'000, 3);
  Buffer x = upload(*device, in);
  Buffer total = upload(*device, std::vector<uint32_t>{1});
  std::vector<Argument> arguments{Scalar::u32(101), Scalar::u32(100), View{x}, View{total}};
  ASSERT_TRUE(good(device->launch(kernel, arguments)));
  EXPECT_EQ(download<uint32_t>(*device, {total}, 1)[0], 30'001u);
  Result<std::optional<CheckFailure>> clean = device->checks();
  ASSERT_TRUE(good(clean));
  EXPECT_FALSE(clean->has_value());

  in[7'042] = in[3'105] = in[9'999] = 0;
  ASSERT_TRUE(good(device->write({x}, std::as_bytes(std::span(in)))));
  ASSERT_TRUE(good(device->launch(kernel, arguments)));
  Result<std::optional<CheckFailure>> failed = device->checks();
  ASSERT_TRUE(good(failed));
  ASSERT_TRUE(failed->has_value());
  EXPECT_EQ((*failed)->code, 5u);
  EXPECT_EQ((*failed)->instance, 31u);
  EXPECT_FALSE((*device->checks()).has_value()) << "a failure is told once";
}

TEST_P(EveryDevice, GroupsMeetAtBarriers) {
  std::unique_ptr<Device> device = open({.threads = 4});
  ASSERT_NE(device, nullptr);
  Graph graph;
  KernelHandle kernel = compile(*device, graph, group_kernel(graph));
  ASSERT_NE(kernel, nullptr);
  constexpr uint32_t kGroups = 300;
  std::vector<uint32_t> in(kGroups * 64);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = i * 2654435761u;
  Buffer x = upload(*device, in);
  Buffer y = upload(*device, std::vector<uint32_t>(in.size(), 0));
  ASSERT_TRUE(
      good(device->launch(kernel, std::vector<Argument>{Scalar::u32(kGroups), View{x}, View{y}})));
  std::vector<uint32_t> out = download<uint32_t>(*device, {y}, in.size());
  for (uint32_t g = 0; g < kGroups; ++g) {
    uint32_t sum = 0;
    for (uint32_t lane = 0; lane < 64; ++lane) {
      ASSERT_EQ(out[g * 64 + lane], sum) << "group " << g << " lane " << lane;
      sum += in[g * 64 + 63 - lane];
    }
  }
}

TEST_P(EveryDevice, ViewsBeginAnywhere) {
  std::unique_ptr<Device> device = open();
  ASSERT_NE(device, nullptr);
  Graph graph;
  KernelHandle kernel = compile(*device, graph, mix_kernel(graph));
  ASSERT_NE(kernel, nullptr);
  std::vector<uint32_t> all(200);
  std::iota(all.begin(), all.end(), 0);
  for (uint32_t offset : {0u, 1u, 32u, 99u}) {
    Buffer both = upload(*device, all);
    View in{both, offset * 4, 50 * 4}, out{both, (offset + 50) * 4, 50 * 4};
    ASSERT_TRUE(good(
        device->launch(kernel, std::vector<Argument>{Scalar::u32(50), Scalar::u32(1), in, out})));
    std::vector<uint32_t> expected = all;
    for (uint32_t i = 0; i < 50; ++i) expected[offset + 50 + i] = mix(all[offset + i], 1);
    EXPECT_EQ(download<uint32_t>(*device, {both}, 200), expected) << "offset " << offset;
  }
}

TEST_P(EveryDevice, MovesMemoryAndCounts) {
  std::unique_ptr<Device> device = open();
  ASSERT_NE(device, nullptr);
  Buffer a = upload(*device, std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8});
  Buffer b = *device->allocate(8);
  ASSERT_TRUE(good(device->fill({b}, std::byte{9})));
  ASSERT_TRUE(good(device->copy({b, 2, 3}, {a, 4, 3})));
  ASSERT_TRUE(good(device->fill({b, 6, 1}, std::byte{0})));
  EXPECT_EQ(download<uint8_t>(*device, {b}, 8), (std::vector<uint8_t>{9, 9, 5, 6, 7, 9, 0, 9}));
  EXPECT_EQ(download<uint8_t>(*device, {b, 3}, 2), (std::vector<uint8_t>{6, 7}));
  Counters counters = device->counters();
  EXPECT_EQ(counters.bytes_to_device, 8u);
  EXPECT_EQ(counters.bytes_from_device, 10u);
  EXPECT_EQ(counters.bytes_on_device, 3u);
  EXPECT_EQ(counters.waits, 2u);
  EXPECT_EQ(counters.allocated, 16u);
  b.reset();
  a.reset();
  EXPECT_EQ(device->counters().allocated, 0u);
  EXPECT_EQ(device->counters().peak, 16u);
  Buffer empty = *device->allocate(0);
  EXPECT_TRUE(good(device->write({empty}, {})));
  std::vector<uint8_t> large(9'000'000);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<uint8_t>(i * 7 + i / 1000);
  Buffer c = upload(*device, large);
  Buffer d = *device->allocate(large.size());
  ASSERT_TRUE(good(device->copy({d}, {c})));
  EXPECT_EQ(download<uint8_t>(*device, {d}, large.size()), large);
}

TEST_P(EveryDevice, RefusesWhatDoesNotFit) {
  std::unique_ptr<Device> device = open();
  std::unique_ptr<Device> other = open();
  ASSERT_NE(device, nullptr);
  Graph graph;
  KernelHandle kernel = compile(*device, graph, mix_kernel(graph));
  ASSERT_NE(kernel, nullptr);
  Buffer x = upload(*device, std::vector<uint32_t>(100, 1));
  Buffer y = upload(*device, std::vector<uint32_t>(100, 2));
  auto refusal = [&](std::vector<Argument> arguments) {
    Status status = device->launch(kernel, arguments);
    return status.ok() ? std::string("(launched)") : status.error().message;
  };
  Scalar n = Scalar::u32(10), add = Scalar::u32(1);
  EXPECT_THAT(refusal({n, add, View{x}}), HasSubstr("kernel mix takes 4 arguments, 3 are given"));
  EXPECT_THAT(refusal({n, View{x}, View{x}, View{y}}),
              HasSubstr("kernel mix, parameter add (val u32): a buffer is given"));
  EXPECT_THAT(refusal({n, Scalar::u64(1), View{x}, View{y}}), HasSubstr("parameter add"));
  EXPECT_THAT(refusal({n, add, View{x, 2, 40}, View{y}}), HasSubstr("not a multiple of 4"));
  EXPECT_THAT(refusal({n, add, View{x, 0, 42}, View{y}}), HasSubstr("no whole number"));
  EXPECT_THAT(refusal({n, add, View{x, 0, 404}, View{y}}), HasSubstr("leave the buffer"));
  EXPECT_THAT(refusal({n, add, View{nullptr}, View{y}}), HasSubstr("no buffer"));
  EXPECT_THAT(refusal({n, add, View{x}, View{x}}),
              HasSubstr("parameter out (out u32): its bytes overlap those of parameter in"));
  EXPECT_THAT(refusal({n, add, View{x, 0, 40}, View{x, 36, 40}}), HasSubstr("overlap"));
  EXPECT_EQ(refusal({n, add, View{x, 0, 40}, View{x, 40, 40}}), "(launched)");
  Buffer foreign = upload(*other, std::vector<uint32_t>(100, 1));
  EXPECT_THAT(refusal({n, add, View{foreign}, View{y}}), HasSubstr("another device"));
  EXPECT_FALSE(other->launch(kernel, std::vector<Argument>{n, add, View{x}, View{y}}).ok());
  EXPECT_FALSE(device->copy({x, 0, 40}, {x, 20, 40}).ok());
  EXPECT_FALSE(device->write({x, 396}, std::as_bytes(std::span("12345", 5))).ok());
  Result<Buffer> huge = device->allocate(uint64_t{1} << 60);
  ASSERT_FALSE(huge.ok());
  EXPECT_THAT(huge.error().message, HasSubstr("1152921504606846976"));
  EXPECT_EQ(huge.error().kind, ErrorKind::OutOfMemory);
}

TEST_P(EveryDevice, BuffersStayBelowTheLimit) {
  std::unique_ptr<Device> device = open({.memory_limit = 100'000});
  ASSERT_NE(device, nullptr);
  Buffer most = *device->allocate(60'000);
  Result<Buffer> more = device->allocate(40'001);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().kind, ErrorKind::MemoryLimit);
  EXPECT_THAT(more.error().message, HasSubstr("the memory limit of 97.7 KiB"));
  EXPECT_FALSE(device->allocate(UINT64_MAX).ok());
  Result<Buffer> rest = device->allocate(40'000);
  EXPECT_TRUE(good(rest)) << "as much as the limit is within it";
  EXPECT_EQ(device->counters().allocated, 100'000u);
  most.reset();
  EXPECT_TRUE(good(device->allocate(60'000))) << "what was freed can be used again";
  EXPECT_EQ(device->counters().peak, 100'000u);
}

// In place or by copying: small and large ones, longer and shorter, alone or held by somebody else.
TEST_P(EveryDevice, BuffersGrowAndShrink) {
  constexpr uint64_t kMega = uint64_t{1} << 20;
  std::unique_ptr<Device> device = open({.memory_limit = 16 * kMega});
  ASSERT_NE(device, nullptr);
  std::vector<uint32_t> numbers(2 * kMega / 4);
  std::iota(numbers.begin(), numbers.end(), 5);
  Result<Buffer> made = device->allocate(1000 * 4);
  ASSERT_TRUE(good(made));
  Buffer buffer = std::move(*made);
  made = Result<Buffer>(Error{"given away", ""});
  const auto bytes = [&](uint64_t count) { return std::as_bytes(std::span(numbers).first(count)); };
  ASSERT_TRUE(good(device->write({buffer}, bytes(1000))));
  uint64_t kept = 1000;
  for (uint64_t wanted : {2000, 200'000, 400'000, 300'000, 10}) {
    kept = std::min(kept, wanted);
    ASSERT_TRUE(good(device->resize(buffer, kept * 4, wanted * 4)));
    EXPECT_EQ(buffer->bytes, wanted * 4);
    EXPECT_EQ(device->counters().allocated, wanted * 4);
    EXPECT_EQ(download<uint32_t>(*device, {buffer}, kept),
              std::vector<uint32_t>(numbers.begin(), numbers.begin() + static_cast<long>(kept)));
    ASSERT_TRUE(good(device->write({buffer, 0, wanted * 4}, bytes(wanted))));
    kept = wanted;
  }
  const Buffer other = buffer;
  ASSERT_TRUE(good(device->resize(buffer, 40, 4 * kMega)));
  EXPECT_NE(buffer, other) << "somebody else still has what it was";
  EXPECT_EQ(download<uint32_t>(*device, {other}, 10), download<uint32_t>(*device, {buffer}, 10));
  const Status refused = device->resize(buffer, 40, 32 * kMega);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("memory limit"));
  EXPECT_EQ(buffer->bytes, 4 * kMega);
  EXPECT_FALSE(device->resize(buffer, 5 * kMega, 6 * kMega).ok()) << "it has no such bytes";
}

TEST_P(EveryDevice, EqualKernelsShareAHandle) {
  std::unique_ptr<Device> device = open();
  ASSERT_NE(device, nullptr);
  Graph one, two;
  KernelHandle a = compile(*device, one, mix_kernel(one));
  KernelHandle b = compile(*device, two, mix_kernel(two));
  EXPECT_EQ(a, b);
  KernelHandle c = compile(*device, two, mix_kernel(two, "renamed"));
  EXPECT_NE(a, c);
  EXPECT_EQ(c->name, "renamed");
  EXPECT_EQ(a->key, c->key) << "names are no part of the code";
  EXPECT_EQ(a->key.size(), 32u);
  EXPECT_LE(device->counters().compiled, 1u);
}

TEST_P(EveryDevice, TheDiskCacheServesTheNextDevice) {
  std::string folder = std::filesystem::temp_directory_path() / "xlog_device_cache_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  // Compiles in a new device each time; gives what went through a compiler and what did not.
  auto counts = [&] {
    std::unique_ptr<Device> device = open({.cache_folder = folder});
    Graph graph;
    KernelHandle kernel = compile(*device, graph, sum_kernel(graph));
    Buffer x = upload(*device, std::vector<uint64_t>{1, 2, 3});
    Buffer total = upload(*device, std::vector<uint32_t>{0});
    EXPECT_TRUE(good(device->launch(
        kernel, std::vector<Argument>{Scalar::u32(2), Scalar::u32(2), View{x}, View{total}})));
    EXPECT_EQ(download<uint32_t>(*device, {total}, 1)[0], 6u);
    EXPECT_EQ(device->cache_note(), "");
    return std::pair(device->counters().compiled, device->counters().cached);
  };
  auto [compiled, cached] = counts();
  EXPECT_EQ(cached, 0u);
  EXPECT_EQ(counts(), std::pair(uint64_t{0}, compiled));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  }
  EXPECT_EQ(counts(), std::pair(compiled, uint64_t{0})) << "a damaged entry is made again";
  EXPECT_EQ(counts(), std::pair(uint64_t{0}, compiled));
  std::filesystem::remove_all(folder);
}

TEST_P(EveryDevice, SequencesRunAgain) {
  std::unique_ptr<Device> device = open();
  ASSERT_NE(device, nullptr);
  Graph graph;
  KernelHandle kernel = compile(*device, graph, mix_kernel(graph));
  ASSERT_NE(kernel, nullptr);
  Buffer x = upload(*device, std::vector<uint32_t>(1000, 3));
  Buffer y = upload(*device, std::vector<uint32_t>(1000, 0));
  ASSERT_TRUE(good(device->begin_sequence()));
  ASSERT_TRUE(good(device->launch(
      kernel, std::vector<Argument>{Scalar::u32(1000), Scalar::u32(1), View{x}, View{y}})));
  ASSERT_TRUE(good(device->copy({x, 0, 2000}, {y, 0, 2000})));
  ASSERT_TRUE(good(device->fill({x, 3996, 4}, std::byte{0})));
  EXPECT_FALSE(device->wait().ok());
  EXPECT_FALSE(device->begin_sequence().ok());
  EXPECT_FALSE(device->allocate(4).ok());
  Result<SequenceHandle> sequence = device->end_sequence();
  ASSERT_TRUE(good(sequence));
  EXPECT_EQ(device->counters().launches, 0u) << "noted, not run";
  uint32_t first = 3, last = 3;
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(good(device->run(*sequence)));
    uint32_t y_first = mix(first, 1), y_last = mix(last, 1);
    std::vector<uint32_t> out = download<uint32_t>(*device, {y}, 1000);
    EXPECT_EQ(out[0], y_first);
    EXPECT_EQ(out[499], y_first);
    EXPECT_EQ(out[999], y_last);
    first = y_first;
    last = 0;
  }
  EXPECT_EQ(device->counters().launches, 5u);
  EXPECT_EQ(device->counters().instances, 5000u);
  EXPECT_EQ(device->counters().bytes_on_device, 10'000u);
}

TEST_P(EveryDevice, EventsTakeTime) {
  std::unique_ptr<Device> device = open();
  ASSERT_NE(device, nullptr);
  Buffer x = *device->allocate(1 << 20);
  Result<std::unique_ptr<Event>> begin = device->record_event();
  ASSERT_TRUE(good(begin));
  ASSERT_TRUE(good(device->fill({x}, std::byte{1})));
  Result<std::unique_ptr<Event>> end = device->record_event();
  ASSERT_TRUE(good(end));
  Result<double> seconds = device->seconds_between(**begin, **end);
  ASSERT_TRUE(good(seconds));
  EXPECT_GE(*seconds, 0.0);
}

TEST_P(EveryDevice, RunsRandomKernelsLikeTheOracle) {
  std::unique_ptr<Device> device = open({.threads = 3});
  ASSERT_NE(device, nullptr);
  uint32_t run = 0, declined = 0;
  for (uint64_t seed = 1; seed <= (kSanitized ? 4 : 24); ++seed) {
    Graph graph;
    kernel::RandomOptions options;
    options.groups = seed % 3 == 0;
    Id kernel = random_kernel(graph, seed, options);
    kernel::RandomArguments arguments = random_arguments(graph, kernel, seed, 700);
    if (Result<KernelHandle> able = device->compile(graph, kernel); !able.ok()) {
      ++declined;
      RecordProperty("declined", able.error().message);
      continue;
    }
    ++run;
    EXPECT_EQ(compare(graph, kernel, arguments, runner_on(*device)), "") << "seed " << seed;
  }
  EXPECT_GE(run, 4u) << declined << " declined";
}

INSTANTIATE_TEST_SUITE_P(Here, EveryDevice, ::testing::ValuesIn(test_device_names()),
                         [](const auto& name) {
                           std::string text = name.param;
                           for (char& c : text) c = std::isalnum(c) ? c : '_';
                           return text;
                         });

TEST(Open, UnknownNamesAreErrorsThatListTheKnown) {
  for (const char* name : {"gpu", "cuda:x", "cuda:", "cpu:1", "", "opencl:-1"}) {
    Result<std::unique_ptr<Device>> device = open_device(name);
    ASSERT_FALSE(device.ok()) << name;
    EXPECT_THAT(device.error().text(), HasSubstr("opencl")) << name;
  }
  EXPECT_FALSE(open_device("opencl:99").ok());
  EXPECT_FALSE(open_device("cuda:99").ok());
}

TEST(OpenDeathTest, ADeviceThatTheTestsCannotOpenIsNamed) {
  // Devices that were tried before may have left threads.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(open_for_test("quantum"), testing::ExitedWithCode(1),
              "the tests cannot open the device `quantum`.*XLOG_TEST_DEVICES");
}

TEST(Open, ListsEveryKindWithAReasonWhereItIsMissing) {
  std::vector<std::string> kinds;
  for (const DeviceListing& listing : list_devices()) {
    kinds.push_back(listing.name.substr(0, listing.name.find(':')));
    EXPECT_EQ(listing.info.has_value(), listing.problem.empty()) << listing.name;
  }
  for (const char* kind : {"cpu", "c", "interp", "oracle", "opencl", "cuda"}) {
    EXPECT_THAT(kinds, ::testing::Contains(kind));
  }
}

TEST(HostDevice, SmallLaunchesStartNoThread) {
  std::unique_ptr<Device> device = open_for_test("interp", {.threads = 4});
  auto& host = dynamic_cast<HostDevice&>(*device);
  Graph graph;
  KernelHandle kernel = *device->compile(graph, mix_kernel(graph));
  auto launch = [&](uint32_t n) {
    Buffer x = upload(*device, std::vector<uint32_t>(n, 3));
    Buffer y = *device->allocate(n * 4);
    EXPECT_TRUE(good(device->launch(
        kernel, std::vector<Argument>{Scalar::u32(n), Scalar::u32(1), View{x}, View{y}})));
  };
  launch(10'000);
  EXPECT_FALSE(host.threads_started());
  launch(100'000);
  EXPECT_TRUE(host.threads_started());
}

TEST(HostDevice, MorselsFollowTheWork) {
  Signature light, search, heavy;
  search.loops = heavy.loops = heavy.walks = true;
  BoundLaunch launch;
  launch.instances = 1000;
  EXPECT_EQ(morsel_size(light, launch, 8), 1000u) << "too little to share";
  launch.instances = 10'000'000;
  EXPECT_EQ(morsel_size(light, launch, 8), 4096u);
  EXPECT_EQ(morsel_size(light, launch, 1), 10'000'000u);
  launch.instances = 16;
  launch.elements = 100;
  EXPECT_EQ(morsel_size(heavy, launch, 8), 16u) << "loops over little";
  launch.elements = 10'000'000;
  EXPECT_EQ(morsel_size(search, launch, 8), 16u) << "a few short searches in much";
  EXPECT_EQ(morsel_size(heavy, launch, 8), 1u) << "few instances, each with much to do";
}

TEST(Signature, KnowsShortLoops) {
  Graph graph;
  EXPECT_TRUE(signature_of(graph, sum_kernel(graph)).walks);
  KernelBuilder k(graph, "search");
  Value n = k.val(Type::U32, "n");
  kernel::Buffer out = k.out(Type::U32, "out");
  Value i = k.grid(n);
  kernel::Values found =
      k.loop(k.u32(32), k.boolean(true), {i}, [&](Value t, const kernel::Values& carried) {
        return std::pair(carried[0] < 100, kernel::Values{carried[0] + t});
      });
  k.store(out, i, found[0]);
  Signature search = signature_of(graph, k.finish());
  EXPECT_TRUE(search.loops);
  EXPECT_FALSE(search.walks);
  EXPECT_EQ(search.size_param, 0u);
}

TEST(OracleDevice, ABrokenPromiseIsTheLaunchsError) {
  std::unique_ptr<Device> device = open_for_test("oracle");
  Graph graph;
  KernelHandle kernel = *device->compile(graph, mix_kernel(graph));
  Buffer x = upload(*device, std::vector<uint32_t>(10, 3));
  Buffer y = upload(*device, std::vector<uint32_t>(10, 0));
  Status status = device->launch(
      kernel, std::vector<Argument>{Scalar::u32(11), Scalar::u32(1), View{x}, View{y}});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().text(), HasSubstr("mix"));
}

}  // namespace
}  // namespace xlog::device
