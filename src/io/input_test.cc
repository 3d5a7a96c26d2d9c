#include "io/input.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "io/sqlite.h"
#include "io/survey.h"

namespace xlog::io {
namespace {

namespace fs = std::filesystem;

class Inputs : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "xlog_input_test.XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string file(const std::string& name, const std::string& contents) {
    const std::string path = (folder / name).string();
    std::ofstream(path, std::ios::binary) << contents;
    return path;
  }

  fs::path folder;
};

TEST_F(Inputs, SplitsFileAndTable) {
  const auto parsed = [](const std::string& text) {
    const Input input = parse_input("edge", text);
    return input.path + " | " + input.table;
  };
  const std::string db = file("graph", "");
  EXPECT_EQ(parsed(db), db + " | ");
  EXPECT_EQ(parsed(db + ":edges"), db + " | edges");
  EXPECT_EQ(parsed(db + ":SELECT a || ':' FROM t"), db + " | SELECT a || ':' FROM t");
  const std::string odd = file("a:b.csv", "");
  EXPECT_EQ(parsed(odd), odd + " | ");
  EXPECT_EQ(parsed(odd + ":t"), odd + " | t");
  // Files that do not exist: by the ending.
  EXPECT_EQ(parsed("no/such.db:edges"), "no/such.db | edges");
  EXPECT_EQ(parsed("no/such.sqlite3:edges"), "no/such.sqlite3 | edges");
  EXPECT_EQ(parsed("no/such:edges"), "no/such:edges | ");
  EXPECT_EQ(parsed("-"), "- | ");
}

TEST_F(Inputs, FindsTheRelationAndSaysWhatIsWrong) {
  lang::Session session;
  lang::Program program;
  for (const uint32_t arity : {1u, 2u}) {
    lang::Predicate& p = program.predicates.emplace_back();
    p.name = session.names.symbols.intern("edge");
    p.arity = arity;
    for (uint32_t c = 0; c < arity; ++c) {
      p.columns.push_back({{}, lang::Type{lang::TypeKind::U32, nullptr}, {}});
    }
    p.is_input = true;
  }
  const std::string path = file("edge.csv", "1\n2\n");
  const auto errors = [&] { return render_text(session.diagnostics, session.sources); };
  EXPECT_TRUE(load_inputs({{"edge/1", path, ""}}, program, session)) << errors();
  EXPECT_EQ(program.predicates[0].facts->rows, 2u);
  EXPECT_FALSE(load_inputs({{"edge/1", path + ".missing", ""}}, program, session));
  EXPECT_NE(errors().find("No such file"), std::string::npos) << errors();
  EXPECT_FALSE(load_inputs({{"edge/1", path, "t"}}, program, session));
  EXPECT_NE(errors().find("no SQLite database"), std::string::npos) << errors();
}

// The types that a relation gets from its rules and a file.
TEST_F(Inputs, WhatNothingDeclaresFollowsFromTheData) {
  const auto types = [&](const std::string& path, const std::string& rules) {
    lang::Session session;
    const std::vector<Input> inputs = {parse_input("p", path)};
    lang::LoadOptions options;
    options.inputs = {"p"};
    options.survey = [&](size_t i, uint32_t arity) { return survey(inputs[i], arity); };
    const SourceFile* source = session.sources.add("rules.xlog", "", rules);
    std::optional<lang::Program> program = lang::load(*source, session, options);
    EXPECT_TRUE(program && !session.diagnostics.has_errors()) << path;
    if (!program) return std::string();
    EXPECT_TRUE(load_inputs(inputs, *program, session)) << path;
    std::string text;
    for (const lang::Predicate& predicate : program->predicates) {
      if (!predicate.is_input) continue;
      for (const lang::PredicateColumn& column : predicate.columns) {
        text += lang::to_string(column.type) + " ";
      }
      text += std::to_string(predicate.facts->rows);
    }
    return text;
  };
  const std::string copy = "q(X, Y) :- p(X, Y).";
  EXPECT_EQ(types(file("a.csv", "1,2\n3,4294967295\n"), copy), "u32 u32 2");
  EXPECT_EQ(types(file("b.csv", "1,-2\n3,4294967296\n"), copy), "u32 i64 2");
  EXPECT_EQ(types(file("c.csv", "1,0.5\nx,3\n"), copy), "symbol f64 2");
  EXPECT_EQ(types(file("d.csv", "from,to\n1,x\n2,y\n"), copy), "u32 symbol 2");
  EXPECT_EQ(types(file("e.csv", "from,to\na,x\n"), copy), "symbol symbol 2");
  EXPECT_EQ(types(file("f.csv", "18446744073709551615,1\n"), copy), "u64 u32 1");
  EXPECT_EQ(types(file("g.csv", "1,x\n"), "q(X) :- p(X, Y). q(Y) :- p(X, Y)."), "symbol symbol 1");
  // The rules come first.
  EXPECT_EQ(types(file("i.csv", "1,2\n"), "q(X) :- p(X, \"2\")."), "u32 symbol 1");
  EXPECT_EQ(types(file("h.csv", "1,2\n"), "q(X - 10) :- p(X, _)."), "i64 u32 1");

  const std::string path = (folder / "graph.db").string();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  const Database closes(handle);
  ASSERT_EQ(sqlite3_exec(handle, "CREATE TABLE p(a, b); INSERT INTO p VALUES (1, 'x'), (-7, 'y')",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(types(path, copy), "i64 symbol 2");
}

}  // namespace
}  // namespace xlog::io
