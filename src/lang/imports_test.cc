#include "lang/imports.h"

#include "lang/lower_fixture.h"

namespace xlog::lang {
namespace {

struct Files {
  TempFolder folder;
  Files(std::initializer_list<std::pair<const char*, const char*>> files) {
    for (const auto& [name, text] : files) folder.write(std::string(name) + ".xlog", text);
  }
};

TEST(Imports, PublicPredicatesAreGlobalAndUnite) {
  Files f{
      {"a", "p(1). q(X) :- p(X)."}, {"b", "p(2)."}, {"main", "use a. use b.\np(3). r(X) :- q(X)."}};
  Lowered low(f.folder, "main.xlog");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.facts("p/1"), "(1) (2) (3)");
  EXPECT_EQ(low.rules(), "q(X) :- p(X).\nr(X) :- q(X).\n");
}

TEST(Imports, SelectionTakesOnlyWhatItNames) {
  Files f{{"m", "p(1). p(1, 2). q(2). s(X) :- q(X). func f(X) = X. func g(X) = X + 1."},
          {"main", "use m::{p, f}.\nr(Y) :- p(X), Y is f(X)."}};
  Lowered low(f.folder, "main.xlog");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.facts("p/1"), "(1)");
  EXPECT_EQ(low.facts("p/2"), "(1, 2)");
  EXPECT_EQ(low.find("q/1"), nullptr);
  EXPECT_EQ(low.rules(), "r(Y) :- p(X), Y is X.\n");
  EXPECT_EQ(Lowered(f.folder, "main.xlog").find("s/1"), nullptr);
}

TEST(Imports, SelectionsOfOneModuleCountTogether) {
  Files f{{"m", "p(X) :- q(X). q(1)."}, {"main", "use m::{p}. use m::{q}.\nr(X) :- p(X)."}};
  EXPECT_EQ(Lowered(f.folder, "main.xlog").codes(), "");
}

TEST(Imports, ImportsOfImportsComeAlong) {
  Files f{{"base", "b(1)."},
          {"m", "use base.\np(X) :- b(X)."},
          {"main", "use m::{p}.\nr(X) :- p(X), b(X)."}};
  EXPECT_EQ(Lowered(f.folder, "main.xlog").codes(), "");
}

TEST(Imports, PrivatePredicatesAreSeparate) {
  Files f{{"a", "private pred h(u32).\nh(1). p(X) :- h(X)."},
          {"b", "private pred h(u32).\nh(2). q(X) :- h(X)."},
          {"main", "use a. use b.\nh(3). r(X) :- h(X), p(X), q(X)."}};
  Lowered low(f.folder, "main.xlog");
  EXPECT_EQ(low.codes(), "");
  std::vector<uint32_t> modules;
  for (const Predicate& predicate : low.program->predicates) {
    if (predicate_signature(predicate, low.session.names) != "h/1") continue;
    modules.push_back(predicate.module);
    EXPECT_EQ(predicate.facts->rows, 1u);
    EXPECT_EQ(predicate.is_private, predicate.module != 0);
  }
  EXPECT_EQ(modules, (std::vector<uint32_t>{1, 2, 0}));
  EXPECT_EQ(low.rules(), "p(X) :- h(X).\nq(X) :- h(X).\nr(X) :- h(X), p(X), q(X).\n");
}

TEST(Imports, FunctionsBringTheirPrivatePredicates) {
  Files f{{"m",
           "private pred t(u32, u32).\nt(1, 2). private func twice(X) = X * 2.\n"
           "func f(X) = R :- t(X, Y), R is twice(Y)."},
          {"main", "use m.\nt(7, 7). r(Y) :- q(X), Y is f(X). q(1)."}};
  Lowered low(f.folder, "main.xlog");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.rules(), "r(Y) :- q(X), t(X, _1), _2 is _1 * 2, Y is _2.\n");
  EXPECT_EQ(low.program->predicates[low.rule(0).body[1].pred.index].module, 1u);
}

