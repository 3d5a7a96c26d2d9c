// World views against the definition on random ground programs: every set of interpretations is
// tried as W.
#include "oracle/world_views.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sanitized.h"
#include "oracle/groups.h"
#include "oracle/random_program.h"
#include "oracle/stable.h"
#include "oracle/well_founded.h"

namespace xlog::oracle {
namespace {

using logic::Mode;

struct Fixture {
  lang::Program program;
  logic::Analysis analysis;
  lang::Session session;
  logic::AnswerOptions options;
  Context context{program, analysis, session, options};
  Fixture() { options.max_candidates = UINT64_MAX; }
};

std::vector<WorldSet> g91_by_definition(const GroundProgram& program, Context& context) {
  const uint32_t n = program.atom_count;
  const uint32_t worlds = 1u << n;
  std::vector<WorldSet> views;
  for (uint32_t set = 1; set < (1u << worlds); ++set) {
    WorldSet candidate;
    for (uint32_t bits = 0; bits < worlds; ++bits) {
      if (!(set >> bits & 1)) continue;
      Interpretation world(n);
      for (uint32_t a = 0; a < n; ++a) world[a] = (bits >> a & 1) != 0;
      candidate.push_back(world);
    }
    std::sort(candidate.begin(), candidate.end());
    const GroundProgram reduct = replace_literals(program, [&](const GroundLiteral& l) {
      if (l.kind != GroundKind::Modal) return Truth::Unknown;
      return holds_in(l, candidate) ? Truth::True : Truth::False;
    });
    WorldSet models = stable_models_by_guessing(reduct, context);
    std::sort(models.begin(), models.end());
    if (models == candidate) views.push_back(candidate);
  }
  return views;
}

std::vector<WorldSet> sorted(std::vector<WorldSet> views) {
  std::sort(views.begin(), views.end());
  return views;
}

TEST(WorldViews, EqualTheDefinitionOfG91) {
  Fixture f;
  for (uint32_t seed = 0; seed < 1500 / kPartOfWork; ++seed) {
    std::mt19937 random(seed);
    RandomShape shape;
    shape.atoms = 2 + (seed % 8 == 0 ? 1 : 0);
    shape.rules = 2 + seed % 5;
    const GroundProgram program = random_program(random, shape);
    ASSERT_EQ(sorted(world_views(program, Mode::G91, f.context)),
              sorted(g91_by_definition(program, f.context)))
        << "seed " << seed;
  }
}

TEST(WorldViews, BothDefinitionsOfFoundednessAgree) {
  Fixture f;
  for (uint32_t seed = 0; seed < 4000 / kPartOfWork; ++seed) {
    std::mt19937 random(seed);
    RandomShape shape;
    shape.disjunction = false;
    shape.rules = 3 + seed % 6;
    const GroundProgram program = random_program(random, shape);
    for (const WorldSet& view : world_views(program, Mode::G91, f.context)) {
      for (Mode mode : {Mode::Faeel, Mode::Faeel19}) {
        ASSERT_EQ(is_founded_by_fixpoint(program, view, mode, f.context),
                  !has_unfounded_set(program, view, mode, f.context))
            << "seed " << seed;
      }
    }
  }
}

TEST(WorldViews, UnfoundedSetsLieAmongWhatTheFixpointLeaves) {
  Fixture f;
  for (uint32_t seed = 0; seed < 4000 / kPartOfWork; ++seed) {
    std::mt19937 random(seed);
    RandomShape shape;
    shape.rules = 3 + seed % 6;
    const GroundProgram program = random_program(random, shape);
    for (const WorldSet& view : world_views(program, Mode::G91, f.context)) {
      for (Mode mode : {Mode::Faeel, Mode::Faeel19}) {
        ASSERT_EQ(is_founded(program, view, mode, f.context),
                  !has_unfounded_set(program, view, mode, f.context))
            << "seed " << seed;
      }
    }
  }
}

TEST(WorldViews, FoundedViewsAreFewer) {
  Fixture f;
  for (uint32_t seed = 0; seed < 3000 / kPartOfWork; ++seed) {
    std::mt19937 random(seed);
    RandomShape shape;
    shape.atoms = 3;
    shape.rules = 3 + seed % 5;
    const GroundProgram program = random_program(random, shape);
    const auto g91 = sorted(world_views(program, Mode::G91, f.context));
    const auto faeel19 = sorted(world_views(program, Mode::Faeel19, f.context));
    const auto faeel = sorted(world_views(program, Mode::Faeel, f.context));
    ASSERT_TRUE(std::includes(g91.begin(), g91.end(), faeel19.begin(), faeel19.end()))
        << "seed " << seed;
    ASSERT_TRUE(std::includes(faeel19.begin(), faeel19.end(), faeel.begin(), faeel.end()))
        << "seed " << seed;
  }
}

// The views of the program as evaluate() finds them: bounds first, then the product of the
// independent parts.
std::vector<WorldSet> views_by_parts(const GroundProgram& program, Mode mode, Context& context) {
  const Bounds bounds = well_founded_bounds(program, mode, context);
  const GroundProgram open = residual(program, bounds, context.names());
  if (contradiction(open, context.names())) return {};
  std::vector<WorldSet> product{{bounds.lower}};
  for (const Part& part : independent_parts(open)) {
    std::vector<WorldSet> next;
    for (const WorldSet& view : world_views(part.program, mode, context)) {
      for (const WorldSet& before : product) {
        WorldSet combined;
        for (const Interpretation& world : before) {
          for (const Interpretation& local : view) {
            Interpretation both = world;
            for (AtomId a = 0; a < part.atoms.size(); ++a) both[part.atoms[a]] = local[a];
            combined.push_back(std::move(both));
          }
        }
        std::sort(combined.begin(), combined.end());
        next.push_back(std::move(combined));
      }
    }
    product = std::move(next);
  }
  return sorted(std::move(product));
}

TEST(WorldViews, SimplificationAndPartsChangeNothing) {
  Fixture f;
  for (uint32_t seed = 0; seed < 6000 / kPartOfWork; ++seed) {
    std::mt19937 random(seed);
    RandomShape shape;
    shape.atoms = 3 + seed % 4;
    shape.rules = 3 + seed % 7;
    const GroundProgram program = random_program(random, shape);
    for (Mode mode : {Mode::G91, Mode::Faeel, Mode::Faeel19}) {
      ASSERT_EQ(views_by_parts(program, mode, f.context),
                sorted(world_views(program, mode, f.context)))
          << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace xlog::oracle
