#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <random>

#include "io/sqlite.h"
#include "io/sqlite_read.h"
#include "io/sqlite_write.h"

namespace xlog::io {
namespace {

namespace fs = std::filesystem;
using lang::PredId;
using lang::Type;
using lang::TypeKind;
using lang::Value;
using Lines = std::vector<std::string>;

class Sqlite : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "xlog_sqlite_test.XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder); }
  std::string path(const std::string& name) const { return (folder / name).string(); }

  std::string database(const std::string& sql) {
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(path("graph.db").c_str(), &handle), SQLITE_OK);
    const Database closes(handle);
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    return path("graph.db");
  }

  PredId predicate(const std::vector<std::pair<std::string, TypeKind>>& columns) {
    lang::Predicate& p = program.predicates.emplace_back();
    p.name = session.names.symbols.intern("p");
    p.arity = static_cast<uint32_t>(columns.size());
    for (const auto& [column, kind] : columns) {
      p.columns.push_back({session.names.symbols.intern(column), Type{kind, nullptr}, {}});
    }
    return {static_cast<uint32_t>(program.predicates.size() - 1)};
  }

  bool load(PredId id, const std::string& file, const std::string& from) {
    FactLoader loader(file, id, program, session);
    return load_sqlite(from, loader);
  }
  Lines rows(PredId id) {
    Lines out;
    const lang::FactTable* table = program[id].facts.get();
    for (size_t row = 0; table != nullptr && row < table->rows; ++row) {
      std::string line;
      for (const lang::FactColumn& column : table->columns) {
        line += (line.empty() ? "" : " ") + to_source(column.at(row), session.names);
      }
      out.push_back(line);
    }
    return out;
  }
  std::string errors() { return render_text(session.diagnostics, session.sources); }
  bool says(const std::string& text) { return errors().find(text) != std::string::npos; }

  fs::path folder;
  lang::Session session;
  lang::Program program;
};

TEST_F(Sqlite, ColumnsByName) {
  const std::string db = database(
      "CREATE TABLE edge(Dst TEXT, note TEXT, Src TEXT); INSERT INTO edge VALUES ('b', NULL, 'a');"
      "CREATE VIEW back AS SELECT Src AS dst, Dst AS src FROM edge");
  const PredId p = predicate({{"src", TypeKind::Symbol}, {"dst", TypeKind::Symbol}});
  ASSERT_TRUE(load(p, db, "edge")) << errors();
  ASSERT_TRUE(load(p, db, "BACK")) << errors();
  ASSERT_TRUE(load(p, db, "select 'x', 'y';")) << errors();               // by position
  ASSERT_TRUE(load(p, db, "SELECT 'x' AS dst, 'y' AS src")) << errors();  // by name
  EXPECT_EQ(rows(p), (Lines{"a b", "b a", "x y", "y x"}));
}

TEST_F(Sqlite, ColumnsByPosition) {
  const std::string db = database("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2.5)");
  const PredId p = predicate({{"", TypeKind::U32}, {"", TypeKind::F64}});
  ASSERT_TRUE(load(p, db, "t")) << errors();
  EXPECT_EQ(rows(p), Lines{"1 2.5"});
  const PredId q = predicate({{"", TypeKind::U32}});
  EXPECT_FALSE(load(q, db, "t"));
  EXPECT_TRUE(says("2 columns, but `p/1` needs 1")) << errors();
}

TEST_F(Sqlite, NamesThatDoNotMatch) {
  const std::string db = database("CREATE TABLE t(a, b)");
  const PredId p = predicate({{"a", TypeKind::U32}, {"c", TypeKind::U32}});
  EXPECT_FALSE(load(p, db, "t"));
  EXPECT_TRUE(says("table `t` does not name column `c` of `p/2`")) << errors();
  EXPECT_TRUE(says("the file has the columns: a, b")) << errors();
}

TEST_F(Sqlite, TypesAreStrict) {
  const std::string db = database(
      "CREATE TABLE t(v); INSERT INTO t VALUES (1), (-1), (4294967296), (1.5), ('x'), ('1'), "
      "(NULL), (x'00')");
  const PredId u = predicate({{"v", TypeKind::U32}});
  EXPECT_FALSE(load(u, db, "t"));
  EXPECT_TRUE(says("column `v` of `p/1`: the integer -1 is not a u32\n  --> " + db + ":t:2"))
      << errors();
  EXPECT_TRUE(says("the integer 4294967296 is not a u32")) << errors();
  EXPECT_TRUE(says("the real 1.5 is not a u32")) << errors();
  EXPECT_TRUE(says("the text `1` is not a u32\n  --> " + db + ":t:6")) << errors();
  EXPECT_TRUE(says("NULL is not a u32\n  --> " + db + ":t:7")) << errors();
  EXPECT_TRUE(says("a blob is not a u32")) << errors();
  EXPECT_TRUE(rows(u).empty());
  session.diagnostics.clear();
  const PredId s = predicate({{"v", TypeKind::Symbol}});
  EXPECT_FALSE(load(s, db, "SELECT v FROM t LIMIT 1"));
  EXPECT_TRUE(says("the integer 1 is not a symbol\n  --> " + db + ":query:1")) << errors();
}

TEST_F(Sqlite, StopsAfterTenErrors) {
  const std::string db = database(
      "CREATE TABLE t(v); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 99)"
      "INSERT INTO t SELECT 'x' FROM n");
  const PredId p = predicate({{"v", TypeKind::U32}});
  EXPECT_FALSE(load(p, db, "t"));
  EXPECT_EQ(session.diagnostics.error_count(), 10u);
  EXPECT_TRUE(says("too many errors"));
}

