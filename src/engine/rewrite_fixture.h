// For tests of rewrites that make helper rules: answers stay those of the reference.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "base/sanitized.h"
#include "engine/engine_fixture.h"
#include "plan/shared_joins.h"

namespace xlog::engine {

struct Tried {
  bool asked = false;  // the reference has an answer
  size_t made = 0;     // joins with a helper
};

inline logic::AnswerOptions rewrite_limits(uint64_t times) {
  logic::AnswerOptions options;
  options.max_rows = 20'000 * times;
  options.max_candidates = 1 << 12;
  return options;
}

// Makes all helpers that `rewrite` (plan::share_joins, or like it) can, whether that pays or not.
template <typename Rewrite>
Tried expect_same_answers(const std::string& source, const Rewrite& rewrite) {
  Tried tried;
  const Outcome wanted = run(source, Which::Reference, "", rewrite_limits(1));
  if (!wanted.answered) return tried;
  tried.asked = true;
  lang::Session session;
  std::optional<lang::Program> program =
      lang::load(*session.sources.add("test.xlog", "", source), session);
  std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  const auto joins = rewrite(*program, *analysis, session, plan::Sharing::Everywhere);
  tried.made = joins.size();
  if (joins.empty()) return tried;
  analysis = logic::analyze(*program, session);
  EXPECT_TRUE(analysis.has_value()) << source;
  if (!analysis) return tried;
  logic::AnswerOptions options = rewrite_limits(100);
  options.well_founded = program->pragmas.semantics == "well_founded";
  Result<std::unique_ptr<device::Device>> device = device::open_device("interp");
  Statistics statistics;
  const std::optional<logic::Answer> answer =
      evaluate(*program, *analysis, session, options, **device, statistics);
  std::string text = answer ? text_of(*answer, *program, session.names) : "no answer";
  EXPECT_EQ(text, wanted.text.substr(0, text.size())) << source << "\n" << plan::to_text(joins);
  return tried;
}

// The same of many programs, source(seed) each; the number that the reference answers, and of
// helpers. $XLOG_RANDOM_TIMES=N tries N times as many.
struct Tries {
  uint64_t count = 0, asked = 0, made = 0;
};

template <typename Source, typename Rewrite>
Tries expect_same_answers_of_many(uint64_t count, const Source& source, const Rewrite& rewrite) {
  const char* times = std::getenv("XLOG_RANDOM_TIMES");
  Tries tries{count / (kSanitized ? 10 : 1) * (times == nullptr ? 1 : std::stoull(times))};
  for (uint64_t seed = 1; seed <= tries.count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Tried tried = expect_same_answers(source(seed), rewrite);
    tries.asked += tried.asked ? 1 : 0;
    tries.made += tried.made;
  }
  return tries;
}

}  // namespace xlog::engine
