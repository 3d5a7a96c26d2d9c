#include "lang/printer.h"

#include <gtest/gtest.h>

#include "lang/syntax_fixture.h"

namespace xlog::lang {
namespace {

// In canonical form: prints exactly as written.
const char* const kCanonical[] = {
    // Facts and terms.
    "p.",
    "p().",
    "p(1).",
    "-p(1, -2).",
    "p(0xff, 1_000, 007, 0).",
    "p(18446744073709551615, -9223372036854775808).",
    "p(1.5, 0.30, 1e-3, 2.5E10, -0.0, 1.0).",
    R"(p("", "a b", "\"\\\n\té\u{1}", "not").)",
    "p(a, f(a), f(), f(g(X), _)).",
    "p([], [a], [a, b | T], [[1], _ | _]).",
    "p(1..5, X..Y, n - 1..2 * n, (1..2) + 1).",
    "p(domain, use, if, then, else, count, sum, pred).",
    // Arithmetic with the fewest parentheses.
    "p(X + 1 - 2, X - (1 - 2), X * Y / Z % 2, X * (Y / Z), (X + Y) * Z, X + Y * Z).",
    "p(-X, --X, -(3), --3, -(X + 1), -X * Y, -f(X), X - -3, X - -Y).",
    "p(-(1..2), -[a], -\"x\").",
    // Words that are names where nothing else fits.
    "domain(7).",
    "use(x).",
    "pred(1).",
    "private.",
    "func :- if, then, else.",
    "if(X) :- not if(X).",
    "trainable_rule(x).",
    "notable(X) :- knows(X), island(X), possibles(X).",
    "query(1).",
    "query(X) :- p(X).",
    "evidence(a, b).",
    "nn(a, b, c).",
    "learnable(x).",
    "true.",
    // Rules.
    "p(X) :- q(X), r(X, _), _Foo < X.",
    ":- p(X), not q(X).",
    "?- p(X), not q(X), X < 3.",
    "-p(X) :- -q(X), not -r(X), -X < 2, -3 < X, -p(X) < 3.",
    "p :- X = 1, X != 1, X < 1, X <= 1, X > 1, X >= 1, not X < 3.",
    "p(X, count(Y), sum(Z)) :- q(X, Y, Z).",
    "p :- X is Y + 1, T =.. [f | L], X = 1..5.",
    "p :- if = 3, max < if.",
    "p :- not not q, know q, possible q, not know not q, know not q, possible not not q, know "
    "possible know q(X).",
    // Aggregates.
    "n(N) :- N = count : { p(X), not q(X) }.",
    "p :- count : { p(X) } > 3, 2 < sum X : { p(X) } + 1.",
    "p :- X = min Y + 1 : { q(Y) }, X = sum(-Y) : { q(Y) }, X = sum((Y + 1) * 2) : { q(Y) }.",
    "p :- X = sum(then) : { q }, X = sum(Y + count) : { q }, X = sum count : { p } : { q }.",
    "p :- X = max f(Y) : { q(Y) }, X = avg Y : { not q(Y) }, X = logsumexp Y : { Y = count : { r } "
    "}.",
    // Heads.
    "{}.",
    "{ a }.",
    "{ p(X) : d(X), not e(X) ; q(X) } :- r(X).",
    "1 { a ; -b } 2.",
    "N + 1 { p(X) : q(X) } 2 * N :- n(N).",
    "{ a } -1.",
    "max { a } max.",
    "{ count : d(X) ; sum(X) : p(X) ; p : -q }.",
    "a ; b ; -c(1) :- d.",
    "0.3::a.",
    "0.3::a(x) ; 0.7::a(y) :- q.",
    "1 / 3 :: a.",
    "P::a(X) :- w(X, P).",
    "0.5::a :- know b.",
    // Declarations.
    "#pragma epistemic_mode = faeel",
    "#pragma prob_samples = 1000",
    "#pragma prob_confidence = 0.95",
    "#pragma prob_seed = -1",
    "#const n = 5.",
    "#const n = 2 * (m + 1).",
    "pred p().",
    "pred p(u32, name: symbol).",
    "private pred p(list<list<f64>>).",
    "domain node : u32.",
    "use a.",
    "use a/b/c.",
    "use a/b::{x, y}.",
    "func f() = 1.",
    "func f(X) = X * X.",
    "private func f(X: f64, Y) -> list<f64> = g(X, Y).",
    "func f(X) = R :- p(X, R), not q(R).",
    "func f(X) = if X < 0 then -X else if X = 3 then 1 else X + 1.",
    "func f(X) = if (X + 1) * 2 < 0 then 1 else 2.",
    "func f(X) = if -X < max then (if) - 1 else max.",
    "func f(X) = 1 + (if X < 0 then 1 else 2).",
    "func f(X) = if if X < 1 then 2 else 3 < 4 then 5 else 6.",
    "p :- Y = if X < 3 then 1 else 2.",
    "query(p(1, x)).",
    "query(a).",
    "query(-a).",
    "evidence(a, true).",
    "evidence(-b(2), false).",
    "nn(net, [X, Y], Z, [0, cat, -1]) :: digit(X, Z).",
    "nn(net, [X], E) :: embed(X, E).",
    "nn(net, [], E, []) :: e(E).",
    "learnable(W_mask) :: p(X) :- q(X).",
    "learnable(w) :: p(X) :- q(X).",
    "trainable_rule(r1, weight = w) :: p(X) :- q(X).",
    "trainable_rule(r1, weight = 0.5 + X) :: p(X) :- q(X).",
};

