// Static types of columns and variables.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace xlog::lang {

// One table: enumerator, spelling in programs, bytes of a stored value, class.
//   X(name, spelling, width, class)
#define XLOG_TYPES(X)                    \
  X(U32, "u32", 4, Unsigned)             \
  X(U64, "u64", 8, Unsigned)             \
  X(I32, "i32", 4, Signed)               \
  X(I64, "i64", 8, Signed)               \
  X(F32, "f32", 4, Float)                \
  X(F64, "f64", 8, Float)                \
  X(Bool, "bool", 4, Other)              \
  X(Symbol, "symbol", 4, Other)          \
  X(List, "list", 4, Structured)         \
  X(Term, "term", 8, Structured)         \
  X(Compound, "compound", 4, Structured) \
  X(PredRef, "predref", 4, Other)

enum class TypeKind : uint8_t {
#define X(name, spelling, width, klass) name,
  XLOG_TYPES(X)
#undef X
};

enum class TypeClass : uint8_t { Unsigned, Signed, Float, Other, Structured };

struct Type {
  TypeKind kind = TypeKind::U64;
  std::shared_ptr<const Type> element;  // of a List

  static Type list_of(Type element_type);
  friend bool operator==(const Type& a, const Type& b) {
    if (a.kind != b.kind) return false;
    if (a.kind != TypeKind::List) return true;
    return *a.element == *b.element;
  }
};

std::string_view spelling(TypeKind kind);  // "u32"
std::string to_string(const Type& type);   // "list<u32>"
std::optional<TypeKind> find_type(std::string_view spelling);
size_t width(TypeKind kind);  // bytes of a stored value
TypeClass type_class(TypeKind kind);
inline bool is_integer(TypeKind kind) {
  return type_class(kind) == TypeClass::Unsigned || type_class(kind) == TypeClass::Signed;
}
inline bool is_float(TypeKind kind) { return type_class(kind) == TypeClass::Float; }
inline bool is_numeric(TypeKind kind) { return is_integer(kind) || is_float(kind); }

}  // namespace xlog::lang