TEST(Imports, MainDoesNotSeePrivatePredicates) {
  Files f{{"m", "private pred h(u32).\nh(1). p(X) :- h(X)."},
          {"main", "use m.\nr(X) :- p(X), h(X)."}};
  Lowered low(f.folder, "main.xlog");
  EXPECT_EQ(low.codes(), "W0211");
  ASSERT_EQ(low.first().notes.size(), 1u);
  EXPECT_NE(low.first().notes[0].find("private"), std::string::npos);
}

TEST(Imports, NotSelectedIsExplained) {
  Files f{{"m", "p(1). q(1)."}, {"main", "use m::{p}.\nr(X) :- p(X), q(X)."}};
  Lowered low(f.folder, "main.xlog");
  EXPECT_EQ(low.codes(), "W0211");
  EXPECT_NE(low.first().notes.at(0).find("selects"), std::string::npos);
}

TEST(Imports, FunctionDefinedTwice) {
  Files f{{"a", "func f(X) = X."},
          {"b", "func f(X) = X + 1."},
          {"main", "use a. use b.\np(1)."},
          {"own", "use a.\nfunc f(X) = X.\np(1)."},
          {"other", "use a::{f}. use b.\nfunc g(X) = X.\np(1)."},
          {"c", "use a.\nc(1)."},
          {"diamond", "use a. use c.\np(1)."}};
  EXPECT_EQ(Lowered(f.folder, "main.xlog").codes(), "E0402");
  EXPECT_EQ(Lowered(f.folder, "own.xlog").codes(), "E0402");
  EXPECT_EQ(Lowered(f.folder, "other.xlog").codes(), "E0402");
  EXPECT_EQ(Lowered(f.folder, "diamond.xlog").codes(), "");
}

TEST(Imports, SelectingWhatIsNotThere) {
  Files f{{"m", "private pred h(u32).\nh(1). edge(1)."},
          {"private", "use m::{h}.\np(1)."},
          {"none", "use m::{egde}.\np(1)."}};
  EXPECT_EQ(Lowered(f.folder, "private.xlog").codes(), "E0403");
  Lowered none(f.folder, "none.xlog");
  EXPECT_EQ(none.codes(), "E0404");
  EXPECT_NE(none.first().help_text.find("edge"), std::string::npos);
}

TEST(Imports, WhatOnlyTheMainFileMayHold) {
  for (const char* text : {":- p(1).", "0.5::p(1).", "0.5::p(1); 0.2::p(2).", "0.5::p(X) :- q(X).",
                           "evidence(p(1), true).", "nn(net, [X], Y, [a, b]) :: l(X, Y).",
                           "learnable(W) :: p(X) :- q(X)."}) {
    Files f{{"m", text}, {"main", "use m.\nz(1)."}};
    EXPECT_EQ(Lowered(f.folder, "main.xlog").codes().substr(0, 5), "E0405") << text;
  }
  for (const char* text : {"?- p(1).", "query(p(1)).", "{ p(1) }.", "p(1) ; p(2)."}) {
    Files f{{"m", text}, {"main", "use m.\np(1). z(1)."}};
    Lowered low(f.folder, "main.xlog");
    EXPECT_EQ(low.codes(), "") << text;
    EXPECT_TRUE(low.program->prob_queries.empty());
  }
}

TEST(Imports, PragmasOfModulesAreIgnored) {
  Files f{{"m", "#pragma epistemic_mode = g91\np(1)."}, {"main", "use m.\nz(1)."}};
  Lowered low(f.folder, "main.xlog");
  EXPECT_EQ(low.codes(), "W0510");
  EXPECT_EQ(low.program->pragmas.epistemic_mode, "faeel");
}

