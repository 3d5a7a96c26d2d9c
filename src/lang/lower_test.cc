// Rules and bodies.
#include "lang/lower_fixture.h"

namespace xlog::lang {
namespace {

// The rules of a program whose predicates p, q, r, s of any arity may be undefined.
std::string lowered(const std::string& text) {
  Lowered low(text + "\npred q(u32). pred q(u32, u32). pred q(). pred s(list<u32>).");
  if (low.session.diagnostics.has_errors()) return low.codes();
  return low.rules();
}

// ---- Atoms and prefixes ----

TEST(Lower, Negation) {
  EXPECT_EQ(lowered("p(X) :- q(X), not q(X, _), not not q, not not not q(X)."),
            "p(X) :- q(X), not q(X, _), not not q, not q(X).\n");
}

TEST(Lower, ModalChains) {
  EXPECT_EQ(
      lowered("p :- know q, possible q, not know not q, know possible q, know not q, not not "
              "possible q."),
      "p :- know q, possible q, not know not q, possible q, not possible q, not know not q.\n");
}

TEST(Lower, ModalOverBuiltins) {
  EXPECT_EQ(lowered("p :- s(L), know member(1, L)."), "E0604");
  EXPECT_EQ(lowered("p :- q(X), possible ground(X)."), "E0604");
}

TEST(Lower, ParenthesesDoNotMatter) {
  Lowered low("rain. wet :- rain(). also :- rain.");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(), "wet :- rain.\nalso :- rain.\n");
  EXPECT_EQ(low.find("rain/0")->facts->rows, 1u);
}

TEST(Lower, EveryAnonymousIsAVariableOfItsOwn) {
  Lowered low("p :- q(_, _). q(1, 2).");
  EXPECT_EQ(low.rule(0).variables.size(), 2u);
  EXPECT_TRUE(low.rule(0).variables[0].anonymous);
}

TEST(Lower, SpansAreKept) {
  Lowered low("p(X) :- q(X), X < 3.\nq(1).");
  const Rule& rule = low.rule(0);
  const auto text = [&](Span span) { return low.session.sources.text(span); };
  EXPECT_EQ(text(rule.span), "p(X) :- q(X), X < 3.");
  EXPECT_EQ(text(rule.head_span), "p(X)");
  EXPECT_EQ(text(rule.head[0].span), "p(X)");
  EXPECT_EQ(text(rule.body[1].span), "X < 3");
  EXPECT_EQ(text(rule.body[1].rhs.span), "3");
  EXPECT_EQ(text(rule.variables[0].span), "X");
  EXPECT_EQ(text(low.program->predicates[0].span), "p");
}

// ---- Comparisons and arithmetic ----

TEST(Lower, NotFlipsComparisons) {
  EXPECT_EQ(lowered("p(X) :- q(X), not X < 3, not X = 4, not not X >= 5, not X != 1."),
            "p(X) :- q(X), X >= 3, X != 4, X >= 5, X = 1.\n");
}

TEST(Lower, ArithmeticInArguments) {
  EXPECT_EQ(lowered("p(X + 1) :- q(X)."), "p(_1) :- q(X), _1 = X + 1.\n");
  EXPECT_EQ(lowered("p(X) :- q(X), q(X * 2, -X), not q(X - 1)."),
            "p(X) :- q(X), _1 = X * 2, _2 = -X, q(_1, _2), _3 = X - 1, not q(_3).\n");
  EXPECT_EQ(lowered("p(X) :- q(X), s([X + 1, 2])."), "p(X) :- q(X), _1 = X + 1, s([_1, 2]).\n");
  EXPECT_EQ(lowered("p(X) :- q(X), q(abs(X), max(X, 3)), q(min(a, b))."),
            "p(X) :- q(X), _1 = abs(X), _2 = max(X, 3), q(_1, _2), q(min(a, b)).\n");
}

TEST(Lower, ComparisonsTakeExpressions) {
  EXPECT_EQ(lowered("p(X) :- q(X, Y), X + 1 < Y * 2, X = f(Y), f(Y) != X, Z is pow(X, 2) / cast(Y, "
                    "f64), Z > 1.0."),
            "p(X) :- q(X, Y), X + 1 < Y * 2, X = f(Y), f(Y) != X, Z is pow(X, 2) / cast(Y, f64), Z "
            "> 1.0.\n");
  EXPECT_EQ(lowered("p(Z) :- q(X), Z is if X < 3 then X else 3."),
            "p(Z) :- q(X), Z is if X < 3 then X else 3.\n");
}

TEST(Lower, CastErrors) {
  EXPECT_EQ(lowered("p(Z) :- q(X), Z is cast(X, 3)."), "E0210");
  EXPECT_EQ(lowered("p(Z) :- q(X), Z is cast(X, f65)."), "E0201");
  EXPECT_EQ(lowered("domain age : u32.\np(Z) :- q(X), Z is cast(X, age)."),
            "p(Z) :- q(X), Z is cast(X, u32).\n");
}

TEST(Lower, AssignmentNeedsAFreshVariable) {
  EXPECT_EQ(lowered("p(X) :- q(X), 3 is X."), "E0512");
  EXPECT_EQ(lowered("p(Y) :- q(X), Y is X, not q(Y)."), "p(Y) :- q(X), Y is X, not q(Y).\n");
}

TEST(Lower, TermsInsideBranches) {
  EXPECT_EQ(lowered("p(Y) :- q(X), Y is if X = 0 then [X + 1] else [X]."), "E0510");
}

// ---- Intervals ----

TEST(Lower, Intervals) {
  EXPECT_EQ(lowered("p(X) :- X = 1..3."), "p(X) :- X = 1..3.\n");
  EXPECT_EQ(lowered("p(X) :- q(N), 1..N + 1 = X."), "p(X) :- q(N), _1 = N + 1, X = 1.._1.\n");
  EXPECT_EQ(lowered("p(1..N) :- q(N)."), "p(_1) :- q(N), _1 = 1..N.\n");
  EXPECT_EQ(lowered("p(X) :- q(X), not X = 1..3."), "p(X) :- q(X), not X = 1..3.\n");
  EXPECT_EQ(lowered("p(X) :- q(X), between(1, X, Y)."), "p(X) :- q(X), Y = 1..X.\n");
  EXPECT_EQ(lowered("{ p(1..3) }."), "{ p(_1) : _1 = 1..3 }.\n");
  EXPECT_EQ(lowered("0.5::p(1..3)."), "0.5::p(_1) :- _1 = 1..3.\n");
}

TEST(Lower, IntervalsElsewhere) {
  EXPECT_EQ(lowered("p(X) :- q(X), q(1..3)."), "E0209");
  EXPECT_EQ(lowered("p(X) :- q(X), X != 1..3."), "E0209");
  EXPECT_EQ(lowered("p(X) :- q(X), X < 1..3."), "E0209");
  EXPECT_EQ(lowered("p(X) :- X is 1..3."), "E0209");
  EXPECT_EQ(lowered("p(X) :- q(X), X = 1 + (1..3)."), "E0209");
}

// ---- Aggregates ----

TEST(Lower, HeadAggregates) {
  Lowered low("h(K, sum(V), count(), max(V + 1), avg(2)) :- q(K, V). q(1, 2).");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(), "h(K, sum(V), count(), max(V + 1), avg(2)) :- q(K, V).\n");
  ASSERT_EQ(low.rule(0).aggregates.size(), 4u);
  EXPECT_EQ(low.rule(0).aggregates[0].column, 1u);
  EXPECT_FALSE(low.rule(0).aggregates[1].has_value);
}

