#include "epistemic/chosen_world.h"

#include <gtest/gtest.h>

#include <random>

namespace xlog::epistemic {
namespace {

using solve::Atom;
using solve::GroundProgram;
using solve::HeadKind;
using solve::Literal;
using solve::Rule;

// Random rules in layers: atoms 1 to 3 are given, 4 to 6 are choices, and each later atom is
// derived from atoms before it, so that what holds is found by one pass. At the end come
// constraints.
constexpr Atom kGiven = 3, kChoices = 3, kDerived = 8;
constexpr Atom kAtoms = kGiven + kChoices + kDerived;

struct Layers {
  GroundProgram program;
  std::vector<ChosenWorld::Derivation> derivations;
  std::vector<uint32_t> varying = std::vector<uint32_t>(kAtoms + 1, ChosenWorld::kNone);
  std::vector<Atom> choices;
};

Layers random_layers(std::mt19937& random) {
  Layers layers;
  layers.program.need_atoms(kAtoms);
  for (Atom a = kGiven + 1; a <= kAtoms; ++a) {
    layers.varying[static_cast<size_t>(a)] = static_cast<uint32_t>(a - kGiven - 1);
  }
  const auto add = [&](Atom head, Atom below, HeadKind kind) {
    std::vector<Literal> body;
    std::vector<int64_t> weights;
    for (uint32_t i = 0; i < random() % 4; ++i) {
      const auto atom = static_cast<Atom>(1 + random() % static_cast<uint32_t>(below - 1));
      body.push_back(random() % 3 == 0 ? -atom : atom);
      weights.push_back(1 + random() % 3);
    }
    const std::span<const Atom> heads(&head, head == 0 ? 0 : 1);
    layers.derivations.push_back({layers.program.rules(), head});
    if (random() % 3 == 0) {
      layers.program.add_weight_rule(kind, heads, static_cast<int64_t>(random() % 5), body,
                                     weights);
    } else {
      layers.program.add_rule(kind, heads, body);
    }
  };
  for (Atom a = kGiven + 1; a <= kGiven + kChoices; ++a) {
    layers.choices.push_back(a);
    add(a, a, HeadKind::Choice);
  }
  for (Atom a = kGiven + kChoices + 1; a <= kAtoms; ++a) {
    for (uint32_t i = 0; i < random() % 4; ++i) add(a, a, HeadKind::Disjunction);
  }
  for (uint32_t i = 0; i < random() % 3; ++i) add(0, kAtoms + 1, HeadKind::Disjunction);
  return layers;
}

bool body_holds(const Rule& rule, const std::vector<bool>& holds) {
  int64_t weight = 0;
  size_t count = 0;
  for (size_t i = 0; i < rule.body.size(); ++i) {
    if (holds[static_cast<size_t>(std::abs(rule.body[i]))] != (rule.body[i] > 0)) continue;
    ++count;
    if (rule.weighted) weight += rule.weights[i];
  }
  return rule.weighted ? weight >= rule.bound : count == rule.body.size();
}

// By atom; place 0 says whether a constraint is violated.
std::vector<bool> all_that_holds(const Layers& layers, uint32_t given,
                                 const std::vector<bool>& choices) {
  std::vector<bool> holds(kAtoms + 1, false);
  for (Atom a = 1; a <= kGiven; ++a) holds[static_cast<size_t>(a)] = (given >> (a - 1) & 1) != 0;
  for (const auto& [r, head] : layers.derivations) {
    const Rule rule = layers.program.rule(r);
    if (rule.head_kind == HeadKind::Choice && !choices[static_cast<size_t>(head - kGiven - 1)])
      continue;
    if (body_holds(rule, holds)) holds[static_cast<size_t>(head)] = true;
  }
  return holds;
}

TEST(ChosenWorld, DecidesWhatHoldsWhateverIsGiven) {
  std::mt19937 random(7);
  uint32_t decided = 0, open = 0;
  for (int round = 0; round < 2000; ++round) {
    const Layers layers = random_layers(random);
    ChosenWorld world(layers.program, layers.varying, layers.derivations, layers.choices);
    std::vector<bool> choices;
    for (Atom c = 0; c < kChoices; ++c) choices.push_back(random() % 2 != 0);
    for (uint32_t given = 0; given < 1u << kGiven; ++given) {
      const std::vector<bool> holds = all_that_holds(layers, given, choices);
      world.evaluate(choices);
      for (Atom a = kGiven + 1; a <= kAtoms; ++a) {
        const int value = world.value(a);
        EXPECT_EQ(world.value(-a), -value);
        ++(value == 0 ? open : decided);
        if (value != 0) {
          EXPECT_EQ(value > 0, holds[static_cast<size_t>(a)]) << round << ": " << a;
        }
      }
      if (world.is_violated() || !world.may_be_violated()) {
        EXPECT_EQ(world.is_violated(), holds[0]) << round;
      }

      world.give([&](Atom a) { return holds[static_cast<size_t>(a)]; });
      world.evaluate_given(choices);
      for (Atom a = kGiven + 1; a <= kAtoms; ++a) {
        EXPECT_EQ(world.value(a), holds[static_cast<size_t>(a)] ? 1 : -1) << round << ": " << a;
      }
      EXPECT_EQ(world.is_violated(), holds[0]) << round;
      EXPECT_FALSE(world.may_be_violated() && !world.is_violated()) << round;
    }
  }
  EXPECT_GT(decided, open / 10);
  EXPECT_GT(open, decided / 10);
}

TEST(ChosenWorld, NeedsOnlyWhatLiteralsRestOn) {
  GroundProgram program;  // 1 is given, 2 a choice
  program.add_rule(HeadKind::Choice, {2}, {});
  program.add_rule(HeadKind::Disjunction, {3}, {1, 2});
  program.add_rule(HeadKind::Disjunction, {4}, {1, -2});
  program.add_rule(HeadKind::Disjunction, {5}, {3});
  program.add_rule(HeadKind::Disjunction, {5}, {4});
  const std::vector<uint32_t> varying = {ChosenWorld::kNone, ChosenWorld::kNone, 0, 1, 2, 3};
  const std::vector<Atom> choices = {2};
  ChosenWorld world(program, varying, {{0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 5}}, choices);
  world.evaluate({true});
  EXPECT_EQ(world.value(2), 1);
  EXPECT_EQ(world.value(4), -1);
  EXPECT_EQ(world.value(5), 0);
  const std::vector<Literal> asked = {-5};
  EXPECT_EQ(world.needed(asked), (std::vector<size_t>{1, 3}));
}

}  // namespace
}  // namespace xlog::epistemic
