// Programs whose open components were bounded on a device before they were made ground, against the
// reference evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "base/sanitized.h"
#include "device/test_devices.h"
#include "engine/evaluate.h"
#include "epistemic/evaluate.h"
#include "epistemic/random_graph_source.h"
#include "epistemic/random_source.h"
#include "epistemic/rows_text.h"
#include "logic/modes.h"

namespace xlog::epistemic {
namespace {

using engine::OpenComponents;
using logic::Mode;

// XLOG_TEST_PROGRAMS: more than the suite has time for.
uint32_t programs() {
  const char* asked = std::getenv("XLOG_TEST_PROGRAMS");
  return asked != nullptr ? static_cast<uint32_t>(std::stoul(asked)) : 400 / kPartOfWork;
}

struct Ran {
  bool answered = false;
  std::vector<std::string> views;  // as texts, in the order of these
  std::string messages;
  engine::Statistics statistics;
  Trace trace;
};

device::Device& device_of(const std::string& name) {
  static std::map<std::string, std::unique_ptr<device::Device>> opened;
  std::unique_ptr<device::Device>& device = opened[name];
  if (device == nullptr) {
    Result<std::unique_ptr<device::Device>> made = device::open_device(name);
    device = std::move(*made);
  }
  return *device;
}

// Without a device: by the reference evaluator.
Ran run(const std::string& source, const logic::AnswerOptions& options, const char* device,
        OpenComponents open) {
  Ran ran;
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", source);
  std::optional<lang::Program> program = lang::load(*file, session);
  if (!program || session.diagnostics.has_errors()) return ran;
  logic::override_pragmas(program->pragmas, options.mode, std::nullopt);
  std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  if (!analysis || session.diagnostics.has_errors()) return ran;
  std::optional<logic::Answer> answer;
  if (device == nullptr) {
    answer = oracle::evaluate(*program, *analysis, session, options);
  } else {
    const auto rest = [&](const lang::Program& left, const logic::Analysis& of, lang::Session& s,
                          const logic::AnswerOptions& wanted, const oracle::Preset* preset) {
      return epistemic::evaluate(left, of, s, wanted, preset, &ran.trace);
    };
    answer = engine::evaluate(*program, *analysis, session, options, device_of(device),
                              ran.statistics, std::nullopt, rest, open);
  }
  ran.messages = render_text(session.diagnostics, session.sources, {});
  ran.answered = answer.has_value();
  if (!answer) return ran;
  for (const logic::WorldView& view : answer->views) {
    std::string text = view.world_count.get_str() + " worlds\n";
    text += rows_text(view.queries, *program, session.names);
    for (const std::vector<std::string>& world : view.worlds) {
      text += fmt::format("  {{{}}}\n", fmt::join(world, ", "));
    }
    ran.views.push_back(std::move(text));
  }
  std::string well_founded = answer->view_count.get_str() + " views\n";
  well_founded += rows_text(answer->well_founded_queries, *program, session.names);
  ran.views.push_back(std::move(well_founded));
  std::ranges::sort(ran.views);
  return ran;
}

// On the devices of $XLOG_TEST_DEVICES in turn, for machines with a GPU, or on the processor.
const std::string& device_for(uint32_t seed) {
  static const std::vector<std::string> names =
      std::getenv("XLOG_TEST_DEVICES") != nullptr
          ? device::test_device_names()
          : std::vector<std::string>{"cpu", "interp", "interp", "interp"};
  return names[seed % names.size()];
}

class Bounded : public testing::TestWithParam<Mode> {};

template <typename Source>
void expect_views_of_the_reference(Mode mode, uint32_t first_seed) {
  uint32_t compared = 0, bounded = 0, certain = 0, found = 0;
  for (uint32_t seed = first_seed; seed < first_seed + programs(); ++seed) {
    const std::string source = Source(seed).run();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, source));
    logic::AnswerOptions options;
    options.mode = mode;
    options.max_views = UINT64_MAX;
    options.max_worlds = seed % 2 == 0 ? UINT64_MAX : 0;
    options.max_candidates = 20'000;
    const Ran wanted = run(source, options, nullptr, OpenComponents::Left);
    if (!wanted.answered) continue;
    options.max_candidates = UINT64_MAX;
    const auto open =
        seed % 3 == 0 ? OpenComponents::Bounded : OpenComponents::BoundedWithInstances;
    const Ran got = run(source, options, device_for(seed).c_str(), open);
    ASSERT_TRUE(got.answered) << got.messages;
    ASSERT_EQ(got.views, wanted.views);
    ASSERT_EQ(got.messages, wanted.messages);
    ++compared;
    bounded += got.statistics.bounded.components > 0 ? 1 : 0;
    certain += got.statistics.bounded.certain > 0 ? 1 : 0;
    found += got.statistics.instances.instances > 0 ? 1 : 0;
  }
  EXPECT_GT(compared, programs() / 3);
  EXPECT_GT(bounded, compared / 4);
  EXPECT_GT(certain, compared / 10);
  EXPECT_GT(found, compared / 10);
}