TEST(Lower, AggregateNamesElsewhere) {
  EXPECT_EQ(Lowered("p(count(1)).").facts("p/1"), "(count(1))");
  EXPECT_EQ(lowered("p(max(X, 1)) :- q(X)."), "p(_1) :- q(X), _1 = max(X, 1).\n");
  EXPECT_EQ(lowered("p(X) :- q(X), q(sum(X))."), "p(X) :- q(X), q(sum(X)).\n");
  EXPECT_EQ(lowered("{ p(sum(X)) } :- q(X)."), "E0206");
  EXPECT_EQ(lowered("p(sum(X)) ; r :- q(X)."), "E0206");
}

TEST(Lower, BodyAggregates) {
  EXPECT_EQ(lowered("p(N) :- N = count : { q(_) }."), "p(N) :- N = count : { q(_) }.\n");
  EXPECT_EQ(lowered("p(N) :- N is sum X : { q(X) }."), "p(N) :- N = sum X : { q(X) }.\n");
  EXPECT_EQ(lowered("p :- 3 < count : { q(_) }."), "p :- _1 = count : { q(_) }, 3 < _1.\n");
  EXPECT_EQ(lowered("p(N) :- q(N), not N = count : { q(_) }."),
            "p(N) :- q(N), _1 = count : { q(_) }, N != _1.\n");
  EXPECT_EQ(lowered("p(sum X : { q(X) } + 1) :- q."),
            "p(_2) :- q, _1 = sum X : { q(X) }, _2 = _1 + 1.\n");
  EXPECT_EQ(lowered("p(N) :- N = max X + 1 : { q(X), X < 3 }."),
            "p(N) :- N = max X + 1 : { q(X), X < 3 }.\n");
  EXPECT_EQ(lowered("p(count : { q(_) })."), "p(_1) :- _1 = count : { q(_) }.\n");
}

