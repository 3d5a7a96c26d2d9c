// Joins that are kept inside a recursion: answers stay those of the reference.
#include <gtest/gtest.h>

#include <random>

#include "engine/random_program.h"
#include "engine/rewrite_fixture.h"
#include "plan/recursive_joins.h"

namespace xlog::engine {
namespace {

// Rules of a recursion through p, q and r, with bodies of three to five atoms: a chain of variables
// with some of them exchanged, comparisons, and negation of what lies below.
class RecursionGenerator {
 public:
  explicit RecursionGenerator(uint64_t seed) : random_(seed) {}

  std::string run() {
    std::string text = "pred a(u32, u32). pred b(u32, u32). pred c(u32).\n";
    for (uint32_t i = 0, facts = 4 + below(12); i < facts; ++i) {
      text += fmt::format("{}({}, {}). ", "ab"[below(2)], below(6), below(6));
    }
    text +=
        fmt::format("c({}).\np(X, Y) :- a(X, Y). q(X, Y) :- b(Y, X). r(X) :- c(X).\n", below(6));
    for (uint32_t i = 0, rules = 2 + below(4); i < rules; ++i) text += rule();
    return text + "?- p(X, Y). ?- q(X, Y). ?- r(X).\n";
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  std::string variable(uint32_t near) {
    if (below(12) == 0) return fmt::format("{}", below(6));
    if (below(10) == 0) return "_";
    if (below(5) == 0) near = below(used_ + 1);
    used_ = std::max(used_, near);
    named_.push_back(fmt::format("V{}", near));
    return named_.back();
  }

  std::string rule() {
    used_ = 0;
    named_ = {"V0"};
    std::string body = "p(V0, V1)";
    for (uint32_t i = 1, atoms = 3 + below(3); i < atoms; ++i) {
      static constexpr std::string_view kNames = "ppqqabrc";
      const char name = kNames[below(kNames.size())];
      const std::string first = variable(i);
      body += name == 'r' || name == 'c'
                  ? fmt::format(", {}({})", name, first)
                  : fmt::format(", {}({}, {})", name, first, variable(i + 1));
    }
    const auto any = [&] { return named_[below(static_cast<uint32_t>(named_.size()))]; };
    if (below(3) == 0) body += fmt::format(", {} != {}", any(), any());
    if (below(4) == 0) body += fmt::format(", {} < {}", any(), any());
    if (below(4) == 0) body += fmt::format(", not a({}, {})", any(), any());
    const std::string head = below(5) == 0
                                 ? fmt::format("r({})", any())
                                 : fmt::format("{}({}, {})", "pq"[below(2)], any(), any());
    return fmt::format("{} :- {}.\n", head, body);
  }

  std::mt19937_64 random_;
  uint32_t used_ = 0;
  std::vector<std::string> named_;
};

TEST(RecursiveJoins, ChangeNoAnswerOfRecursions) {
  const Tries tries = expect_same_answers_of_many(
      150, [](uint64_t seed) { return RecursionGenerator(seed).run(); }, plan::keep_joins);
  EXPECT_GT(tries.asked, tries.count / 2);
  EXPECT_GT(tries.made, tries.count / 2);
}

TEST(RecursiveJoins, ChangeNoAnswerOfAnyProgram) {
  const Tries tries = expect_same_answers_of_many(
      200, [](uint64_t seed) { return ProgramGenerator(seed).run().text(); }, plan::keep_joins);
  EXPECT_GT(tries.asked, tries.count / 4);
}

}  // namespace
}  // namespace xlog::engine
