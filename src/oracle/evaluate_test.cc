// Whole programs through the front end and the reference evaluator. The conformance files under
// tests/ hold many more; here are the places where parts of the evaluator meet.
#include "oracle/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "logic/modes.h"

namespace xlog::oracle {
namespace {

using logic::AnswerOptions;
using logic::Mode;

struct ProgramRun {
  lang::Session session;
  std::optional<logic::Answer> answer;

  ProgramRun(const std::string& text, const AnswerOptions& options = {}) {
    const SourceFile* file = session.sources.add("test.xlog", "", text);
    auto program = lang::load(*file, session);
    if (!program || session.diagnostics.has_errors()) return;
    logic::override_pragmas(program->pragmas, options.mode, std::nullopt);
    auto analysis = logic::analyze(*program, session);
    if (!analysis) return;
    answer = evaluate(*program, *analysis, session, options);
  }

  bool reported(Code code) const {
    const auto& all = session.diagnostics.all();
    return std::any_of(all.begin(), all.end(), [&](const Diagnostic& d) { return d.code == code; });
  }
  std::string diagnostics() const { return render_text(session.diagnostics, session.sources); }
};

std::string rows_text(const std::vector<logic::QueryAnswer>& queries, const lang::Names& names) {
  std::string text;
  for (const logic::QueryAnswer& query : queries) {
    if (!text.empty()) text += " ; ";
    for (const logic::Row& row : query.rows) {
      text += "(";
      for (size_t i = 0; i < row.values.size(); ++i)
        text += (i ? "," : "") + lang::to_raw(row.values[i], names);
      text += ")";
      if (row.status == logic::RowStatus::Possible) text += "?";
      if (row.status == logic::RowStatus::Undefined) text += "~";
    }
  }
  return text;
}

// The rows of every query, views separated by " | ".
std::string answer_of(const std::string& program, Mode mode = Mode::Faeel) {
  AnswerOptions options;
  options.mode = mode;
  const ProgramRun run(program, options);
  if (!run.answer) return run.diagnostics();
  if (run.answer->view_count == 0)
    return "no view: " + rows_text(run.answer->well_founded_queries, run.session.names);
  std::string text;
  for (const logic::WorldView& view : run.answer->views) {
    if (!text.empty()) text += " | ";
    text += rows_text(view.queries, run.session.names);
  }
  return text;
}

// The worlds of every view: "{a b}{c} | {d}".
std::string worlds_of(const std::string& program, Mode mode = Mode::Faeel) {
  AnswerOptions options;
  options.mode = mode;
  options.max_worlds = 100;
  const ProgramRun run(program, options);
  if (!run.answer) return run.diagnostics();
  std::string text;
  for (const logic::WorldView& view : run.answer->views) {
    if (!text.empty()) text += " | ";
    for (const auto& world : view.worlds) {
      text += "{";
      for (size_t i = 0; i < world.size(); ++i) text += (i ? " " : "") + world[i];
      text += "}";
    }
  }
  return text.empty() ? "none" : text;
}

TEST(Evaluate, TransitiveClosure) {
  EXPECT_EQ(
      answer_of("e(1,2). e(2,3). e(3,1). r(X,Y) :- e(X,Y). r(X,Z) :- r(X,Y), e(Y,Z). ?- r(1,X)."),
      "(1)(2)(3)");
}

TEST(Evaluate, NonLinearMutualRecursionWithLists) {
  EXPECT_EQ(
      answer_of("l([1,2,3]). s(T) :- l(T). s(T) :- s([_|T]). n(N) :- s(L), length(L, N). ?- n(N)."),
      "(0)(1)(2)(3)");
}

TEST(Evaluate, AggregatesOverWorlds) {
  EXPECT_EQ(answer_of("{ in(1..3) }. n(N) :- N = count : { in(X) }. ?- n(N)."), "(0)?(1)?(2)?(3)?");
  EXPECT_EQ(answer_of("d(1). d(2). { in(X) : d(X) }. total(sum(X)) :- in(X). ?- total(S)."),
            "(1)?(2)?(3)?");
  EXPECT_EQ(answer_of("{ in(1) }. low(M) :- M = min X : { in(X) }. ?- low(M)."), "(1)?");
  EXPECT_EQ(answer_of("{ in(1) }. all(L) :- findall(X, in(X), L). ?- all(L)."), "([])?([1])?");
}

TEST(Evaluate, ChoiceBoundsCountDistinctAtomsWithTheirConditions) {
  EXPECT_EQ(worlds_of("1 { a ; b } 1."), "{a}{b}");
  EXPECT_EQ(worlds_of("d(1). d(2). 1 { p(X) : d(X) } 1 :- d(2)."),
            "{d(1) d(2) p(1)}{d(1) d(2) p(2)}");
  EXPECT_EQ(worlds_of("2 { a ; a }."), "none");
  EXPECT_EQ(worlds_of("{ c }. 1 { p : c ; q } 1."), "{c p}{c q}{q}");
}

TEST(Evaluate, AnonymousVariablesUnderNegationMeanSomeRow) {
  EXPECT_EQ(answer_of("n(1). n(2). { e(1,5) ; e(1,6) }. free(X) :- n(X), not e(X,_). ?- free(X)."),
            "(1)?(2)");
  EXPECT_EQ(answer_of("n(1). 1 { e(1,5) ; e(1,6) }. k(X) :- n(X), know e(X,_). ?- k(X)."), "(1)");
}

TEST(Evaluate, ModalLiteralsBindFromBelow) {
  EXPECT_EQ(
      answer_of("{ p(1) }. p(2). q(X) :- possible p(X). r(X) :- know p(X). ?- q(X). ?- r(X)."),
      "(1)(2) ; (2)");
  EXPECT_EQ(answer_of("{ p(1) }. p(2). ?- know p(X). ?- possible p(X)."), "(2) ; (1)(2)");
}

TEST(Evaluate, AggregatesOverModalLiterals) {
  EXPECT_EQ(answer_of("{ p(1) ; p(2) }. p(3). n(N) :- N = count : { possible p(X) }. ?- n(N)."),
            "(3)");
  EXPECT_EQ(answer_of("{ p(1) ; p(2) }. p(3). n(N) :- N = count : { know p(X) }. ?- n(N)."), "(1)");
}

TEST(Evaluate, PositiveModalCyclesByMode) {
  const std::string program =
      "node(1). node(2). seed(1). p(X) :- seed(X). p(X) :- node(X), know p(X). ?- p(X).";
  EXPECT_EQ(answer_of(program), "(1)");
  EXPECT_EQ(answer_of(program, Mode::G91), "(1)(2) | (1)");
  EXPECT_EQ(answer_of("edge(1,2). edge(2,3). p(1). p(Y) :- edge(X,Y), possible p(X). ?- p(X)."),
            "(1)(2)(3)");
}

TEST(Evaluate, ObjectiveConstraintsReachWhatIsKnownBelow) {
  EXPECT_EQ(worlds_of("{a}. c :- know a. :- not a, not d. d :- e."), "{a c}");
  // Nothing that is left mentions b.
  EXPECT_EQ(worlds_of("a. a ; b. { c }."), "{a}{a c}");
}

TEST(Evaluate, StrongNegationExcludes) {
  EXPECT_EQ(worlds_of("{ p }. { -p }."), "{}{-p}{p}");
  EXPECT_TRUE(ProgramRun("p(1). -p(1).").reported(Code::ConstraintViolated));
}

TEST(Evaluate, WellFoundedModel) {
  AnswerOptions options;
  options.well_founded = true;
  const ProgramRun run("a :- not b. b :- not a. c. d :- not c. e :- not d. ?- a. ?- c. ?- d. ?- e.",
                       options);
  ASSERT_TRUE(run.answer);
  EXPECT_EQ(rows_text(run.answer->well_founded_queries, run.session.names), "()~ ; () ;  ; ()");
}

// A body that is true, with atoms that are undefined or not, violates its constraint.
TEST(Evaluate, WellFoundedModelHasConstraints) {
  AnswerOptions options;
  options.well_founded = true;
  const auto is_violated = [&](const std::string& constraint) {
    const ProgramRun run("a :- not b. b :- not a. c. d :- a. d :- c. " + constraint, options);
    return run.reported(Code::ConstraintViolated);
  };
  EXPECT_TRUE(is_violated(":- c."));
  EXPECT_TRUE(is_violated(":- d."));
  EXPECT_TRUE(is_violated(":- not e, c. e :- e."));
  EXPECT_FALSE(is_violated(":- a."));
  EXPECT_FALSE(is_violated(":- not c."));
}

TEST(Evaluate, NoWorldViewShowsTheWellFoundedPart) {
  EXPECT_EQ(answer_of("p :- not know p. q(1). ?- p. ?- q(X)."), "no view: ()~ ; (1)");
}

TEST(Evaluate, ManyIndependentPartsStayFactorised) {
  AnswerOptions options;
  options.max_views = 2;
  const ProgramRun run(
      "n(1..200). a(X) ; b(X) :- n(X). k(X) :- n(X), not know b(X), not m(X). m(X) :- n(X), not "
      "know a(X), not k(X). ?- a(1).",
      options);
  ASSERT_TRUE(run.answer) << run.diagnostics();
  EXPECT_EQ(run.answer->views.size(), 1u);
  EXPECT_EQ(run.answer->views[0].world_count.get_str(), mpz_class(mpz_class(1) << 400).get_str());
}

TEST(Evaluate, LimitsAreReported) {
  const ProgramRun unbounded("n(0). n(Y) :- n(X), Y = X + 1. ?- n(X).", [] {
    AnswerOptions options;
    options.max_rows = 1000;
    return options;
  }());
  EXPECT_FALSE(unbounded.answer);
  EXPECT_TRUE(unbounded.reported(Code::LimitReached));

  AnswerOptions short_time;
  short_time.timeout_seconds = 0.05;
  const ProgramRun slow("n(0). n(Y) :- n(X), Y = X + 1. ?- n(X).", short_time);
  EXPECT_FALSE(slow.answer);
  EXPECT_TRUE(slow.reported(Code::LimitReached));

  const ProgramRun coupled("{ a(1..60) }. s(N) :- N = count : { a(X) }. ?- s(N).");
  EXPECT_FALSE(coupled.answer);
  EXPECT_TRUE(coupled.reported(Code::LimitReached));
}

TEST(Evaluate, RowsOfARoundCountBeforeItEnds) {
  AnswerOptions options;
  options.max_rows = 1000;
  const ProgramRun pairs("n(1..300). p(X, Y) :- n(X), n(Y). ?- p(1, Y).", options);
  EXPECT_FALSE(pairs.answer);
  EXPECT_NE(pairs.diagnostics().find("with 1001 rows so far"), std::string::npos)
      << pairs.diagnostics();
  // Rows that are repeated, or there already, do not.
  const ProgramRun repeated("n(1..300). p(X) :- n(X), n(Y). n(X) :- p(X), p(Y). ?- p(1).", options);
  EXPECT_TRUE(repeated.answer) << repeated.diagnostics();
}

TEST(Evaluate, DivisionByZeroDerivesNothingAndIsCounted) {
  const ProgramRun run("v(0). v(2). q(Y) :- v(X), Y = 10 / X. ?- q(Y).");
  ASSERT_TRUE(run.answer) << run.diagnostics();
  EXPECT_EQ(rows_text(run.answer->views[0].queries, run.session.names), "(5)");
  EXPECT_TRUE(run.reported(Code::DivisionByZero));
}

TEST(Evaluate, RefusesProbabilityByName) {
  const ProgramRun run("0.3::rain. 0.5::a ; 0.5::b. query(rain). evidence(a, true).");
  EXPECT_FALSE(run.answer);
  EXPECT_EQ(run.session.diagnostics.error_count(), 4u);
  EXPECT_TRUE(run.reported(Code::NotSupportedByEngine));
}

}  // namespace
}  // namespace xlog::oracle