TEST(Lower, VariablesOfBraces) {
  // X is local to each pair of braces; K groups because it stands outside.
  Lowered low("p(K, A, B) :- q(K, _), A = sum X : { q(K, X) }, B = max X : { q(X, K) }. q(1, 2).");
  const Rule& rule = low.rule(0);
  const VarId first = rule.body[1].rhs.var;
  const VarId second = rule.body[2].rhs.var;
  EXPECT_NE(first, second);
  EXPECT_EQ(rule.body[1].body[0].args[0].var, rule.body[0].args[0].var);
  // A variable that occurs outside later is not local.
  Lowered later("p(A) :- A = sum X : { q(K, X) }, q(K, _). q(1, 2).");
  EXPECT_EQ(later.rule(0).body[0].body[0].args[0].var, later.rule(0).body[1].args[0].var);
  // Inner braces see the variables of outer ones.
  Lowered nested("p(A) :- A = count : { B = count : { q(X, Y) }, q(X, _), B > 1 }. q(1, 2).");
  const Literal& outer = nested.rule(0).body[0];
  EXPECT_EQ(outer.body[0].body[0].args[0].var, outer.body[1].args[0].var);
}

// ---- Heads ----

TEST(Lower, Choice) {
  EXPECT_EQ(lowered("1 { p(X) : q(X) ; r } N + 1 :- q(N)."),
            "1 { p(X) : q(X) ; r } _1 :- q(N), _1 = N + 1.\n");
  EXPECT_EQ(lowered("{ p(X + 1, 2 * 3) : q(X) }."), "{ p(_1, 6) : q(X), _1 = X + 1 }.\n");
  Lowered low("{ p(X) : q(X) ; r(X) : s(X) }. q(1). s(a).");
  EXPECT_NE(low.rule(0).head[0].args[0].var, low.rule(0).head[1].args[0].var);
}

TEST(Lower, Disjunction) {
  EXPECT_EQ(lowered("a ; b(1 + 1) | c."), "a ; b(2) ; c.\n");
  EXPECT_EQ(lowered("a(X) ; b(X) :- q(X)."), "a(X) ; b(X) :- q(X).\n");
  EXPECT_EQ(lowered("a(X) ; b."), "E0208");
}

TEST(Lower, BlankInAHead) {
  EXPECT_EQ(lowered("p(_) :- q(1)."), "E0206");
  EXPECT_EQ(lowered("p(f(_)) :- q(1)."), "E0206");
}

TEST(Lower, Constraints) {
  Lowered low(":- q(X), X > 3. q(1).");
  EXPECT_EQ(low.rules(), ":- q(X), X > 3.\n");
  EXPECT_EQ(low.rule(0).head_kind, HeadKind::None);
}

