#include "solve/small_formula.h"

#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "device/test_devices.h"
#include "solve/random_formula.h"

namespace xlog::solve {
namespace {

std::unique_ptr<device::Device> cpu() {
  Result<std::unique_ptr<device::Device>> device =
      device::open_device("cpu", {.cache_folder = "none"});
  EXPECT_TRUE(device.ok());
  return std::move(*device);
}

uint64_t count_by_hand(const Cnf& cnf, std::span<const Literal> assumptions) {
  uint64_t models = 0;
  for (uint32_t bits = 0; bits < uint32_t{1} << cnf.variables(); ++bits) {
    Model model(cnf.variables());
    for (Literal v = 1; v <= cnf.variables(); ++v) {
      if (((bits >> (v - 1)) & 1) != 0) model.set(v);
    }
    const bool assumed =
        std::ranges::all_of(assumptions, [&](Literal literal) { return model.holds(literal); });
    models += assumed && model.satisfies(cnf) ? 1 : 0;
  }
  return models;
}

TEST(SmallFormula, DecidesAndCountsAsTryingAllDoes) {
  const auto device = cpu();
  Random random(11);
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(testing::Message() << "seed 11, round " << round);
    const auto variables = static_cast<int32_t>(1 + below(random, 10));
    const Cnf cnf = random_formula(random, variables, below(random, 30), 4);
    std::vector<Literal> assumptions;
    for (uint32_t n = below(random, 3); n > 0; --n) {
      assumptions.push_back(random_literal(random, variables));
    }
    const uint64_t models = count_by_hand(cnf, assumptions);
    for (const bool count : {false, true}) {
      const Result<SmallAnswer> answer = decide_small(*device, cnf, assumptions, count, {});
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      ASSERT_EQ(answer->outcome, models > 0 ? Outcome::Sat : Outcome::Unsat);
      ASSERT_EQ(answer->models, mpz_class(count ? models : 0));
      if (answer->outcome != Outcome::Sat) continue;
      EXPECT_TRUE(answer->model.satisfies(cnf));
      for (const Literal literal : assumptions) EXPECT_TRUE(answer->model.holds(literal));
    }
  }
}

TEST(SmallFormula, SplitsWhatIsTooHardForOneQuestion) {
  const auto device = cpu();
  const Result<SmallAnswer> pigeons =
      decide_small(*device, pigeon_holes(kSanitized ? 7 : 8), {}, false, {});
  ASSERT_TRUE(pigeons.ok());
  EXPECT_EQ(pigeons->outcome, Outcome::Unsat);
}

TEST(SmallFormula, CountsUpTo64Variables) {
  const auto device = cpu();
  Cnf cnf;
  cnf.need_variables(64);
  mpz_class all = mpz_class(1) << 64;
  EXPECT_EQ(decide_small(*device, cnf, {}, true, {})->models, all);
  std::vector<Literal> clause;
  for (Literal v = 1; v <= 64; ++v) clause.push_back(v);
  cnf.add(clause);
  EXPECT_EQ(decide_small(*device, cnf, {}, true, {})->models, all - 1);
  const Literal both[] = {3, -3};
  EXPECT_EQ(decide_small(*device, cnf, both, true, {})->outcome, Outcome::Unsat);
}

TEST(SmallFormula, LimitsEndIt) {
  const auto device = cpu();
  const Interrupt stop = true;
  EXPECT_EQ(decide_small(*device, pigeon_holes(8), {}, false, {.interrupt = &stop})->outcome,
            Outcome::Unknown);
  const auto now = std::chrono::steady_clock::now();
  EXPECT_EQ(decide_small(*device, pigeon_holes(8), {}, false, {.deadline = now})->outcome,
            Outcome::Timeout);
}

}  // namespace
}  // namespace xlog::solve
