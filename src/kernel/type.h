// The types of the kernel language. No vectors, no pointers as values, no implicit conversion.
// A bool is 0 or 1 and takes one byte in memory. Buffers are indexed by u32.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace xlog::kernel {

enum class Type : uint8_t { Void, Bool, U8, U32, U64, I32, I64, F32, F64 };

constexpr std::array kValueTypes = {Type::Bool, Type::U8,  Type::U32, Type::U64,
                                    Type::I32,  Type::I64, Type::F32, Type::F64};

constexpr std::string_view spelling(Type type) {
  constexpr std::string_view names[] = {"void", "bool", "u8",  "u32", "u64",
                                        "i32",  "i64",  "f32", "f64"};
  return names[static_cast<int>(type)];
}

constexpr std::optional<Type> find_type(std::string_view text) {
  for (Type type : kValueTypes) {
    if (spelling(type) == text) return type;
  }
  return std::nullopt;
}

// Bytes of an element in memory.
constexpr uint32_t size_of(Type type) {
  constexpr uint8_t sizes[] = {0, 1, 1, 4, 8, 4, 8, 4, 8};
  return sizes[static_cast<int>(type)];
}

// Bits that carry the value: 1 for bool.
constexpr uint32_t bits_of(Type type) { return type == Type::Bool ? 1 : size_of(type) * 8; }

constexpr bool is_bool(Type type) { return type == Type::Bool; }
constexpr bool is_signed(Type type) { return type == Type::I32 || type == Type::I64; }
constexpr bool is_float(Type type) { return type == Type::F32 || type == Type::F64; }
constexpr bool is_int(Type type) { return type >= Type::U8 && type <= Type::I64; }

// The unsigned integer of the same width.
constexpr Type bits_type(Type type) {
  switch (type) {
    case Type::I32:
    case Type::F32:
      return Type::U32;
    case Type::I64:
    case Type::F64:
      return Type::U64;
    default:
      return type;
  }
}

// All bits of a value of this type, as they stand in a Scalar.
constexpr uint64_t mask_of(Type type) {
  uint32_t bits = bits_of(type);
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

}  // namespace xlog::kernel