TEST(Lower, Probabilities) {
  Lowered low("0.25::a. 0.5::b(1) ; 1 / 4.0::b(2). 0.3::c(X) :- b(X). 1::d.");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(), "0.25::a.\n0.5::b(1) ; 0.25::b(2).\n0.3::c(X) :- b(X).\n1.0::d.\n");
  EXPECT_TRUE(low.rule(0).annotated);
  EXPECT_EQ(low.rule(0).head_kind, HeadKind::Atom);
  EXPECT_EQ(low.rule(1).head_kind, HeadKind::Disjunction);
  EXPECT_EQ(low.rule(1).head[1].probability, 0.25);
}

TEST(Lower, ProbabilityErrors) {
  EXPECT_EQ(lowered("1.5::a."), "E0207");
  EXPECT_EQ(lowered("1 - 2::a."), "E0207");
  EXPECT_EQ(lowered("0.6::a ; 0.6::b."), "E0207");
  EXPECT_EQ(lowered("0.5::a ; 0.5000000000001::b."), "0.5::a ; 0.5000000000001::b.\n");
  EXPECT_EQ(lowered("0.5::a(X)."), "E0208");
  EXPECT_EQ(lowered("P::a :- q(P)."), "E0208");
}

TEST(Lower, LearnableAndNeural) {
  Lowered low(R"(
    nn(net, [X], Y, [yes, 1]) :: label(X, Y).
    nn(emb, [X], E) :: embed(X, E).
    learnable(W_mask) :: p(X) :- label(X, yes).
    trainable_rule(t, weight=0.5) :: p(X) :- embed(X, _).
  )");
  EXPECT_EQ(low.codes(), "");
  EXPECT_TRUE(low.find("label/2")->neural);
  ASSERT_EQ(low.program->neural.size(), 2u);
  EXPECT_EQ(low.program->neural[0].labels.size(), 2u);
  EXPECT_EQ(low.session.names.symbols.text(*low.rule(0).learnable), "W_mask");
  EXPECT_EQ(low.session.names.symbols.text(*low.rule(1).learnable), "t");
  EXPECT_EQ(Lowered("nn(net, [Z], Y) :: label(X, Y).").codes(), "E0210");
}

// ---- Strong negation ----

TEST(Lower, StrongNegation) {
  Lowered low("pred p(a: u32, b: symbol).\np(1, x). -p(2, y). r(X) :- -p(X, _), not -p(X, z).");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(true),
            "r(X) :- -p(X, _), not -p(X, z).\n"
            "__xlog_query_0(A) :- r(A).\n"
            ":- p(X1, X2), -p(X1, X2).\n");
  const Predicate* positive = low.find("p/2");
  const Predicate* negative = low.find("-p/2");
  ASSERT_NE(negative, nullptr);
  EXPECT_TRUE(negative->declared);
  EXPECT_EQ(negative->columns[1].type.kind, TypeKind::Symbol);
  EXPECT_EQ(&(*low.program)[positive->opposite], negative);
  EXPECT_EQ(&(*low.program)[negative->opposite], positive);
  EXPECT_EQ(low.program->rules.back().origin, RuleOrigin::Coherence);
  EXPECT_EQ(low.facts("-p/2"), "(2, y)");
}

TEST(Lower, StrongNegationAlone) {
  Lowered low("-p(1). r(X) :- -p(X).");
  EXPECT_EQ(low.rules(true).find("-p(X1)"), std::string::npos);
  EXPECT_FALSE(low.find("-p/1")->opposite.valid());
}

// ---- Built-ins ----

TEST(Lower, Builtins) {
  EXPECT_EQ(lowered("p(X) :- s(L), member(X, L), length(L, N), not is_list(L), not not sort(L, M), "
                    "append(L, M, [X | T]), "
                    "L =.. [f | T]."),
            "p(X) :- s(L), member(X, L), length(L, N), not is_list(L), sort(L, M), append(L, M, [X "
            "| T]), L =.. [f | T].\n");
  EXPECT_EQ(lowered("p(X) :- s(L), nth(0 + 1, L, X)."),
            "p(X) :- s(L), _1 = 0 + 1, nth(_1, L, X).\n");
  EXPECT_EQ(lowered("p(X) :- s(L), length(X)."), "E0210");
}

