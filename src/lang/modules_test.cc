// Finding and linking files.
#include "lang/lower_fixture.h"

namespace xlog::lang {
namespace {

TEST(Modules, BesideTheImportingFile) {
  TempFolder folder;
  folder.write("lib/graph.xlog", "use util/base.\nedge(1, 2).");
  folder.write("lib/util/base.xlog", "node(1).");
  folder.write("main.xlog", "use lib/graph.\nr(X) :- edge(X, _), node(X).");
  Lowered low(folder, "main.xlog");
  EXPECT_EQ(low.codes(), "");
  ASSERT_EQ(low.program->modules.size(), 3u);
  EXPECT_EQ(low.program->modules[1].name, "util/base");
  EXPECT_EQ(low.program->modules[2].name, "lib/graph");
  EXPECT_EQ(low.facts("edge/2"), "(1, 2)");
  EXPECT_EQ(low.facts("node/1"), "(1)");
}

TEST(Modules, ModulePathInOrder) {
  TempFolder folder;
  folder.write("a/m.xlog", "m(1).");
  folder.write("b/m.xlog", "m(2).");
  folder.write("main.xlog", "use m.\nr(X) :- m(X).");
  EXPECT_EQ(
      Lowered(folder, "main.xlog", with_module_path({folder.path() + "/a", folder.path() + "/b"}))
          .facts("m/1"),
      "(1)");
  EXPECT_EQ(
      Lowered(folder, "main.xlog", with_module_path({folder.path() + "/b", folder.path() + "/a"}))
          .facts("m/1"),
      "(2)");
  folder.write("m.xlog", "m(0).");
  EXPECT_EQ(Lowered(folder, "main.xlog", with_module_path({folder.path() + "/a"})).facts("m/1"),
            "(0)");
}

TEST(Modules, EachFileOnce) {
  TempFolder folder;
  folder.write("base.xlog", "b(1).");
  folder.write("x.xlog", "use base.\nx(1).");
  folder.write("y.xlog", "use base.\ny(1).");
  folder.write("main.xlog", "use x. use y. use base. use x.\nr :- b(1), x(1), y(1).");
  Lowered low(folder, "main.xlog");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.facts("b/1"), "(1)");
  EXPECT_EQ(low.program->modules.size(), 4u);
}

TEST(Modules, NotFoundListsPlacesAndSuggests) {
  TempFolder folder;
  folder.write("graph.xlog", "edge(1, 2).");
  folder.write("main.xlog", "use grap.\np(1).");
  Lowered low(folder, "main.xlog", with_module_path({"/nowhere"}));
  EXPECT_EQ(low.codes(), "E0400");
  EXPECT_FALSE(low.program);
  EXPECT_EQ(low.first().notes.size(), 2u);
  EXPECT_NE(low.first().notes[1].find("/nowhere/grap.xlog"), std::string::npos);
  EXPECT_NE(low.first().help_text.find("`graph`"), std::string::npos);
}

TEST(Modules, Circles) {
  TempFolder folder;
  folder.write("a.xlog", "use b.\na(1).");
  folder.write("b.xlog", "use a.\nb(1).");
  folder.write("main.xlog", "use a.\np(1).");
  Lowered low(folder, "main.xlog");
  EXPECT_EQ(low.codes(), "E0401");
  EXPECT_NE(low.first().message.find("a -> b -> a"), std::string::npos);

  folder.write("self.xlog", "use self.\na(1).");
  EXPECT_EQ(Lowered(folder, "self.xlog").codes(), "E0401");
  folder.write("m.xlog", "use entry.\nm(1).");
  folder.write("entry.xlog", "use m.\np(1).");
  EXPECT_EQ(Lowered(folder, "entry.xlog").codes(), "E0401");
}

TEST(Modules, ErrorsInModulesAreReported) {
  TempFolder folder;
  folder.write("m.xlog", "edge(1, .");
  folder.write("n.xlog", "edge 1.");
  folder.write("main.xlog", "use m. use n.\np(1).");
  Lowered low(folder, "main.xlog");
  EXPECT_GE(low.session.diagnostics.error_count(), 2u);
  EXPECT_FALSE(low.program);
  EXPECT_NE(low.session.sources.place(low.first().span).file.find("m.xlog"), std::string::npos);
}

TEST(Modules, LongChains) {
  TempFolder folder;
  constexpr int kLength = 500;
  for (int i = 0; i < kLength; ++i) {
    const std::string next = i + 1 < kLength ? "use m" + std::to_string(i + 1) + ".\n" : "";
    folder.write("m" + std::to_string(i) + ".xlog", next + "p(" + std::to_string(i) + ").");
  }
  Lowered low(folder, "m0.xlog");
  EXPECT_EQ(low.codes(), "");
  EXPECT_EQ(low.program->modules.size(), static_cast<size_t>(kLength));
  EXPECT_EQ(low.find("p/1")->facts->rows, static_cast<size_t>(kLength));
}

TEST(ReadSource, WhatCannotBeRead) {
  TempFolder folder;
  Session session;
  EXPECT_EQ(read_source(folder.path() + "/missing.xlog", session), nullptr);
  EXPECT_EQ(read_source(folder.path(), session), nullptr);
  ASSERT_EQ(session.diagnostics.error_count(), 2u);
  for (const Diagnostic& diagnostic : session.diagnostics.all()) {
    EXPECT_EQ(diagnostic.code, Code::CannotReadFile);
  }
  EXPECT_NE(session.diagnostics.all()[0].message.find("No such file"), std::string::npos);
  EXPECT_NE(session.diagnostics.all()[1].message.find("directory"), std::string::npos);
}

TEST(ReadSource, NameAsGivenPathCanonical) {
  TempFolder folder;
  folder.write("sub/a.xlog", "p(1).");
  Session session;
  const SourceFile* file = read_source(folder.path() + "/sub/../sub/a.xlog", session);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->name, folder.path() + "/sub/../sub/a.xlog");
  EXPECT_EQ(file->path, std::filesystem::canonical(folder.path() + "/sub/a.xlog").string());
  EXPECT_EQ(file->text, "p(1).");
}

TEST(Load, GivesTypes) {
  Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", "p(1). r(X) :- p(X).");
  const std::optional<Program> program = load(*file, session);
  ASSERT_TRUE(program);
  EXPECT_FALSE(session.diagnostics.has_errors());
  EXPECT_EQ(program->predicates[1].columns[0].type.kind, TypeKind::U32);
}

TEST(Load, NothingAfterSyntaxErrors) {
  Session session;
  const SourceFile* file = session.sources.add("test.xlog", "", "p(1");
  EXPECT_FALSE(load(*file, session));
  EXPECT_TRUE(session.diagnostics.has_errors());
}

}  // namespace
}  // namespace xlog::lang