TEST(Printer, PrintsCanonicalTextAsItIs) {
  for (const char* text : kCanonical) {
    const Parsed parsed(text);
    EXPECT_TRUE(parsed.errors().empty()) << text;
    EXPECT_EQ(parsed.printed(), std::string(text) + "\n");
  }
}

TEST(Printer, IsTheInverseOfTheParser) {
  for (const char* text : kCanonical) {
    Parsed once(text);
    const Module again = parse(*once.sources.add("again", "", once.printed()), once.names,
                               once.diagnostics, {.bulk_facts = false});
    ASSERT_EQ(again.statements.size(), 1u) << text;
    EXPECT_TRUE(equal(once.module.statements[0], again.statements[0])) << text;
  }
}

TEST(Printer, CanonicalStatementsDiffer) {
  Parsed all("");
  std::vector<Module> modules;
  for (const char* text : kCanonical) {
    modules.push_back(
        parse(*all.sources.add(text, "", text), all.names, all.diagnostics, {.bulk_facts = false}));
  }
  for (size_t i = 0; i < modules.size(); ++i) {
    for (size_t j = 0; j < modules.size(); ++j) {
      EXPECT_EQ(equal(modules[i].statements[0], modules[j].statements[0]), i == j)
          << kCanonical[i] << kCanonical[j];
    }
  }
}

TEST(Printer, PrintsOtherSpellingsCanonically) {
  const std::pair<const char*, const char*> cases[] = {
      {"p( 1,2 ) .", "p(1, 2).\n"},
      {"p:-X==1.", "p :- X = 1.\n"},
      {"a|b.", "a ; b.\n"},
      {"pred p.", "pred p().\n"},
      {"#pragma magic_sets=on.", "#pragma magic_sets = on\n"},
      {"p(((X)), (1 + 2) + 3, 1 + (2 * 3), - 4, -0).", "p(X, 1 + 2 + 3, 1 + 2 * 3, -4, 0).\n"},
      {"p(\"\\u{41}\").", "p(\"A\").\n"},
      {"0.5 :: a.", "0.5::a.\n"},
      {"p :- (q(X)), -(r).", "p :- q(X), -r.\n"},
      {"p :- N=count:{q}, sum(X):{q(X)}=1, count():{q}=2.",
       "p :- N = count : { q }, sum X : { q(X) } = 1, count : { q } = 2.\n"},
  };
  for (const auto& [text, printed] : cases) {
    const Parsed parsed(text);
    EXPECT_TRUE(parsed.errors().empty()) << text;
    EXPECT_EQ(parsed.printed(), printed);
  }
}

TEST(Printer, PrintsParts) {
  const Parsed parsed("p(X) :- q(X + 1), not -r.");
  const auto& rule = parsed.only<ast::Rule>();
  EXPECT_EQ(print(rule.head[0].atom, parsed.names), "p(X)");
  EXPECT_EQ(print(rule.body[0].atom.args[0], parsed.names), "X + 1");
  EXPECT_EQ(print(rule.body[1], parsed.names), "not -r");
  EXPECT_EQ(print(rule.body, parsed.names), "q(X + 1), not -r");
  EXPECT_EQ(print_tall(parsed.module.statements[0], parsed.module, parsed.names),
            "p(X) :-\n    q(X + 1),\n    not -r.");
}

TEST(Printer, PrintsFactTables) {
  const Parsed parsed("p(1, a). p(\"B c\", -2.5). q. -p(18446744073709551615, x).", ParseOptions{});
  EXPECT_EQ(parsed.printed(), "p(1, a).\np(\"B c\", -2.5).\nq.\n-p(18446744073709551615, x).\n");
}

}  // namespace
}  // namespace xlog::lang
