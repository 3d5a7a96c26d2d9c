// For tests of rewrites that make helper rules: answers stay those of the reference.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

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

}  // namespace xlog::engine
