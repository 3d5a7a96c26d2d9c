// Whole programs against the reference evaluator.
#include "epistemic/evaluate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/sanitized.h"
#include "epistemic/random_source.h"
#include "epistemic/rows_text.h"
#include "logic/modes.h"

namespace xlog::epistemic {
namespace {

using logic::Mode;

constexpr uint32_t kPrograms = 3000 / kPartOfWork;

struct Ran {
  bool checked = false;  // the program has no errors
  std::optional<logic::Answer> answer;
  std::vector<std::string> views;     // as texts, in the order of these
  std::vector<std::string> in_order;  // as they came
  std::string messages;
  Trace trace;
};

Ran run(const std::string& source, bool by_reference, const logic::AnswerOptions& options) {
  Ran ran;
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", source);
  std::optional<lang::Program> program = lang::load(*file, session);
  std::optional<logic::Analysis> analysis;
  if (program && !session.diagnostics.has_errors()) {
    logic::override_pragmas(program->pragmas, options.mode, std::nullopt);
    analysis = logic::analyze(*program, session);
  }
  ran.checked = analysis && !session.diagnostics.has_errors();
  if (ran.checked) {
    ran.answer = by_reference ? oracle::evaluate(*program, *analysis, session, options)
                              : epistemic::evaluate(*program, *analysis, session, options, nullptr,
                                                    &ran.trace);
  }
  ran.messages = render_text(session.diagnostics, session.sources, {});
  if (!ran.answer) return ran;
  for (const logic::WorldView& view : ran.answer->views) {
    std::string text = view.world_count.get_str() + " worlds\n";
    text += rows_text(view.queries, *program, session.names);
    for (const std::vector<std::string>& world : view.worlds) {
      text += fmt::format("  {{{}}}\n", fmt::join(world, ", "));
    }
    ran.views.push_back(std::move(text));
  }
  ran.in_order = ran.views;
  ran.views.push_back(rows_text(ran.answer->well_founded_queries, *program, session.names));
  std::ranges::sort(ran.views);
  return ran;
}

// What is asked over all views, as text.
std::string over_views_text(const logic::Answer& answer, const lang::Names& names) {
  std::string text = answer.view_count.get_str() + " views\n";
  if (answer.worlds) {
    text += fmt::format("{} {} {}\n", answer.worlds->all.get_str(), answer.worlds->least.get_str(),
                        answer.worlds->most.get_str());
  }
  for (const auto& rows : answer.over_views) {
    for (const logic::RowOverViews& row : rows) {
      text += "(";
      for (const lang::Value& value : row.values) text += lang::to_source(value, names) + " ";
      text += fmt::format(") {} {}\n", row.known_in->get_str(), row.possible_in->get_str());
    }
    text += "\n";
  }
  return text;
}

std::optional<std::string> over_views(const std::string& source, bool by_reference,
                                      logic::AnswerOptions options) {
  lang::Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", source);
  std::optional<lang::Program> program = lang::load(*file, session);
  if (!program || session.diagnostics.has_errors()) return std::nullopt;
  logic::override_pragmas(program->pragmas, options.mode, std::nullopt);
  const std::optional<logic::Analysis> analysis = logic::analyze(*program, session);
  if (!analysis || session.diagnostics.has_errors()) return std::nullopt;
  if (!by_reference) {
    const auto answer = epistemic::evaluate(*program, *analysis, session, options);
    return answer ? std::optional(over_views_text(*answer, session.names)) : std::nullopt;
  }
  options.max_views = UINT64_MAX;
  auto answer = oracle::evaluate(*program, *analysis, session, options);
  if (!answer) return std::nullopt;
  logic::summarise(*answer, options.ask, session.names);
  return over_views_text(*answer, session.names);
}

class WholePrograms : public testing::TestWithParam<Mode> {};

TEST_P(WholePrograms, HaveTheViewsOfTheReference) {
  uint32_t compared = 0, several_views = 0, several_worlds = 0, none = 0;
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    const std::string source = RandomSource(seed).run();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, source));
    logic::AnswerOptions options;
    options.mode = GetParam();
    options.max_views = UINT64_MAX;
    options.max_worlds = seed % 2 == 0 ? UINT64_MAX : 0;
    options.max_candidates = 20'000;
    const Ran wanted = run(source, true, options);
    if (!wanted.answer) continue;
    options.max_candidates = UINT64_MAX;
    const Ran got = run(source, false, options);
    ASSERT_TRUE(got.answer.has_value()) << got.messages;
    ASSERT_EQ(got.answer->view_count, wanted.answer->view_count);
    ASSERT_EQ(got.views, wanted.views);
    ASSERT_EQ(got.in_order, wanted.in_order);
    ASSERT_EQ(got.answer->constraint_error, wanted.answer->constraint_error);
    ++compared;
    none += wanted.answer->view_count == 0 ? 1 : 0;
    several_views += wanted.answer->view_count > 1 ? 1 : 0;
    several_worlds += std::ranges::any_of(wanted.answer->views,
                                          [](const auto& view) { return view.world_count > 1; });

