// The guessing solver against the definition of a stable model, word for word, on random ground
// programs.
#include "oracle/stable.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sanitized.h"
#include "oracle/random_program.h"

namespace xlog::oracle {
namespace {

struct Fixture {
  lang::Program program;
  logic::Analysis analysis;
  lang::Session session;
  logic::AnswerOptions options;
  Context context{program, analysis, session, options};
};

Interpretation from_bits(uint32_t bits, uint32_t n) {
  Interpretation world(n);
  for (uint32_t a = 0; a < n; ++a) world[a] = (bits >> a & 1) != 0;
  return world;
}

// Is `model` a model of the reduct of the program by `world`? Literals other than positive atoms
// are read in `world`.
bool models_reduct(const GroundProgram& program, const Interpretation& world,
                   const Interpretation& model, lang::Names& names) {
  for (const GroundRule rule : program.rules) {
    if (rule.kind == GroundHead::Choice && !world[rule.heads[0]])
      continue;  // {a} is a :- not not a
    const bool body = std::all_of(rule.body.begin(), rule.body.end(), [&](const GroundLiteral& l) {
      return l.kind == GroundKind::Pos ? bool{model[l.index]} : holds(l, program, world, names);
    });
    if (body &&
        std::none_of(rule.heads.begin(), rule.heads.end(), [&](AtomId a) { return model[a]; }))
      return false;
  }
  return true;
}

std::vector<Interpretation> by_definition(const GroundProgram& program, lang::Names& names) {
  std::vector<Interpretation> models;
  const uint32_t n = program.atom_count;
  for (uint32_t bits = 0; bits < (1u << n); ++bits) {
    const Interpretation world = from_bits(bits, n);
    bool stable = models_reduct(program, world, world, names);
    for (uint32_t sub = bits; stable && sub != 0;) {
      sub = (sub - 1) & bits;  // every proper subset
      stable = !models_reduct(program, world, from_bits(sub, n), names);
      if (sub == 0) break;
    }
    if (stable) models.push_back(world);
  }
  return models;
}

TEST(Stable, EqualsTheDefinitionOnRandomPrograms) {
  Fixture f;
  f.options.max_candidates = UINT64_MAX;
  for (uint32_t seed = 0; seed < 20000 / kPartOfWork; ++seed) {
    std::mt19937 random(seed);
    RandomShape shape;
    shape.modal = false;
    shape.atoms = 2 + seed % 5;
    shape.rules = 3 + seed % 9;
    const GroundProgram program = random_program(random, shape);
    auto expected = by_definition(program, f.session.names);
    std::sort(expected.begin(), expected.end());
    for (auto* solver : {stable_models, stable_models_by_guessing}) {
      auto models = solver(program, f.context);
      std::sort(models.begin(), models.end());
      ASSERT_EQ(models, expected) << "seed " << seed;
    }
  }
}

TEST(Stable, HeadCyclesNeedTheMinimalityCheck) {
  // a ; b.  a :- b.  b :- a.   has the stable model {a, b}.
  GroundProgram program;
  program.atom_count = 2;
  program.rules.add(GroundHead::Disjunction, {0, 1}, {}, 0);
  program.rules.add(GroundHead::Normal, {0}, {{GroundKind::Pos, lang::Modal::None, 1}}, 0);
  program.rules.add(GroundHead::Normal, {1}, {{GroundKind::Pos, lang::Modal::None, 0}}, 0);
  Fixture f;
  EXPECT_EQ(stable_models(program, f.context), (std::vector<Interpretation>{{true, true}}));
}

TEST(Stable, RefusesTooManyCandidates) {
  GroundProgram program;
  program.atom_count = 40;
  for (AtomId a = 0; a < 40; ++a) program.rules.add(GroundHead::Choice, {a}, {}, 0);
  Fixture f;
  EXPECT_THROW(stable_models(program, f.context), LimitExceeded);
}

}  // namespace
}  // namespace xlog::oracle
