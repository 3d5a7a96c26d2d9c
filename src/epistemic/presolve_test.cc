// Programs whose units are solved in batches first, against programs that are walked by the solver.
#include "epistemic/presolve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "device/test_devices.h"
#include "epistemic/bounds.h"
#include "epistemic/evaluate.h"
#include "epistemic/ground_fixture.h"
#include "epistemic/world_views.h"
#include "oracle/groups.h"
#include "oracle/random_program.h"
#include "oracle/well_founded.h"

namespace xlog::epistemic {
namespace {

using logic::Mode;
using oracle::AtomId;
using oracle::GroundProgram;

// Every view with what is known in it, in the order in which they are found.
std::string views_of(const GroundProgram& program, const Batching& batching, Fixture& f) {
  const oracle::Bounds bounds = epistemic::well_founded_bounds(program, f.options.mode, f.context);
  const GroundProgram open = oracle::residual(program, bounds, f.session.names);
  if (oracle::contradiction(open, f.session.names)) return "contradiction";
  const Units units(open);
  SearchCounts counts;
  WorldViews views(units, f.context, counts, batching);
  views.solve();
  std::string text = views.count().get_str() + (views.all_found() ? "\n" : " or more\n");
  if (views.count() == 0) return text;
  WorldViews::Choice choice = views.first();
  do {
    for (AtomId a = 0; a < open.atom_count; ++a) {
      if (units.unit_of(a) == Units::kNone) continue;
      text += "-~+"[static_cast<uint8_t>(views.status(a, choice))];
    }
    text += " " + views.worlds(choice).get_str() + "\n";
  } while (views.advance(choice));
  return text;
}

// Several random programs side by side, where later ones ask earlier ones.
GroundProgram layered(uint32_t seed) {
  std::mt19937 random(seed);
  GroundProgram all;
  for (uint32_t layer = 0; layer < 3; ++layer) {
    const GroundProgram part =
        oracle::random_program(random, {.atoms = 3, .rules = 5, .constraints = layer == 2});
    const uint32_t first = all.atom_count;
    all.atom_count += part.atom_count;
    for (const oracle::GroundRule rule : part.rules) {
      std::vector<AtomId> heads(rule.heads.begin(), rule.heads.end());
      std::vector<oracle::GroundLiteral> body(rule.body.begin(), rule.body.end());
      for (AtomId& head : heads) head += first;
      for (oracle::GroundLiteral& literal : body) {
        const bool asks = literal.kind == oracle::GroundKind::Modal && random() % 3 > 0;
        literal.index =
            asks ? static_cast<AtomId>(random() % all.atom_count) : literal.index + first;
      }
      all.rules.add(rule.kind, heads, body, 0);
    }
  }
  return all;
}

class PresolveModes : public testing::TestWithParam<Mode> {};
INSTANTIATE_TEST_SUITE_P(Modes, PresolveModes,
                         testing::Values(Mode::G91, Mode::Faeel, Mode::Faeel19),
                         [](const auto& mode) { return std::string(logic::spelling(mode.param)); });

TEST_P(PresolveModes, BatchesChangeNothing) {
  const auto device = device::open_for_test("interp");
  Fixture f;
  f.options.mode = GetParam();
  uint64_t in_batches = 0;
  for (uint32_t seed = 0; seed < 250; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const GroundProgram program = layered(seed);
    BatchTrace trace;
    // A unit that is alone at its level goes to the solver, or into a batch of one.
    const Batching batching{.device = device.get(), .least_units = 1 + seed % 2, .trace = &trace};
    ASSERT_EQ(views_of(program, batching, f), views_of(program, {}, f));
    ASSERT_EQ(trace.note, "");
    in_batches += trace.units;
  }
  EXPECT_GT(in_batches, 250u);
}

// What ends a search early does so with batches too.
TEST(Presolve, FindsAsManyViewsAsAreAskedFor) {
  const auto device = device::open_for_test("interp");
  Fixture f;
  f.options.mode = Mode::G91;
  uint32_t ended = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const GroundProgram program = layered(seed);
    f.options.enough_views = 0;
    const std::string all = views_of(program, {}, f);
    f.options.enough_views = 1;
    const std::string some = views_of(program, {.device = device.get(), .least_units = 1}, f);
    if (some == all) continue;
    const size_t more = some.find(" or more\n");
    ASSERT_NE(more, std::string::npos) << some;
    ++ended;
    for (size_t at = more + 9; at < some.size();) {
      const size_t end = some.find('\n', at) + 1;
      ASSERT_NE(all.find("\n" + some.substr(at, end - at)), std::string::npos) << some << all;
      at = end;
    }
  }
  EXPECT_GT(ended, 10u);
}

TEST(Presolve, LeavesUnitsToTheSolverWhereTheDeviceFails) {
  const auto device = device::open_for_test("cpu", {.memory_limit = 64});
  Fixture f;
  f.options.mode = Mode::G91;
  uint32_t failed = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const GroundProgram program = layered(seed);
    BatchTrace trace;
    const Batching batching{.device = device.get(), .least_units = 1, .trace = &trace};
    ASSERT_EQ(views_of(program, batching, f), views_of(program, {}, f));
    EXPECT_EQ(trace.units, 0u);
    failed += trace.note.empty() ? 0 : 1;
  }
  EXPECT_GT(failed, 5u);
}