TEST(Lower, Findall) {
  EXPECT_EQ(lowered("p(L) :- findall(X, q(X), L)."), "p(L) :- findall(X, q(X), L).\n");
  EXPECT_EQ(lowered("p(L) :- findall(f(X + 1), -q(X, _), L), length(L, 2). -q(1, 2)."),
            "p(L) :- findall(f(_1), (-q(X, _), _1 = X + 1), L), length(L, 2).\n");
  EXPECT_EQ(lowered("p(L) :- findall(X, 3, L)."), "E0210");
  // Bound before: groups. Bound after: collected.
  Lowered low(
      "p(L) :- q(S), findall(D, e(S, D), L). r(X, L) :- findall(X, q(X), L), q(X). q(1). e(1, 2).");
  EXPECT_EQ(low.rule(0).body[1].body[0].args[0].var, low.rule(0).body[0].args[0].var);
  EXPECT_NE(low.rule(1).body[0].args[0].var, low.rule(1).body[1].args[0].var);
}

TEST(Lower, Maplist) {
  Lowered low("p(M) :- maplist(good, [1, 2]), maplist(next, [1], M). good(1). next(1, 2).");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(), "p(M) :- maplist(good, [1, 2]), maplist(next, [1], M).\n");
  EXPECT_EQ(low.rule(0).body[1].pred.index, 2u);
  EXPECT_EQ(Lowered("p :- maplist(X, [1]).").codes(), "E0210");
  EXPECT_EQ(Lowered("p :- maplist(is_list, [1]).").codes(), "E0210");
  EXPECT_EQ(Lowered("p :- maplist(missing, [1]).").codes(), "W0211");
}

TEST(Lower, BindingTests) {
  EXPECT_EQ(lowered("p(X) :- q(X), ground(X), nonvar(X), var(Y), ground(f(X, 1))."),
            "p(X) :- q(X).\n");
  EXPECT_EQ(lowered("p(X) :- ground(X), q(X)."), "");
  EXPECT_EQ(lowered("p(X) :- q(X), not var(X)."), "p(X) :- q(X).\n");
  EXPECT_EQ(lowered("p(X) :- q(X), var(X)."), "");
  EXPECT_EQ(lowered("p(X) :- q(X), Y is X + 1, Z = Y, ground([X, Y, Z])."),
            "p(X) :- q(X), Y is X + 1, Z = Y.\n");
  EXPECT_EQ(lowered("p(X) :- not q(X), ground(X)."), "");
  EXPECT_EQ(lowered("p(N) :- N = count : { q(X), var(X) }."),
            "p(N) :- N = count : { q(X), 0 = 1 }.\n");
  EXPECT_EQ(lowered("p(N) :- q(X), N = count : { q(X, _), nonvar(X) }."),
            "p(N) :- q(X), N = count : { q(X, _) }.\n");
  // A rule that never fires still defines its predicate.
  EXPECT_EQ(Lowered("p(X) :- q(X), var(X). q(1). r(X) :- p(X).").codes(), "");
}

// ---- Names ----

TEST(Lower, UndefinedPredicates) {
  Lowered low("r(X) :- egde(X, X), edge(X). edge(1, 2). pred s(u32). t(X) :- s(X).");
  EXPECT_EQ(low.codes(), "W0211 W0211");
  EXPECT_NE(low.first().help_text.find("`edge`"), std::string::npos);
  EXPECT_NE(low.session.diagnostics.all()[1].notes.at(0).find("`edge/2`"), std::string::npos);
}

TEST(Lower, ReservedNames) {
  EXPECT_EQ(Lowered("member(1, 2).").codes(), "E0204");
  EXPECT_EQ(Lowered("length(X, Y) :- q(X, Y). q(1, 2).").codes(), "E0204");
  EXPECT_EQ(Lowered("pred findall(u32).").codes(), "E0204");
  EXPECT_EQ(Lowered("ground(1).").codes(), "E0204");
  EXPECT_EQ(Lowered("domain u32 : i64.").codes(), "E0204");
}

