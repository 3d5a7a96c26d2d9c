// Which instances of rules the engine finds between the bounds of what differs between worlds. What
// becomes of them is tested in epistemic/bounded_test.cc.
#include "engine/open_instances.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engine_fixture.h"
#include "oracle/instantiate.h"
#include "plan/build.h"

namespace xlog::engine {
namespace {

struct Found {
  std::vector<std::string> instances;  // "rule 3: X=1 Y=2", in order
  Statistics statistics;
};

Found find(const std::string& source, const char* device_name = "interp",
           OpenComponents open = OpenComponents::BoundedWithInstances) {
  Found found;
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", source);
  std::optional<lang::Program> program = lang::load(*file, session);
  std::optional<logic::Analysis> analysis;
  if (program) analysis = logic::analyze(*program, session);
  EXPECT_TRUE(analysis.has_value()) << render_text(session.diagnostics, session.sources, {});
  if (!analysis) return found;
  const auto rest = [&](const lang::Program& open_program, const logic::Analysis&, lang::Session&,
                        const logic::AnswerOptions&, const oracle::Preset* preset) {
    for (uint32_t r = 0; r < open_program.rules.size(); ++r) {
      const lang::Rule& rule = open_program.rules[r];
      if (!preset->has_instances[r] || rule.origin == lang::RuleOrigin::Query) continue;
      for (const oracle::Preset::Instances& table : preset->instances(r)) {
        for (size_t row = 0; row < table.rows.rows; ++row) {
          std::string text = lang::to_source(rule, open_program, session.names) + " ";
          for (size_t c = 0; c < table.variables.size(); ++c) {
            const lang::Variable& variable = rule.variables[table.variables[c].index];
            text += fmt::format(
                " {}={}", variable.anonymous ? "_" : session.names.symbols.text(variable.name),
                lang::to_source(table.rows.columns[c].at(row), session.names));
          }
          found.instances.push_back(std::move(text));
        }
      }
    }
    return std::optional(logic::Answer());
  };
  Result<std::unique_ptr<device::Device>> device = device::open_device(device_name);
  evaluate(*program, *analysis, session, {}, **device, found.statistics, std::nullopt, rest, open);
  std::ranges::sort(found.instances);
  return found;
}

using Instances = std::vector<std::string>;

TEST(OpenInstances, AreThoseWhoseHeadIsOpen) {
  const std::string source =
      "e(1, 2). e(2, 3). { e(3, 4) }.\n"
      "r(X, Y) :- e(X, Y).\n"
      "r(X, Z) :- r(X, Y), e(Y, Z).\n"
      "?- r(X, Y).";
  const Instances wanted = {"r(X, Y) :- e(X, Y).  X=3 Y=4",
                            "r(X, Z) :- r(X, Y), e(Y, Z).  X=1 Y=3 Z=4",
                            "r(X, Z) :- r(X, Y), e(Y, Z).  X=2 Y=3 Z=4", "{ e(3, 4) }. "};
  for (const char* device : {"interp", "cpu", "oracle"}) {
    EXPECT_EQ(find(source, device).instances, wanted) << device;
  }
}

TEST(OpenInstances, NegationIsJudgedByWhatIsCertain) {
  EXPECT_EQ(
      find("d(1..3). a(1). { a(2) }. b(X) :- d(X), not a(X). { c(X) } :- b(X), not know a(X). "
           "?- c(X).")
          .instances,
      (Instances{"b(X) :- d(X), not a(X).  X=2", "{ a(2) }. ",
                 "{ c(X) } :- b(X), not know a(X).  X=2",
                 "{ c(X) } :- b(X), not know a(X).  X=3"}));
}

TEST(OpenInstances, EachElementOfAChoiceHasItsOwn) {
  EXPECT_EQ(
      find("d(1..2). e(3). { p(X) : d(X); q(Y) : e(Y), not p(Y) } . ?- p(X).").instances.size(),
      3u);
}

TEST(OpenInstances, ADisjunctionMattersWhereOneOfItsAtomsIsOpen) {
  // a(1) holds anyway; b(1) is open with it, for want of a look at minimality.
  EXPECT_EQ(find("d(1..2). a(1). a(X) ; b(X) :- d(X). ?- a(X).").instances,
            (Instances{"a(X) ; b(X) :- d(X).  X=1", "a(X) ; b(X) :- d(X).  X=2"}));
}

TEST(OpenInstances, AConstraintMattersWhereItsBodyMayHold) {
  EXPECT_EQ(find("d(1..4). { a(X) } :- d(X), X > 2. a(1). :- a(X), a(Y), X < Y, Y < 4. ?- a(X).")
                .instances,
            (Instances{":- a(X), a(Y), X < Y, Y < 4.  X=1 Y=3", "{ a(X) } :- d(X), X > 2.  X=3",
                       "{ a(X) } :- d(X), X > 2.  X=4"}));
}

// Values of variables that no open atom has do not make more of them.
TEST(OpenInstances, AreTheSameWhereTheirAtomsAre) {
  EXPECT_EQ(find("e(1, 2). e(1, 3). { a(1) }. b(X) :- a(X), e(X, Y), e(X, _). ?- b(X).").instances,
            (Instances{"b(X) :- a(X), e(X, Y), e(X, _).  X=1", "{ a(1) }. "}));
}

TEST(OpenInstances, SomeRulesAreLeftToOthers) {
  const auto left = [](const std::string& rules) {
    const Found found = find("d(1..3). { a(X) } :- d(X). { f(X, Y) } :- d(X), d(Y).\n" + rules);
    return std::pair(found.statistics.instances.rules, found.statistics.instances.left);
  };
  EXPECT_EQ(left("?- a(X)."), (std::pair<uint64_t, uint64_t>(3, 0)));
  EXPECT_EQ(left("1 { b(X) : a(X) } 1. ?- d(X)."), (std::pair<uint64_t, uint64_t>(2, 1)));
  EXPECT_EQ(left("b(X) :- a(X), not f(X, _). ?- d(X)."), (std::pair<uint64_t, uint64_t>(2, 1)));
  EXPECT_EQ(left("b(X) :- a(X), f(X, _). ?- d(X)."), (std::pair<uint64_t, uint64_t>(3, 0)));
  EXPECT_EQ(left(":- a(X), N = count : { f(X, Y) }, N > 1. ?- d(X)."),
            (std::pair<uint64_t, uint64_t>(2, 1)));
}

TEST(OpenInstances, AreLeftWhereTheyAreFew) {
  const std::string source = "d(1..3). { a(X) } :- d(X). ?- a(X).";
  EXPECT_EQ(find(source, "interp", OpenComponents::WherePays).statistics.instances.rules, 0u);
  EXPECT_EQ(find(source, "interp", OpenComponents::Bounded).statistics.instances.rules, 0u);
}

// ---- how they are found ----

// The pipeline for the instances of the first rule for `head`, where all that can be open is.
std::string pipeline_of(const std::string& source, const std::string& head) {
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", source);
  std::optional<lang::Program> program = lang::load(*file, session);
  const std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  std::vector<bool> alternates;
  for (const logic::Component& component : analysis->components) {
    alternates.push_back(!oracle::is_settled(component, {}));
  }
  Estimates estimates(*program, *analysis, session.names, alternates, {}, logic::Mode::Faeel);
  const auto has_open = [&](lang::PredId pred) { return estimates.alternates(pred); };
  for (uint32_t r = 0; r < program->rules.size(); ++r) {
    const lang::Rule& rule = program->rules[r];
    if (rule.head.empty() ||
        lang::predicate_name((*program)[rule.head[0].pred], session.names) != head)
      continue;
    const Estimates::Instances made = estimates.add_instances(r, has_open, session.names)[0];
    const uint32_t added = estimates.analysis().components[made.component].rules.front();
    const auto statistics = [&](lang::PredId pred) {
      const size_t columns = (*program)[pred].columns.size();
      const uint64_t rows = estimates.source(pred) != pred && columns == 1 ? 10 : 10'000;
      return plan::Statistics{rows, std::vector<uint64_t>(columns, std::min<uint64_t>(rows, 300))};
    };
    return plan::to_text(plan::build_pipeline(*program, added, {}, statistics), *program,
                         session.names);
  }
  return "no such rule";
}

const std::string kDoubts =
    "pred met(u32, u32). pred perhaps(u32, u32). met(1, 2). perhaps(2, 1).\n"
    "knows(X, Y) :- met(X, Y). { knows(X, Y) } :- perhaps(X, Y).\n";

uint32_t meets_in(const std::string& pipeline) {
  uint32_t meets = 0;
  for (size_t at = pipeline.find("meet"); at != std::string::npos;
       at = pipeline.find("meet", at + 1)) {
    ++meets;
  }
  return meets;
}

TEST(OpenInstances, ACyclicBodyIsAWorstCaseOptimalJoinOverWhatIsPossible) {
  const std::string ring = pipeline_of(
      kDoubts +
          "ring(A) :- know knows(A, B), know knows(B, C), know knows(C, D), know knows(D, A).",
      "ring");
  EXPECT_EQ(meets_in(ring), 1u) << ring;
  EXPECT_NE(ring.find("possible knows"), std::string::npos) << ring;
  EXPECT_EQ(ring.find("scan"), ring.find("scan    open ring")) << ring;
}

TEST(OpenInstances, CliquesMeetInEveryVariable) {
  for (uint32_t size = 5; size <= 8; ++size) {
    std::string body;
    for (uint32_t a = 0; a < size; ++a) {
      for (uint32_t b = a + 1; b < size; ++b) {
        body += fmt::format("{}know knows(X{}, X{})", body.empty() ? "" : ", ", a, b);
      }
    }
    const std::string clique = pipeline_of(kDoubts + "group(X0) :- " + body + ".", "group");
    EXPECT_EQ(meets_in(clique), size - 2) << clique;
  }
}

}  // namespace
}  // namespace xlog::engine