TEST(Imports, MissingDependencies) {
  Files f{{"m",
           "p(X) :- q(X). q(1). private pred h(u32). h(1). s(X) :- h(X). func f(X) = g(X). func "
           "g(X) = R :- q(R).\n"
           "l(L) :- findall(X, q(X), L)."},
          {"a", "use m::{p}.\nz(1)."},
          {"b", "use m::{s}.\nz(1)."},
          {"c", "use m::{f}.\nz(1)."},
          {"d", "use m::{l}.\nz(1)."},
          {"e", "use m::{p, q}.\nz(1)."},
          {"g", "use m.\nz(1)."},
          {"n", "use m::{q}.\nn(X) :- p(X)."},
          {"h", "use n.\nz(1)."}};
  Lowered a(f.folder, "a.xlog");
  EXPECT_EQ(a.codes(), "E0406");
  EXPECT_NE(a.first().message.find("`p/1`"), std::string::npos);
  EXPECT_NE(a.first().message.find("`q/1`"), std::string::npos);
  EXPECT_EQ(Lowered(f.folder, "b.xlog").codes(), "E0406");
  EXPECT_EQ(Lowered(f.folder, "c.xlog").codes(), "E0406");
  EXPECT_EQ(Lowered(f.folder, "d.xlog").codes(), "E0406");
  EXPECT_EQ(Lowered(f.folder, "e.xlog").codes(), "");
  EXPECT_EQ(Lowered(f.folder, "g.xlog").codes(), "");
  EXPECT_EQ(Lowered(f.folder, "h.xlog").codes(), "E0406");
}

TEST(Imports, DeclarationsMustAgree) {
  Files f{{"m", "pred p(u32)."},
          {"same", "use m.\npred p(u32).\np(1)."},
          {"other", "use m.\npred p(i64).\np(1)."},
          {"names", "pred p(a: u32). pred p(b: u32).\np(1)."},
          {"unselected", "use n::{q}.\npred p(i64).\np(1)."},
          {"n", "pred p(u32). q(1)."},
          {"arity", "use m.\npred p(u32, u32).\np(1, 2)."}};
  EXPECT_EQ(Lowered(f.folder, "same.xlog").codes(), "");
  EXPECT_EQ(Lowered(f.folder, "other.xlog").codes(), "E0408");
  EXPECT_EQ(Lowered(f.folder, "names.xlog").codes(), "E0408");
  EXPECT_EQ(Lowered(f.folder, "unselected.xlog").codes(), "");
  EXPECT_EQ(Lowered(f.folder, "arity.xlog").codes(), "");
}

TEST(Imports, DomainsMustAgree) {
  Files f{{"m", "domain node : u32.\nm(1)."},
          {"main", "use m::{m}.\npred e(node).\ne(1)."},
          {"other", "use m.\ndomain node : i64.\ne(1)."}};
  EXPECT_EQ(Lowered(f.folder, "main.xlog").codes(), "");
  EXPECT_EQ(Lowered(f.folder, "other.xlog").codes(), "E0409");
}

TEST(Imports, DuplicateFunctionsInAModule) {
  Files f{{"m", "func f(X) = X. func f(X) = X + 1."},
          {"main", "use m.\np(1)."},
          {"n", "private func f(X) = X. private func f(X) = X + 1."},
          {"other", "use n.\np(1)."}};
  EXPECT_EQ(Lowered(f.folder, "main.xlog").codes(), "E0410");
  EXPECT_EQ(Lowered(f.folder, "other.xlog").codes(), "E0501");
}

TEST(Imports, PublicAndPrivate) {
  Files f{{"m", "pred p(u32). private pred p(u32)."}, {"main", "use m.\nz(1)."}};
  EXPECT_EQ(Lowered(f.folder, "main.xlog").codes(), "E0411");
}

TEST(Imports, PrivateInTheMainFile) {
  Files f{{"m", "h(1)."},
          {"main", "use m.\nprivate pred h(u32).\nh(2). r(X) :- h(X). query(h(2))."}};
  Lowered low(f.folder, "main.xlog");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.program->predicates[low.rule(0).body[0].pred.index].module, 0u);
  EXPECT_TRUE(low.program->predicates[low.rule(0).body[0].pred.index].is_private);
  EXPECT_EQ(low.program->prob_queries[0].text, "h(2)");
}

}  // namespace
}  // namespace xlog::lang