TEST(Lower, OwnReverseWins) {
  Lowered low("reverse(X, Y) :- edge(Y, X). edge(1, 2). r(X) :- reverse(2, X).");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rule(1).body[0].kind, LiteralKind::Atom);
}

TEST(Lower, UnsupportedPredicates) {
  for (const char* goal : {"call(X)", "assert(p(X))", "retract(p(X))", "pair(X, X, X)",
                           "zip(X, X, X)", "enumerate(X, X)"}) {
    EXPECT_EQ(Lowered(std::string("p(X) :- q(X), ") + goal + ". q(1).").codes(), "E0213") << goal;
  }
  EXPECT_EQ(Lowered("pair(1, 2). p(X) :- pair(X, _).").codes(), "");
}

TEST(Lower, Declarations) {
  Lowered low("domain node : u32. domain alias : node.\npred edge(src: node, list<alias>, term).");
  EXPECT_EQ(low.codes(), "");
  const Predicate* edge = low.find("edge/3");
  EXPECT_EQ(to_string(edge->columns[0].type), "u32");
  EXPECT_EQ(to_string(edge->columns[1].type), "list<u32>");
  EXPECT_EQ(low.session.names.symbols.text(edge->columns[0].name), "src");
  EXPECT_TRUE(edge->declared);
  EXPECT_EQ(Lowered("pred p(nod).").codes(), "E0201");
  EXPECT_EQ(Lowered("pred p(list).").codes(), "E0201");
  EXPECT_EQ(Lowered("domain n : u32.\npred p(n<u32>).").codes().substr(0, 2), "E0");
  EXPECT_EQ(Lowered("domain n : u32. domain n : i64.").codes(), "E0409");
}

TEST(Lower, Inputs) {
  const std::string text = "r(X) :- edge(X, Y), edge(X, Y, Z). s(X) :- node(X).";
  Lowered low(text, with_inputs({"node", "edge/2", "edge/3"}));
  EXPECT_EQ(low.codes(), "");
  EXPECT_TRUE(low.find("node/1")->is_input);
  EXPECT_TRUE(low.find("edge/2")->is_input);
  EXPECT_FALSE(low.find("r/1")->is_input);
  Lowered ambiguous(text, with_inputs({"edge"}));
  EXPECT_EQ(ambiguous.codes().substr(0, 5), "E0804");
  EXPECT_NE(ambiguous.first().help_text.find("`edge/2` or `edge/3`"), std::string::npos);
  Lowered unknown(text, with_inputs({"nodes"}));
  EXPECT_NE(unknown.first().help_text.find("`node`"), std::string::npos);
  EXPECT_EQ(Lowered(text, with_inputs({"node/7"})).codes().substr(0, 5), "E0804");
}

TEST(Lower, RulesKnowTheirPredicates) {
  Lowered low("a(X) ; b(X) ; a(2) :- q(X). a(X) :- b(X). q(1).");
  EXPECT_EQ(low.find("a/1")->rules, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(low.find("b/1")->rules, (std::vector<uint32_t>{0}));
}

// ---- Size ----

TEST(Lower, LongBodiesAndLists) {
  std::string text = "p :- q(0)";
  for (int i = 1; i < 50000; ++i)
    text += ", q(" + std::to_string(i) + " + X" + std::to_string(i) + ")";
  text += ". s([0";
  for (int i = 1; i < 50000; ++i) text += "," + std::to_string(i);
  text += "]). q(1).";
  Lowered low(text);
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rule(0).body.size(), 99999u);
}

TEST(Lower, DeepExpressions) {
  std::string text(400, '(');
  text = "p(Y) :- q(X), Y is " + text + "X";
  for (int i = 0; i < 400; ++i) text += " + 1)";
  Lowered low(text + ". q(1).");
  EXPECT_EQ(low.codes(), "");
}

}  // namespace
}  // namespace xlog::lang
