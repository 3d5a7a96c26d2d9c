// Conditions that are asked once: answers stay those of the reference.
#include "plan/conditions.h"

#include <gtest/gtest.h>

#include "engine/random_best_program.h"
#include "engine/random_program.h"
#include "engine/rewrite_fixture.h"

namespace xlog::engine {
namespace {

template <typename Generator>
void expect_separated() {
  const Tries tries = expect_same_answers_of_many(
      150, [](uint64_t seed) { return Generator(seed).run().text(); }, plan::separate_conditions);
  EXPECT_GT(tries.asked, tries.count / 4);
  EXPECT_GT(tries.made, tries.count / 20);
}

TEST(Conditions, ChangeNoAnswer) { expect_separated<ProgramGenerator>(); }

// Minima in recursion are relations of their own kind, which a condition may ask too.
TEST(Conditions, ChangeNoAnswerOfMinimaInRecursion) { expect_separated<BestProgramGenerator>(); }

}  // namespace
}  // namespace xlog::engine
