#include "relation/row_code.h"

#include "base/check.h"
#include "kernel/library_hash.h"

namespace xlog::relation {

using kernel::Scalar;
using kernel::Type;
using lang::TypeKind;

Type column_type(TypeKind kind) {
  switch (kind) {
    case TypeKind::U64:
      return Type::U64;
    case TypeKind::I32:
      return Type::I32;
    case TypeKind::I64:
      return Type::I64;
    case TypeKind::F32:
      return Type::F32;
    case TypeKind::F64:
      return Type::F64;
    case TypeKind::U32:
    case TypeKind::Bool:
    case TypeKind::Symbol:
    case TypeKind::List:
    case TypeKind::Compound:
    case TypeKind::PredRef:
    case TypeKind::Term:
      return Type::U32;
  }
  XLOG_UNREACHABLE("an unknown type");
}

// Both sides keep integers sign- or zero-extended and floats as their bits.
Scalar to_scalar(const lang::Value& value) {
  const Type type = column_type(value.kind);
  return {type, size_of(type) == 8 ? value.bits : value.bits & UINT32_MAX};
}

lang::Value to_value(const Scalar& scalar, TypeKind kind) {
  lang::Value value{kind, scalar.bits};
  if (kind == TypeKind::I32) {
    value.bits = static_cast<uint64_t>(int64_t{static_cast<int32_t>(scalar.bits)});
  }
  return value;
}

uint32_t row_bits(const std::vector<Type>& types) {
  uint32_t bits = 0;
  for (Type type : types) bits += bits_of(type);
  return bits;
}

Value word_of(Builder& k, Value value) {
  switch (value.type()) {
    case Type::U32:
    case Type::U64:
      return value;
    case Type::I32:
      return k.cast(Type::U32, value);
    case Type::I64:
      return k.cast(Type::U64, value);
    case Type::F32:
      return k.bitcast(Type::U32, value);
    case Type::F64:
      return k.bitcast(Type::U64, value);
    default:
      XLOG_UNREACHABLE("no column has this type");
  }
}

Value value_of_word(Builder& k, Value bits, Type type) {
  const Value word = size_of(type) == 8 ? bits : k.cast(Type::U32, bits);
  if (word.type() == type) return word;
  return kernel::is_float(type) ? k.bitcast(type, word) : k.cast(type, word);
}

Value packed_row(Builder& k, const Values& row) {
  Value packed = k.number(Type::U64, 0);
  for (size_t c = 0; c < row.size(); ++c) {
    const Value word = word_of(k, row[c]);
    const Value wide = word.type() == Type::U64 ? word : k.cast(Type::U64, word);
    packed = c == 0 ? wide : packed << bits_of(word.type()) | wide;
  }
  return packed;
}

Value hash_row(Builder& k, const Values& row) {
  Value hash = k.number(Type::U64, 0);
  for (const Value& value : row) {
    const Value word = word_of(k, value);
    hash = kernel::hash_of(k, hash + (word.type() == Type::U64 ? word : k.cast(Type::U64, word)));
  }
  return hash;
}

Value same_words(Builder& k, Value a, Value b) { return word_of(k, a) == word_of(k, b); }

}  // namespace xlog::relation
