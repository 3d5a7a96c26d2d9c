#include "kernel/passes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/sanitized.h"
#include "kernel/effects.h"
#include "kernel/passes_fixture.h"
#include "kernel/random_kernel.h"
#include "kernel/rules.h"
#include "kernel/text.h"
#include "kernel/verify.h"

namespace xlog::kernel {
namespace {

TEST(Simplify, FoldsAndReorders) {
  EXPECT_EQ(after({simplify}, R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = load a i
  p = mul x 4:u32
  q = mul p 3:u32
  one = sub 4:u32 3:u32
  r = mul one q
  s = add 5:u32 r
  t = sub s 5:u32
  z = xor t t
  w = add t z
  store o i w
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = load a i
  q = mul x 12:u32
  store o i q
}
)"));
}

TEST(Simplify, SeesThroughBooleans) {
  EXPECT_EQ(after({simplify}, R"(
kernel k(n: u32, a: in u32, o: out bool) {
  i = grid n
  x = load a i
  y = load a x
  le = or (lt x y) (eq x y)
  gt = xor le true
  store o i gt
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: out bool) {
  i = grid n
  x = load a i
  y = load a x
  gt = lt y x
  store o i gt
}
)"));
}

TEST(UseFacts, DecideComparisonsOfCounters) {
  EXPECT_EQ(after({use_facts, simplify_effects}, R"(
kernel k(n: u32, o: own u32) {
  i = grid n
  for j 0:u32 8:u32 {
    c = lt j 8:u32
    if c {
      m = and j 15:u32
      r = rem m 100:u32
      store o i r
    } else {
      store o i 7:u32
    }
  }
}
)"),
            printed(R"(
kernel k(n: u32, o: own u32) {
  i = grid n
  for j 0:u32 8:u32 {
    store o i j
  }
}
)"));
}

TEST(Strength, DividesByMultiplying) {
  EXPECT_EQ(after({reduce_strength}, R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = load a i
  store o i (div x 10:u32)
}
)"),
            printed(R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = load a i
  store o i (shr (mulhi x 3435973837:u32) 3:u32)
}
)"));
}

constexpr PassFunction kOptimisations[] = {simplify,    simplify_effects, use_facts,
                                           convert_ifs, reduce_strength,  simplify_effects};

// Every pass by itself and all in a row, on random kernels, against the oracle.
TEST(Passes, KeepTheMeaningOfRandomKernels) {
  for (uint64_t seed = 0; seed < 300 / kPartOfWork; ++seed) {
    Graph graph;
    RandomOptions options;
    options.groups = seed % 3 == 2;
    const Id kernel = random_kernel(graph, seed, options);
    const auto arguments = random_arguments(graph, kernel, seed, 1 + seed % 5);
    const Target target{.name = "test"};
    auto runs = [&](std::span<const PassFunction> passes) {
      return [&, passes](Graph& g, Id id,
                         std::span<const Argument> list) -> Result<std::optional<CheckFailure>> {
        PassContext context{g, target, nullptr, "test", 0, {}};
        for (PassFunction pass : passes) {
          id = pass(context, id);
          verify_or_die(g, id, Spec::Kernel, "a pass");
        }
        auto report = run_oracle(g, id, list);
        if (!report.ok()) return report.error();
        return report->failure;
      };
    };
    for (const PassFunction& pass : kOptimisations) {
      ASSERT_EQ(compare(graph, kernel, arguments, runs(std::span(&pass, 1))), "")
          << "seed " << seed << ", pass " << &pass - kOptimisations;
    }
    ASSERT_EQ(compare(graph, kernel, arguments, runs(kOptimisations)), "") << "seed " << seed;
  }
}

// The kernel lowered for a target, on the oracle: hidden parameters get what a device gives them.
Runner lowered_oracle(const Target& target) {
  return [&target](Graph& graph, Id kernel,
                   std::span<const Argument> given) -> Result<std::optional<CheckFailure>> {
    auto lowered = lower(graph, kernel, target);
    if (!lowered.ok()) return lowered.error();
    std::vector<Argument> arguments(given.begin(), given.end());
    std::vector<uint32_t> status(kCheckCodes, UINT32_MAX);
    for (const HiddenParam& hidden : lowered->hidden) {
      if (hidden.kind == HiddenParam::Kind::Status) {
        arguments.emplace_back(HostBuffer{reinterpret_cast<std::byte*>(status.data()),
                                          status.size() * sizeof(uint32_t)});
      } else {
        const size_t bytes = std::get<HostBuffer>(given[hidden.of]).bytes;
        const Type type = graph.type(graph.params(kernel)[hidden.of]);
        arguments.emplace_back(Scalar::u32(static_cast<uint32_t>(bytes / size_of(type))));
      }
    }
    auto report = run_oracle(graph, lowered->kernel, arguments);
    if (!report.ok()) return report.error();
    for (uint32_t code = 0; code < kCheckCodes; ++code) {
      if (status[code] != UINT32_MAX) return std::optional(CheckFailure{code, status[code]});
    }
    return std::optional<CheckFailure>();
  };
}

TEST(Lower, KeepsTheMeaningOfRandomKernels) {
  const Target plain{.name = "plain"};
  const Target grouped{.name = "grouped", .groups = true};
  for (uint64_t seed = 1000; seed < 1000 + 300 / kPartOfWork; ++seed) {
    Graph graph;
    RandomOptions options;
    options.groups = seed % 2 == 1;
    const Id kernel = random_kernel(graph, seed, options);
    const auto arguments = random_arguments(graph, kernel, seed, 1 + seed % 5);
    ASSERT_EQ(compare(graph, kernel, arguments, lowered_oracle(plain)), "") << "seed " << seed;
    ASSERT_EQ(compare(graph, kernel, arguments, lowered_oracle(grouped)), "") << "seed " << seed;
  }
}

TEST(Passes, ChangeNothingTheSecondTime) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Graph graph;
    Id kernel = random_kernel(graph, seed);
    const Target target{.name = "test"};
    for (PassFunction pass : {simplify, use_facts, reduce_strength}) {
      PassContext context{graph, target, nullptr, "test", 0, {}};
      const Id once = pass(context, kernel);
      RewriteLog log;
      PassContext again{graph, target, &log, "test", 0, {}};
      EXPECT_EQ(pass(again, once), once) << "seed " << seed;
      for (const Rewrite& change : log.rewrites) {
        ADD_FAILURE() << "seed " << seed << ": " << change.rule << ": "
                      << describe(graph, change.before) << " -> " << describe(graph, change.after);
      }
    }
  }
}

TEST(Lower, GivesTheSameTextEveryTime) {
  const Target target{.name = "test"};
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Graph a, b;
    auto first = lower(a, random_kernel(a, seed), target);
    auto second = lower(b, random_kernel(b, seed), target);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(print(a, first->kernel), print(b, second->kernel)) << "seed " << seed;
  }
}

