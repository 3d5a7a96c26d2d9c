#include "engine/proof.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/sanitized.h"
#include "engine/proof_checker.h"
#include "engine/proof_print.h"
#include "engine/random_program.h"
#include "logic/needed.h"

namespace xlog::engine {
namespace {

using testing::HasSubstr;
using testing::Not;

// One question to one program.
struct Asked {
  lang::Session session;
  std::optional<lang::Program> program;
  std::optional<logic::Analysis> analysis;
  std::optional<Explanation> explanation;
  bool refused = false;
  std::string wrong;  // by the checker
  std::string text, json, dot;

  bool reported(Code code) const {
    return std::ranges::any_of(session.diagnostics.all(),
                               [&](const Diagnostic& d) { return d.code == code; });
  }
};

// `device` "" is the reference evaluator.
std::unique_ptr<Asked> ask(const std::string& goal, const std::string& source,
                           const std::string& device_name = "interp", ProofOptions options = {},
                           logic::AnswerOptions answer = {}, bool check = true) {
  auto asked = std::make_unique<Asked>();
  const SourceFile* file = asked->session.sources.add("test.xlog", "", source);
  lang::LoadOptions load;
  load.goal = goal;
  asked->program = lang::load(*file, asked->session, load);
  if (!asked->program || asked->session.diagnostics.has_errors()) return asked;
  asked->analysis = logic::analyze(*asked->program, asked->session);
  if (!asked->analysis) return asked;
  if (!is_settled(*asked->program, *asked->analysis, answer)) {
    report_undetermined(*asked->program, *asked->analysis, answer, asked->session);
    asked->refused = true;
    return asked;
  }
  logic::keep_needed(*asked->program, asked->program->goal->pred);
  asked->analysis = logic::analyze(*asked->program, asked->session);
  std::unique_ptr<device::Device> device;
  if (!device_name.empty()) {
    Result<std::unique_ptr<device::Device>> opened = device::open_device(device_name);
    device = std::move(opened.value());
  }
  Statistics statistics;
  const std::optional<Settled> settled =
      settle(*asked->program, *asked->analysis, asked->session, answer, device.get(), statistics);
  if (!settled) return asked;
  asked->explanation =
      explain_goal(*asked->program, *asked->analysis, *settled, asked->session, options);
  if (!asked->explanation || !check) return asked;
  auto rows = oracle::settle(*asked->program, *asked->analysis, asked->session, answer, nullptr);
  if (!rows) return asked;
  ProofChecker checker(*asked->program, *asked->analysis, asked->session, answer, std::move(*rows));
  for (const Proof& proof : asked->explanation->proofs) {
    if (asked->wrong.empty()) asked->wrong = checker.check(proof);
  }
  const ProofPrinting printing{*asked->program, asked->session,
                               [](lang::PredId) { return std::string("data.csv"); }};
  asked->text = proof_text(*asked->explanation, printing);
  asked->json = proof_json(*asked->explanation, printing);
  asked->dot = proof_dot(*asked->explanation, printing);
  return asked;
}

std::string text_of(const std::string& goal, const std::string& source, ProofOptions options = {}) {
  const auto asked = ask(goal, source, "interp", options);
  EXPECT_TRUE(asked->explanation.has_value())
      << render_text(asked->session.diagnostics, asked->session.sources);
  EXPECT_EQ(asked->wrong, "");
  EXPECT_EQ(asked->text, ask(goal, source, "", options)->text) << "by the reference evaluator";
  return asked->text;
}

constexpr const char* kReach = R"(edge(1, 2). edge(2, 3). edge(3, 4). edge(4, 2). edge(1, 3).
reach(X, Y) :- edge(X, Y).
reach(X, Z) :- reach(X, Y), edge(Y, Z).
)";

TEST(Proof, HasTheLeastHeight) {
  EXPECT_EQ(text_of("reach(1, 4)", kReach), R"(reach(1, 4)
  by reach(X, Z) :- reach(X, Y), edge(Y, Z).  [test.xlog:3]
    reach(1, 3)
      by reach(X, Y) :- edge(X, Y).  [test.xlog:2]
        edge(1, 3)  fact  [test.xlog:1]
    edge(3, 4)  fact  [test.xlog:1]
)");
}

TEST(Proof, OfAFactIsTheFact) {
  EXPECT_EQ(text_of("p(1)", "p(1). p(X) :- q(X). q(1)."), "p(1)  fact  [test.xlog:1]\n");
}

TEST(Proof, TiesGoToTheFirstRuleAndTheFirstRows) {
  const std::string text = text_of("p(1)", R"(
    a(1, z). a(1, b). c(1).
    p(X) :- a(X, _).
    p(X) :- c(X).)");
  EXPECT_THAT(text, HasSubstr("a(1, b)"));
  EXPECT_THAT(text, Not(HasSubstr("c(1)")));
}

TEST(Proof, ExplainsTheFirstRowsOfAPattern) {
  const std::string text = text_of("edge(X, 3)", kReach, {.limit = 1});
  EXPECT_THAT(text, HasSubstr("edge(1, 3)  fact"));
  EXPECT_THAT(text, HasSubstr("1 of 2 rows that fit"));
  EXPECT_THAT(text_of("edge(X, 3)", kReach, {.limit = 9}), HasSubstr("edge(2, 3)  fact"));
  EXPECT_THAT(text_of("reach(X, X)", kReach), HasSubstr("reach(2, 2)"));
}

TEST(Proof, Leaves) {
  const std::string source = R"(
    n(1..4). e(1, 5). e(1, 7). l([3, 4]).
    p(X, Y) :- n(X), n(Y), not e(X, _), X < Y, Y = X + 1.
    c(X, count(Y), sum(Y)) :- e(X, Y).
    s(X, S) :- n(X), S = sum Y : { e(X, Y) }.
    m(X) :- l(L), member(X, L).
    f(L) :- findall(X, n(X), L).
    k(X) :- know n(X), not possible e(X, 5), not not n(X).)";
  EXPECT_THAT(text_of("p(2, 3)", source),
              testing::AllOf(HasSubstr("not e(2, _)  no such row"), HasSubstr("\n    2 < 3\n"),
                             HasSubstr("\n    3 = 2 + 1\n")));
  EXPECT_THAT(text_of("c(1, N, S)", source),
              HasSubstr("count(Y) = 2, sum(Y) = 12  over 2 rows: e(1, 5); e(1, 7)\n"));
  EXPECT_THAT(text_of("s(4, S)", source), HasSubstr("0 = sum Y : { e(4, Y) }  over 0 rows\n"));
  EXPECT_THAT(text_of("m(X)", source), HasSubstr("member(3, [3, 4])\n"));
  EXPECT_THAT(text_of("f(L)", source), HasSubstr("over 4 rows: n(1); n(2); n(3); and 1 more\n"));
  EXPECT_THAT(text_of("k(2)", source), HasSubstr("not possible e(2, 5)  no such row\n"));
}

