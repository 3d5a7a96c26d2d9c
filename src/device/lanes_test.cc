// What the lanes of a group see of each other and keep for themselves, on every device that opens
// here and against the oracle. Each kernel is one that some compiler took for something else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/test_devices.h"
#include "kernel/random_kernel.h"
#include "kernel/text.h"

namespace xlog::device {
namespace {

using kernel::Graph;
using kernel::Id;
using kernel::Mode;

constexpr uint32_t kGroups = 3;

// Scalars are the number of groups; buffers have a cell for each lane of each group.
kernel::RandomArguments arguments_for(const Graph& graph, Id kernel) {
  kernel::RandomArguments arguments;
  const uint32_t lanes = graph.kernel_info(kernel).group;
  for (Id param : graph.params(kernel)) {
    std::vector<std::byte>& memory = arguments.memory.emplace_back();
    const uint32_t size = size_of(graph.type(param));
    if (graph.mode(param) == Mode::Val) {
      arguments.list.emplace_back(Scalar::of(graph.type(param), kGroups));
      continue;
    }
    memory.resize(size_t{kGroups} * lanes * size);
    if (graph.mode(param) == Mode::In) {
      for (size_t k = 0; k < memory.size(); k += size) memory[k] = std::byte(k / size * 7 % 11);
    }
    arguments.list.emplace_back(kernel::HostBuffer{memory.data(), memory.size()});
  }
  return arguments;
}

class Lanes : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_like_the_oracle(std::string_view text) {
    std::unique_ptr<Device> device = open_for_test(GetParam());
    Graph graph;
    Result<std::vector<Id>> kernels = parse(graph, text, "lanes");
    ASSERT_TRUE(good(kernels));
    for (Id kernel : *kernels) {
      EXPECT_EQ(compare(graph, kernel, arguments_for(graph, kernel), runner_on(*device)), "");
    }
  }
};

// Lanes leave the loops at different rounds, with values that are the same wherever they are
// assigned.
TEST_P(Lanes, KeepWhatALoopLeftThemAcrossABarrier) {
  expect_like_the_oracle(R"(
kernel flag group 32 (n: u32, q: out u32) {
  g = group n
  l = lane
  _, seen = for t 3 l carry v 1.0:f64, s false { yield 1.0:f64 true }
  barrier
  if seen { store q (add (mul g 32) l) 1 }
}
kernel number group 32 (n: u32, x: in u32, q: out u32, r: out f64) {
  g = group n
  l = lane
  i = add (mul g 32) l
  w = load x g
  a, b, c, d = for t 3 l carry p w, q1 3:u32, r1 4:u32, s1 1.5:f64 { yield n r1 w 2.5:f64 }
  barrier
  store q i (add (mul a 100) (add (mul b 10) c))
  store r i d
}
kernel stopped group 32 (n: u32, x: in u32, q: out u32, q2: out u32) {
  g = group n
  l = lane
  i = add (mul g 32) l
  v = load x i
  p, m = loop t 10 while (lt v 5) carry c 3:u32 { yield false 9:u32 }
  e, o = loop t (and l 1) while true carry c 5:u32 { yield false 6:u32 }
  barrier
  store q i (add p (mul e 16))
  store q2 i (cast u32 o)
}
kernel inside group 32 (n: u32, x: in u32, q: out u32) {
  g = group n
  l = lane
  i = add (mul g 32) l
  w = load x g
  a, b = for t 0 3 carry c 3:u32, e 5:u32 {
    z = for u 7:u32 l carry c2 n { yield w }
    y = for u 9:u32 l carry c2 c { yield e }
    barrier
    yield z y
  }
  store q i (add (mul a 1000) b)
}
)");
}

// A collective is a barrier too, even one that gives what another has found already.
TEST_P(Lanes, SeeStoresFromBeforeATotal) {
  for (const char* lanes : {"20", "32", "64", "250"}) {
    std::string text = R"(
kernel total group LANES (n: u32, x: in u32, y: out u32) {
  t = alloc local u32 LANES
  g = group n
  l = lane
  v = load x (add (mul g LANES) l)
  b = gscan.add v
  store t l (mul b 3)
  s = greduce.add v
  w = load t (sub (sub LANES 1) l)
  store y (add (mul g LANES) l) (add w s)
}
)";
    for (size_t at; (at = text.find("LANES")) != std::string::npos;) text.replace(at, 5, lanes);
    expect_like_the_oracle(text);
  }
}

TEST_P(Lanes, TakeChoicesOfChoices) {
  expect_like_the_oracle(R"(
kernel choices group 1 (n: u32, x: in u32, y: out u32, z: out u32) {
  t = alloc local u32 1
  g = group n
  l = lane
  v = load x g
  c = lt v 5
  if c { store z g v }
  s = select c (add v 1) (mul v 7)
  store t l s
  barrier
  w = load t l
  r = select c w (add v 9)
  store y g r
}
)");
}

// Arrays that do not fit a thread's stack are refused; those that do fit run.
TEST_P(Lanes, HaveArraysOfSomeSizeOnly) {
  const auto kernel_of = [](uint64_t elements) {
    return fmt::format(R"(
kernel arrays group 64 (n: u32, y: out u32) {{
  i = add (mul (group n) 64) (lane)
  a = alloc private u32 {0}
  for j 0 {0} {{ store a j (add i j) }}
  barrier
  store y i (load a (rem (mul i 12345) {0}))
}}
)",
                       elements);
  };
  expect_like_the_oracle(kernel_of(2000));
  std::unique_ptr<Device> device = open_for_test(GetParam());
  if (device->info().target == nullptr || device->info().target->max_private_bytes == 0) return;
  Graph graph;
  Result<std::vector<Id>> kernels = parse(graph, kernel_of(4'000'000), "lanes");
  ASSERT_TRUE(good(kernels));
  Result<KernelHandle> handle = device->compile(graph, kernels->front());
  ASSERT_FALSE(handle.ok());
  EXPECT_NE(handle.error().message.find("use smaller arrays"), std::string::npos)
      << handle.error().text();
}

TEST_P(Lanes, AreFewerThan32BitsCanNumber) {
  std::unique_ptr<Device> device = open_for_test(GetParam());
  Graph graph;
  Result<std::vector<Id>> kernels = parse(graph, R"(
kernel few group 256 (n: u32, y: out u32) {
  i = add (mul (group n) 256) (lane)
  if (eq i 7) { store y i i }
}
)",
                                          "lanes");
  ASSERT_TRUE(good(kernels));
  Result<KernelHandle> handle = device->compile(graph, kernels->front());
  ASSERT_TRUE(good(handle));
  Buffer y = upload(*device, std::vector<uint32_t>(256));
  Status launched = device->launch(*handle, std::vector<Argument>{Scalar::u32(1u << 24), View{y}});
  ASSERT_FALSE(launched.ok());
  EXPECT_NE(launched.error().message.find("16777216 groups of 256 lanes"), std::string::npos)
      << launched.error().text();
}

INSTANTIATE_TEST_SUITE_P(Here, Lanes, ::testing::ValuesIn(test_device_names()),
                         [](const auto& name) {
                           std::string text = name.param;
                           for (char& c : text) c = std::isalnum(c) ? c : '_';
                           return text;
                         });

}  // namespace
}  // namespace xlog::device