    options.enough_views = 1 + seed % 2;
    const Ran some = run(source, false, options);
    ASSERT_TRUE(some.answer.has_value()) << some.messages;
    ASSERT_EQ(some.answer->views.size(),
              std::min<uint64_t>(options.enough_views, wanted.answer->views.size()));
    ASSERT_TRUE(std::ranges::includes(wanted.views, some.views));
    if (some.answer->all_found) {
      ASSERT_EQ(some.answer->view_count, wanted.answer->view_count);
    }
  }
  EXPECT_GT(compared, kPrograms / 2);
  EXPECT_GT(several_views, kPrograms / 100);
  EXPECT_GT(several_worlds, kPrograms / 20);
  EXPECT_GT(none, kPrograms / 50);
}

// Counted without listing the views, against counting each of them.
TEST_P(WholePrograms, HaveTheRowsOverViewsOfTheReference) {
  using logic::Ask;
  uint32_t compared = 0;
  for (uint32_t seed = 0; seed < kPrograms / 6; ++seed) {
    const std::string source = RandomSource(seed).run();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, source));
    logic::AnswerOptions options;
    options.mode = GetParam();
    options.max_candidates = 20'000;
    constexpr Ask kAsks[] = {Ask::Everything, Ask::Cautious, Ask::Credulous, Ask::Counts};
    options.ask = kAsks[seed % 4];
    const std::optional<std::string> wanted = over_views(source, true, options);
    if (!wanted) continue;
    options.max_candidates = UINT64_MAX;
    ASSERT_EQ(over_views(source, false, options), wanted);
    ++compared;
  }
  EXPECT_GT(compared, kPrograms / 15);
}

// Programs that guess x and ask whether all y satisfy what depends on both, as in quantified
// formulas: worlds refute guesses there, and are made to demand more.
class RandomFormula : lang::RandomText {
 public:
  explicit RandomFormula(uint32_t seed) : RandomText(seed) {}

  std::string run() {
    const uint32_t guesses = 2 + pick(3), choices = 2 + pick(5);
    for (uint32_t i = 0; i < guesses; ++i) line(fmt::format("x({0}) :- not know not x({0}).", i));
    for (uint32_t i = 0; i < choices; ++i) {
      line(fmt::format("{{ y({}) }}{}.", i, chance(20) ? " :- " + literal("x", guesses) : ""));
    }
    for (uint32_t terms = 3 + pick(14); terms > 0; --terms) {
      line(fmt::format("{} :- {}, {}, {}.", chance(80) ? "s" : "y(9)", literal("x", guesses),
                       literal("y", choices), literal("y", choices)));
    }
    if (chance(30)) line("s :- y(9), " + literal("x", guesses) + ".");
    if (chance(30)) line(":- " + literal("y", choices) + ", " + literal("x", guesses) + ".");
    constexpr const char* kAsked[] = {":- not know s.", ":- possible s.", "t :- know s."};
    line(kAsked[pick(3)]);
    return text_ + "?- x(I). ?- s.";
  }

 private:
  std::string literal(const char* name, uint32_t count) {
    return fmt::format("{}{}({})", chance(50) ? "not " : "", name, pick(count));
  }
};

