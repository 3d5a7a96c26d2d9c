// For tests of rewrites that make helper rules: what was decided, and the rules afterwards.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "plan/shared_joins.h"

namespace xlog::plan {

// `rewrite` is share_joins, or like it.
template <typename Rewrite>
std::string rewritten(const Rewrite& rewrite, const std::string& source, Sharing sharing) {
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", source);
  lang::LoadOptions options;
  options.implicit_queries = false;
  std::optional<lang::Program> program = lang::load(*file, session, options);
  if (!program) return "does not load";
  const std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  if (!analysis) return "is not safe";
  const auto joins = rewrite(*program, *analysis, session, sharing);
  EXPECT_TRUE(logic::analyze(*program, session).has_value());
  std::string text = sharing == Sharing::WherePays ? to_text(joins) : "";
  for (const lang::Rule& rule : program->rules) {
    text += lang::to_source(rule, *program, session.names) + "\n";
  }
  return text;
}

}  // namespace xlog::plan
