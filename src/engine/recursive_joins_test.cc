// Joins that are kept inside a recursion: answers stay those of the reference.
#include <gtest/gtest.h>

#include <random>

#include "base/sanitized.h"
#include "engine/engine_fixture.h"
#include "engine/random_program.h"
#include "plan/recursive_joins.h"

namespace xlog::engine {
namespace {

struct Tried {
  bool asked = false;  // the reference has an answer
  size_t kept = 0;     // joins
};

logic::AnswerOptions limits(uint64_t times) {
  logic::AnswerOptions options;
  options.max_rows = 20'000 * times;
  options.max_candidates = 1 << 12;
  return options;
}

// Keeps all joins that it can, whether that pays or not.
Tried expect_same_answers(const std::string& source) {
  Tried tried;
  const Outcome wanted = run(source, Which::Reference, "", limits(1));
  if (!wanted.answered) return tried;
  tried.asked = true;
  lang::Session session;
  std::optional<lang::Program> program =
      lang::load(*session.sources.add("test.xlog", "", source), session);
  std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  const std::vector<plan::KeptJoin> joins =
      plan::keep_joins(*program, *analysis, session, plan::Sharing::Everywhere);
  tried.kept = joins.size();
  if (joins.empty()) return tried;
  analysis = logic::analyze(*program, session);
  EXPECT_TRUE(analysis.has_value()) << source;
  if (!analysis) return tried;
  logic::AnswerOptions options = limits(100);
  options.well_founded = program->pragmas.semantics == "well_founded";
  Result<std::unique_ptr<device::Device>> device = device::open_device("interp");
  Statistics statistics;
  const std::optional<logic::Answer> answer =
      evaluate(*program, *analysis, session, options, **device, statistics);
  std::string text = answer ? text_of(*answer, *program, session.names) : "no answer";
  EXPECT_EQ(text, wanted.text.substr(0, text.size())) << source << "\n" << plan::to_text(joins);
  return tried;
}

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

uint64_t times() {
  const char* times = std::getenv("XLOG_RANDOM_TIMES");
  return times == nullptr ? 1 : std::stoull(times);
}

TEST(RecursiveJoins, ChangeNoAnswerOfRecursions) {
  const uint64_t count = (kSanitized ? 20 : 150) * times();
  uint64_t asked = 0, kept = 0;
  for (uint64_t seed = 1; seed <= count && !testing::Test::HasFailure(); ++seed) {
    const Tried tried = expect_same_answers(RecursionGenerator(seed).run());
    asked += tried.asked ? 1 : 0;
    kept += tried.kept;
    if (testing::Test::HasFailure()) fmt::print("seed {}\n", seed);
  }
  EXPECT_GT(asked, count / 2);
  EXPECT_GT(kept, count / 2);
}

TEST(RecursiveJoins, ChangeNoAnswerOfAnyProgram) {
  const uint64_t count = (kSanitized ? 20 : 200) * times();
  uint64_t asked = 0;
  for (uint64_t seed = 1; seed <= count && !testing::Test::HasFailure(); ++seed) {
    asked += expect_same_answers(ProgramGenerator(seed).run().text()).asked ? 1 : 0;
    if (testing::Test::HasFailure()) fmt::print("seed {}\n", seed);
  }
  EXPECT_GT(asked, count / 4);
}

}  // namespace
}  // namespace xlog::engine
