// Bounds, what they leave, and its units: against the reference, and on several threads against
// one.
#include "epistemic/bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "device/pool.h"
#include "epistemic/ground_fixture.h"
#include "epistemic/units.h"

namespace xlog::epistemic {
namespace {

using oracle::AtomId;
using oracle::GroundHead;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::GroundProgram;

constexpr uint32_t kAtoms = 90'000;
constexpr uint32_t kRules = 100'000;

// Rules mostly over atoms near to each other, some of them against the order of the rules, with
// chains that go on from one part to the next.
GroundProgram random_program(uint32_t seed) {
  std::mt19937 random(seed);
  GroundProgram program;
  program.atom_count = kAtoms;
  const auto near = [&](uint32_t atom) {
    return random() % 400 == 0 ? static_cast<AtomId>(random() % kAtoms)
                               : std::min<AtomId>(kAtoms - 1, atom / 4 * 4 + random() % 4);
  };
  for (uint32_t r = 0; r < kRules; ++r) {
    const uint32_t at = seed % 2 == 0 ? r : kRules - 1 - r;
    const auto atom = static_cast<AtomId>(uint64_t{at} * kAtoms / kRules);
    std::vector<GroundLiteral> body;
    for (uint32_t i = random() % 3; i > 0; --i) {
      GroundLiteral literal{static_cast<GroundKind>(random() % 4), lang::Modal::None, near(atom)};
      if (literal.kind == GroundKind::Modal) {
        literal.modal = static_cast<lang::Modal>(1 + random() % 6);
      }
      body.push_back(literal);
    }
    if (seed % 3 == 0 && atom > 0 && random() % 2 == 0) {
      body = {{GroundKind::Pos, lang::Modal::None, atom - 1}};
    }
    std::vector<AtomId> heads = {near(atom)};
    if (random() % 8 == 0) heads.push_back(near(atom));
    std::ranges::sort(heads);
    heads.erase(std::ranges::unique(heads).begin(), heads.end());
    GroundHead kind = heads.size() > 1 ? GroundHead::Disjunction : GroundHead::Normal;
    if (heads.size() == 1 && random() % 8 == 0) kind = GroundHead::Choice;
    if (random() % 30 == 0) {
      kind = GroundHead::Constraint;
      heads.clear();
    }
    program.rules.add(kind, heads, body, r);
  }
  for (uint32_t b = 0; b < 100; ++b) {
    const auto atom = static_cast<AtomId>(random() % kAtoms);
    const GroundLiteral chosen{GroundKind::Pos, lang::Modal::None, atom};
    program.bounds.push_back({0, 1, {{atom, {chosen}}}, {}, 0});
  }
  return program;
}

std::vector<std::tuple<GroundHead, std::vector<AtomId>, std::vector<GroundLiteral>, uint32_t>>
rules_of(const GroundProgram& program) {
  std::vector<std::tuple<GroundHead, std::vector<AtomId>, std::vector<GroundLiteral>, uint32_t>>
      rules;
  for (const oracle::GroundRule rule : program.rules) {
    rules.emplace_back(rule.kind, std::vector(rule.heads.begin(), rule.heads.end()),
                       std::vector(rule.body.begin(), rule.body.end()), rule.source);
  }
  return rules;
}

// a. b ; a.  Minimality leaves b nothing to hold by, in worlds of every mode.
TEST(Bounds, ADisjunctionWithAHeadThatHoldsAnywayGivesNoOther) {
  GroundProgram program;
  program.atom_count = 3;
  program.rules.add(GroundHead::Disjunction, {1, 0}, {}, 0);
  program.rules.add(GroundHead::Normal, {0}, {}, 1);
  program.rules.add(GroundHead::Normal, {2}, {{GroundKind::Pos, lang::Modal::None, 1}}, 2);
  for (const logic::Mode mode : {logic::Mode::Faeel, logic::Mode::G91, logic::Mode::Faeel19}) {
    Fixture fixture;
    for (const oracle::Bounds& bounds :
         {epistemic::well_founded_bounds(program, mode, fixture.context),
          oracle::well_founded_bounds(program, mode, fixture.context)}) {
      EXPECT_EQ(bounds.lower, oracle::Interpretation({true, false, false}));
      EXPECT_EQ(bounds.upper, oracle::Interpretation({true, false, false}));
    }
  }
}

TEST(OnThreads, BoundsRestAndUnitsAreTheSame) {
  device::Pool pool(3);
  const Parallel parallel = [&](uint32_t n, uint32_t grain, const Piece& piece) {
    pool.parallel_for(n, grain, piece);
  };
  for (uint32_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Fixture fixture;
    const GroundProgram program = random_program(seed);
    const logic::Mode mode = seed < 3 ? logic::Mode::Faeel : logic::Mode::G91;
    const oracle::Bounds expected =
        epistemic::well_founded_bounds(program, mode, fixture.context, in_turn);
    const oracle::Bounds bounds =
        epistemic::well_founded_bounds(program, mode, fixture.context, parallel);
    ASSERT_EQ(bounds.lower, expected.lower);
    ASSERT_EQ(bounds.upper, expected.upper);
    const GroundProgram rest = residual(program, bounds, fixture.context, parallel);
    const GroundProgram by_reference = oracle::residual(program, bounds, fixture.context.names());
    ASSERT_EQ(rules_of(rest), rules_of(by_reference));
    EXPECT_EQ(rest.bounds.size(), by_reference.bounds.size());
    EXPECT_GT(rest.rules.size(), 1000u);
    const Units alone(rest), units(rest, parallel);
    for (AtomId a = 0; a < kAtoms; ++a) {
      const bool is_open = bounds.upper[a] && !bounds.lower[a];
      ASSERT_EQ(units.unit_of(a) != Units::kNone, is_open) << "atom " << a;
    }
    ASSERT_EQ(units.size(), alone.size());
    ASSERT_EQ(units.clusters(), alone.clusters());
    EXPECT_EQ(units.asking_and_asked(), alone.asking_and_asked());
    for (uint32_t u = 0; u < units.size(); ++u) {
      ASSERT_TRUE(std::ranges::equal(units.atoms(u), alone.atoms(u)));
      ASSERT_TRUE(std::ranges::equal(units.rules(u), alone.rules(u)));
      ASSERT_TRUE(std::ranges::equal(units.bounds(u), alone.bounds(u)));
      ASSERT_EQ(units.cluster_of(u), alone.cluster_of(u));
    }
  }
}

}  // namespace
}  // namespace xlog::epistemic
