#include "lang/facts.h"

#include <gtest/gtest.h>

namespace xlog::lang {
namespace {

Type scalar(TypeKind kind) { return Type{kind, nullptr}; }

Value name(Names& names, std::string_view text) {
  return Value::symbol(names.symbols.intern(text));
}

TEST(FactColumn, TakesTheNarrowestForm) {
  Names names;
  FactColumn column;
  EXPECT_EQ(column.form(), ColumnForm::Empty);
  column.append_nat32(7);
  column.append_nat32(UINT32_MAX);
  EXPECT_EQ(column.form(), ColumnForm::Nat32);
  column.append(Value::i64(-1));
  EXPECT_EQ(column.form(), ColumnForm::Int64);
  column.append_nat32(8);
  EXPECT_EQ(column.form(), ColumnForm::Int64);
  int64_t lo = 0;
  int64_t hi = 0;
  column.integer_range(lo, hi);
  EXPECT_EQ(lo, -1);
  EXPECT_EQ(hi, int64_t{UINT32_MAX});
  column.append(Value::f64(0.5));
  EXPECT_EQ(column.form(), ColumnForm::Mixed);
  column.append_symbol(names.symbols.intern("a"));
  ASSERT_EQ(column.size(), 6u);
  EXPECT_EQ(column.at(0), Value::i64(7));
  EXPECT_EQ(column.at(1), Value::i64(UINT32_MAX));
  EXPECT_EQ(column.at(2), Value::i64(-1));
  EXPECT_EQ(column.at(4), Value::f64(0.5));
  EXPECT_EQ(column.at(5), name(names, "a"));
}

TEST(FactColumn, NumbersPastI64AreMixed) {
  FactColumn column;
  column.append(Value::u64(UINT64_MAX));
  EXPECT_EQ(column.form(), ColumnForm::Mixed);
  Names names;
  EXPECT_EQ(column.convert(scalar(TypeKind::I64), names), 0u);
  EXPECT_EQ(column.form(), ColumnForm::Mixed);
  EXPECT_EQ(column.convert(scalar(TypeKind::U64), names), 1u);
  EXPECT_EQ(column.at(0), Value::u64(UINT64_MAX));
}

TEST(FactColumn, U32AndSymbolsConvertWithoutACopy) {
  Names names;
  FactColumn numbers;
  FactColumn symbols;
  for (uint32_t i = 0; i < 100; ++i) {
    numbers.append_nat32(i);
    symbols.append_symbol(names.symbols.intern(std::to_string(i)));
  }
  const uint32_t* number_data = numbers.narrow().data();
  const uint32_t* symbol_data = symbols.narrow().data();
  EXPECT_EQ(numbers.convert(scalar(TypeKind::U32), names), 100u);
  EXPECT_EQ(symbols.convert(scalar(TypeKind::Symbol), names), 100u);
  EXPECT_EQ(numbers.narrow().data(), number_data);
  EXPECT_EQ(symbols.narrow().data(), symbol_data);
  EXPECT_EQ(numbers.form(), ColumnForm::Typed);
  EXPECT_EQ(numbers.at(9), Value::u32(9));
}

TEST(FactColumn, WidensInOnePassAndFreesTheOldStorage) {
  Names names;
  for (const TypeKind kind : {TypeKind::U64, TypeKind::I64, TypeKind::F64}) {
    FactColumn column;
    for (uint32_t i = 0; i < 1000; ++i) column.append_nat32(i);
    EXPECT_EQ(column.convert(scalar(kind), names), 1000u);
    EXPECT_EQ(column.bytes(), 8000u);
    EXPECT_EQ(column.at(999).as_double(), 999.0);
    EXPECT_EQ(column.at(999).kind, kind);
  }
}

TEST(FactColumn, FailureNamesTheRowAndChangesNothing) {
  Names names;
  FactColumn column;
  column.append_nat32(1);
  column.append(Value::i64(-5));
  EXPECT_EQ(column.convert(scalar(TypeKind::U32), names), 1u);
  EXPECT_EQ(column.convert(scalar(TypeKind::U64), names), 1u);
  EXPECT_EQ(column.convert(scalar(TypeKind::Symbol), names), 0u);
  EXPECT_EQ(column.convert(scalar(TypeKind::Bool), names), 1u);
  EXPECT_EQ(column.form(), ColumnForm::Int64);
  EXPECT_EQ(column.at(1), Value::i64(-5));
  EXPECT_EQ(column.convert(scalar(TypeKind::I32), names), 2u);
  EXPECT_EQ(column.at(1), Value::i32(-5));
  EXPECT_EQ(column.bytes(), 8u);
}

TEST(FactColumn, NaturalNumbersKnowTheLimitOfI32AndBool) {
  Names names;
  FactColumn column;
  column.append_nat32(1);
  column.append_nat32(uint32_t{INT32_MAX} + 1);
  EXPECT_EQ(column.convert(scalar(TypeKind::I32), names), 1u);
  EXPECT_EQ(column.convert(scalar(TypeKind::Bool), names), 1u);
  EXPECT_EQ(column.convert(scalar(TypeKind::F32), names), 2u);
  EXPECT_EQ(column.at(1), Value::f32(2147483648.0f));
}

TEST(FactColumn, BoolsFromNamesAndNumbers) {
  Names names;
  FactColumn column;
  column.append(name(names, "true"));
  column.append(name(names, "false"));
  column.append_nat32(1);
  EXPECT_EQ(column.convert(scalar(TypeKind::Bool), names), 3u);
  EXPECT_EQ(column.at(0), Value::boolean(true));
  EXPECT_EQ(column.at(1), Value::boolean(false));
  EXPECT_EQ(column.at(2), Value::boolean(true));
}

TEST(FactColumn, TermColumnsHoldValuesAsTheyAre) {
  Names names;
  FactColumn column;
  column.append_nat32(3);
  column.append(name(names, "a"));
  const Value part = Value::i64(1);
  column.append(names.terms.compound(names.symbols.intern("f"), {&part, 1}));
  EXPECT_EQ(column.convert(scalar(TypeKind::Term), names), 3u);
  EXPECT_EQ(column.mixed()[0], Value::i64(3));
  EXPECT_EQ(column.at(1), name(names, "a"));
  EXPECT_EQ(column.at(2).kind, TypeKind::Compound);
}

TEST(FactColumn, AppendTypedAndTruncate) {
  Names names;
  FactColumn column;
  EXPECT_EQ(column.convert(scalar(TypeKind::I32), names), 0u);
  EXPECT_EQ(column.form(), ColumnForm::Typed);
  column.append_typed(Value::i32(-4));
  column.append_typed(Value::i32(4));
  EXPECT_EQ(column.at(0), Value::i32(-4));
  column.truncate(1);
  EXPECT_EQ(column.size(), 1u);

  FactColumn untyped;
  untyped.append_nat32(1);
  untyped.append(name(names, "a"));
  untyped.truncate(0);
  EXPECT_EQ(untyped.form(), ColumnForm::Empty);
  untyped.append_symbol(names.symbols.intern("b"));
  EXPECT_EQ(untyped.form(), ColumnForm::Symbol32);
  EXPECT_EQ(untyped.size(), 1u);
}

TEST(FactColumn, BytesAreCapacity) {
  FactColumn column;
  for (uint32_t i = 0; i < 5; ++i) column.append_nat32(i);
  EXPECT_GE(column.bytes(), 20u);
  column.shrink_to_fit();
  EXPECT_EQ(column.bytes(), 20u);
}

TEST(ConvertLiteral, Ranges) {
  Names names;
  auto fits = [&](Value value, TypeKind kind) {
    return convert_literal(value, Type{kind, nullptr}, names);
  };
  EXPECT_TRUE(fits(Value::i64(UINT32_MAX), TypeKind::U32));
  EXPECT_FALSE(fits(Value::i64(int64_t{UINT32_MAX} + 1), TypeKind::U32));
  EXPECT_FALSE(fits(Value::i64(-1), TypeKind::U32));
  EXPECT_FALSE(fits(Value::i64(-1), TypeKind::U64));
  EXPECT_TRUE(fits(Value::u64(UINT64_MAX), TypeKind::U64));
  EXPECT_FALSE(fits(Value::u64(UINT64_MAX), TypeKind::I64));
  EXPECT_FALSE(fits(Value::u64(UINT64_MAX), TypeKind::I32));
  EXPECT_TRUE(fits(Value::i64(INT32_MIN), TypeKind::I32));
  EXPECT_FALSE(fits(Value::i64(int64_t{INT32_MIN} - 1), TypeKind::I32));
  EXPECT_FALSE(fits(Value::f64(1.0), TypeKind::I64));
  EXPECT_FALSE(fits(Value::i64(1), TypeKind::Symbol));
  EXPECT_FALSE(fits(Value::i64(2), TypeKind::Bool));
  EXPECT_FALSE(fits(Value::i64(-1), TypeKind::Bool));
  EXPECT_FALSE(fits(name(names, "yes"), TypeKind::Bool));
  EXPECT_FALSE(fits(name(names, "a"), TypeKind::U32));
  EXPECT_FALSE(fits(name(names, "a"), TypeKind::Compound));
  EXPECT_FALSE(fits(Value::f64(1e300), TypeKind::F32));
  EXPECT_TRUE(fits(Value::f64(0.1), TypeKind::F32));
}

TEST(ConvertLiteral, Values) {
  Names names;
  Value integer = Value::i64(3);
  EXPECT_TRUE(convert_literal(integer, scalar(TypeKind::F64), names));
  EXPECT_EQ(integer, Value::f64(3.0));
  Value reference = name(names, "edge");
  EXPECT_TRUE(convert_literal(reference, scalar(TypeKind::PredRef), names));
  EXPECT_EQ(reference.kind, TypeKind::PredRef);
  EXPECT_EQ(to_source(reference, names), "edge");
}

TEST(ConvertLiteral, ListsElementByElement) {
  Names names;
  const std::vector<Value> parts = {Value::i64(1), Value::i64(2)};
  const Value list = names.terms.list(parts);
  Value numbers = list;
  EXPECT_TRUE(convert_literal(numbers, Type::list_of(scalar(TypeKind::U32)), names));
  EXPECT_EQ(names.terms.elements(numbers)[1], Value::u32(2));
  Value floats = list;
  EXPECT_TRUE(convert_literal(floats, Type::list_of(scalar(TypeKind::F64)), names));
  EXPECT_EQ(names.terms.elements(floats)[1], Value::f64(2));
  Value symbols = list;
  EXPECT_FALSE(convert_literal(symbols, Type::list_of(scalar(TypeKind::Symbol)), names));
  EXPECT_EQ(symbols, list);
  Value nested = names.terms.list({&list, 1});
  EXPECT_FALSE(convert_literal(nested, Type::list_of(scalar(TypeKind::U32)), names));
  EXPECT_TRUE(convert_literal(nested, Type::list_of(Type::list_of(scalar(TypeKind::I64))), names));
  Value empty = names.terms.list({});
  EXPECT_TRUE(convert_literal(empty, Type::list_of(scalar(TypeKind::Symbol)), names));
}

}  // namespace
}  // namespace xlog::lang