TEST(Proof, EquationsKeepTheBitsOfFloats) {
  const std::string source = "q(0.0). q(-0.0). p(Y) :- q(X), Y = X. r(X) :- q(X), X = 0.0.";
  EXPECT_THAT(text_of("p(-0.0)", source), HasSubstr("    q(-0.0)  fact"));
  EXPECT_THAT(text_of("p(0.0)", source), HasSubstr("    q(0.0)  fact"));
  EXPECT_THAT(text_of("r(-0.0)", source), HasSubstr("    q(-0.0)  fact"));
}

TEST(Proof, SharedPartsAreShownOnce) {
  const std::string text = text_of("t(1)", R"(
    a(1). b(X) :- a(X). c(X) :- b(X). d(X) :- b(X). t(X) :- c(X), d(X).)");
  EXPECT_THAT(text, HasSubstr("b(1)  #1\n"));
  EXPECT_THAT(text, HasSubstr("b(1)  #1, shown above\n"));
}

TEST(Proof, DeepOnesGoOnBelow) {
  const std::string text = text_of("n(60)", "n(0). n(X + 1) :- n(X), X < 100.");
  EXPECT_THAT(text, HasSubstr("  #1, shown below\n"));
  EXPECT_THAT(text, HasSubstr("\nn(50)  #1\n"));
  EXPECT_THAT(text, HasSubstr("n(0)  fact"));
}

// Deriving round by round would take long for it: only the height is looked at.
TEST(Proof, LongChains) {
  const auto asked = ask("n(20000)", "n(0). n(X + 1) :- n(X), X < 20000.", "cpu", {}, {}, false);
  ASSERT_TRUE(asked->explanation.has_value());
  EXPECT_EQ(asked->explanation->proofs[0].nodes[0].height, 20000u);
}

TEST(Proof, OfATypedGoal) {
  EXPECT_THAT(text_of("p(\"x y\", -2, f(a, X))", "p(\"x y\", -2, f(a, 1))."), HasSubstr("fact"));
  EXPECT_THAT(text_of("p([1 | T])", "p([1, 2])."), HasSubstr("p([1, 2])  fact"));
  EXPECT_THAT(text_of("p(n)", "#const n = 3. p(3)."), HasSubstr("p(3)  fact"));
  EXPECT_THAT(text_of("-p(1)", "-p(1)."), HasSubstr("-p(1)  fact"));
  EXPECT_THAT(text_of("p(true)", "pred p(bool). p(true)."), HasSubstr("p(true)  fact"));
  EXPECT_THAT(text_of("rain", "wet. rain :- wet."), HasSubstr("by rain :- wet."));
}