TEST_F(Sqlite, WhatCannotBeSelected) {
  const std::string db = database("CREATE TABLE edge(a); CREATE TABLE node(a)");
  const PredId p = predicate({{"a", TypeKind::U32}});
  for (const auto& [from, message] : std::vector<std::pair<std::string, std::string>>{
           {"egde", "no table or view `egde`; it has: edge, node"},
           {"SELECT b FROM edge", "no such column: b"},
           {"SELECT 1; SELECT 2", "more than one statement"},
           {"WITH x AS (SELECT 1) DELETE FROM edge", "does not select rows"},
           {"edge\" ; DROP TABLE node --", "no table or view"}}) {
    EXPECT_FALSE(load(p, db, from)) << from;
    EXPECT_TRUE(says(message)) << errors();
    session.diagnostics.clear();
  }
}

TEST_F(Sqlite, ADamagedDatabaseIsAnError) {
  const std::string db = database(
      "CREATE TABLE t(v TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
      "LIMIT 5000) INSERT INTO t SELECT hex(zeroblob(50)) FROM n");
  fs::resize_file(db, fs::file_size(db) / 2);
  const PredId p = predicate({{"v", TypeKind::Symbol}});
  EXPECT_FALSE(load(p, db, "t"));
  EXPECT_TRUE(says("malformed")) << errors();
  EXPECT_TRUE(rows(p).empty());
}

// ---- Writing ----

TEST_F(Sqlite, RandomAnswersReadBack) {
  const std::vector<std::pair<std::string, TypeKind>> columns = {
      {"A", TypeKind::U32}, {"B", TypeKind::U64}, {"C", TypeKind::I32},    {"D", TypeKind::I64},
      {"E", TypeKind::F32}, {"F", TypeKind::F64}, {"G", TypeKind::Symbol}, {"H", TypeKind::Bool}};
  std::mt19937_64 random(13);
  program.queries.resize(1);
  for (const auto& column : columns) {
    program.queries[0].columns.push_back(session.names.symbols.intern(column.first));
  }
  logic::QueryAnswer query;
  Lines wanted;
  static const std::string kTexts[] = {"",   "a",   "two words", "quote ' \" \n",
                                       "12", "nan", "\xc3\xa4",  std::string("a\0b", 3)};
  for (int i = 0; i < 3000; ++i) {
    const uint64_t bits = random() >> (random() % 64);
    const double odd[] = {0.0, 1e308, NAN, INFINITY, -INFINITY};
    logic::Row row;
    row.values = {Value::u32(static_cast<uint32_t>(bits)),
                  Value::u64(bits),
                  Value::i32(static_cast<int32_t>(bits)),
                  Value::i64(static_cast<int64_t>(random())),
                  Value::f32(std::bit_cast<float>(static_cast<uint32_t>(random()))),
                  i < 5 ? Value::f64(odd[i]) : Value::f64(std::bit_cast<double>(random())),
                  Value::symbol(session.names.symbols.intern(kTexts[bits % std::size(kTexts)])),
                  Value::boolean(bits % 2 == 1)};
    std::string line;
    for (const Value& value : row.values) {
      line += (line.empty() ? "" : " ") + to_source(value, session.names);
    }
    wanted.push_back(line);
    query.rows.push_back(std::move(row));
  }
  logic::Answer answer;
  answer.views = {{1, {std::move(query)}, {}}};
  const Results results{program, answer, session, all_queries(program)};
  ASSERT_EQ(write_sqlite(database(""), results), "");
  const PredId p = predicate(columns);
  ASSERT_TRUE(load(p, path("graph.db"), "query_1")) << errors();
  EXPECT_EQ(rows(p), wanted);
}

TEST_F(Sqlite, NamesThatDifferInCaseOnly) {
  program.queries.resize(2);
  program.queries[0].columns = {session.names.symbols.intern("Ab"),
                                session.names.symbols.intern("AB"),
                                session.names.symbols.intern("Status")};
  logic::Answer answer;
  const Value one = Value::u32(1);
  answer.views = {{1, {{{{{one, one, one}, logic::RowStatus::Possible}}}, {}}, {}}};
  const Results results{program, answer, session, all_queries(program)};
  ASSERT_EQ(write_sqlite(database(""), results), "");
  const PredId p = predicate({{"ab_2", TypeKind::U32}, {"status_2", TypeKind::Symbol}});
  ASSERT_TRUE(load(p, path("graph.db"), "query_1")) << errors();
  EXPECT_EQ(rows(p), Lines{"1 \"possible\""});
  const PredId q = predicate({{"answer", TypeKind::Symbol}});
  ASSERT_TRUE(load(q, path("graph.db"), "query_2")) << errors();
  EXPECT_EQ(rows(q), Lines{"false"});
}

TEST_F(Sqlite, OtherTablesAreAReasonToKeepAFile) {
  EXPECT_EQ(reason_to_keep_sqlite(path("missing.db")), "");
  const std::string db = database("CREATE TABLE query_1(a)");
  EXPECT_EQ(reason_to_keep_sqlite(db), "");
  database("CREATE TABLE people(a)");
  EXPECT_NE(reason_to_keep_sqlite(db).find("`people`"), std::string::npos);
}

}  // namespace
}  // namespace xlog::io