TEST_P(WholePrograms, ThatQuantifyHaveTheViewsOfTheReference) {
  uint32_t none = 0, some = 0;
  for (uint32_t seed = 0; seed < kPrograms / 4; ++seed) {
    const std::string source = RandomFormula(seed).run();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, source));
    logic::AnswerOptions options;
    options.mode = GetParam();
    options.max_views = UINT64_MAX;
    const Ran wanted = run(source, true, options), got = run(source, false, options);
    ASSERT_TRUE(wanted.answer && got.answer) << wanted.messages << got.messages;
    ASSERT_EQ(got.views, wanted.views);
    ++(wanted.answer->view_count == 0 ? none : some);
  }
  EXPECT_GT(none, kPrograms / 40);
  EXPECT_GT(some, kPrograms / 40);
}

INSTANTIATE_TEST_SUITE_P(Modes, WholePrograms,
                         testing::Values(Mode::G91, Mode::Faeel, Mode::Faeel19),
                         [](const auto& mode) { return std::string(logic::spelling(mode.param)); });

TEST(Evaluate, TracesWhatItDid) {
  const Ran got =
      run("package(1..4). 1 { bomb(P) : package(P) } 1.\n"
          "dunk(P) :- package(P), not know not dunk(P).\n"
          "safe :- bomb(P), dunk(P). :- not know safe. ?- dunk(P).",
          false, {});
  ASSERT_TRUE(got.answer.has_value()) << got.messages;
  EXPECT_EQ(got.answer->view_count, 1);
  EXPECT_EQ(got.trace.units, 1u);
  EXPECT_EQ(got.trace.search.accepted, 1u);
  // Each counterexample says of one package that it must be dunked.
  EXPECT_LE(got.trace.search.candidates, 5u);
  EXPECT_EQ(got.trace.search.candidates,
            got.trace.search.accepted + got.trace.search.not_known + got.trace.search.not_possible +
                got.trace.search.not_open + got.trace.search.unfounded);
}

// Where the pairs that a constraint forbids are one bound, people read the same about it.
// Eighty guesses, and a term for each with one x and two y. Worlds as they are found are worth a
// clause of many guesses each: hundreds are needed for some seeds.
TEST(Evaluate, WorldsThatRefuteAreMadeToDemandMore) {
  constexpr uint32_t kVariables = 80;
  for (uint32_t seed = 1; seed < 5; ++seed) {
    std::mt19937 random(seed);
    std::string source = fmt::format(
        "x(0..{0}). y(0..{0}). true(x, I) :- x(I), not know not true(x, I).\n"
        "{{ true(y, I) }} :- y(I).\n:- not know satisfied.\n?- satisfied.\n",
        kVariables - 1);
    const auto literal = [&](char name) {
      const char* sign = random() % 2 == 0 ? "not " : "";
      return fmt::format("{}true({}, {})", sign, name, random() % kVariables);
    };
    for (uint32_t t = 0; t < kVariables; ++t) {
      const std::string x = literal('x'), y = literal('y');
      source += fmt::format("satisfied :- {}, {}, {}.\n", x, y, literal('y'));
    }
    const Ran got = run(source, false, {});
    ASSERT_TRUE(got.answer.has_value()) << seed << got.messages;
    EXPECT_EQ(got.answer->view_count, 0) << seed;
    EXPECT_LT(got.trace.search.candidates, 20u) << seed;
  }
}

TEST(Evaluate, NamesTheConstraintOnPairsThatIsViolated) {
  const std::string rest =
      "d(1..3). { at(X, T) : d(X), d(T) }. :- at(X, T), at(Y, T), X < Y.\n?- at(X, T).\n";
  for (const char* rows :
       {"at(2, 1). at(1, 1).", "at(2, 1). at(1, 1). at(3, 1) :- not know s. { s }.",
        "s. at(3, 2) :- s. at(2, 2) :- know s."}) {
    SCOPED_TRACE(rows);
    const Ran got = run(rows + rest, false, {});
    EXPECT_EQ(got.messages, run(rows + rest, true, {}).messages);
    EXPECT_NE(got.messages.find("X < Y.` is violated in every world"), std::string::npos)
        << got.messages;
  }
}

