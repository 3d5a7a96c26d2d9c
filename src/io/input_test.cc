#include "io/input.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

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
    std::vector<Input> inputs = {parse_input("p", path)};
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

// Loads rules whose relation `p` comes from a file; `between` runs after the survey. Gives the type
// of the column and the rows, or what was reported.
std::string load_column(const std::string& path, const std::function<void()>& between) {
  lang::Session session;
  std::vector<Input> inputs = {parse_input("p", path)};
  lang::LoadOptions options;
  options.inputs = {"p"};
  options.survey = [&](size_t i, uint32_t arity) { return survey(inputs[i], arity); };
  const SourceFile* source = session.sources.add("rules.xlog", "", "q(X) :- p(X).");
  std::optional<lang::Program> program = lang::load(*source, session, options);
  between();
  if (!program || !load_inputs(inputs, *program, session)) {
    return render_text(session.diagnostics, session.sources);
  }
  for (const lang::Predicate& predicate : program->predicates) {
    if (!predicate.is_input) continue;
    return lang::to_string(predicate.columns[0].type) + " " + std::to_string(predicate.facts->rows);
  }
  return "no input";
}

TEST_F(Inputs, APipeIsReadOnce) {
  const std::string path = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string rows;  // more than a pipe holds
  for (int i = 0; i < 50'000; ++i) rows += "name" + std::to_string(i) + "\n";
  for (const auto& [text, wanted] :
       {std::pair<std::string, std::string>{"1\n2\n3\n", "u32 3"}, {rows, "symbol 50000"}}) {
    std::thread writer([&] { std::ofstream(path) << text; });
    EXPECT_EQ(load_column(path, [] {}), wanted);
    writer.join();
  }
  std::thread writer([&] { std::ofstream(path) << std::string("SQLite format 3\0", 16); });
  EXPECT_NE(load_column(path, [] {}).find("cannot be read from a pipe"), std::string::npos);
  writer.join();
}

TEST_F(Inputs, AFileThatChangesAfterItsSurveyIsRightOrRefused) {
  const std::string path = file("changes.csv", "1\n2\n");
  EXPECT_EQ(load_column(path, [&] { file("changes.csv", "7\n8\n9\n"); }), "u32 3");
  const std::string other = load_column(path, [&] { file("changes.csv", "7\nx\n"); });
  EXPECT_NE(other.find("changes.csv"), std::string::npos) << other;
  EXPECT_NE(other.find("`x`"), std::string::npos) << other;
  file("changes.csv", "1\n");
  const std::string wider = load_column(path, [&] { file("changes.csv", "1,2\n"); });
  EXPECT_NE(wider.find("changes.csv"), std::string::npos) << wider;
  const std::string gone = load_column(path, [&] { std::filesystem::remove(path); });
  EXPECT_NE(gone.find("No such file"), std::string::npos) << gone;
}

}  // namespace
}  // namespace xlog::io
