// Random programs under random batches: after each the kept answers are those of the reference,
// what changed is the exact difference, and all counts are right. $XLOG_RANDOM_TIMES=N tries N
// times as many.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "base/sanitized.h"
#include "device/device.h"
#include "engine/random_best_program.h"
#include "engine/random_program.h"
#include "epistemic/random_source.h"
#include "incremental/script.h"

namespace xlog::incremental {
namespace {

using Way = Inspectable::Way;

uint64_t times() {
  const char* times = std::getenv("XLOG_RANDOM_TIMES");
  return times == nullptr ? 1 : std::strtoull(times, nullptr, 10);
}

logic::AnswerOptions limits() {
  logic::AnswerOptions options;
  options.max_rows = 20'000;
  options.max_candidates = 1 << 12;
  options.max_views = UINT64_MAX;
  return options;
}

struct Generator {
  std::string name;
  std::function<std::string(uint64_t)> source;
  uint64_t first, count, batches;
  bool on_device = false;  // what is evaluated afresh
};
void PrintTo(const Generator& generator, std::ostream* out) { *out << generator.name; }

// What went wrong, or "".
std::string run_script(const std::string& source, const Generator& generator, uint64_t seed,
                       device::Device* device, bool& asked) {
  Script script;
  logic::AnswerOptions options = limits();
  if (seed % 16 == 0) options.max_worlds = UINT64_MAX;
  asked = script.open(source, seed, options, device);
  if (!asked) return "";
  std::string wrong = script.compare({});
  for (uint64_t i = 0; i < generator.batches && wrong.empty() && !script.over(); ++i) {
    constexpr Way kWays[] = {Way::Keep, Way::Keep,   Way::Keep,   Way::Keep,
                             Way::Keep, Way::Choose, Way::Afresh, Way::HalfWay};
    script.kept().set_way(kWays[script.pick(8)]);
    const uint64_t kind = script.pick(10);
    const std::vector<Script::Item> batch = script.random_batch(kind == 0);
    if (kind == 0 && batch.empty()) continue;
    wrong = kind == 1 ? script.fail(batch) : script.apply(batch, kind == 0);
    if (!wrong.empty()) {
      wrong.insert(0, fmt::format("batch {}{}:\n{}", i,
                                  kind == 0   ? " (absent)"
                                  : kind == 1 ? " (fails)"
                                              : "",
                                  script.text(batch)));
    }
  }
  return wrong;
}

class RandomScripts : public testing::TestWithParam<Generator> {};

TEST_P(RandomScripts, AgreeWithTheReference) {
  const Generator& generator = GetParam();
  const uint64_t count = std::max<uint64_t>(generator.count / kPartOfWork, 5) * times();
  std::unique_ptr<device::Device> device;
  if (generator.on_device) {
    Result<std::unique_ptr<device::Device>> opened = device::open_device("interp");
    ASSERT_TRUE(opened.ok());
    device = std::move(*opened);
  }
  uint64_t all_asked = 0;
  for (uint64_t seed = generator.first; seed < generator.first + count; ++seed) {
    const std::string source = generator.source(seed);
    bool asked = false;
    const std::string wrong = run_script(source, generator, seed, device.get(), asked);
    all_asked += asked ? 1 : 0;
    ASSERT_EQ(wrong, "") << "seed " << seed << "\n" << source;
  }
  EXPECT_GE(all_asked * 10, count * 7) << "too many are ill-formed or too large";
}

std::vector<Generator> generators() {
  const auto plain = [](uint64_t seed) { return engine::ProgramGenerator(seed).run().text(); };
  const auto best = [](uint64_t seed) { return engine::BestProgramGenerator(seed).run().text(); };
  const auto worlds = [](uint64_t seed) {
    return epistemic::RandomSource(static_cast<uint32_t>(seed)).run();
  };
  return {
      {"plain", plain, 100, 250, 12},
      {"best", best, 1'000'000, 60, 8},
      {"worlds", worlds, 2'000'000, 100, 10},
      {"plain_on_device", plain, 3'000'000, 25, 5, true},
      {"best_on_device", best, 4'000'000, 15, 4, true},
      {"worlds_on_device", worlds, 5'000'000, 25, 5, true},
  };
}

INSTANTIATE_TEST_SUITE_P(All, RandomScripts, testing::ValuesIn(generators()),
                         [](const auto& trial) { return trial.param.name; });

}  // namespace
}  // namespace xlog::incremental
