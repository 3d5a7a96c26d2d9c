#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "lang/load.h"

namespace xlog::lang {
namespace {

struct Loaded {
  std::unique_ptr<Session> session = std::make_unique<Session>();
  std::optional<Program> program;

  const Predicate* find(std::string_view name) const {
    for (const Predicate& predicate : program->predicates) {
      if (predicate_name(predicate, session->names) == name) return &predicate;
    }
    return nullptr;
  }

  // "u32, symbol"
  std::string types(std::string_view name) const {
    const Predicate* predicate = find(name);
    if (predicate == nullptr) return "no such predicate";
    std::string text;
    for (const PredicateColumn& column : predicate->columns) {
      if (!text.empty()) text += ", ";
      text += to_string(column.type);
    }
    return text;
  }

  // "E0301 E0302", in order of report.
  std::string codes() const {
    std::string text;
    for (const Diagnostic& diagnostic : session->diagnostics.all()) {
      if (diagnostic.severity != Severity::Error) continue;
      if (!text.empty()) text += ' ';
      text += code_info(diagnostic.code).name;
    }
    return text;
  }

  std::string text() const { return render_text(session->diagnostics, session->sources); }

  const Rule& rule_of(std::string_view name) const { return program->rules[find(name)->rules[0]]; }

  std::string source(std::string_view name) const {
    return to_source(rule_of(name), *program, session->names);
  }

