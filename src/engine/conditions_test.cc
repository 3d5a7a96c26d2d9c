// Conditions that are asked once: answers stay those of the reference.
#include "plan/conditions.h"

#include <gtest/gtest.h>

#include "base/sanitized.h"
#include "engine/random_program.h"
#include "engine/rewrite_fixture.h"

namespace xlog::engine {
namespace {

TEST(Conditions, ChangeNoAnswer) {
  const uint64_t count = kSanitized ? 40 : 400;
  uint64_t asked = 0, made = 0;
  for (uint64_t seed = 1; seed <= count && !testing::Test::HasFailure(); ++seed) {
    const Tried tried =
        expect_same_answers(ProgramGenerator(seed).run().text(), plan::separate_conditions);
    asked += tried.asked ? 1 : 0;
    made += tried.made;
    if (testing::Test::HasFailure()) fmt::print("seed {}\n", seed);
  }
  EXPECT_GT(asked, count / 4);
  EXPECT_GT(made, count / 8);
}

}  // namespace
}  // namespace xlog::engine