// What is settled of the first row of each query, after two guesses.
std::vector<logic::RowStatus> settled_after_two(const std::string& source) {
  logic::AnswerOptions options;
  options.max_candidates = 2;
  const Ran got = run(source, false, options);
  std::vector<logic::RowStatus> settled;
  if (!got.answer || !got.answer->unfinished) return settled;
  EXPECT_NE(got.messages.find("E0702"), std::string::npos) << got.messages;
  for (const logic::QueryAnswer& query : got.answer->settled_queries) {
    settled.push_back(query.rows.at(0).status);
  }
  return settled;
}

TEST(Evaluate, EndsWithWhatIsSettled) {
  // The first part is solved before the second takes too many guesses.
  const std::string source =
      "f(1). { a }. b :- a. c :- know b. n(1..6). g(X) :- n(X), not know not g(X).\n"
      ":- not know w. 1 { e(X) : n(X) } 2. w :- e(X), g(X).\n"
      "?- f(X). ?- b. ?- g(X).";
  using enum logic::RowStatus;
  EXPECT_EQ(settled_after_two(source), (std::vector{True, Possible, Undefined}));
}

TEST(Evaluate, SettlesEasyPartsBeforeHardOnes) {
  // The hard part stands first, and takes too many guesses.
  const std::string source =
      "n(1..6). g(X) :- n(X), not know not g(X).\n"
      ":- not know w. 1 { e(X) : n(X) } 2. w :- e(X), g(X).\n"
      "{ a }. b :- a. c :- not know b.\n"
      "?- g(X). ?- b. ?- c.";
  using enum logic::RowStatus;
  EXPECT_EQ(settled_after_two(source), (std::vector{Undefined, Possible, Known}));
}

// One world shows what is founded in it all at once, and what follows needs no solver.
TEST(Evaluate, FoundednessAsksTheSolverRarely) {
  const std::string edges = "n(0..59). e(X, X + 1) :- n(X). { r(0) }. ";
  const std::string alternating =
      "r(Y) :- r(X), e(X, Y), know s(X). s(X) :- possible r(X), e(X, _). ?- r(60).";
  const std::string possible = "r(Y) :- r(X), e(X, Y), possible r(X). ?- r(60).";
  for (const auto& [rest, most] : {std::pair(alternating, 300u), std::pair(possible, 30u)}) {
    const Ran got = run(edges + rest, false, {});
    ASSERT_TRUE(got.answer) << got.messages;
    EXPECT_EQ(got.answer->view_count, 1) << rest;
    EXPECT_EQ(got.answer->views.at(0).world_count, 2) << rest;
    EXPECT_LT(got.trace.search.solver_calls, most) << rest;
  }
}

// One step of it must cost what one row costs, in the rounds of rows as in those of bounds.
TEST(Evaluate, RecursionThroughKnowTakesLinearTime) {
  constexpr uint32_t kSteps = 40'000;
  logic::AnswerOptions options;
  options.mode = Mode::G91;
  options.timeout_seconds = 10;
  const std::string source = fmt::format(
      "r(0). r(X + 1) :- r(X), e(X), know r(X). e(0..{}). ?- r({}).", kSteps - 1, kSteps);
  const Ran got = run(source, false, options);
  ASSERT_TRUE(got.answer && !got.answer->unfinished) << got.messages;
  EXPECT_EQ(got.answer->views.at(0).queries.at(0).rows.size(), 1u);
}

TEST(Evaluate, EndsAtTheTimeLimit) {
  std::string source = "n(1..40). 15 { a(X) : n(X) } 25. { b(X) : n(X) }.\n";
  source += "c(X) :- n(X), not know not c(X).\n";
  source += "ok :- a(X), b(Y), c(X + Y). :- a(X), not c(X), b(X). :- not know ok. ?- ok.";
  logic::AnswerOptions options;
  options.timeout_seconds = 1e-9;
  const Ran got = run(source, false, options);
  EXPECT_TRUE(!got.answer || got.answer->unfinished);
  EXPECT_NE(got.messages.find("E0702"), std::string::npos) << got.messages;
}

}  // namespace
}  // namespace xlog::epistemic
