#include "io/field.h"

#include <gtest/gtest.h>

namespace xlog::io {
namespace {

using lang::Type;
using lang::TypeKind;
using lang::Value;

class Field : public testing::Test {
 protected:
  lang::Names names;

  // The value as source text, or "-" when the field cannot be read.
  std::string read(std::string_view text, TypeKind kind) {
    Value value;
    if (!parse_field(text, Type{kind, nullptr}, names, value)) return "-";
    EXPECT_TRUE(kind == TypeKind::Term || value.kind == kind);
    return to_source(value, names);
  }
};

TEST_F(Field, Integers) {
  EXPECT_EQ(read("0", TypeKind::U32), "0");
  EXPECT_EQ(read(" 42 ", TypeKind::U32), "42");
  EXPECT_EQ(read("4294967295", TypeKind::U32), "4294967295");
  EXPECT_EQ(read("-2147483648", TypeKind::I32), "-2147483648");
  EXPECT_EQ(read("18446744073709551615", TypeKind::U64), "18446744073709551615");
  EXPECT_EQ(read("-9223372036854775808", TypeKind::I64), "-9223372036854775808");
  EXPECT_EQ(read("-0", TypeKind::U64), "0");
  EXPECT_EQ(read("007", TypeKind::U32), "7");
}

TEST_F(Field, IntegersThatDoNotFit) {
  for (const char* text :
       {"4294967296", "-1", "", " ", "1.0", "x", "1x", "0x10", "+1", "1 2", "-"}) {
    EXPECT_EQ(read(text, TypeKind::U32), "-") << text;
  }
  EXPECT_EQ(read("2147483648", TypeKind::I32), "-");
  EXPECT_EQ(read("-2147483649", TypeKind::I32), "-");
  EXPECT_EQ(read("9223372036854775808", TypeKind::I64), "-");
  EXPECT_EQ(read("-9223372036854775809", TypeKind::I64), "-");
  EXPECT_EQ(read("18446744073709551616", TypeKind::U64), "-");
  EXPECT_EQ(read("99999999999999999999999", TypeKind::U64), "-");
}

TEST_F(Field, Floats) {
  EXPECT_EQ(read("1.5", TypeKind::F64), "1.5");
  EXPECT_EQ(read("3", TypeKind::F64), "3.0");
  EXPECT_EQ(read("-1e-3", TypeKind::F64), "-0.001");
  EXPECT_EQ(read("inf", TypeKind::F64), "inf");
  EXPECT_EQ(read("nan", TypeKind::F64), "nan");
  EXPECT_EQ(read("0.1", TypeKind::F32), "0.1");
  EXPECT_EQ(read("1e39", TypeKind::F32), "-");
  EXPECT_EQ(read("1e999", TypeKind::F64), "-");
  EXPECT_EQ(read("-1e999", TypeKind::F64), "-");
  EXPECT_EQ(read("1e-400", TypeKind::F64), "0.0");
  EXPECT_EQ(read("-1e-400", TypeKind::F64), "-0.0");
  EXPECT_EQ(read("5e-324", TypeKind::F64), "5e-324");
  EXPECT_EQ(read("1e-50", TypeKind::F32), "0.0");
  EXPECT_EQ(read("1e-400", TypeKind::Term), "0.0");
  EXPECT_EQ(read("", TypeKind::F64), "-");
  EXPECT_EQ(read("1.5x", TypeKind::F64), "-");
}

TEST_F(Field, OtherTypes) {
  EXPECT_EQ(read("True", TypeKind::Bool), "true");
  EXPECT_EQ(read("0", TypeKind::Bool), "false");
  EXPECT_EQ(read("2", TypeKind::Bool), "-");
  EXPECT_EQ(read("alice", TypeKind::Symbol), "alice");
  EXPECT_EQ(read("Alice Smith", TypeKind::Symbol), "\"Alice Smith\"");
  EXPECT_EQ(read("", TypeKind::Symbol), "\"\"");
  EXPECT_EQ(read("\xff", TypeKind::Symbol), "-");
  EXPECT_EQ(read("12", TypeKind::Symbol), "\"12\"");
  EXPECT_EQ(read("12", TypeKind::Term), "12");
  EXPECT_EQ(read("1.5", TypeKind::Term), "1.5");
  EXPECT_EQ(read("nan", TypeKind::Term), "nan");
  EXPECT_EQ(read("x", TypeKind::Term), "x");
  EXPECT_EQ(read("[a]", TypeKind::List), "-");
}

TEST_F(Field, IsNumber) {
  for (const char* text : {"1", "-1", " 2.5 ", ".5", "1e9", "99999999999999999999", "1e999"}) {
    EXPECT_TRUE(is_number(text)) << text;
  }
  for (const char* text : {"", "-", "a", "nan", "inf", "1a", "."}) {
    EXPECT_FALSE(is_number(text)) << text;
  }
}

}  // namespace
}  // namespace xlog::io