TEST(Lower, LogsEveryPassAndFiring) {
  Graph graph;
  const Id kernel = parse_one(graph, R"(
kernel k(n: u32, a: in u32, o: out u32) {
  i = grid n
  x = load a i
  store o i (add x 0:u32)
}
)");
  const Target target{.name = "test"};
  RewriteLog log;
  auto lowered = lower(graph, kernel, target, &log);
  ASSERT_TRUE(lowered.ok()) << lowered.error().text();
  EXPECT_EQ(lowered->size_param, 0u);
  EXPECT_EQ(lowered->group, 0u);
  EXPECT_TRUE(lowered->hidden.empty());
  ASSERT_FALSE(log.passes.empty());
  EXPECT_EQ(log.passes.front().name, "simplify");
  EXPECT_EQ(log.passes.front().rewrites, 1u);
  ASSERT_FALSE(log.rewrites.empty());
  EXPECT_EQ(log.rewrites.front().rule, "add-zero");
  EXPECT_EQ(log.passes.back().kernel, lowered->kernel);
}

TEST(Lower, SaysWhatIsWrong) {
  Graph graph;
  const Id kernel = parse_one(graph, R"(
kernel broken(n: u32, a: in u32) {
  i = grid n
  store a i 1:u32
}
)");
  const Target target{.name = "test"};
  auto lowered = lower(graph, kernel, target);
  ASSERT_FALSE(lowered.ok());
  EXPECT_NE(lowered.error().message.find("kernel broken is not well formed"), std::string::npos);
}

