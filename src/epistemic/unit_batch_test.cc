// Many small units at once against solving them one by one, and against the reference.
#include "epistemic/unit_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "device/test_devices.h"
#include "epistemic/ground_fixture.h"
#include "epistemic/solve_unit.h"
#include "oracle/random_program.h"
#include "oracle/world_views.h"

namespace xlog::epistemic {
namespace {

using logic::Mode;
using oracle::AtomId;
using oracle::GroundBound;
using oracle::GroundHead;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::GroundProgram;

std::vector<View> by_reference(const GroundProgram& unit, Fixture& f) {
  std::vector<View> views;
  for (const oracle::WorldSet& worlds : oracle::world_views(unit, f.options.mode, f.context)) {
    View& view = views.emplace_back();
    view.worlds = worlds.size();
    for (AtomId a = 0; a < unit.atom_count; ++a) {
      const auto holds = [&](const oracle::Interpretation& world) { return bool{world[a]}; };
      view.status.push_back(std::ranges::all_of(worlds, holds)   ? AtomStatus::Always
                            : std::ranges::any_of(worlds, holds) ? AtomStatus::Sometimes
                                                                 : AtomStatus::Never);
    }
  }
  std::ranges::sort(views, {}, &View::status);
  return views;
}

std::string text_of(const std::vector<View>& views) {
  std::string text;
  for (const View& view : views) {
    for (const AtomStatus status : view.status) text += "-~+"[static_cast<uint8_t>(status)];
    text += " " + view.worlds.get_str() + "\n";
  }
  return text;
}

GroundBound random_bound(std::mt19937& random, uint32_t atoms) {
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const auto literal = [&] {
    constexpr GroundKind kKinds[] = {GroundKind::Pos, GroundKind::Pos, GroundKind::Neg,
                                     GroundKind::NotNot, GroundKind::Modal};
    GroundLiteral made;
    made.index = pick(atoms);
    made.kind = kKinds[pick(5)];
    if (made.kind == GroundKind::Modal) made.modal = static_cast<lang::Modal>(1 + pick(6));
    return made;
  };
  GroundBound bound;
  if (pick(3) > 0) bound.lower = static_cast<int64_t>(pick(3));
  if (pick(3) > 0) bound.upper = static_cast<int64_t>(pick(4)) - 1;
  const uint32_t elements = pick(4);
  for (uint32_t e = 0; e < elements; ++e) {
    GroundBound::Element element{pick(3), {}};
    const uint32_t literals = 1 + pick(2);
    for (uint32_t l = 0; l < literals; ++l) element.condition.push_back(literal());
    bound.elements.push_back(std::move(element));
  }
  if (pick(2) == 0) bound.body.push_back(literal());
  return bound;
}

std::vector<GroundProgram> random_units(uint32_t count, uint32_t most_atoms, uint32_t seed) {
  std::vector<GroundProgram> units;
  for (uint32_t i = 0; i < count; ++i) {
    std::mt19937 random(seed + i);
    oracle::RandomShape shape;
    shape.atoms = 1 + i % most_atoms;
    shape.rules = 1 + shape.atoms / 2 + i % (most_atoms + 4);
    shape.disjunction = i % 3 == 0;
    units.push_back(oracle::random_program(random, shape));
    if (i % 4 == 0) units.back().bounds.push_back(random_bound(random, shape.atoms));
  }
  return units;
}

// Tests of slow devices do less.
uint32_t part_of_work(const std::string& device) {
  if (device == "oracle") return 20;
  return device == "cpu" ? 1 : 4;
}

std::vector<std::string> places() {
  if (std::getenv("XLOG_TEST_DEVICES") != nullptr) return device::test_device_names();
  std::vector<std::string> names = {"oracle", "interp", "cpu"};
  if (device::open_device("opencl", {.cache_folder = "none"}).ok()) names.emplace_back("opencl");
  return names;
}

class Batch : public testing::TestWithParam<std::string> {
 protected:
  void compare(const std::vector<GroundProgram>& units, Mode mode, bool with_reference) {
    Fixture f;
    f.options.mode = mode;
    SmallUnits small(mode);
    std::vector<const GroundProgram*> taken;
    for (const GroundProgram& unit : units) {
      if (small.add(unit) == UnitFit::Fits) taken.push_back(&unit);
    }
    ASSERT_GT(taken.size(), units.size() / 2);
    auto solutions = batch_.solve(small);
    ASSERT_TRUE(device::good(solutions));
    ASSERT_EQ(solutions->size(), taken.size());
    for (size_t u = 0; u < taken.size(); ++u) {
      SCOPED_TRACE(testing::Message() << "unit " << u);
      const Solution& solution = (*solutions)[u];
      ASSERT_TRUE(solution.all_found);
      ASSERT_EQ(text_of(solution.views),
                text_of(solve_unit(*taken[u], 0, f.context, f.counts).views));
      if (with_reference) {
        ASSERT_EQ(text_of(solution.views), text_of(by_reference(*taken[u], f)));
      }
      several_ += solution.views.size() > 1 ? 1 : 0;
      none_ += solution.views.empty() ? 1 : 0;
    }
  }

