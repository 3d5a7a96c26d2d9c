#include "lang/parser.h"

#include <gtest/gtest.h>

#include "lang/syntax_fixture.h"

namespace xlog::lang {
namespace {

using ast::ExprKind;
using ast::HeadKind;
using ast::LiteralKind;
using ast::PrefixOp;
using Errors = std::vector<std::string>;

const Diagnostic& first(const Parsed& parsed) { return parsed.diagnostics.all().at(0); }

// ---- What a statement is ----

TEST(Parser, ReadsAnEmptyFile) {
  for (const char* text : {"", " \n\t\r\n", "// only a comment", "/* and */ // another\n"}) {
    const Parsed parsed(text);
    EXPECT_TRUE(parsed.module.statements.empty());
    EXPECT_TRUE(parsed.errors().empty());
  }
}

TEST(Parser, WordsAreKeywordsOnlyInTheirPlace) {
  EXPECT_NO_THROW(Parsed("domain n : u32.").only<ast::DomainDecl>());
  EXPECT_NO_THROW(Parsed("domain(7).").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("use a/b.").only<ast::UseDecl>());
  EXPECT_NO_THROW(Parsed("use(a).").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("use.").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("pred p(u32).").only<ast::PredDecl>());
  EXPECT_NO_THROW(Parsed("pred(1).").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("func f(X) = X.").only<ast::FuncDef>());
  EXPECT_NO_THROW(Parsed("func :- p.").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("private :- p.").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("query(p(1)).").only<ast::ProbQuery>());
  EXPECT_NO_THROW(Parsed("query(-p).").only<ast::ProbQuery>());
  EXPECT_NO_THROW(Parsed("query(1).").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("query(a, b).").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("-query(a).").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("query(X) :- p(X).").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("evidence(p(1), false).").only<ast::Evidence>());
  EXPECT_NO_THROW(Parsed("evidence(alice, knife).").only<ast::Rule>());
  EXPECT_NO_THROW(Parsed("nn(n, [X], Y) :: p(X, Y).").only<ast::NeuralDecl>());
  EXPECT_NO_THROW(Parsed("nn(n).").only<ast::Rule>());
}

TEST(Parser, ReservedWordsEndAtTheirBoundary) {
  const Parsed parsed(
      "h :- notable(X), not able(X), knows(X), know s(X), possibly(X), island(X), X is land.");
  const auto& body = parsed.only<ast::Rule>().body;
  ASSERT_EQ(body.size(), 7u);
  EXPECT_TRUE(body[0].prefix.empty());
  EXPECT_EQ(body[1].prefix, std::vector{PrefixOp::Not});
  EXPECT_TRUE(body[2].prefix.empty());
  EXPECT_EQ(body[3].prefix, std::vector{PrefixOp::Know});
  EXPECT_TRUE(body[4].prefix.empty());
  EXPECT_TRUE(body[5].prefix.empty());
  EXPECT_EQ(body[6].kind, LiteralKind::Is);
}

TEST(Parser, SpansCoverTheStatement) {
  const Parsed parsed("  p(1) :- q . -r(X, 2) :- s.");
  EXPECT_EQ(parsed.sources.text(parsed.module.statements[0].span), "p(1) :- q .");
  EXPECT_EQ(parsed.sources.text(parsed.module.statements[1].span), "-r(X, 2) :- s.");
  const ast::Atom& atom = std::get<ast::Rule>(parsed.module.statements[1].node).head[0].atom;
  EXPECT_EQ(parsed.sources.text(atom.span), "-r(X, 2)");
  EXPECT_EQ(parsed.sources.text(atom.name_span), "r");
}

TEST(Parser, StatementsNeedNoSpaceBetweenThem) {
  EXPECT_EQ(Parsed("p(1).q(2).a.b :- c.").module.statements.size(), 4u);
}

// ---- Atoms and expressions ----

TEST(Parser, TellsStrongNegationFromArithmetic) {
  const Parsed parsed("h :- -p(X), -p(X) < 3, -p(X) + 1 < 3, not -p, -X = Y.");
  const auto& body = parsed.only<ast::Rule>().body;
  EXPECT_EQ(body[0].kind, LiteralKind::Atom);
  EXPECT_TRUE(body[0].atom.strong_negation);
  EXPECT_EQ(body[1].kind, LiteralKind::Compare);
  EXPECT_EQ(body[1].lhs.kind, ExprKind::Negate);
  EXPECT_EQ(body[2].lhs.kind, ExprKind::Binary);
  EXPECT_TRUE(body[3].atom.strong_negation);
  EXPECT_EQ(body[4].lhs.kind, ExprKind::Negate);
}

TEST(Parser, FoldsAMinusIntoANumber) {
  const Parsed parsed("p(-3, - 4, -2.5, -9223372036854775808, -(3), --3, X-3, -0).");
  const auto& args = parsed.only<ast::Rule>().head[0].atom.args;
  EXPECT_TRUE(args[0].negative);
  EXPECT_EQ(args[1].kind, ExprKind::Integer);
  EXPECT_EQ(args[2].number, -2.5);
  EXPECT_EQ(args[3].magnitude, uint64_t{1} << 63);
  EXPECT_EQ(args[4].kind, ExprKind::Negate);
  EXPECT_EQ(args[5].kind, ExprKind::Negate);
  EXPECT_TRUE(args[5].args[0].negative);
  EXPECT_EQ(args[6].kind, ExprKind::Binary);
  EXPECT_FALSE(args[7].negative);
  EXPECT_EQ(Parsed("p(-9223372036854775809).").errors(), Errors{"E0106 1:3"});
}

TEST(Parser, OperatorsBindAsUsual) {
  const Parsed parsed("p(1 + 2 * 3 - 4, 1..2 + 3).");
  const auto& args = parsed.only<ast::Rule>().head[0].atom.args;
  EXPECT_EQ(args[0].binary_op, ast::BinaryOp::Sub);
  EXPECT_EQ(args[0].args[0].args[1].binary_op, ast::BinaryOp::Mul);
  EXPECT_EQ(args[0].depth, 4);
  EXPECT_EQ(args[1].kind, ExprKind::Interval);
  EXPECT_EQ(args[1].args[1].kind, ExprKind::Binary);
}

TEST(Parser, ReadsAggregates) {
  const Parsed parsed(
      "h :- N = count : { p(X), q }, sum X + 1 : { p(X) } > 3, min(X) : { p(X) } = 1, min(X, 2) = "
      "3, max = 2.");
  const auto& body = parsed.only<ast::Rule>().body;
  EXPECT_EQ(body[0].rhs.kind, ExprKind::Aggregate);
  EXPECT_TRUE(body[0].rhs.args.empty());
  EXPECT_EQ(body[0].rhs.body.size(), 2u);
  EXPECT_EQ(body[1].lhs.kind, ExprKind::Aggregate);
  EXPECT_EQ(body[1].lhs.args[0].kind, ExprKind::Binary);
  EXPECT_EQ(body[2].lhs.kind, ExprKind::Aggregate);
  EXPECT_EQ(body[3].lhs.kind, ExprKind::Name);
  EXPECT_EQ(body[4].lhs.kind, ExprKind::Name);
}

// ---- Heads ----

TEST(Parser, ReadsHeads) {
  EXPECT_EQ(Parsed(":- p.").only<ast::Rule>().head_kind, HeadKind::None);
  EXPECT_EQ(Parsed("a ; b | c.").only<ast::Rule>().head.size(), 3u);
  const Parsed choice("1 { p(X) : d(X), e(X) ; q(X) } N + 1 :- n(N).");
  const auto& rule = choice.only<ast::Rule>();
  EXPECT_EQ(rule.head_kind, HeadKind::Choice);
  EXPECT_TRUE(rule.lower && rule.upper);
  EXPECT_EQ(rule.head[0].condition.size(), 2u);
  EXPECT_EQ(rule.head[1].condition.size(), 0u);
  EXPECT_TRUE(Parsed("{}.").only<ast::Rule>().head.empty());
  const Parsed annotated("0.3::a ; P::b :- c(P).");
  EXPECT_EQ(annotated.only<ast::Rule>().head_kind, HeadKind::Annotated);
  EXPECT_EQ(annotated.only<ast::Rule>().head[1].probability->kind, ExprKind::Variable);
}

// ---- Errors and recovery ----

TEST(Parser, MissingPeriodIsReportedWhereItBelongs) {
  const Parsed parsed("p(X) :- q(X)\nr(X) :- s(X).\nt(1)\n?- t(X)");
  EXPECT_EQ(parsed.errors(), (Errors{"E0108 1:13", "E0108 3:5", "E0108 4:8"}));
  EXPECT_EQ(parsed.module.statements.size(), 4u);
}

TEST(Parser, AnIndentedLineRatherLacksAComma) {
  const Parsed parsed("p(X) :- q(X)\n    r(X).\ns.");
  EXPECT_EQ(parsed.errors(), Errors{"E0107 2:5"});
  EXPECT_NE(first(parsed).help_text.find(','), std::string::npos);
  EXPECT_EQ(parsed.printed(), "s.\n");
}

TEST(Parser, GoesOnAfterAnError) {
  const Parsed parsed("p(1 2). q(3).\nr :- , s.\nt(4).\nu(\nv(5).");
  EXPECT_EQ(parsed.errors(), (Errors{"E0107 1:5", "E0107 2:6", "E0107 5:5"}));
  EXPECT_EQ(parsed.printed(), "q(3).\nt(4).\n");
}

TEST(Parser, AnUnclosedBracketEndsAtTheNextStatement) {
  const Parsed parsed("p(1, 2\nq(3).\nr([1, 2\ns(4).");
  EXPECT_EQ(parsed.errors(), (Errors{"E0107 2:1", "E0107 4:1"}));
  EXPECT_EQ(first(parsed).labels.size(), 1u);
  EXPECT_EQ(parsed.printed(), "q(3).\ns(4).\n");
}

TEST(Parser, OneErrorForABrokenToken) {
  EXPECT_EQ(Parsed("p(\"abc\nq(1).").errors(), Errors{"E0103 1:3"});
  EXPECT_EQ(Parsed("p :- q & r. s.").errors(), Errors{"E0102 1:8"});
  EXPECT_EQ(Parsed("p /* q.").errors(), (Errors{"E0104 1:3", "E0108 1:2"}));
}

TEST(Parser, HelpsWithTypicalMistakes) {
  const std::pair<const char*, const char*> cases[] = {
      {"Edge(1, 2).", "lower-case"},
      {"p(X) :- Edge(X).", "lower-case"},
      {"pred Edge(u32).", "lower-case"},
      {"{ a, b }.", "`;`"},
      {"p := 3.", ":-"},
      {"p <- q.", ":-"},
      {"p :- X \\= 3.", "!="},
      {"p :- X =< 3.", "<="},
      {"p :- X <> 3.", "!="},
      {"% comment", "//"},
      {"p. % comment", "//"},
      {"p :- q, % comment\n r.", "//"},
      {"# comment", "//"},
      {"#show p.", "#pragma"},
      {"p :- q ; r.", "several rules"},
      {"p :- X < Y < Z.", "chain"},
      {"p(not).", "\"not\""},
      {"p :- 1 { q }.", "count"},
      {"p :- sum : { q(X) } = 1.", "sum X"},
      {"func f(x) = 1.", "variables"},
      {"{ a :- b }.", ":"},
      {"0.5::a ; b.", "probability"},
      {"a ; 0.5::b.", "probability"},
      {"func f(X) = X + 1 :- p(X).", "R :-"},
      {"p :- X.", "comparison"},
      {"X :- p.", "lower-case"},
  };
  for (const auto& [text, help] : cases) {
    const Parsed parsed(text);
    ASSERT_EQ(parsed.diagnostics.all().size(), 1u) << text;
    EXPECT_NE((first(parsed).help_text + first(parsed).message).find(help), std::string::npos)
        << text << ": " << first(parsed).message << " / " << first(parsed).help_text;
  }
}

TEST(Parser, AForeignCommentCostsOnlyItsLine) {
  const Parsed parsed("% one. two\np(1). % three\n  q(2).\n#include <x>\nr(3).");
  EXPECT_EQ(parsed.errors(), (Errors{"E0107 1:1", "E0107 2:7", "E0107 4:1"}));
  EXPECT_EQ(parsed.printed(), "p(1).\nq(2).\nr(3).\n");
}

TEST(Parser, RefusesWhatHasNoMeaning) {
  for (const char* text : {
           "p(",
           "p(1,",
           "p(1,).",
           "p(,).",
           "p([1|]).",
           "p([|X]).",
           "p([1|2,3]).",
           ":- .",
           "?- .",
           "p :- .",
           "{ a",
           "{ ; }.",
           "a ; .",
           "a :- b,.",
           "0.3:: .",
           "3 :- p.",
           "p(1..2..3).",
           "p :- not.",
           "p :- not X is 3.",
           "p :- know X < 3.",
           "p :- X is.",
           "use .x",
           "use a/.",
           "use a::{}.",
           "use a::x.",
           "domain d.",
           "domain d : 3.",
           "pred p(3).",
           "pred p(u32",
           "pred p(list<>).",
           "private x.",
           "func f = 1.",
           "func f(X) 1.",
           "func f(X) = if X then 1 else 2.",
           "func f(X) = if X < 1 then 2.",
           "#const = 3.",
           "#const N = 3.",
           "#const n 3.",
           "#pragma",
           "#pragma x",
           "#pragma x = ",
           "#pragma x = [1]",
           "nn(a, [X], Y, Z) :: p.",
           "nn(a, [x], Y) :: p.",
           "nn(A, [X], Y) :: p.",
           "nn(a) :: p.",
           "nn(a, [X], Y, [f(x)]) :: p.",
           "nn(a, [X], Y) :: 3.",
           "learnable(f(x)) :: p :- q.",
           "learnable(m) :: {p}.",
           "trainable_rule(a, weight = ) :: p.",
           "is(1).",
           "p :- count : p(X) = 1.",
           "p :- count : { } = 1.",
           "p(1)..",
           ".",
           "..",
           ")",
           "]",
           "}",
           "|",
           "::",
           "=.",
           "p :- X =.. .",
           "\"p\"(1).",
           "p :- if X < 1 then 2 else 3.",
           "p(X)(Y).",
           "-(1).",
       }) {
    const Parsed parsed(text);
    EXPECT_FALSE(parsed.errors().empty()) << text;
    EXPECT_FALSE(Parsed(text, ParseOptions{}).errors().empty()) << text;
  }
}

TEST(Parser, StopsAfterAHundredErrors) {
  const Parsed parsed(repeat("p(1 2).\n", 1000) + "q(3).\n");
  EXPECT_EQ(parsed.diagnostics.all().size(), Diagnostics::kMaxErrors);
  EXPECT_EQ(parsed.diagnostics.all().back().notes.size(), 1u);
  EXPECT_TRUE(parsed.module.statements.empty());
}

// ---- A body alone ----

std::vector<ast::Literal> body_of(std::string text, size_t errors) {
  SourceMap sources;
  Interner names;
  Diagnostics diagnostics;
  auto body = parse_body(*sources.add("body", "", std::move(text)), names, diagnostics);
  EXPECT_EQ(diagnostics.error_count(), errors);
  return body;
}

TEST(ParseBody, ReadsABodyAndNothingElse) {
  EXPECT_EQ(body_of("p(X), not q(X), X < 3", 0).size(), 3u);
  EXPECT_TRUE(body_of("p(X) q", 1).empty());
  EXPECT_TRUE(body_of("", 1).empty());
  EXPECT_TRUE(body_of("p(\"\\q\")", 1).empty());
}

}  // namespace
}  // namespace xlog::lang
