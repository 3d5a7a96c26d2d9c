// Explanations of rows with several worlds.
#include "epistemic/why.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "epistemic/over_views.h"
#include "epistemic/random_source.h"
#include "epistemic/why_print.h"
#include "logic/modes.h"

namespace xlog::epistemic {
namespace {

struct Asked {
  lang::Session session;
  std::optional<lang::Program> program;
  std::optional<logic::Analysis> analysis;
  std::optional<WorldsWhy> why;
  std::string text;
};

std::unique_ptr<Asked> ask(const std::string& source, const std::string& goal,
                           WhyQuestion question = WhyQuestion::Why,
                           logic::Mode mode = logic::Mode::Faeel) {
  auto asked = std::make_unique<Asked>();
  const SourceFile* file = asked->session.sources.add("a.xlog", "", source);
  lang::LoadOptions load;
  load.goal = goal;
  asked->program = lang::load(*file, asked->session, load);
  if (!asked->program || asked->session.diagnostics.has_errors()) return asked;
  logic::override_pragmas(asked->program->pragmas, mode, std::nullopt);
  asked->analysis = logic::analyze(*asked->program, asked->session);
  logic::AnswerOptions options;
  options.mode = mode;
  Trace trace;
  with_findings(*asked->program, *asked->analysis, asked->session, options, nullptr, trace,
                [&](Findings& findings) {
                  if (!findings.has_views()) return;
                  asked->why = explain_rows(findings, question, 1);
                  asked->text = why_text(*asked->why, question, asked->session.sources);
                  // The other forms must be made too.
                  why_json(*asked->why, question, goal, asked->session.sources);
                  why_dot(*asked->why, question, asked->session.sources);
                });
  return asked;
}

std::string text_of(const std::string& source, const std::string& goal,
                    WhyQuestion question = WhyQuestion::Why,
                    logic::Mode mode = logic::Mode::Faeel) {
  return ask(source, goal, question, mode)->text;
}

constexpr const char* kOffice =
    "student(mia). student(noah). minority(noah).\n"
    "high(S) ; fair(S) :- student(S).\n"
    "eligible(S) :- high(S).\n"
    "eligible(S) :- minority(S), fair(S).\n"
    "award(S) :- student(S), know eligible(S).\n"
    "interview(S) :- student(S), not know eligible(S).\n";

TEST(Why, TheOtherHeadOfADisjunctionThatHoldsAnyway) {
  constexpr const char* kImpossible =
      "b is impossible: in no world.\n"
      "\n"
      "not by b ; a.  [a.xlog:1]\n"
      "  fails  another atom of the head holds\n";
  for (const logic::Mode mode : {logic::Mode::Faeel, logic::Mode::G91, logic::Mode::Faeel19}) {
    for (const WhyQuestion question : {WhyQuestion::Why, WhyQuestion::WhyNot}) {
      const auto asked = ask("a. b ; a.", "b", question, mode);
      EXPECT_EQ(asked->text, kImpossible);
      EXPECT_EQ(asked->why->answered, question == WhyQuestion::WhyNot);
    }
    EXPECT_EQ(text_of("a. b ; a. a :- possible b.", "a", WhyQuestion::Why, mode),
              "a is known: in every world.\n\na  fact  [a.xlog:1]\n");
  }
}

TEST(Why, KnownByCases) {
  EXPECT_EQ(text_of(kOffice, "award(noah)"),
            "award(noah) is known: in every world.\n"
            "\n"
            "award(noah)\n"
            "  by award(S) :- student(S), know eligible(S).  [a.xlog:5]\n"
            "    student(noah)  the same in all worlds\n"
            "    know eligible(noah)  in all 2 worlds\n"
            "      eligible(noah)  in all 2 worlds\n"
            "        eligible(noah)  in {high(noah)}\n"
            "          by eligible(S) :- high(S).  [a.xlog:3]\n"
            "            high(noah)\n"
            "              by high(S) ; fair(S) :- student(S).  [a.xlog:2]\n"
            "                student(noah)  the same in all worlds\n"
            "        eligible(noah)  in {fair(noah)}\n"
            "          by eligible(S) :- minority(S), fair(S).  [a.xlog:4]\n"
            "            minority(noah)  the same in all worlds\n"
            "            fair(noah)\n"
            "              by high(S) ; fair(S) :- student(S).  [a.xlog:2]\n"
            "                student(noah)  the same in all worlds\n");
}

TEST(Why, PossibleHasAWorldWithAndOneWithout) {
  const auto asked = ask(kOffice, "eligible(mia)");
  ASSERT_TRUE(asked->why);
  const RowWhy& row = asked->why->rows.at(0);
  EXPECT_EQ(row.status, AtomStatus::Sometimes);
  EXPECT_EQ(row.with->atoms, (std::vector<std::string>{"eligible(mia)", "high(mia)"}));
  EXPECT_EQ(row.without->atoms, std::vector<std::string>{"fair(mia)"});
}

TEST(Why, ImpossibleNamesTheLiteralThatFails) {
  EXPECT_EQ(text_of(kOffice, "award(mia)"),
            "award(mia) is impossible: in no world.\n"
            "\n"
            "not by award(S) :- student(S), know eligible(S).  [a.xlog:5]\n"
            "  holds  student(mia)\n"
            "  fails  know eligible(mia): it is in some worlds, but not in all\n"
            "         world {fair(mia)}\n");
  EXPECT_NE(text_of(kOffice, "award(otto)").find("fails  no row of student(otto)"),
            std::string::npos);
}

// What becomes of the guess that would have given it.
TEST(Why, ImpossibleNamesTheConditionUnderWhichAChoiceChooses) {
  EXPECT_EQ(text_of("{ a(1..2) }.", "a(7)", WhyQuestion::WhyNot),
            "a(7) is impossible: in no world.\n\n"
            "not by { a(1..2) }.  [a.xlog:1]\n"
            "  fails  7 = 1..2 does not hold\n");
  EXPECT_EQ(text_of("{ q(U) : d(U) } :- e. d(1). e.", "q(9)", WhyQuestion::WhyNot),
            "q(9) is impossible: in no world.\n\n"
            "not by { q(U) : d(U) } :- e.  [a.xlog:1]\n"
            "  holds  e\n"
            "  fails  no row of d(9)\n");
  EXPECT_EQ(text_of("{ q(U) : d(U) } :- e(U). d(1). e(2).", "q(2)", WhyQuestion::WhyNot),
            "q(2) is impossible: in no world.\n\n"
            "not by { q(U) : d(U) } :- e(U).  [a.xlog:1]\n"
            "  holds  e(2)\n"
            "  fails  no row of d(2)\n");
}

TEST(Why, SaysWhichTestRejectedTheGuess) {
  const std::string believes = "{ x }. p :- know p. p :- x, know p. q :- not know p, x.";
  EXPECT_NE(text_of(believes, "p").find("reproduced but unfounded"), std::string::npos)
      << text_of(believes, "p");
  EXPECT_NE(text_of(believes, "p", WhyQuestion::Why, logic::Mode::G91).find("is known in 1"),
            std::string::npos);
  const std::string lacks = "{ x }. p :- know p, x. p :- x. ";
  const std::string why_not = text_of(lacks, "p", WhyQuestion::WhyNot);
  EXPECT_NE(why_not.find("guessing that it is known: not reproduced, a world lacks p"),
            std::string::npos)
      << why_not;
}

// The instance that is shown has the values of the world that is shown.
TEST(Why, FoldsHaveTheValuesOfTheWorld) {
  const std::string source =
      "item(a, 3). item(b, 4). item(c, 5). { take(X, W) : item(X, W) }.\n"
      "heavy :- N = sum W : { take(_, W) }, N > 8. :- take(a, _), take(b, _), not take(c, _).";
  const auto asked = ask(source, "heavy");
  ASSERT_TRUE(asked->why);
  const RowWhy& row = asked->why->rows.at(0);
  const auto has = [&](const char* atom) {
    return std::ranges::find(row.with->atoms, atom) != row.with->atoms.end();
  };
  const int sum =
      (has("take(a, 3)") ? 3 : 0) + (has("take(b, 4)") ? 4 : 0) + (has("take(c, 5)") ? 5 : 0);
  EXPECT_NE(asked->text.find(fmt::format("{} = sum W", sum)), std::string::npos) << asked->text;
  const std::string why_not = text_of(source, "heavy", WhyQuestion::WhyNot);
  EXPECT_NE(why_not.find("another value in this world"), std::string::npos) << why_not;
}

TEST(Why, CountsViews) {
  const auto asked = ask("d(1..3). open(D) :- d(D), not know not open(D).", "open(2)");
  ASSERT_TRUE(asked->why);
  EXPECT_EQ(asked->why->views, 8);
  EXPECT_EQ(asked->why->rows[0].known_in, 4);
  EXPECT_EQ(asked->why->rows[0].possible_in, 4);
  EXPECT_NE(asked->text.find(
                "is known in 4, possible in 4 (known included) and impossible in 4 of 8 world "
                "views"),
            std::string::npos);
}

TEST(Why, KnownRowsHaveNoWhyNot) {
  const auto asked = ask(kOffice, "award(noah)", WhyQuestion::WhyNot);
  ASSERT_TRUE(asked->why);
  EXPECT_FALSE(asked->why->answered);
  EXPECT_NE(asked->text.find("`xlog why` shows why"), std::string::npos);
}

TEST(Why, StaysShort) {
  std::string source = "{ p(0) }. q(X) :- p(X). ";
  source += "p(X + 1) :- q(X), X < 1500. end :- know q(0). some :- possible q(1400).";
  EXPECT_LT(text_of(source, "p(1400)").size(), 40'000u);
  EXPECT_LT(text_of(source, "some").size(), 40'000u);
}

// Whatever is asked: the statuses fit, examples are worlds of the right kind, and trees are trees.
TEST(Why, ExplainsAllRowsOfRandomPrograms) {
  uint32_t explained = 0, possible = 0, failed = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const std::string source = RandomSource(seed).run();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, source));
    lang::Session session;
    const SourceFile* file = session.sources.add("test.xlog", "", source);
    std::optional<lang::Program> program = lang::load(*file, session);
    if (!program || session.diagnostics.has_errors()) continue;
    logic::AnswerOptions options;
    options.mode = seed % 3 == 0 ? logic::Mode::G91 : logic::Mode::Faeel;
    options.max_candidates = 20'000;
    logic::override_pragmas(program->pragmas, options.mode, std::nullopt);
    const std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
    if (!analysis || session.diagnostics.has_errors()) continue;
    for (uint32_t p = 0; p < program->predicates.size(); ++p) {
      if (program->predicates[p].helper) continue;
      lang::Goal goal;
      goal.pred = lang::PredId{p};
      goal.text = "goal";
      for (uint32_t c = 0; c < program->predicates[p].arity; ++c) {
        lang::Term& term = goal.args.emplace_back();
        term.kind = lang::TermKind::Variable;
        term.var = lang::VarId{c};
        goal.variables.emplace_back();
      }
      program->goal = goal;
      for (const WhyQuestion question : {WhyQuestion::Why, WhyQuestion::WhyNot}) {
        Trace trace;
        with_findings(
            *program, *analysis, session, options, nullptr, trace, [&](Findings& findings) {
              const bool is_open =
                  findings.instance().database.states[p] == oracle::PredicateState::Open;
              if (!findings.has_views() || !is_open) return;
              const WorldsWhy why = explain_rows(findings, question, 3);
              for (const RowWhy& row : why.rows) {
                ++explained;
                possible += row.status == AtomStatus::Sometimes ? 1 : 0;
                failed += row.failed.empty() ? 0 : 1;
                EXPECT_EQ(row.with.has_value(), row.status == AtomStatus::Sometimes);
                if (row.with) {
                  const auto has = [&](const ShownWorld& world) {
                    return std::ranges::find(world.atoms, row.fact) != world.atoms.end();
                  };
                  EXPECT_TRUE(has(*row.with) || row.with->left_out > 0);
                  EXPECT_FALSE(has(*row.without));
                }
                const bool fails =
                    row.status == AtomStatus::Never ||
                    (question == WhyQuestion::WhyNot && row.status == AtomStatus::Sometimes);
                std::vector<uint32_t> uses(row.nodes.size(), 0);
                for (uint32_t id = 0; id < row.nodes.size(); ++id) {
                  for (const uint32_t child : row.nodes[id].children) {
                    ASSERT_GT(child, id);
                    ++uses[child];
                  }
                }
                for (uint32_t id = 1; id < uses.size(); ++id) EXPECT_EQ(uses[id], 1u);
                EXPECT_EQ(row.nodes.empty(), fails);
              }
            });
      }
    }
  }
  EXPECT_GT(explained, 300u);
  EXPECT_GT(possible, 50u);
  EXPECT_GT(failed, 50u);
}

}  // namespace
}  // namespace xlog::epistemic