  std::unique_ptr<device::Device> device_ = device::open_for_test(GetParam());
  UnitBatch batch_{*device_};
  uint32_t several_ = 0, none_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Devices, Batch, testing::ValuesIn(places()), [](const auto& about) {
  std::string name = about.param;
  std::erase(name, ':');
  return name;
});

TEST_P(Batch, FindsWhatSolvingFinds) {
  const uint32_t part = part_of_work(GetParam());
  for (const Mode mode : {Mode::G91, Mode::Faeel, Mode::Faeel19}) {
    const uint32_t seed = 1 + 100'000 * static_cast<uint32_t>(mode);
    SCOPED_TRACE(testing::Message() << logic::spelling(mode) << ", seeds from " << seed);
    ASSERT_NO_FATAL_FAILURE(compare(random_units(2000 / part, 6, seed), mode, true));
    // With more guesses than a word has cases, and more interpretations.
    if (GetParam() == "oracle") continue;
    ASSERT_NO_FATAL_FAILURE(compare(random_units(600 / part, 14, seed), mode, false));
  }
  EXPECT_GT(several_, 60 / part);
  EXPECT_GT(none_, 60 / part);
}

// Nothing but descriptions goes to the device, and nothing but accepted views comes back.
TEST(UnitBatch, MovesDescriptionsAndViewsOnly) {
  const auto device = device::open_for_test("cpu");
  UnitBatch batch(*device);
  SmallUnits small(Mode::G91);
  // Four atoms that are chosen or not, and one that is believed or not: 32 cases, two guesses.
  GroundProgram unit;
  unit.atom_count = 5;
  for (AtomId a = 0; a < 4; ++a) unit.rules.add(GroundHead::Choice, {a}, {}, 0);
  unit.rules.add(GroundHead::Normal, {4}, {{GroundKind::Modal, lang::Modal::Know, 4}}, 0);
  constexpr uint32_t kUnits = 5000;
  for (uint32_t u = 0; u < kUnits; ++u) ASSERT_EQ(small.add(unit), UnitFit::Fits);
  const device::Counters before = device->counters();
  auto solutions = batch.solve(small);
  ASSERT_TRUE(device::good(solutions));
  const device::Counters after = device->counters();
  uint64_t views = 0;
  for (const Solution& solution : *solutions) {
    EXPECT_EQ(text_of(solution.views), "~~~~- 16\n~~~~+ 16\n");
    views += solution.views.size();
  }
  const uint64_t described = small.codes().size() + 4 * (3 * kUnits + 1);
  EXPECT_EQ(after.bytes_to_device - before.bytes_to_device, described);
  // Four numbers a view, and two that say how many instances and views there are.
  EXPECT_EQ(after.bytes_from_device - before.bytes_from_device, views * 16 + 8);
}

TEST(UnitBatch, TakesNothingAndUnitsWithoutAtoms) {
  const auto device = device::open_for_test("cpu");
  UnitBatch batch(*device);
  SmallUnits small(Mode::Faeel);
  auto nothing = batch.solve(small);
  ASSERT_TRUE(device::good(nothing));
  EXPECT_TRUE(nothing->empty());
  GroundProgram empty;
  EXPECT_EQ(small.add(empty), UnitFit::Fits);
  auto one = batch.solve(small);
  ASSERT_TRUE(device::good(one));
  EXPECT_EQ(text_of((*one)[0].views), " 1\n");
  GroundProgram broken;
  broken.rules.add(GroundHead::Constraint, {}, {}, 0);
  EXPECT_EQ(small.add(broken), UnitFit::Fits);
  auto two = batch.solve(small);
  ASSERT_TRUE(device::good(two));
  EXPECT_EQ(text_of((*two)[0].views), " 1\n");
  EXPECT_TRUE((*two)[1].views.empty());
}

TEST(SmallUnits, SayWhatTheyDoNotTake) {
  SmallUnits small(Mode::Faeel);
  GroundProgram large;
  large.atom_count = 33;
  EXPECT_EQ(small.add(large), UnitFit::TooLarge);
  GroundProgram many;  // 2^15 worlds
  many.atom_count = 15;
  for (AtomId a = 0; a < 15; ++a) many.rules.add(GroundHead::Choice, {a}, {}, 0);
  EXPECT_EQ(small.add(many), UnitFit::TooLarge);
  GroundProgram derived;  // but what is derived need not be guessed
  derived.atom_count = 32;
  derived.rules.add(GroundHead::Choice, {0}, {}, 0);
  for (AtomId a = 1; a < 32; ++a) {
    derived.rules.add(GroundHead::Normal, {a}, {{GroundKind::Pos, lang::Modal::None, a - 1}}, 0);
  }
  EXPECT_EQ(small.add(derived), UnitFit::Fits);
  GroundProgram cycle;  // a ; b.  a :- b.  b :- a.
  cycle.atom_count = 2;
  cycle.rules.add(GroundHead::Disjunction, {0, 1}, {}, 0);
  cycle.rules.add(GroundHead::Normal, {0}, {{GroundKind::Pos, lang::Modal::None, 1}}, 0);
  EXPECT_EQ(small.add(cycle), UnitFit::Fits);
  cycle.rules.add(GroundHead::Normal, {1}, {{GroundKind::Pos, lang::Modal::None, 0}}, 0);
  EXPECT_EQ(small.add(cycle), UnitFit::Disjunction);
  GroundProgram aggregate;
  aggregate.aggregates.emplace_back();
  EXPECT_EQ(small.add(aggregate), UnitFit::Aggregate);
  EXPECT_EQ(small.size(), 2u);
}

}  // namespace
}  // namespace xlog::epistemic
