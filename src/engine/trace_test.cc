#include "engine/trace.h"

#include <gtest/gtest.h>

#include "engine/engine_fixture.h"

namespace xlog::engine {
namespace {

constexpr const char* kReach =
    "edge(1, 2). edge(2, 3). edge(3, 4).\n"
    "reach(X, Y) :- edge(X, Y).\n"
    "reach(X, Z) :- reach(X, Y), edge(Y, Z).\n"
    "n(count(Y)) :- reach(1, Y).\n"
    "?- n(X).\n";

TEST(Trace, TotalsOfEachVersionAreKept) {
  const Outcome outcome = run(kReach, Which::Engine);
  const auto& totals = outcome.statistics.trace.totals();
  ASSERT_EQ(totals.size(), 4u);
  const VersionTotals& first = totals.at({0, {}});
  EXPECT_EQ(first.runs, 1u);
  EXPECT_EQ(first.rows_in, 3u);
  EXPECT_EQ(first.rows_out, 3u);
  EXPECT_GE(first.launches, 1u);
  const VersionTotals& again = totals.at({1, 0u});
  EXPECT_EQ(again.runs, outcome.statistics.rounds);
  EXPECT_EQ(again.rows_out, 3u);
  EXPECT_GT(again.seconds, 0);
  EXPECT_EQ(totals.at({2, {}}).rows_out, 1u);
  EXPECT_TRUE(outcome.statistics.trace.events().empty()) << "nobody asked for them";
}

TEST(Trace, RelationsAreMeasured) {
  const Outcome outcome = run(kReach, Which::Engine);
  ASSERT_EQ(outcome.statistics.relations.size(), 4u);
  const RelationFigures& edge = outcome.statistics.relations[0];
  EXPECT_EQ(edge.name, "edge/2");
  EXPECT_EQ(edge.rows, 3u);
  EXPECT_GE(edge.bytes, 3u * 8u);
  EXPECT_EQ(edge.indexes, 1u);
  const RelationFigures& reach = outcome.statistics.relations[1];
  EXPECT_EQ(reach.name, "reach/2");
  EXPECT_EQ(reach.rows, 6u);
  EXPECT_GT(reach.component, edge.component);
  EXPECT_EQ(outcome.statistics.relations[3].name, "?- n(X)");
}

TEST(Trace, EventsAreKeptUpToANumber) {
  Trace trace({.keep_events = true, .most_events = 2});
  for (int i = 0; i < 3; ++i) {
    Trace::Timed timed(trace, TraceKind::Rule, {7, 1u});
    timed.event.rows_out = 5;
  }
  EXPECT_EQ(trace.events().size(), 2u);
  EXPECT_EQ(trace.events_left_out(), 1u);
  EXPECT_EQ(trace.totals().at({7, 1u}).rows_out, 15u) << "totals count all";
}

TEST(Trace, KnowsWhereTheEvaluationIs) {
  Trace trace;
  trace.enter_component(3);
  EXPECT_FALSE(trace.running().has_value());
  { const Trace::Timed timed(trace, TraceKind::Rule, {4, {}}); }
  EXPECT_EQ(trace.running()->rule, 4u) << "also after it has failed";
  trace.enter_round(2);
  EXPECT_EQ(trace.round(), 2u);
  trace.enter_component(5);
  EXPECT_FALSE(trace.running().has_value());
  EXPECT_EQ(trace.round(), 0u);
}

TEST(Trace, ProgressGoesThroughComponentsAndRounds) {
  for (const Which which : {Which::Engine, Which::Reference}) {
    logic::AnswerOptions options;
    std::vector<logic::Progress> seen;
    options.progress = [&](const logic::Progress& now) { seen.push_back(now); };
    const Outcome outcome = run("n(1..200). pair(X, Y) :- n(X), n(Y). ?- pair(1, X).\n" +
                                    std::string(which == Which::Engine ? kReach : ""),
                                which, "interp", options);
    ASSERT_TRUE(outcome.answered);
    ASSERT_FALSE(seen.empty());
    for (size_t i = 0; i < seen.size(); ++i) {
      EXPECT_LT(seen[i].component, seen[i].components);
      EXPECT_FALSE(seen[i].name.empty());
      EXPECT_LE(seen[i].new_rows, seen[i].rows);
      EXPECT_GE(seen[i].component, seen[i == 0 ? 0 : i - 1].component);
    }
    EXPECT_GT(seen.back().rows, 0u);
  }
}

// ---- memory ----

TEST(Memory, ALimitNamesTheRuleAndTheLargestRelation) {
  // Values are far apart: a bit for each possible pair would take more still.
  const std::string source =
      "n(1..3000).\npair(X * 65536, Y * 65536) :- n(X), n(Y), X != Y.\n?- pair(65536, X).\n";
  logic::AnswerOptions options;
  options.memory_limit = uint64_t{8} << 20;  // the pairs alone take more
  for (const Which which : {Which::Engine, Which::Reference}) {
    const Outcome outcome = run(source, which, "interp", options);
    EXPECT_FALSE(outcome.answered);
    EXPECT_NE(outcome.text.find("E0705"), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find("the memory limit of 8 MiB was reached"), std::string::npos);
  }
}

TEST(Memory, TheDeviceHasItsOwnLimit) {
  lang::Session session;
  const SourceFile* file = session.sources.add(
      "test.xlog", "", "n(1..3000).\npair(X, Y) :- n(X), n(Y).\n?- pair(1, X).");
  std::optional<lang::Program> program = lang::load(*file, session);
  ASSERT_TRUE(program.has_value());
  std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  device::OpenOptions open;
  open.memory_limit = uint64_t{1} << 20;
  auto device = device::open_device("interp", open);
  ASSERT_TRUE(device.ok());
  logic::AnswerOptions options;
  options.memory_limit = open.memory_limit << 20;  // of the process: enough
  Statistics statistics;
  EXPECT_FALSE(evaluate(*program, *analysis, session, options, **device, statistics).has_value());
  ASSERT_EQ(session.diagnostics.all().size(), 1u);
  const Diagnostic& diagnostic = session.diagnostics.all()[0];
  EXPECT_EQ(diagnostic.code, Code::MemoryExhausted);
  EXPECT_EQ(session.sources.place(diagnostic.span).line, 2u);
  ASSERT_EQ(diagnostic.notes.size(), 2u);
  EXPECT_NE(diagnostic.notes[0].find("the largest relation is `pair/2`"), std::string::npos)
      << diagnostic.notes[0];
  EXPECT_NE(diagnostic.notes[1].find("the memory limit of 1 MiB on interp"), std::string::npos);
  EXPECT_FALSE(statistics.relations.empty()) << "statistics are those until then";
  EXPECT_LE(statistics.device.peak, open.memory_limit);
}

}  // namespace
}  // namespace xlog::engine
