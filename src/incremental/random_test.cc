// Random programs under random batches: after each the kept answers are those of the reference,
// what changed is the exact difference, and all counts are right. $XLOG_RANDOM_TIMES=N tries N
// times as many.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>

#include "base/sanitized.h"
#include "device/device.h"
#include "engine/random_best_program.h"
#include "engine/random_fold_program.h"
#include "engine/random_program.h"
#include "epistemic/random_source.h"
#include "incremental/random_worlds.h"
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
  bool in_parts = false;   // worlds differ, in many parts
};
void PrintTo(const Generator& generator, std::ostream* out) { *out << generator.name; }

// What was met on the way.
struct Met {
  uint64_t asked = 0;                   // programs with an answer
  uint64_t batches = 0, worked_in = 0;  // the rest were evaluated afresh, as a whole or in part
  uint64_t without_view = 0, with_several = 0;
  uint64_t lost = 0, found = 0;  // views where there were none before, and the other way round
};

// What went wrong, or "".
std::string run_script(const std::string& source, const Generator& generator, uint64_t seed,
                       device::Device* device, Met& met) {
  Script script;
  logic::AnswerOptions options = limits();
  if (seed % 16 == 0) options.max_worlds = UINT64_MAX;
  constexpr logic::Mode kModes[] = {logic::Mode::Faeel, logic::Mode::G91, logic::Mode::Faeel19};
  options.mode = kModes[seed % 3];
  std::atomic<bool> interrupt = false;
  options.interrupt = &interrupt;
  if (!script.open(source, seed, options, device)) return "";
  ++met.asked;
  std::string wrong = script.compare({});
  bool had_view = !script.wanted().starts_with("0 views");
  for (uint64_t i = 0; i < generator.batches && wrong.empty() && !script.over(); ++i) {
    constexpr Way kWays[] = {Way::Keep, Way::Keep,   Way::Keep,   Way::Keep,
                             Way::Keep, Way::Choose, Way::Afresh, Way::HalfWay};
    script.kept().set_way(kWays[script.pick(8)]);
    const uint64_t kind = script.pick(10);
    const std::vector<Script::Item> batch = script.random_batch(kind == 0);
    if (kind == 0 && batch.empty()) continue;
    if (kind == 1) {
      interrupt = script.pick(2) == 0;
      wrong = script.fail(batch, interrupt ? Way::HalfWay : Way::Fail, [&] { interrupt = false; });
    } else {
      wrong = script.apply(batch, kind == 0);
    }
    if (!wrong.empty()) {
      wrong.insert(0, fmt::format("batch {}{}:\n{}", i,
                                  kind == 0   ? " (absent)"
                                  : kind == 1 ? " (fails)"
                                              : "",
                                  script.text(batch)));
    }
    if (kind <= 1 || script.over()) continue;
    ++met.batches;
    met.worked_in += script.kept().effort().reasons.empty() ? 1 : 0;
    const bool has_view = !script.wanted().starts_with("0 views");
    met.without_view += has_view ? 0 : 1;
    met.with_several += has_view && !script.wanted().starts_with("1 views") ? 1 : 0;
    met.lost += had_view && !has_view ? 1 : 0;
    met.found += !had_view && has_view ? 1 : 0;
    had_view = has_view;
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
  Met met;
  for (uint64_t seed = generator.first; seed < generator.first + count; ++seed) {
    const std::string source = generator.source(seed);
    const std::string wrong = run_script(source, generator, seed, device.get(), met);
    ASSERT_EQ(wrong, "") << "seed " << seed << "\n" << source;
  }
  EXPECT_GE(met.asked * 10, count * 7) << "too many are ill-formed or too large";
  if (!generator.in_parts) return;
  EXPECT_GE(met.worked_in * 2, met.batches);
  EXPECT_GE(met.without_view * 10, met.batches);
  EXPECT_GE(met.with_several * 50, met.batches);
  EXPECT_GE(met.lost * 100, met.batches) << "there are views, and then none";
  EXPECT_GE(met.found * 200, met.batches) << "there is none, and then there are";
}

std::vector<Generator> generators() {
  const auto plain = [](uint64_t seed) { return engine::ProgramGenerator(seed).run().text(); };
  const auto best = [](uint64_t seed) { return engine::BestProgramGenerator(seed).run().text(); };
  const auto folds = [](uint64_t seed) { return engine::FoldProgramGenerator(seed).run().text(); };
  const auto worlds = [](uint64_t seed) {
    return epistemic::RandomSource(static_cast<uint32_t>(seed)).run();
  };
  const auto parts = [](uint64_t seed) { return RandomWorlds(seed).run(); };
  const auto folded = [](uint64_t seed) {
    return RandomWorlds(seed, RandomWorlds::With::Folds).run();
  };
  const auto undefined = [](uint64_t seed) {
    const auto with = seed % 2 == 0 ? RandomWorlds::With::Atoms : RandomWorlds::With::Folds;
    return "#pragma semantics = well_founded\n" + RandomWorlds(seed, with).run();
  };
  return {
      {"plain", plain, 100, 250, 12},
      {"best", best, 1'000'000, 60, 8},
      {"folds", folds, 8'000'000, 60, 8},
      {"worlds", worlds, 2'000'000, 100, 10},
      {"parts", parts, 6'000'000, 150, 10, false, true},
      {"folded_parts", folded, 9'000'000, 150, 10, false, true},
      {"undefined_parts", undefined, 11'000'000, 100, 10},
      {"plain_on_device", plain, 3'000'000, 25, 5, true},
      {"best_on_device", best, 4'000'000, 15, 4, true},
      {"worlds_on_device", worlds, 5'000'000, 25, 5, true},
      {"parts_on_device", parts, 7'000'000, 25, 5, true},
      {"folded_parts_on_device", folded, 10'000'000, 25, 5, true},
      {"undefined_parts_on_device", undefined, 12'000'000, 25, 5, true},
  };
}

INSTANTIATE_TEST_SUITE_P(All, RandomScripts, testing::ValuesIn(generators()),
                         [](const auto& trial) { return trial.param.name; });

}  // namespace
}  // namespace xlog::incremental