  // The message of the only error, then its labels as `source text: label`, then the help.
  std::string error() const {
    for (const Diagnostic& diagnostic : session->diagnostics.all()) {
      if (diagnostic.severity != Severity::Error) continue;
      std::string result = diagnostic.message;
      for (const Label& label : diagnostic.labels) {
        result += "\n  ";
        result += session->sources.text(label.span);
        result += ": " + label.text;
      }
      if (!diagnostic.help_text.empty()) result += "\n  help: " + diagnostic.help_text;
      return result;
    }
    return "no error";
  }
};

Loaded load_text(std::string text) {
  Loaded loaded;
  const SourceFile* file = loaded.session->sources.add("test.xlog", "", std::move(text));
  loaded.program = load(*file, *loaded.session);
  return loaded;
}

Loaded load_valid(std::string text) {
  Loaded loaded = load_text(std::move(text));
  EXPECT_EQ(loaded.codes(), "") << loaded.text();
  return loaded;
}

// ---- Defaults ----

TEST(Infer, LiteralsOfFacts) {
  const Loaded p = load_valid(R"(
    small(1). small(4294967295).
    large(4294967296).
    negative(-1). negative(7).
    huge(18446744073709551615). huge(1).
    float(0.5). mixed(1). mixed(0.5).
    name(a). name("B c"). truth(true).
    many([1, 2]). many([]). nested([[a], []]).
    point(f(1, a)).
  )");
  EXPECT_EQ(p.types("small"), "u32");
  EXPECT_EQ(p.types("large"), "i64");
  EXPECT_EQ(p.types("negative"), "i64");
  EXPECT_EQ(p.types("huge"), "u64");
  EXPECT_EQ(p.types("float"), "f64");
  EXPECT_EQ(p.types("mixed"), "f64");
  EXPECT_EQ(p.types("name"), "symbol");
  EXPECT_EQ(p.types("truth"), "symbol");
  EXPECT_EQ(p.types("many"), "list<u32>");
  EXPECT_EQ(p.types("nested"), "list<list<symbol>>");
  EXPECT_EQ(p.types("point"), "compound");
}

TEST(Infer, FactColumnsAreConverted) {
  const Loaded p = load_valid(R"(
    pred d(i32, f64, bool, symbol, term, list<u64>).
    d(-1, 2, true, a, 5, [1]).
    d(7, 0.5, 0, b, f(x), []).
    n(5). m(Y) :- n(X), Y = X - 10.
  )");
  const FactTable& d = *p.find("d")->facts;
  EXPECT_EQ(d.columns[0].at(0), Value::i32(-1));
  EXPECT_EQ(d.columns[1].at(0), Value::f64(2));
  EXPECT_EQ(d.columns[2].at(0), Value::boolean(true));
  EXPECT_EQ(d.columns[2].at(1), Value::boolean(false));
  EXPECT_EQ(d.columns[4].at(0), Value::i64(5));
  EXPECT_EQ(p.session->names.terms.elements(d.columns[5].at(0))[0], Value::u64(1));
  EXPECT_EQ(p.types("n"), "i64");
  EXPECT_EQ(p.types("m"), "i64");
  EXPECT_EQ(p.find("n")->facts->columns[0].at(0), Value::i64(5));
}

TEST(Infer, TypesFlowThroughRules) {
  const Loaded p = load_valid(R"(
    edge(1, 2).
    path(X, Y) :- edge(X, Y).
    path(X, Z) :- path(X, Y), edge(Y, Z).
    later(X) :- early(X).
    early(X) :- name(X).
    name(a).
    ghost(X) :- nothing(X).
    pred declared(i64).
    follows(X) :- declared(X).
    plain(3). plain(X) :- declared(X).
  )");
  EXPECT_EQ(p.types("path"), "u32, u32");
  EXPECT_EQ(p.types("later"), "symbol");
  EXPECT_EQ(p.types("ghost"), "u64");
  EXPECT_EQ(p.types("follows"), "i64");
  EXPECT_EQ(p.types("plain"), "i64");
  EXPECT_EQ(p.find("plain")->facts->columns[0].at(0), Value::i64(3));
}

TEST(Infer, ArithmeticMakesIntegersSigned) {
  const Loaded p = load_valid(R"(
    a(1). sum2(Z) :- a(X), Z = X + 1.
    b(1). neg(Z) :- b(X), Z = -X.
    c(18446744073709551615). d(Z) :- c(X), Z = X / 2.
    e(1). f(Z) :- e(X), Z = pow(X, 2).
    g(1). h(Z) :- g(X), Z = cast(X, u64).
    i(1). j(Z) :- i(X), Z = if X > 3 then 1.5 else 2.
    k(1). l(Z) :- k(X), Z = max(X, 4).
    r(X) :- between(1, 5, X).
  )");
  EXPECT_EQ(p.types("a"), "i64");
  EXPECT_EQ(p.types("sum2"), "i64");
  EXPECT_EQ(p.types("neg"), "i64");
  EXPECT_EQ(p.types("d"), "u64");
  EXPECT_EQ(p.types("e"), "u32");
  EXPECT_EQ(p.types("f"), "f64");
  EXPECT_EQ(p.types("g"), "u32");
  EXPECT_EQ(p.types("h"), "u64");
  EXPECT_EQ(p.types("i"), "u32");
  EXPECT_EQ(p.types("j"), "f64");
  EXPECT_EQ(p.types("l"), "i64");
  EXPECT_EQ(p.types("r"), "i64");
}

TEST(Infer, DeclaredTypesRuleArithmetic) {
  const Loaded p = load_valid(R"(
    pred n(u32). pred w(f32).
    n(5). w(1).
    m(Y) :- n(X), Y = X - 10.
    v(Y) :- w(X), Y = X * 2 + 0.5.
  )");
  EXPECT_EQ(p.types("m"), "u32");
  EXPECT_EQ(p.types("v"), "f32");
}

// ---- Comparisons ----

TEST(Infer, ComparisonsTakeTheTypeOfTheOtherSide) {
  const Loaded p = load_valid(R"(
    pred f(f64). pred i(i64). pred b(bool). pred s(symbol).
    q1(X) :- f(X), X > 5.
    q2(X) :- i(X), X != 7.
    q3(X) :- b(X), X = true.
    q4(X) :- s(X), X < "m".
    q5(Y) :- i(X), Y = X.
  )");
  EXPECT_EQ(p.rule_of("q1").body[1].rhs.value, Value::f64(5));
  EXPECT_EQ(p.rule_of("q2").body[1].rhs.value, Value::i64(7));
  EXPECT_EQ(p.rule_of("q3").body[1].rhs.value, Value::boolean(true));
  EXPECT_EQ(p.types("q5"), "i64");
}

TEST(Infer, FloatsCompareWithOtherNumbersAsF64) {
  const Loaded p = load_valid(R"(
    pred f(f64). pred g(f32). pred u(u32). n(1).
    q1(X) :- f(X), u(Y), X > Y.
    q2(X) :- f(X), n(Y), Y = X.
    q3(X) :- u(X), X > 2.5.
    q4(X) :- f(X), g(Y), X != Y.
    q5(Z) :- u(X), f(Y), Z = if X < Y then 1 else 2.
  )");
  EXPECT_EQ(p.types("n"), "u32");
  const Literal& compare = p.rule_of("q1").body[2];
  EXPECT_EQ(compare.lhs.kind, TermKind::Variable);
  EXPECT_EQ(compare.rhs.kind, TermKind::Arith);
  EXPECT_EQ(compare.rhs.op, ArithOp::Cast);
  EXPECT_EQ(compare.rhs.type.kind, TypeKind::F64);
  EXPECT_EQ(compare.rhs.args[0].type.kind, TypeKind::U32);
  EXPECT_EQ(p.rule_of("q3").body[1].lhs.op, ArithOp::Cast);
  EXPECT_EQ(p.rule_of("q3").body[1].rhs.value, Value::f64(2.5));
  EXPECT_EQ(p.rule_of("q4").body[2].rhs.op, ArithOp::Cast);
}

TEST(Infer, IntegerTypesDoNotCompare) {
  const Loaded p = load_text(R"(
    pred u(u32). pred i(i64).
    q(X) :- u(X), i(Y), X < Y.
  )");
  EXPECT_EQ(p.codes(), "E0301");
  EXPECT_EQ(p.error(),
            "cannot compare u32 and i64\n"
            "  X: variable X is u32 here\n"
            "  u32: declared u32 here\n"
            "  Y: variable Y is i64 here\n"
            "  i64: declared i64 here\n"
            "  help: use cast(X, i64)");
}

// ---- Lists, terms, built-ins ----

TEST(Infer, Builtins) {
  const Loaded p = load_valid(R"(
    pred bag(u32, list<u32>).
    has(I, X) :- bag(I, L), member(X, L).
    size(I, N) :- bag(I, L), length(L, N).
    at(X) :- bag(_, L), nth(0, L, X).
    both(C) :- bag(1, A), bag(2, B), append(A, B, C).
    sorted(C) :- bag(1, A), sort(A, C).
    first(H, T) :- bag(_, [H | T]).
    edge(a, b).
    out(X, L) :- edge(X, _), findall(Y, edge(X, Y), L).
    good(1). ok :- maplist(good, [1, 2]).
    next(1, a). mapped(L) :- maplist(next, [1], L).
    shape(F, N) :- functor(point(1, 2), F, N).
    parts(L) :- point(1, a) =.. L.
    listed :- is_list([1]).
  )");
  EXPECT_EQ(p.types("has"), "u32, u32");
  EXPECT_EQ(p.types("size"), "u32, u32");
  EXPECT_EQ(p.types("at"), "u32");
  EXPECT_EQ(p.types("both"), "list<u32>");
  EXPECT_EQ(p.types("sorted"), "list<u32>");
  EXPECT_EQ(p.types("first"), "u32, list<u32>");
  EXPECT_EQ(p.types("out"), "symbol, list<symbol>");
  EXPECT_EQ(p.types("good"), "u32");
  EXPECT_EQ(p.types("mapped"), "list<symbol>");
  EXPECT_EQ(p.types("shape"), "symbol, u32");
  EXPECT_EQ(p.types("parts"), "list<term>");
}

TEST(Infer, GroundStructuresBecomeConstants) {
  const Loaded p = load_valid(R"(
    pred bag(list<i32>).
    q :- bag([1, 2]).
    r :- s(f(1, [a])).
    pred s(compound).
  )");
  const Term& list = p.rule_of("q").body[0].args[0];
  EXPECT_EQ(list.kind, TermKind::Constant);
  EXPECT_EQ(to_string(list.type), "list<i32>");
  EXPECT_EQ(p.session->names.terms.elements(list.value)[0], Value::i32(1));
  const Term& compound = p.rule_of("r").body[0].args[0];
  EXPECT_EQ(compound.kind, TermKind::Constant);
  EXPECT_EQ(to_source(compound.value, p.session->names), "f(1, [a])");
}

TEST(Infer, MixedListsWhereTermsAreExpected) {
  const Loaded p = load_valid(R"(
    pred bag(list<term>). pred any(term).
    bag([1, a, [2.5]]). any([1, a]). any(3).
    q(X) :- bag(L), member(X, L).
    r :- bag([1, b]).
  )");
  EXPECT_EQ(p.types("q"), "term");
}

TEST(Infer, ValuesInsideTermsAreConvertedInTheOpen) {
  const Loaded p = load_valid(R"(
    pred n(u32). n(5).
    wrapped(f(X)) :- n(X).
    opened(X) :- wrapped(f(X)).
    found(X) :- wrapped(f(X)), n(X).
    larger(X) :- wrapped(f(X)), X > 3.
    lacks(X) :- n(X), not wrapped(f(X)).
    all(L) :- findall(f(X), n(X), L).
  )");
  EXPECT_EQ(p.types("opened"), "term");
  EXPECT_EQ(p.types("found"), "u32");
  const Rule& wrapped = p.rule_of("wrapped");
  ASSERT_EQ(wrapped.body.size(), 2u);
  EXPECT_EQ(wrapped.body[1].kind, LiteralKind::Compare);
  EXPECT_EQ(wrapped.body[1].rhs.op, ArithOp::Cast);
  EXPECT_EQ(wrapped.body[1].rhs.type.kind, TypeKind::Term);
  EXPECT_EQ(wrapped.body[1].lhs.var, wrapped.head[0].args[0].args[0].var);
  EXPECT_EQ(p.rule_of("found").body[2].rhs.type.kind, TypeKind::Term);
  EXPECT_EQ(p.rule_of("larger").body.back().rhs.args[0].type.kind, TypeKind::Term);
  EXPECT_EQ(p.rule_of("lacks").body.back().rhs.type.kind, TypeKind::Term);
  const Literal& findall = p.rule_of("all").body[0];
  ASSERT_EQ(findall.body.size(), 2u);
  EXPECT_EQ(findall.body[1].rhs.type.kind, TypeKind::Term);
  EXPECT_EQ(p.types("all"), "list<compound>");
}

TEST(Infer, ListThatContainsItself) {
  const Loaded p = load_text("p([X]) :- p(X). p([]).");
  EXPECT_EQ(p.codes(), "E0301");
}

TEST(Infer, TypesNestedTooDeeply) {
  std::string text = "p0(1).\n";
  for (int i = 1; i < 700; ++i) {
    text += "p" + std::to_string(i) + "([X]) :- p" + std::to_string(i - 1) + "(X).\n";
  }
  const Loaded p = load_text(text);
  EXPECT_NE(p.codes().find("E0301"), std::string::npos);
}

// ---- Aggregates ----

TEST(Infer, Aggregates) {
  const Loaded p = load_valid(R"(
    pred u(u32). pred i(i32). pred f(f32). pred s(symbol).
    n(count(X)) :- s(X).
    su(sum(X)) :- u(X).
    si(sum(X)) :- i(X).
    sf(sum(X)) :- f(X).
    mi(min(X)) :- i(X).
    av(avg(X)) :- u(X).
    ls(logsumexp(X)) :- f(X).
    lu(logsumexp(X)) :- u(X).
    plain(3). sp(sum(X)) :- plain(X).
    w(1). lw(logsumexp(X)) :- w(X).
    body(N) :- N = sum X : { i(X) }.
    twice(sum(X)) :- su(X).
  )");
  EXPECT_EQ(p.types("n"), "u64");
  EXPECT_EQ(p.types("su"), "u64");
  EXPECT_EQ(p.types("si"), "i64");
  EXPECT_EQ(p.types("sf"), "f64");
  EXPECT_EQ(p.types("mi"), "i32");
  EXPECT_EQ(p.types("av"), "f64");
  EXPECT_EQ(p.types("ls"), "f64");
  EXPECT_EQ(p.types("lu"), "f64");
  EXPECT_EQ(p.types("u"), "u32");
  EXPECT_EQ(p.types("plain"), "u32");
  EXPECT_EQ(p.types("sp"), "u64");
  EXPECT_EQ(p.types("w"), "f64");
  EXPECT_EQ(p.types("body"), "i64");
  EXPECT_EQ(p.types("twice"), "u64");
}

TEST(Infer, SumsFeedOtherColumns) {
  const Loaded p = load_valid(R"(
    item(1, 5).
    total(K, sum(V)) :- item(K, V).
    grand(sum(T)) :- total(_, T).
    limit(100).
    over(K) :- total(K, T), limit(L), T > L.
    half(H) :- grand(G), H = G / 2.
  )");
  EXPECT_EQ(p.types("total"), "u32, u64");
  EXPECT_EQ(p.types("grand"), "u64");
  EXPECT_EQ(p.types("limit"), "u64");
  EXPECT_EQ(p.types("half"), "u64");
}

// ---- Errors ----

TEST(InferErrors, VariableWithTwoTypes) {
  const Loaded p = load_text(R"(
    pred edge(u32, u32). pred q(i64).
    h(X) :- edge(X, _), q(X), q(X).
  )");
  EXPECT_EQ(p.codes(), "E0301");
  EXPECT_EQ(p.error(),
            "variable X is u32 (from edge/2 column 1) but i64 (from q/1 column 1)\n"
            "  X: u32 here\n"
            "  u32: declared u32 here\n"
            "  i64: declared i64 here\n"
            "  help: use cast(X, i64)");
}

// The columns of edge meet in the first rule; each still names its own declaration.
TEST(InferErrors, DeclarationOfTheColumnItself) {
  const Loaded p =
      load_text("pred edge(u32, u32). pred q(i64). l(X) :- edge(X, X). h(Y) :- edge(_, Y), q(Y).");
  const auto& labels = p.session->diagnostics.all().back().labels;
  ASSERT_EQ(labels.size(), 3u);
  EXPECT_EQ(labels[1].text, "declared u32 here");
  EXPECT_EQ(labels[1].span, p.find("edge")->columns[1].type_span);
}

TEST(InferErrors, VariableAgainstFacts) {
  const Loaded p = load_text("p(a). q(1). r(X) :- p(X), q(X).");
  EXPECT_EQ(p.codes(), "E0301");
  EXPECT_EQ(p.error(),
            "variable X is symbol (from p/1 column 1) but u32 (from q/1 column 1)\n"
            "  X: symbol here\n"
            "  p(a).: symbol because of this fact\n"
            "  q(1).: u32 because of this fact");
}

TEST(InferErrors, LiteralsThatDoNotFit) {
  const Loaded p = load_text(R"(
    pred n(u32). pred s(symbol). pred b(bool).
    n(-1). n(1). n(0.5). n(a). n(4294967296).
    s(5).
    b(2).
    q :- n(-7).
    r(X) :- s(X), X = 3.
  )");
  EXPECT_EQ(p.codes(), "E0302 E0302 E0302 E0302 E0302 E0302 E0302");
  EXPECT_NE(p.text().find("the literal `-1` does not fit u32, the type of column 1 of n/1"),
            std::string::npos)
      << p.text();
  EXPECT_NE(p.text().find("declared u32 here"), std::string::npos);
}

TEST(InferErrors, LiteralInABody) {
  const Loaded p = load_text("p(a). q :- p(5).");
  EXPECT_EQ(p.codes(), "E0302");
  EXPECT_EQ(p.error(),
            "the literal `5` does not fit symbol, the type of column 1 of p/1\n"
            "  p(a).: symbol because of this fact");
}

TEST(InferErrors, ColumnDefinedWithTwoTypes) {
  const Loaded facts = load_text("p(1). p(a). p(b).");
  EXPECT_EQ(facts.codes(), "E0412");
  EXPECT_EQ(facts.error(),
            "column 1 of p/1 is symbol here but u32 elsewhere\n"
            "  p(1).: u32 because of this fact\n"
            "  p(a).: symbol because of this fact\n"
            "  help: make the clauses agree, or declare `pred p(...).`");

  const Loaded rules = load_text(R"(
    pred a(symbol). pred b(u32).
    p(X) :- a(X).
    p(Y) :- b(Y).
    q(X) :- p(X), b(X).
  )");
  EXPECT_EQ(rules.codes(), "E0412");
  EXPECT_EQ(rules.error(),
            "column 1 of p/1 is u32 here but symbol elsewhere\n"
            "  X: symbol here\n"
            "  symbol: declared symbol here\n"
            "  u32: declared u32 here\n"
            "  help: make the clauses agree, or declare `pred p(...).`");

  EXPECT_EQ(load_text("p(1). p(X) :- q(X). q(a).").codes(), "E0412");
  EXPECT_EQ(load_text("p(1). p(a) :- q(X). q(a).").codes(), "E0412");
  EXPECT_EQ(load_text("p(1). p(count(X)) :- q(X). q(a). pred r(u32). r(X) :- p(X).").codes(),
            "E0301");
  EXPECT_EQ(load_text("p(a). p(count(X)) :- q(X). q(a).").codes(), "E0412");
  EXPECT_EQ(load_text("p(a). p(sum(X)) :- q(X). q(1).").codes(), "E0412");
}

TEST(InferErrors, HeadAgainstItsDeclaration) {
  const Loaded p = load_text("pred p(u32). pred q(i64). p(X) :- q(X).");
  EXPECT_EQ(p.codes(), "E0301");
  EXPECT_EQ(p.error(),
            "variable X is i64 (from q/1 column 1) but u32 (from p/1 column 1)\n"
            "  X: i64 here\n"
            "  i64: declared i64 here\n"
            "  u32: declared u32 here\n"
            "  help: use cast(X, u32)");
}

TEST(InferErrors, Arithmetic) {
  const Loaded p = load_text("pred p(u32, u32). bad(X, Z) :- p(X, Y), Z is Y + 0.5.");
  EXPECT_EQ(p.codes(), "E0301");
  EXPECT_EQ(p.error(),
            "cannot add u32 and f64\n"
            "  u32: declared u32 here\n"
            "  0.5: the literal `0.5` is f64\n"
            "  help: use cast(Y, f64)");
  EXPECT_EQ(load_text("pred p(u32). pred q(i64). r(Z) :- p(X), q(Y), Z = X * Y.").codes(), "E0301");
  EXPECT_EQ(load_text("p(a). r(Z) :- p(X), Z = X + 1.").codes(), "E0303");
  EXPECT_EQ(load_text("p(a). r(Z) :- p(X), Z = -X.").codes(), "E0303");
  EXPECT_EQ(load_text("p(a). r(Z) :- p(X), Z = pow(X, 2).").codes(), "E0303");
  EXPECT_EQ(load_text("pred p(f64). r(Z) :- p(X), Z = X % 2.").codes(), "E0301");
  EXPECT_EQ(load_text("p(a). r(X) :- p(L), p(H), between(L, H, X).").codes(), "E0303");
}

TEST(InferErrors, Casts) {
  EXPECT_EQ(load_text("p(a). r(Z) :- p(X), Z = cast(X, u32).").codes(), "E0304");
  EXPECT_EQ(load_text("p(1). r(Z) :- p(X), Z = cast(X, symbol).").codes(), "E0304");
}

TEST(InferErrors, Lists) {
  const Loaded p = load_text("q(X) :- member(X, [1, a]).");
  EXPECT_EQ(p.codes(), "E0305");
  EXPECT_EQ(load_text("p([1, a]).").codes(), "E0305");
  EXPECT_EQ(load_text("p([1]). p([a]).").codes(), "E0412");
  EXPECT_EQ(load_text("pred p(list<u32>). p([a]).").codes(), "E0302");
  EXPECT_EQ(load_text("pred p(list<u32>). q :- p([1, a]).").codes(), "E0302");
  EXPECT_EQ(load_text("pred p(u32). q(N) :- p(L), length(L, N).").codes(), "E0301");
  EXPECT_EQ(load_text("pred n(i64). q(N) :- n(N), length([a], N).").codes(), "E0301");
  EXPECT_EQ(load_text("pred p(u32). q :- p([1]).").codes(), "E0301");
  EXPECT_EQ(load_text("pred p(u32). q(X) :- p(f(X)).").codes(), "E0301");
}

TEST(InferErrors, Terms) {
  EXPECT_EQ(load_text("pred t(term). pred n(u32). q(X) :- t(X), n(X).").codes(), "E0301");
  EXPECT_EQ(load_text("pred t(term). q(Y) :- t(X), Y = X + 1.").codes(), "E0303");
}

TEST(InferErrors, Aggregates) {
  EXPECT_EQ(load_text("s(a). p(sum(X)) :- s(X).").codes(), "E0306");
  EXPECT_EQ(load_text("s(a). p(min(X)) :- s(X).").codes(), "E0306");
  EXPECT_EQ(load_text("p(sum(X)) :- p(X), not p(a).").codes(), "E0306");
  EXPECT_EQ(load_text("s(a). p(avg(X)) :- s(X).").codes(), "E0306");
  EXPECT_EQ(load_text("s(a). p(logsumexp(X)) :- s(X).").codes(), "E0306");
  EXPECT_EQ(load_text("pred s(u32). pred p(i64). p(sum(X)) :- s(X).").codes(), "E0301");
  EXPECT_EQ(load_text("pred s(u32). pred p(u32). p(count(X)) :- s(X).").codes(), "E0301");
}

TEST(InferErrors, OneReportAVariable) {
  const Loaded p = load_text(R"(
    pred a(u32). pred b(symbol).
    q(X) :- a(X), b(X), b(X), a(X), b(X).
    r(X) :- a(X), b(X).
  )");
  EXPECT_EQ(p.codes(), "E0301 E0301");
}

TEST(Infer, StrongNegationSharesTheType) {
  const Loaded p = load_valid("pred a(i64). -p(X) :- a(X). p(3).");
  EXPECT_EQ(p.types("p"), "i64");
}

TEST(Infer, ProbabilitiesEvidenceAndLabels) {
  const Loaded p = load_valid(R"(
    pred coin(i64).
    0.5::coin(1).
    query(coin(1)).
    evidence(coin(1), true).
    nn(net, [X], Y, [0, 1]) :: digit(X, Y).
    nn(other, [X], Y, [cat, dog]) :: animal(Y, X).
  )");
  EXPECT_EQ(p.program->prob_queries[0].args[0].value, Value::i64(1));
  EXPECT_EQ(p.types("digit"), "u64, u32");
  EXPECT_EQ(p.types("animal"), "symbol, u64");
}

TEST(Infer, ModalKeyOfOnePart) {
  const Loaded p = load_valid(R"(
    pred host(u32). pred watched(u32).
    alert(H) :- host(H), know watched([H]).
  )");
  EXPECT_EQ(p.rule_of("alert").body[1].args[0].kind, TermKind::Variable);
  EXPECT_EQ(load_text("pred w(u32). pred h(u32). a(H) :- h(H), know w([H | _]).").codes(), "E0301");
}

TEST(Infer, ManyRules) {
  std::string text = "p0(1, a).\n";
  for (int i = 1; i < 5000; ++i) {
    const std::string n = std::to_string(i);
    text += "p" + n + "(X, Y) :- p" + std::to_string(i - 1) + "(X, Y), X < " + n + ".\n";
  }
  const Loaded p = load_valid(text);
  EXPECT_EQ(p.types("p4999"), "u32, symbol");
}

}  // namespace
}  // namespace xlog::lang
