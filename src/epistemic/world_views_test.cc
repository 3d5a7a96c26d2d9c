// World views by splitting and solving against the reference, which tries every guess.
#include "epistemic/world_views.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sanitized.h"
#include "epistemic/bounds.h"
#include "epistemic/ground_fixture.h"
#include "epistemic/solve_unit.h"
#include "oracle/groups.h"
#include "oracle/random_program.h"
#include "oracle/well_founded.h"
#include "oracle/world_views.h"

namespace xlog::epistemic {
namespace {

using logic::Mode;
using oracle::AtomId;
using oracle::GroundProgram;

// A view as text: its worlds, each as its atoms.
std::string text_of(std::vector<std::vector<AtomId>> worlds) {
  std::ranges::sort(worlds);
  std::string text;
  for (const std::vector<AtomId>& world : worlds) {
    text += "{";
    for (const AtomId a : world) text += std::to_string(a) + " ";
    text += "}";
  }
  return text;
}

std::vector<std::string> by_reference(const GroundProgram& program, Fixture& f) {
  std::vector<std::string> texts;
  for (const oracle::WorldSet& view : oracle::world_views(program, f.options.mode, f.context)) {
    std::vector<std::vector<AtomId>> worlds;
    for (const oracle::Interpretation& world : view) {
      std::vector<AtomId>& atoms = worlds.emplace_back();
      for (AtomId a = 0; a < world.size(); ++a) {
        if (world[a]) atoms.push_back(a);
      }
    }
    texts.push_back(text_of(std::move(worlds)));
  }
  std::ranges::sort(texts);
  return texts;
}

// The statuses and the count of a view follow from its worlds.
void expect_figures(const View& view, uint32_t atoms) {
  EXPECT_EQ(view.worlds, view.listed.size());
  for (AtomId a = 0; a < atoms; ++a) {
    const auto holds = [&](const auto& world) { return std::ranges::binary_search(world, a); };
    const AtomStatus expected = std::ranges::all_of(view.listed, holds)   ? AtomStatus::Always
                                : std::ranges::any_of(view.listed, holds) ? AtomStatus::Sometimes
                                                                          : AtomStatus::Never;
    EXPECT_EQ(view.status[a], expected) << "atom " << a;
  }
}

std::vector<std::string> by_solving(const GroundProgram& program, Fixture& f) {
  std::vector<std::string> texts;
  for (const View& view : solve_unit(program, 0, f.context, f.counts).views) {
    expect_figures(view, program.atom_count);
    texts.push_back(text_of(view.listed));
  }
  std::ranges::sort(texts);
  return texts;
}

std::vector<std::string> by_splitting(const GroundProgram& program, Fixture& f) {
  const oracle::Bounds bounds = epistemic::well_founded_bounds(program, f.options.mode, f.context);
  const GroundProgram open = oracle::residual(program, bounds, f.session.names);
  std::vector<std::string> texts;
  if (oracle::contradiction(open, f.session.names)) return texts;
  WorldViews views(Units(open), f.context, f.counts);
  views.solve();
  if (views.count() == 0) return texts;
  WorldViews::Choice choice = views.first();
  do {
    std::vector<std::vector<AtomId>> worlds = views.list_worlds(choice, UINT64_MAX);
    EXPECT_EQ(views.worlds(choice), worlds.size());
    for (std::vector<AtomId>& world : worlds) {
      for (AtomId a = 0; a < program.atom_count; ++a) {
        if (bounds.lower[a]) world.push_back(a);
      }
      std::ranges::sort(world);
    }
    texts.push_back(text_of(std::move(worlds)));
  } while (views.advance(choice));
  EXPECT_EQ(views.count(), texts.size());
  std::ranges::sort(texts);
  return texts;
}

class EveryMode : public testing::TestWithParam<Mode> {};

TEST_P(EveryMode, EqualsTheReferenceOnRandomPrograms) {
  Fixture f;
  f.options.max_worlds = UINT64_MAX;
  f.options.mode = GetParam();
  uint64_t several = 0, none = 0;
  for (uint32_t seed = 0; seed < 8000 / kPartOfWork; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    oracle::RandomShape shape;
    shape.atoms = 2 + seed % 4;
    shape.rules = 2 + seed % 8;
    shape.disjunction = seed % 3 == 0;
    const GroundProgram program = oracle::random_program(random, shape);
    const std::vector<std::string> expected = by_reference(program, f);
    several += expected.size() > 1 ? 1 : 0;
    none += expected.empty() ? 1 : 0;
    ASSERT_EQ(by_solving(program, f), expected);
    ASSERT_EQ(by_splitting(program, f), expected);
  }
  EXPECT_GT(several, 100u / kPartOfWork);
  EXPECT_GT(none, 100u / kPartOfWork);
}

TEST_P(EveryMode, BoundsEqualTheReference) {
  Fixture f;
  f.options.max_worlds = UINT64_MAX;
  f.options.mode = GetParam();
  for (uint32_t seed = 0; seed < 5000 / kPartOfWork; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const GroundProgram program = oracle::random_program(random, {.atoms = 6, .rules = 9});
    const oracle::Bounds own = epistemic::well_founded_bounds(program, f.options.mode, f.context);
    const oracle::Bounds reference =
        oracle::well_founded_bounds(program, f.options.mode, f.context);
    ASSERT_EQ(own.lower, reference.lower);
    ASSERT_EQ(own.upper, reference.upper);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryMode, testing::Values(Mode::G91, Mode::Faeel, Mode::Faeel19),
                         [](const auto& mode) { return std::string(logic::spelling(mode.param)); });

}  // namespace
}  // namespace xlog::epistemic
