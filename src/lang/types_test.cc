#include "lang/types.h"

#include <gtest/gtest.h>

namespace xlog::lang {
namespace {

TEST(Types, SpellingsAreInverse) {
#define X(name, text, bytes, klass)                \
  EXPECT_EQ(spelling(TypeKind::name), text);       \
  EXPECT_EQ(find_type(text), TypeKind::name);      \
  EXPECT_EQ(width(TypeKind::name), size_t{bytes}); \
  EXPECT_EQ(type_class(TypeKind::name), TypeClass::klass);
  XLOG_TYPES(X)
#undef X
  EXPECT_FALSE(find_type("int").has_value());
  EXPECT_FALSE(find_type("").has_value());
}

TEST(Types, ListsNestAndCompareByElement) {
  const Type numbers = Type::list_of(Type{TypeKind::U32, nullptr});
  const Type names = Type::list_of(Type{TypeKind::Symbol, nullptr});
  EXPECT_EQ(to_string(numbers), "list<u32>");
  EXPECT_EQ(to_string(Type::list_of(numbers)), "list<list<u32>>");
  EXPECT_EQ(to_string(Type{TypeKind::Term, nullptr}), "term");
  EXPECT_TRUE(numbers == Type::list_of(Type{TypeKind::U32, nullptr}));
  EXPECT_FALSE(numbers == names);
  EXPECT_FALSE(numbers == (Type{TypeKind::U32, nullptr}));
}

TEST(Types, Classes) {
  EXPECT_TRUE(is_integer(TypeKind::U32));
  EXPECT_TRUE(is_integer(TypeKind::I64));
  EXPECT_FALSE(is_integer(TypeKind::F32));
  EXPECT_TRUE(is_float(TypeKind::F64));
  EXPECT_TRUE(is_numeric(TypeKind::I32));
  EXPECT_FALSE(is_numeric(TypeKind::Bool));
  EXPECT_FALSE(is_numeric(TypeKind::Symbol));
}

}  // namespace
}  // namespace xlog::lang
