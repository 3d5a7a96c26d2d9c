#include "cli/pipeline.h"

#include <gtest/gtest.h>

namespace xlog::cli {
namespace {

int run(const std::string& text, Outcome& outcome, const PipelineOptions& options = {}) {
  const SourceFile* file = outcome.session.sources.add("test", "", text);
  run_pipeline(*file, options, outcome);
  return outcome.exit_code;
}

int exit_code(const std::string& text, const PipelineOptions& options = {}) {
  Outcome outcome;
  return run(text, outcome, options);
}

TEST(Pipeline, ExitCodes) {
  EXPECT_EQ(exit_code("p(1). ?- p(X)."), kAnswered);
  EXPECT_EQ(exit_code(""), kAnswered);
  EXPECT_EQ(exit_code("p(1"), kProgramError);
  EXPECT_EQ(exit_code("p(X) :- q(Y)."), kProgramError);
  EXPECT_EQ(exit_code("p(1). :- p(X)."), kProgramError);
  EXPECT_EQ(exit_code("p :- not know p."), kNoWorldView);
  EXPECT_EQ(exit_code("p :- not p. ?- p."), kNoWorldView);
  PipelineOptions few;
  few.answer.max_rows = 10;
  EXPECT_EQ(exit_code("p(1..100). q(X, Y) :- p(X), p(Y).", few), kLimit);
}

TEST(Pipeline, TheCommandLineOverridesPragmas) {
  const std::string text = "#pragma epistemic_mode = g91\np :- possible p. ?- p.";
  Outcome by_pragma;
  run(text, by_pragma);
  EXPECT_EQ(by_pragma.answer->view_count, 2);
  PipelineOptions options;
  options.mode = logic::Mode::Faeel;
  Outcome by_option;
  run(text, by_option, options);
  EXPECT_EQ(by_option.answer->view_count, 1);
  options.well_founded = true;
  Outcome well_founded;
  EXPECT_EQ(run(text, well_founded, options), kAnswered);
  EXPECT_TRUE(well_founded.answer->well_founded);
}

TEST(Pipeline, MagicSetsKeepTheAnswer) {
  const std::string rules =
      "edge(1, 2). edge(2, 3). edge(7, 8). reach(X, Y) :- edge(X, Y). "
      "reach(X, Y) :- edge(X, Z), reach(Z, Y). ?- reach(1, X).";
  Outcome plain, magic;
  run(rules, plain);
  run("#pragma magic_sets = on\n" + rules, magic);
  ASSERT_TRUE(plain.answer && magic.answer);
  const auto& expected = plain.answer->views[0].queries[0].rows;
  const auto& actual = magic.answer->views[0].queries[0].rows;
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_EQ(actual[i].values, expected[i].values);
}

TEST(Pipeline, OnlyWhatAnswersDependOnIsEvaluated) {
  Outcome outcome;
  run("edge(1, 2). edge(2, 3). reach(X, Y) :- edge(X, Y). reach(X, Y) :- reach(X, Z), edge(Z, Y). "
      "big(X) :- reach(X, Y), Y > 2. near(X) :- edge(1, X). ?- near(X).",
      outcome);
  ASSERT_TRUE(outcome.answer && outcome.engine);
  EXPECT_EQ(outcome.answer->views[0].queries[0].rows.size(), 1u);
  EXPECT_EQ(outcome.program->rules.size(), 2u);  // of near, and of the query
  EXPECT_EQ(outcome.engine->rounds, 0u);
}

TEST(Pipeline, TheWellFoundedModelIsLookedAtOnlyWhereAQueryReadsIt) {
  // Counting over what may be undefined would leave all to the reference evaluator.
  const std::string text =
      "move(1, 2). move(2, 3). move(4, 4). win(X) :- move(X, Y), not win(Y). n(count(X)) :- "
      "win(X). ?- win(X).";
  PipelineOptions options;
  options.well_founded = true;
  Outcome outcome;
  run(text, outcome, options);
  ASSERT_TRUE(outcome.answer && outcome.engine);
  EXPECT_EQ(outcome.program->rules.size(), 2u);  // of win, and of the query
  for (const engine::Placement& placement : outcome.engine->placements) {
    EXPECT_TRUE(placement.on_device) << placement.reason;
  }
  const auto& rows = outcome.answer->well_founded_queries[0].rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].status, logic::RowStatus::True);
  EXPECT_EQ(rows[1].status, logic::RowStatus::Undefined);
}

TEST(Pipeline, StagesAreTimedInOrder) {
  Outcome outcome;
  run("p(1).", outcome);
  std::vector<std::string_view> stages;
  stages.reserve(outcome.times.size());
  for (const StageTime& time : outcome.times) stages.push_back(time.stage);
  EXPECT_EQ(stages, (std::vector<std::string_view>{"load", "analyze", "rewrite", "evaluate"}));
}

TEST(Pipeline, ModesAreFoundByName) {
  for (const std::string& name : mode_names()) EXPECT_EQ(logic::spelling(*find_mode(name)), name);
  EXPECT_FALSE(find_mode("other"));
}

}  // namespace
}  // namespace xlog::cli