TEST_P(Bounded, ProgramsHaveTheViewsOfTheReference) {
  expect_views_of_the_reference<RandomSource>(GetParam(), 0);
}

TEST_P(Bounded, GraphsHaveTheViewsOfTheReference) {
  expect_views_of_the_reference<RandomGraphSource>(GetParam(), 100'000);
}

INSTANTIATE_TEST_SUITE_P(Modes, Bounded, testing::Values(Mode::G91, Mode::Faeel, Mode::Faeel19),
                         [](const auto& mode) { return std::string(logic::spelling(mode.param)); });

// ---- what is left to make ground ----

struct Left {
  uint64_t certain, open, rules, atoms;
  friend bool operator==(const Left&, const Left&) = default;
  friend void PrintTo(const Left& left, std::ostream* out) {
    *out << left.certain << " certain, " << left.open << " open, " << left.rules << " rules, "
         << left.atoms << " atoms";
  }
};

Left left_of(const std::string& source, Mode mode = Mode::Faeel) {
  logic::AnswerOptions options;
  options.mode = mode;
  const auto left = [&](OpenComponents open) {
    const Ran got = run(source, options, "interp", open);
    EXPECT_TRUE(got.answered) << got.messages;
    return Left{got.statistics.bounded.certain, got.statistics.bounded.open, got.trace.ground_rules,
                got.trace.ground_atoms};
  };
  EXPECT_EQ(left(OpenComponents::BoundedWithInstances), left(OpenComponents::Bounded));
  return left(OpenComponents::Bounded);
}

TEST(Bounded, OnlyWhatCanMatterIsMadeGround) {
  const std::string edges = "e(1, 2). e(2, 3). e(3, 4). { e(4, 5) }.\n";
  const std::string reach = "r(X, Y) :- e(X, Y). r(X, Z) :- r(X, Y), e(Y, Z).\n";
  // 3 edges and 6 pairs are certain; an edge and 4 pairs are open, with a rule each.
  EXPECT_EQ(left_of(edges + reach + "?- e(X, Y)."), (Left{12, 6, 6, 6}));
}

TEST(Bounded, NegationIsDecidedByWhatIsCertainOrNotPossible) {
  EXPECT_EQ(left_of("d(1..3). a(1). { a(2) }. b(X) :- d(X), not a(X). ?- b(X)."),
            (Left{3, 3, 3, 3}));
}

TEST(Bounded, QuestionsAreJudgedAsTheModeSays) {
  const std::string source = "d(1..2). p(X) :- d(X), know p(X). ?- p(X).";
  EXPECT_EQ(left_of(source, Mode::G91), (Left{0, 4, 4, 4}));
  EXPECT_EQ(left_of(source, Mode::Faeel19), (Left{0, 0, 0, 0}));
}

TEST(Bounded, AnAtomOfADisjunctionIsTrueWhereTheOthersCannotBe) {
  // b(2) has no rule but the disjunction of 2, whose other atom holds anyway.
  EXPECT_EQ(left_of("d(1..2). a(2). a(X) ; b(X) :- d(X), X < 2. c(X) :- b(X). ?- c(X)."),
            (Left{1, 4, 3, 4}));
}

}  // namespace
}  // namespace xlog::epistemic