TEST(Lower, FindsTheSizeOfTheLaunch) {
  Graph graph;
  const Id kernel = parse_one(graph, R"(
kernel k(a: out u32) {
  i = grid 12:u32
  store a i i
}
)");
  const Target target{.name = "test"};
  auto lowered = lower(graph, kernel, target);
  ASSERT_TRUE(lowered.ok()) << lowered.error().text();
  EXPECT_EQ(lowered->size_param, Lowered::kNoParam);
  EXPECT_EQ(lowered->size_constant, 12u);
}

uint32_t per_thread_of(std::string_view text) {
  Graph graph;
  return instances_per_thread(graph, parse_one(graph, text));
}

TEST(InstancesPerThread, AreMoreTheNarrowerTheColumns) {
  const auto copy = [](std::string_view type, std::string_view other) {
    return per_thread_of(fmt::format(
        "kernel k(n: u32, x: in {0}, y: out {0}, z: in {1}, w: out {1}) {{\n  i = grid n\n"
        "  store y i (load x i)\n  store w i (load z i)\n}}\n",
        type, other));
  };
  EXPECT_EQ(copy("u64", "f64"), 4u);
  EXPECT_EQ(copy("u32", "i64"), 8u);
  EXPECT_EQ(copy("u8", "u64"), 8u) << "no more than that";
  EXPECT_EQ(copy("bool", "u8"), 8u);
}

TEST(InstancesPerThread, AreOneWhereAKernelDoesMoreThanMoveColumns) {
  EXPECT_EQ(per_thread_of("kernel k(n: u32, y: out u32) {\n  i = grid n\n"
                          "  s = for j 0:u32 i carry c 1:u32 { yield (mul c 3) }\n"
                          "  store y i s\n}\n"),
            1u)
      << "loops";
  EXPECT_EQ(per_thread_of("kernel k(n: u32, x: in u32, s: acc u32) {\n  i = grid n\n"
                          "  atomic.add s 0:u32 (load x i)\n}\n"),
            1u)
      << "atomics";
  EXPECT_EQ(per_thread_of("kernel k(n: u32, x: race u32, y: out u32) {\n  i = grid n\n"
                          "  store y i (load x i)\n}\n"),
            1u)
      << "waiting for others";
  EXPECT_EQ(per_thread_of("kernel k group 32 (n: u32, y: out u32) {\n  g = group n\n  l = lane\n"
                          "  store y (add (mul g 32) l) l\n}\n"),
            1u)
      << "groups";
  std::string longer = "kernel k(n: u32, x: in u32, y: out u32) {\n  i = grid n\n  v0 = load x i\n";
  for (int k = 0; k < 100; ++k) longer += fmt::format("  v{} = add (mul v{} 3) i\n", k + 1, k);
  EXPECT_EQ(per_thread_of(longer + "  store y i v100\n}\n"), 1u) << "long kernels";
}

// The launch and the text have to agree, whatever the passes make of the kernel.
TEST(InstancesPerThread, AreThoseOfTheKernelAsItWasWritten) {
  Graph graph;
  const Id kernel = parse_one(graph, R"(
kernel k(n: u32, x: in u8, y: out u64) {
  i = grid n
  check 5 (lt i (len y))
  store y i (cast u64 (load x i))
}
)");
  auto lowered = lower(graph, kernel, Target{.name = "test"});
  ASSERT_TRUE(lowered.ok()) << lowered.error().text();
  EXPECT_EQ(lowered->per_thread, instances_per_thread(graph, kernel));
  EXPECT_EQ(lowered->per_thread, 8u);
}

// The log is read by name, so that two passes of one name could not be told apart.
TEST(Lower, GivesEveryPassANameOfItsOwn) {
  std::set<std::string_view> seen;
  for (std::string_view name : pass_names()) EXPECT_TRUE(seen.insert(name).second) << name;
  EXPECT_FALSE(seen.empty());
}

}  // namespace
}  // namespace xlog::kernel