struct Ran {
  std::string rows;
  Trace trace;
};

Ran run(const std::string& source, device::Device* device) {
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", source);
  const std::optional<lang::Program> program = lang::load(*file, session);
  Ran ran;
  if (!program) return ran;
  const std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  const logic::AnswerOptions options;
  const std::optional<logic::Answer> answer =
      evaluate(*program, *analysis, session, options, nullptr, &ran.trace, device);
  if (!answer || answer->views.empty()) return ran;
  ran.rows = answer->view_count.get_str() + ":";
  for (const logic::Row& row : answer->views[0].queries[0].rows) {
    for (const lang::Value& value : row.values)
      ran.rows += " " + lang::to_source(value, session.names);
    ran.rows += fmt::format(" {},", logic::spelling(row.status));
  }
  return ran;
}

// Cases whose rules are data: most of them unlike each other.
TEST(Presolve, TakesWholeProgramsWithManyUnits) {
  std::mt19937 random(5);
  std::string source =
      "{ holds(C, 0) } :- given(C).\n"
      "holds(C, I) :- follows(C, I, J), holds(C, J).\n"
      "holds(C, I) :- unless(C, I, J), not holds(C, J).\n"
      "holds(C, I) :- unknown(C, I, J), not know holds(C, J).\n"
      "?- holds(C, I).\n";
  for (uint32_t c = 0; c < 1500; ++c) {
    source += fmt::format("given({}).\n", c);
    for (uint32_t i = 1; i < 6; ++i) {
      const char* const kRules[] = {"follows", "unless", "unknown"};
      for (uint32_t n = 0; n < 1 + random() % 2; ++n) {
        const char* const rule = kRules[random() % 3];
        // Rules read what is below them, so that all cases have world views.
        source += fmt::format("{}({}, {}, {}).\n", rule, c, i, random() % i);
      }
    }
  }
  const auto device = device::open_for_test("cpu");
  const Ran batched = run(source, device.get());
  const Ran solved = run(source, nullptr);
  EXPECT_FALSE(solved.rows.empty());
  EXPECT_EQ(batched.rows, solved.rows);
  EXPECT_GE(batched.trace.batch.units, 1000u);
  EXPECT_GT(batched.trace.batch.launches, 0u);
  EXPECT_EQ(batched.trace.batch.note, "");
  EXPECT_FALSE(solved.trace.batch.tried);
  EXPECT_EQ(batched.trace.search.units + batched.trace.search.reused,
            solved.trace.search.units + solved.trace.search.reused);
}

}  // namespace
}  // namespace xlog::epistemic
