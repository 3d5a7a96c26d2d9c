#include "io/column_reader.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "io/field.h"

namespace xlog::io {
namespace {

using lang::Type;
using lang::TypeKind;

// The fast way and parse_field agree on every text: whether it can be read, and as what.
void expect_same(const std::string& text, TypeKind kind, lang::Names& names) {
  const Type type{kind, nullptr};
  lang::Value wanted;
  const bool readable = parse_field(text, type, names, wanted);

  const std::string padded = text + "9999999999999999";  // what stands behind must not matter
  const std::string_view field = std::string_view(padded).substr(0, text.size());
  lang::FactColumn column;
  column.convert(type, names);
  ColumnReader reader;
  ASSERT_EQ(reader.append({&field, 1, 1, false}, column, names), readable) << text;
  if (readable) {
    ASSERT_EQ(column.at(0), wanted) << text;
  }
}

constexpr TypeKind kKinds[] = {TypeKind::U32,  TypeKind::U64,    TypeKind::I32,
                               TypeKind::I64,  TypeKind::F32,    TypeKind::F64,
                               TypeKind::Bool, TypeKind::Symbol, TypeKind::Term};

TEST(ColumnReader, ReadsAsParseFieldDoes) {
  lang::Names names;
  for (const TypeKind kind : kKinds) {
    for (const std::string text : {"",
                                   "0",
                                   "-0",
                                   "7",
                                   "-",
                                   "--1",
                                   "+1",
                                   " 5",
                                   "5 ",
                                   "12345678",
                                   "123456789",
                                   "00000000001",
                                   "4294967295",
                                   "4294967296",
                                   "2147483647",
                                   "2147483648",
                                   "-2147483648",
                                   "-2147483649",
                                   "9999999999999999",
                                   "-9999999999999999",
                                   "10000000000000000",
                                   "9223372036854775807",
                                   "9223372036854775808",
                                   "-9223372036854775808",
                                   "-9223372036854775809",
                                   "18446744073709551615",
                                   "18446744073709551616",
                                   "1234x678",
                                   "/2345678",
                                   "1234:678",
                                   "\xb1",
                                   "12\xff",
                                   "1.5",
                                   "1e3",
                                   "nan",
                                   "true",
                                   "FALSE",
                                   "a b"}) {
      expect_same(text, kind, names);
    }
  }
}

TEST(ColumnReader, RandomTextsReadAsParseFieldDoes) {
  lang::Names names;
  std::mt19937_64 random(11);
  static constexpr std::string_view kAlphabet = "0123456789012345678901234567890123456789-. x\xff";
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 22, '0');
    const bool digits_only = random() % 2 == 0;
    for (char& c : text) c = kAlphabet[random() % (digits_only ? 40 : kAlphabet.size())];
    if (random() % 4 == 0) text = "-" + text;
    for (const TypeKind kind : kKinds) expect_same(text, kind, names);
  }
}

TEST(ColumnReader, TakesEveryNthField) {
  lang::Names names;
  std::string padded = "12xy34zz                ";
  const std::string_view all(padded);
  const std::string_view fields[] = {all.substr(0, 2), all.substr(2, 2), all.substr(4, 2),
                                     all.substr(6, 2)};
  lang::FactColumn numbers;
  numbers.convert({TypeKind::U32, nullptr}, names);
  lang::FactColumn symbols;
  symbols.convert({TypeKind::Symbol, nullptr}, names);
  ColumnReader reader;
  ASSERT_TRUE(reader.append({fields, 2, 2, true}, numbers, names));
  ASSERT_TRUE(reader.append({fields + 1, 2, 2, true}, symbols, names));
  EXPECT_EQ(numbers.at(1), lang::Value::u32(34));
  EXPECT_EQ(to_source(symbols.at(1), names), "zz");
}

}  // namespace
}  // namespace xlog::io
