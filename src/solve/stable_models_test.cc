#include "solve/stable_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/sanitized.h"
#include "solve/stable_testing.h"

namespace xlog::solve {
namespace {

constexpr StableOptions kCheckAll{.check_every_model = true};

AtomSet set_of(const StableModels& solver) {
  AtomSet set = 0;
  for (Atom a = 1; a <= solver.program().atoms(); ++a) {
    if (solver.holds(a)) set |= AtomSet{1} << (a - 1);
  }
  return set;
}

std::vector<AtomSet> all_models(StableModels& solver) {
  std::vector<AtomSet> models;
  const Enumeration found = solver.enumerate({}, [&](const StableModels& s) {
    models.push_back(set_of(s));
    return true;
  });
  EXPECT_EQ(found.outcome, Outcome::Unsat);
  EXPECT_EQ(found.models, models.size());
  std::ranges::sort(models);
  return models;
}

std::vector<Atom> atoms_in(AtomSet set) {
  std::vector<Atom> atoms;
  for (Atom a = 1; a <= 32; ++a) {
    if ((set >> (a - 1)) & 1) atoms.push_back(a);
  }
  return atoms;
}

std::vector<AtomSet> agreeing(const std::vector<AtomSet>& models,
                              const std::vector<Literal>& with) {
  std::vector<AtomSet> kept;
  for (const AtomSet m : models) {
    if (std::ranges::all_of(with, [&](Literal l) { return in_set(m, l); })) kept.push_back(m);
  }
  return kept;
}

// Everything one can ask, against the list of models by definition.
void expect_answers(StableModels& solver, const std::vector<AtomSet>& models) {
  ASSERT_EQ(all_models(solver), models);
  ASSERT_EQ(solver.count({}).models, models.size());
  ASSERT_EQ(solver.solve({}), models.empty() ? Outcome::Unsat : Outcome::Sat);
  const Consequences cautious = solver.cautious({});
  const Consequences brave = solver.brave({});
  if (models.empty()) {
    ASSERT_EQ(cautious.outcome, Outcome::Unsat);
    ASSERT_EQ(brave.outcome, Outcome::Unsat);
    return;
  }
  AtomSet all = ~AtomSet{0};
  AtomSet some = 0;
  for (const AtomSet m : models) {
    all &= m;
    some |= m;
  }
  ASSERT_EQ(cautious.outcome, Outcome::Sat);
  ASSERT_EQ(cautious.atoms, atoms_in(all));
  ASSERT_EQ(brave.outcome, Outcome::Sat);
  ASSERT_EQ(brave.atoms, atoms_in(some));
}

void expect_optimum(StableModels& solver, const std::vector<AtomSet>& models) {
  const auto cost_of = [&](AtomSet m) {
    std::map<int64_t, int64_t, std::greater<>> sums;
    for (const Minimize& statement : solver.program().minimize) {
      sums[statement.priority] += 0;
      for (const WeightedLiteral& t : statement.literals) {
        if (in_set(m, t.literal)) sums[statement.priority] += t.weight;
      }
    }
    std::vector<int64_t> costs;
    for (const auto& [priority, value] : sums) costs.push_back(value);
    return costs;
  };
  const Optimum best = solver.optimize({});
  if (models.empty()) {
    ASSERT_EQ(best.outcome, Outcome::Unsat);
    return;
  }
  ASSERT_EQ(best.outcome, Outcome::Optimal);
  std::vector<int64_t> least = cost_of(models[0]);
  for (const AtomSet m : models) least = std::min(least, cost_of(m));
  std::vector<int64_t> found;
  for (const Cost& cost : best.costs) found.push_back(cost.value);
  ASSERT_EQ(found, least);
  std::vector<AtomSet> expected;
  for (const AtomSet m : models) {
    if (cost_of(m) == least) expected.push_back(m);
  }
  std::vector<AtomSet> optimal;
  solver.enumerate_optimal({}, [&](const StableModels& s) {
    optimal.push_back(set_of(s));
    return true;
  });
  std::ranges::sort(optimal);
  ASSERT_EQ(optimal, expected);
}

struct Family {
  const char* name;
  RandomProgramShape shape;
  uint32_t programs;
};

class RandomGroundPrograms : public testing::TestWithParam<Family> {};

TEST_P(RandomGroundPrograms, AnswersAreThoseOfTheDefinition) {
  const Family& family = GetParam();
  for (uint32_t seed = 1; seed <= family.programs / kPartOfWork; ++seed) {
    SCOPED_TRACE(testing::Message() << family.name << ", seed " << seed);
    std::mt19937 random(seed);
    RandomProgramShape shape = family.shape;
    shape.atoms = 1 + static_cast<int32_t>(random() % static_cast<uint32_t>(shape.atoms));
    shape.rules = 1 + static_cast<int32_t>(random() % static_cast<uint32_t>(shape.rules));
    GroundProgram program = random_program(random, shape);
    const auto literal = [&] {
      const auto a = static_cast<Literal>(1 + random() % static_cast<uint32_t>(shape.atoms));
      return random() % 2 == 0 ? a : -a;
    };
    for (uint32_t n = random() % 3; n > 0; --n) {
      Minimize& statement = program.minimize.emplace_back();
      statement.priority = static_cast<int64_t>(random() % 2);
      for (uint32_t k = random() % 6; k > 0; --k) {
        statement.literals.push_back({literal(), static_cast<int64_t>(random() % 9) - 4});
      }
    }
    StableModels solver({.check_every_model = true, .few_models = 1 + seed % 3});
    ASSERT_TRUE(solver.add(program).ok());
    const std::vector<AtomSet> models = stable_models_by_definition(program);
    expect_answers(solver, models);
    if (HasFatalFailure()) return;
    expect_optimum(solver, models);
    if (HasFatalFailure()) return;
    for (int round = 0; round < 2; ++round) {
      std::vector<Literal> assumed;
      for (uint32_t n = 1 + random() % 3; n > 0; --n) assumed.push_back(literal());
      for (const Literal l : assumed) solver.assume(l);
      const std::vector<AtomSet> left = agreeing(models, assumed);
      expect_answers(solver, left);
      if (HasFatalFailure()) return;
      if (left.empty()) {
        ASSERT_EQ(solver.solve({}), Outcome::Unsat);
        const std::vector<Literal> failed = solver.failed();
        ASSERT_TRUE(agreeing(models, failed).empty());
        for (const Literal l : failed) {
          ASSERT_NE(std::ranges::find(assumed, l), assumed.end());
        }
      }
      expect_optimum(solver, left);
      if (HasFatalFailure()) return;
      solver.retract_all();
    }
    // Projected onto some atoms, each combination comes once.
    AtomSet mask = random() & ((AtomSet{1} << shape.atoms) - 1);
    solver.project(atoms_in(mask));
    std::multiset<AtomSet> projected;
    solver.enumerate({}, [&](const StableModels& s) {
      projected.insert(set_of(s) & mask);
      return true;
    });
    std::set<AtomSet> expected;
    for (const AtomSet m : models) expected.insert(m & mask);
    ASSERT_EQ(std::vector(projected.begin(), projected.end()),
              std::vector(expected.begin(), expected.end()));
    solver.project(std::nullopt);
    ASSERT_EQ(all_models(solver), models);
  }
}

// Rules come in three parts, the heads of each among atoms that are not in those before. Questions
// are asked in between, so that something was learned.
TEST_P(RandomGroundPrograms, RulesOfNewAtomsMayComeLater) {
  const Family& family = GetParam();
  for (uint32_t seed = 1; seed <= family.programs / 4 / kPartOfWork; ++seed) {
    SCOPED_TRACE(testing::Message() << family.name << ", seed " << seed);
    std::mt19937 random(seed);
    const GroundProgram mixed = random_program(random, family.shape);
    std::vector<uint32_t> part_of(static_cast<size_t>(mixed.atoms()) + 1);
    for (uint32_t& part : part_of) part = random() % 3;
    std::ranges::sort(part_of);
    const auto part = [&](Literal l) { return part_of[static_cast<size_t>(variable_of(l))]; };
    StableModels solver({.check_every_model = true});
    GroundProgram program;
    for (uint32_t now = 0; now < 3; ++now) {
      const size_t first = program.rules();
      GroundProgram more;
      program.need_atoms(
          static_cast<Atom>(std::ranges::upper_bound(part_of, now) - part_of.begin()) - 1);
      for (size_t r = 0; r < mixed.rules(); ++r) {
        const Rule rule = mixed.rule(r);
        uint32_t last = 0;
        for (const Literal l : rule.head) last = std::max(last, part(l));
        for (const Literal l : rule.body) last = std::max(last, part(l));
        const auto is_now = [&](Atom a) { return part(a) == now; };
        if (last == now && std::ranges::all_of(rule.head, is_now)) program.add_rule(rule);
      }
      more.need_atoms(program.atoms());
      for (size_t r = first; r < program.rules(); ++r) more.add_rule(program.rule(r));
      ASSERT_TRUE((now == 0 ? solver.add(program) : solver.extend(more)).ok());
      const std::vector<AtomSet> models = stable_models_by_definition(program);
      expect_answers(solver, models);
      if (HasFatalFailure()) return;
      std::vector<Literal> assumed;
      for (Atom a = 1; a <= program.atoms() && a <= 2; ++a) {
        assumed.push_back(random() % 2 == 0 ? a : -a);
      }
      for (const Literal l : assumed) solver.assume(l);
      expect_answers(solver, agreeing(models, assumed));
      if (HasFatalFailure()) return;
      solver.retract_all();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Families, RandomGroundPrograms,
    testing::Values(
        Family{"tight",
               {.atoms = 8,
                .rules = 16,
                .weights = false,
                .disjunctions = false,
                .positive_cycles = false},
               4000},
        Family{"normal",
               {.atoms = 8, .rules = 20, .choices = false, .weights = false, .disjunctions = false},
               6000},
        Family{"choice", {.atoms = 8, .rules = 20, .weights = false, .disjunctions = false}, 6000},
        Family{"weights", {.atoms = 7, .rules = 14, .disjunctions = false}, 8000},
        Family{"disjunctive",
               {.atoms = 6, .rules = 14, .choices = false, .weights = false, .constraints = false},
               8000},
        Family{"everything", {.atoms = 7, .rules = 18}, 10000}),
    [](const auto& test) { return std::string(test.param.name); });

GroundProgram even_loop() {
  // a :- not b. b :- not a.
  GroundProgram program;
  program.add_rule(HeadKind::Disjunction, {1}, {-2});
  program.add_rule(HeadKind::Disjunction, {2}, {-1});
  return program;
}

TEST(StableModels, ExternalsTakeTheValueGiven) {
  // r :- q, not s. with q external, and s external but defined by a choice.
  GroundProgram program;
  program.add_rule(HeadKind::Disjunction, {1}, {2, -3});
  program.add_rule(HeadKind::Choice, {3}, {});
  program.externals = {{2, ExternalValue::False}, {3, ExternalValue::True}};
  StableModels solver(kCheckAll);
  ASSERT_TRUE(solver.add(program).ok());
  expect_answers(solver, {0b000, 0b100});
  ASSERT_TRUE(solver.set_external(2, ExternalValue::True).ok());
  expect_answers(solver, {0b011, 0b110});
  ASSERT_TRUE(solver.set_external(2, ExternalValue::Free).ok());
  expect_answers(solver, {0b000, 0b011, 0b100, 0b110});
  EXPECT_FALSE(solver.set_external(3, ExternalValue::True).ok());
  EXPECT_FALSE(solver.set_external(1, ExternalValue::True).ok());
  EXPECT_FALSE(solver.set_external(7, ExternalValue::True).ok());
}

TEST(StableModels, ProgramsBringAssumptions) {
  GroundProgram program = even_loop();
  program.assumptions = {-1};
  StableModels solver(kCheckAll);
  ASSERT_TRUE(solver.add(program).ok());
  expect_answers(solver, {0b10});
  solver.assume(1);
  EXPECT_EQ(solver.solve({}), Outcome::Unsat);
  EXPECT_EQ(solver.failed(), std::vector<Literal>{1});
}

TEST(StableModels, ForbiddenBodiesStay) {
  StableModels solver(kCheckAll);
  ASSERT_TRUE(solver.add(even_loop()).ok());
  expect_answers(solver, {0b01, 0b10});
  const std::vector<Literal> body = {1, -2};
  solver.forbid(body);
  expect_answers(solver, {0b10});
  solver.forbid({});
  expect_answers(solver, {});
}

TEST(StableModels, EmptyAndContradictoryPrograms) {
  StableModels nothing(kCheckAll);
  ASSERT_TRUE(nothing.add({}).ok());
  expect_answers(nothing, {0});
  // a :- not a.
  GroundProgram odd;
  odd.add_rule(HeadKind::Disjunction, {1}, {-1});
  StableModels none(kCheckAll);
  ASSERT_TRUE(none.add(odd).ok());
  expect_answers(none, {});
  EXPECT_EQ(none.optimize({}).outcome, Outcome::Unsat);
}

TEST(StableModels, CountsTooManyToEnumerate) {
  // 300 pairs, each of which has two models, and a chain that has one.
  GroundProgram program;
  for (Atom i = 0; i < 300; ++i) {
    const Atom a = 2 * i + 1;
    program.add_rule(HeadKind::Disjunction, {a}, {-(a + 1)});
    program.add_rule(HeadKind::Disjunction, {a + 1}, {-a});
  }
  program.add_rule(HeadKind::Disjunction, {601}, {});
  program.add_rule(HeadKind::Disjunction, {602}, {601});
  // {x, y} :- 602. is free; z needs both.
  program.add_rule(HeadKind::Choice, {603, 604}, {602});
  program.add_rule(HeadKind::Disjunction, {605}, {603, 604});
  StableModels solver;
  ASSERT_TRUE(solver.add(program).ok());
  mpz_class expected = 4;
  expected <<= 300;
  EXPECT_EQ(solver.count({}).models, expected);
  solver.assume(1);
  EXPECT_EQ(solver.count({}).models, expected / 2);
  solver.assume(-603);
  EXPECT_EQ(solver.count({}).models, expected / 4);
}

// Everything hangs together, and falls apart once a few atoms are decided.
TEST(StableModels, CountsCoupledAtomsWithoutListingTheModels) {
  constexpr Atom kChoices = kSanitized ? 30 : 60;
  GroundProgram program;
  for (Atom a = 1; a <= kChoices; ++a) program.add_rule(HeadKind::Choice, {a}, {});
  const Atom two = kChoices + 1;
  for (Atom a = 1; a <= kChoices; ++a) {
    for (Atom b = 1; b < a; ++b) program.add_rule(HeadKind::Disjunction, {two}, {a, b});
  }
  program.add_rule(HeadKind::Disjunction, {}, {-two});
  StableModels solver;
  ASSERT_TRUE(solver.add(std::move(program)).ok());
  const mpz_class all = mpz_class(1) << kChoices;
  EXPECT_EQ(solver.count({}).models, all - kChoices - 1);
  solver.assume(-1);
  solver.assume(2);
  EXPECT_EQ(solver.count({}).models, (all >> 2) - 1);
}

// Atoms that only some rule of several can make true keep these rules together.
TEST(StableModels, CountsWhatNeedsOneOfSeveralSupports) {
  GroundProgram program;
  program.add_rule(HeadKind::Choice, {1, 2}, {});
  program.add_rule(HeadKind::Disjunction, {3}, {1});
  program.add_rule(HeadKind::Disjunction, {3}, {2});
  program.add_rule(HeadKind::Disjunction, {}, {-3});
  StableModels solver(kCheckAll);
  ASSERT_TRUE(solver.add(program).ok());
  expect_answers(solver, {0b101, 0b110, 0b111});
}

TEST(StableModels, ShownTextsAndProjectionOntoThem) {
  GroundProgram program;
  program.add_rule(HeadKind::Choice, {1, 2, 3}, {});
  program.shown = {{"x", {1}}, {"y", {1, -2}}, {"y", {3}}, {"always", {}}};
  StableModels solver(kCheckAll);
  ASSERT_TRUE(solver.add(program).ok());
  solver.project_on_shown();
  std::multiset<std::vector<std::string>> found;
  const Enumeration all = solver.enumerate({}, [&](const StableModels& s) {
    found.insert(s.shown());
    return true;
  });
  EXPECT_EQ(all.outcome, Outcome::Unsat);
  EXPECT_EQ(found, (std::multiset<std::vector<std::string>>{
                       {"always"}, {"y", "always"}, {"x", "always"}, {"x", "y", "always"}}));
}

TEST(StableModels, PrioritiesThatDoNotFitInOneSum) {
  GroundProgram program;
  program.add_rule(HeadKind::Disjunction, {1, 2}, {});
  program.add_rule(HeadKind::Disjunction, {3, 4}, {});
  constexpr int64_t kLarge = int64_t{1} << 58;
  program.minimize = {
      {3, {{1, kLarge}, {2, kLarge}}}, {2, {{1, kLarge}, {2, kLarge - 1}}}, {1, {{3, 5}, {4, -5}}}};
  StableModels solver(kCheckAll);
  ASSERT_TRUE(solver.add(program).ok());
  const Optimum best = solver.optimize({});
  ASSERT_EQ(best.outcome, Outcome::Optimal);
  EXPECT_EQ(best.costs, (std::vector<Cost>{{3, kLarge}, {2, kLarge - 1}, {1, -5}}));
  EXPECT_TRUE(best.model->holds(2) && best.model->holds(4));
  // The solver forgets the bounds again.
  EXPECT_EQ(all_models(solver).size(), 4u);
  GroundProgram too_much = program;
  too_much.minimize[0].literals.assign(40, {1, kLarge});
  EXPECT_FALSE(StableModels().add(too_much).ok());
}

TEST(StableModels, RecursiveWeightsThatAreTooLarge) {
  GroundProgram program;
  std::vector<Atom> atoms;
  std::vector<int64_t> weights;
  for (Atom a = 1; a <= 40; ++a) {
    atoms.push_back(a);
    weights.push_back((int64_t{1} << 50) + (int64_t{1} << a));
  }
  program.add_weight_rule(HeadKind::Choice, atoms, int64_t{20} << 50, atoms, weights);
  const Status added = StableModels().add(program);
  ASSERT_FALSE(added.ok());
  EXPECT_NE(added.error().message.find("depends on its own head"), std::string::npos);
}

TEST(StableModels, LimitsStopEveryCall) {
  GroundProgram program;
  for (Atom a = 1; a <= 40; ++a) program.add_rule(HeadKind::Choice, {a}, {});
  program.add_weight_rule(HeadKind::Disjunction, {}, 60, {1, 2, 3}, {20, 20, 20});
  program.minimize = {{0, {{-1, 1}}}};
  StableModels solver;
  ASSERT_TRUE(solver.add(program).ok());
  Interrupt stop = true;
  Limits limits;
  limits.interrupt = &stop;
  EXPECT_EQ(solver.solve(limits), Outcome::Unknown);
  EXPECT_EQ(solver.enumerate(limits, nullptr).outcome, Outcome::Unknown);
  EXPECT_EQ(solver.cautious(limits).outcome, Outcome::Unknown);
  EXPECT_EQ(solver.brave(limits).outcome, Outcome::Unknown);
  EXPECT_EQ(solver.count(limits).outcome, Outcome::Unknown);
  EXPECT_EQ(solver.optimize(limits).outcome, Outcome::Unknown);
  // Interrupted in the middle: what was found stays, and the solver stays usable.
  stop = false;
  uint64_t seen = 0;
  const Enumeration part = solver.enumerate(limits, [&](const StableModels&) {
    if (++seen == 5000) stop = true;
    return true;
  });
  EXPECT_EQ(part.outcome, Outcome::Unknown);
  EXPECT_GE(part.models, 5000u);
  stop = false;
  EXPECT_EQ(solver.solve(limits), Outcome::Sat);
}

}  // namespace
}  // namespace xlog::solve