// The goal does not change what the program means: -1 would make the column signed.
TEST(Proof, TheGoalTakesNoPartInInference) {
  const auto asked = ask("p(-1)", "pred q(u32). q(1). p(X - 2) :- q(X).");
  EXPECT_TRUE(asked->reported(Code::LiteralOutOfRange));
}

TEST(Proof, BadGoals) {
  const auto code_of = [](const std::string& goal, const std::string& source) {
    const auto asked = ask(goal, source);
    EXPECT_FALSE(asked->explanation.has_value()) << goal;
    return std::string(asked->session.diagnostics.all().empty()
                           ? "nothing"
                           : code_info(asked->session.diagnostics.all().back().code).name);
  };
  const std::string source = "p(1, a). q(X) :- p(X, _).";
  EXPECT_EQ(code_of("r(1)", source), "E0214");
  EXPECT_EQ(code_of("p(1)", source), "E0214");
  EXPECT_EQ(code_of("p(a, a)", source), "E0301");
  EXPECT_EQ(code_of("p(1.5, a)", source), "E0302");
  EXPECT_EQ(code_of("p(X, X)", source), "E0301");
  EXPECT_EQ(code_of("p([X], a)", source), "E0301");
  EXPECT_EQ(code_of("p(1, a", source), "E0107");
  EXPECT_EQ(code_of(" ", source), "E0107");
  EXPECT_EQ(code_of("not p(1, a)", source), "E0210");
  EXPECT_EQ(code_of("q(1), q(1)", source), "E0210");
  EXPECT_EQ(code_of("1 < 2", source), "E0210");
  EXPECT_EQ(code_of("q(1 + X)", source), "E0210");
  EXPECT_EQ(code_of("member(1, [1])", source), "E0210");
}

TEST(Proof, UndeterminedPredicatesAreRefused) {
  for (const char* source :
       {"d(1). { p(X) : d(X) }. q(X) :- p(X).", "d(1). p(X) ; r(X) :- d(X). q(X) :- p(X).",
        "d(1). p(X) :- d(X), not r(X). r(X) :- d(X), not p(X). q(X) :- p(X)."}) {
    const auto asked = ask("q(1)", source);
    EXPECT_TRUE(asked->refused) << source;
    ASSERT_TRUE(asked->reported(Code::NotSupportedByEngine)) << source;
    EXPECT_THAT(asked->session.diagnostics.all().back().notes[0], HasSubstr("depends on p/1: "));
  }
  EXPECT_THAT(text_of("d(1)", "d(1). { p(X) : d(X) }."), HasSubstr("fact"));
}

TEST(Proof, LimitsAreReported) {
  const std::string source =
      "n(1..60). r(X, Y) :- n(X), Y = X + 1, n(Y). r(X, Z) :- r(X, Y), r(Y, Z).";
  const auto rows = ask("r(1, 60)", source, "interp", {.max_rows = 100});
  EXPECT_FALSE(rows->explanation.has_value());
  EXPECT_TRUE(rows->reported(Code::LimitReached));
  const auto time = ask("r(1, 60)", source, "interp", {.timeout_seconds = 1e-9});
  EXPECT_FALSE(time->explanation.has_value());
  EXPECT_TRUE(time->reported(Code::LimitReached));
  // Time that the evaluation took counts.
  const auto late = ask(
      "r(1, 60)", source, "interp",
      {.timeout_seconds = 3600, .start = std::chrono::steady_clock::now() - std::chrono::hours(2)});
  EXPECT_TRUE(late->reported(Code::LimitReached));
  const auto memory = ask("r(1, 60)", source, "interp", {.memory_limit = 1});
  EXPECT_FALSE(memory->explanation.has_value());
  EXPECT_TRUE(memory->reported(Code::MemoryExhausted));
}

// ---- why not ----

TEST(WhyNot, TheFurthestBeginningOfTheBody) {
  EXPECT_EQ(text_of("reach(2, 9)", std::string(kReach) + "edge(8, 9)."),
            R"(reach(2, 9) does not hold.

not by reach(X, Y) :- edge(X, Y).  [test.xlog:2]
  fails  no row of edge(2, 9)

not by reach(X, Z) :- reach(X, Y), edge(Y, Z).  [test.xlog:3]
  holds  edge(8, 9)
  fails  no row of reach(2, 8)
)");
}

