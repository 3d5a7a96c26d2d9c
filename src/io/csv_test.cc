#include "io/csv.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace xlog::io {
namespace {

using lang::PredId;
using lang::Type;
using lang::TypeKind;

// A program with one predicate to load into.
class Csv : public testing::Test {
 protected:
  lang::Session session;
  lang::Program program;

  PredId predicate(const std::string& name,
                   const std::vector<std::pair<std::string, TypeKind>>& columns) {
    lang::Predicate& p = program.predicates.emplace_back();
    p.name = session.names.symbols.intern(name);
    p.arity = static_cast<uint32_t>(columns.size());
    for (const auto& [column, kind] : columns) {
      p.columns.push_back({session.names.symbols.intern(column), Type{kind, nullptr}, {}});
    }
    p.declared = true;
    p.is_input = true;
    return {static_cast<uint32_t>(program.predicates.size() - 1)};
  }

  std::vector<std::string> rows(PredId id) {
    std::vector<std::string> out;
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

  bool load(PredId id, std::string_view text, const std::string& name = "data.csv") {
    ByteSource source(text);
    FactLoader loader(name, id, program, session);
    return load_csv(source, loader);
  }
  std::string errors() { return render_text(session.diagnostics, session.sources); }
};

using Lines = std::vector<std::string>;

TEST_F(Csv, ReadsTypedRows) {
  const PredId p =
      predicate("p", {{"", TypeKind::U32}, {"", TypeKind::Symbol}, {"", TypeKind::F64}});
  ASSERT_TRUE(load(p, "1,a,0.5\n2,\"b c\",7\r\n")) << errors();
  EXPECT_EQ(rows(p), (Lines{"1 a 0.5", "2 \"b c\" 7.0"}));
  ASSERT_TRUE(load(p, "3\tx\t1\n", "more.tsv"));  // rows add
  EXPECT_EQ(rows(p).size(), 3u);
}

TEST_F(Csv, UnnamedHeaderIsSkipped) {
  const PredId p = predicate("p", {{"", TypeKind::U32}, {"", TypeKind::Symbol}});
  ASSERT_TRUE(load(p, "id,name\n1,a\n")) << errors();
  EXPECT_EQ(rows(p), (Lines{"1 a"}));
}

TEST_F(Csv, ABadFirstRowIsNotAHeader) {
  const PredId p = predicate("p", {{"", TypeKind::U32}, {"", TypeKind::U32}});
  EXPECT_FALSE(load(p, "x,5\n1,2\n"));
  EXPECT_NE(errors().find("`x` is not a u32"), std::string::npos) << errors();
}

TEST_F(Csv, NamedColumnsFollowTheHeader) {
  const PredId p = predicate("p", {{"src", TypeKind::Symbol}, {"dst", TypeKind::Symbol}});
  ASSERT_TRUE(load(p, "weight, dst ,src\n9,b,a\n")) << errors();
  EXPECT_EQ(rows(p), (Lines{"a b"}));
  ASSERT_TRUE(load(p, "c,d\n")) << errors();  // no header
  EXPECT_EQ(rows(p), (Lines{"a b", "c d"}));
}

TEST_F(Csv, HeaderWithoutADeclaredColumn) {
  const PredId p = predicate("p", {{"src", TypeKind::U32}, {"dst", TypeKind::U32}});
  EXPECT_FALSE(load(p, "from,dst\n1,2\n"));
  EXPECT_NE(errors().find("does not name column `src` of `p/2`\n  --> data.csv:1"),
            std::string::npos)
      << errors();
  EXPECT_NE(errors().find("`p/2` has the columns: src, dst"), std::string::npos);
  EXPECT_NE(errors().find("the file has the columns: from, dst"), std::string::npos);
}

TEST_F(Csv, HeaderWithAColumnTwice) {
  const PredId p = predicate("p", {{"src", TypeKind::U32}, {"dst", TypeKind::U32}});
  EXPECT_FALSE(load(p, "src,dst,src\n1,2,3\n"));
  EXPECT_NE(errors().find("names column `src` of `p/2` 2 times"), std::string::npos) << errors();
}

TEST_F(Csv, RowsHaveAsManyFieldsAsTheHeader) {
  const PredId p = predicate("p", {{"src", TypeKind::U32}, {"dst", TypeKind::U32}});
  EXPECT_FALSE(load(p, "src,note,dst\n1,x,3\n1,2\n"));
  EXPECT_NE(errors().find("2 fields, but the header has 3\n  --> data.csv:3"), std::string::npos)
      << errors();
}

TEST_F(Csv, ErrorsNamePlaceColumnTextAndType) {
  const PredId p = predicate("p", {{"id", TypeKind::U32}, {"age", TypeKind::I32}});
  EXPECT_FALSE(load(p, "id,age\n1,2\n1,abc\n-1,3\n1\n1,2,3\n"));
  const std::string text = errors();
  EXPECT_NE(text.find("column `age` of `p/2`: `abc` is not a i32\n  --> data.csv:3"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("column `id` of `p/2`: `-1` is not a u32\n  --> data.csv:4"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1 field, but `p/2` needs 2\n  --> data.csv:5"), std::string::npos) << text;
  EXPECT_NE(text.find("3 fields, but `p/2` needs 2\n  --> data.csv:6"), std::string::npos) << text;
  EXPECT_TRUE(rows(p).empty());
}

TEST_F(Csv, NothingOfABadFileIsKept) {
  const PredId p = predicate("p", {{"", TypeKind::U32}});
  ASSERT_TRUE(load(p, "1\n2\n"));
  EXPECT_FALSE(load(p, "3\nx\n4\n"));
  EXPECT_EQ(rows(p), (Lines{"1", "2"}));
  EXPECT_EQ(program[p].facts->columns[0].size(), 2u);
}

TEST_F(Csv, SuggestsADeclaration) {
  const PredId p = predicate(
      "p", {{"", TypeKind::U64}, {"", TypeKind::U32}, {"", TypeKind::U32}, {"", TypeKind::U32}});
  program[p].declared = false;
  EXPECT_FALSE(load(p, "a,1,-1,0.5\n"));
  EXPECT_NE(errors().find("`pred p(symbol, u32, i64, f64).` would fit"), std::string::npos)
      << errors();
}

TEST_F(Csv, StopsAfterTenErrors) {
  const PredId p = predicate("p", {{"", TypeKind::U32}, {"", TypeKind::U32}});
  std::string text = "1,2\n";
  for (int i = 0; i < 100; ++i) text += "x,y\n";
  EXPECT_FALSE(load(p, text));
  EXPECT_EQ(session.diagnostics.error_count(), 10u);
}

TEST_F(Csv, Quotes) {
  const PredId p = predicate("p", {{"", TypeKind::Symbol}});
  EXPECT_FALSE(load(p, "a\n\"b\nc\n"));
  EXPECT_NE(errors().find("a quoted field does not end\n  --> data.csv:2"), std::string::npos)
      << errors();
}

TEST_F(Csv, ColumnsThatCannotBeRead) {
  const PredId p = predicate("p", {{"", TypeKind::Symbol}});
  program[p].columns[0].type = Type::list_of(Type{TypeKind::U32, nullptr});
  EXPECT_FALSE(load(p, "a\n"));
  EXPECT_EQ(session.diagnostics.all()[0].code, Code::NotSupportedByEngine);
  const PredId q = predicate("q", {});
  EXPECT_FALSE(load(q, "a\n"));
}

TEST_F(Csv, EmptyFile) {
  const PredId p = predicate("p", {{"id", TypeKind::U32}});
  EXPECT_TRUE(load(p, ""));
  EXPECT_TRUE(load(p, "id\n"));
  EXPECT_TRUE(rows(p).empty());
}

TEST_F(Csv, TheRowOfALateErrorIsNamed) {
  const PredId p = predicate("p", {{"", TypeKind::U32}, {"", TypeKind::Symbol}});
  std::string text;
  for (int i = 1; i < 1'234'567; ++i) text += "17,a\n";
  EXPECT_FALSE(load(p, text + "x,a\n17,a\n"));
  EXPECT_NE(errors().find("`x` is not a u32\n  --> data.csv:1234567\n"), std::string::npos)
      << errors();
  EXPECT_TRUE(rows(p).empty());
}

// Every value of a column as text, read again, is the value: many at once, as the fast way takes
// them.
TEST_F(Csv, RandomValuesReadBack) {
  std::mt19937_64 random(7);
  const PredId p = predicate("p", {{"", TypeKind::U32},
                                   {"", TypeKind::U64},
                                   {"", TypeKind::I32},
                                   {"", TypeKind::I64},
                                   {"", TypeKind::F32},
                                   {"", TypeKind::F64},
                                   {"", TypeKind::Symbol},
                                   {"", TypeKind::Bool}});
  std::string text;
  Lines wanted;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t bits = random() >> (random() % 64);
    const lang::Value values[] = {
        lang::Value::u32(static_cast<uint32_t>(bits)),
        lang::Value::u64(bits),
        lang::Value::i32(static_cast<int32_t>(bits)),
        lang::Value::i64(static_cast<int64_t>(random() % 2 == 0 ? bits : 0 - bits)),
        lang::Value::f32(std::bit_cast<float>(static_cast<uint32_t>(bits))),
        lang::Value::f64(std::bit_cast<double>(random())),
        lang::Value::symbol(session.names.symbols.intern("s" + std::to_string(bits % 1000))),
        lang::Value::boolean(bits % 2 == 1)};
    std::string line;
    for (const lang::Value& value : values) {
      text += (line.empty() ? "" : ",") + to_raw(value, session.names);
      line += (line.empty() ? "" : " ") + to_source(value, session.names);
    }
    text += "\n";
    wanted.push_back(line);
  }
  ASSERT_TRUE(load(p, text)) << errors();
  EXPECT_EQ(rows(p), wanted);
}

}  // namespace
}  // namespace xlog::io