TEST(WhyNot, EachKindOfLiteral) {
  const std::string source = R"(
    n(1..3). e(1, 2). p(7).
    a(X) :- n(X), not e(X, _).
    b(X) :- n(X), X > 2.
    c(X, count(Y)) :- e(X, Y).
    d(X) :- n(X), 1 = count : { e(X, Y) }.
    f(1).
    g(5, X) :- n(X).)";
  EXPECT_THAT(text_of("a(1)", source), HasSubstr("not e(1, _) is false: there is such a row"));
  EXPECT_THAT(text_of("b(2)", source), HasSubstr("2 > 2 is false"));
  EXPECT_THAT(text_of("c(1, 5)", source), HasSubstr("count(Y) = 1 over 1 row"));
  EXPECT_THAT(text_of("d(2)", source), HasSubstr("does not hold"));
  EXPECT_THAT(text_of("f(2)", source), HasSubstr("No fact of f/1 fits.\nNo rule derives f/1."));
  EXPECT_THAT(text_of("g(4, 1)", source), HasSubstr("the head does not fit"));
}

// ---- forms ----

TEST(ProofForms, Json) {
  const auto asked = ask("reach(1, 4)", kReach);
  const auto json = nlohmann::json::parse(asked->json);
  EXPECT_EQ(json["goal"], "reach(1, 4)");
  EXPECT_EQ(json["holds"], true);
  const auto& proof = json["proofs"][0];
  EXPECT_EQ(proof["root"], 0);
  EXPECT_EQ(proof["height"], 2);
  const auto& root = proof["nodes"][0];
  EXPECT_EQ(root["kind"], "derived");
  EXPECT_EQ(root["rule"]["text"], "reach(X, Z) :- reach(X, Y), edge(Y, Z).");
  EXPECT_EQ(root["rule"]["line"], 3);
  EXPECT_EQ(root["bindings"]["Y"], "3");
  for (const auto& child : root["children"]) EXPECT_LT(child, proof["nodes"].size());
  const auto no = nlohmann::json::parse(ask("reach(4, 1)", kReach)->json);
  EXPECT_EQ(no["holds"], false);
  EXPECT_EQ(no["why_not"].size(), 2u);
}

TEST(ProofForms, DotEscapes) {
  const auto asked = ask("p(X)", R"(q("a\"b\\c"). p(X) :- q(X).)");
  EXPECT_THAT(asked->dot, HasSubstr(R"(label="p(\"a\\\"b\\\\c\")\n)"));
  EXPECT_THAT(asked->dot, HasSubstr("n0_0 -> n0_1;"));
}

// ---- random programs: $XLOG_RANDOM_TIMES=N tries N times as many ----

TEST(RandomProofs, AreJudgedRightByTheChecker) {
  const char* times = std::getenv("XLOG_RANDOM_TIMES");
  const uint64_t count =
      50 / kPartOfWork * (times == nullptr ? 1 : std::strtoull(times, nullptr, 10));
  uint64_t asked_count = 0, proofs = 0;
  for (uint64_t seed = 0; seed < count; ++seed) {
    const std::string source = ProgramGenerator(seed).run().text();
    lang::Session session;
    const std::optional<lang::Program> program =
        lang::load(*session.sources.add("test.xlog", "", source), session);
    if (!program || session.diagnostics.has_errors()) continue;
    for (const lang::Predicate& predicate : program->predicates) {
      if (predicate.helper) continue;
      std::string goal = lang::predicate_name(predicate, session.names);
      for (uint32_t c = 0; c < predicate.arity; ++c)
        goal += fmt::format("{}Q{}", c == 0 ? "(" : ", ", c);
      if (predicate.arity > 0) goal += ")";
      logic::AnswerOptions small;
      small.max_rows = 20'000;
      const ProofOptions options{.limit = 3, .max_rows = 200'000};
      const auto asked = ask(goal, source, "interp", options, small);
      if (!asked->explanation) continue;
      ++asked_count;
      proofs += asked->explanation->proofs.size();
      ASSERT_EQ(asked->wrong, "") << "seed " << seed << ", " << goal << "\n"
                                  << asked->text << source;
      const auto reference = ask(goal, source, "", options, small);
      ASSERT_EQ(asked->json, reference->json) << "seed " << seed << ", " << goal << "\n" << source;
    }
  }
  EXPECT_GE(asked_count, 3 * count);
  EXPECT_GE(proofs, 4 * count);
}

}  // namespace
}  // namespace xlog::engine
