// One value of a kernel type, and what every arithmetic op does to it. This is the definition of
// the ops: the oracle, constant folding, the plan's host arithmetic and the tests of every backend
// use it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernel/op.h"
#include "kernel/type.h"

namespace xlog::kernel {

// The bits of a value, zero-extended to 64: i32 -1 is 0x00000000ffffffff.
struct Scalar {
  Type type = Type::Void;
  uint64_t bits = 0;

  static Scalar boolean(bool v) { return {Type::Bool, v ? 1u : 0u}; }
  static Scalar u8(uint8_t v) { return {Type::U8, v}; }
  static Scalar u32(uint32_t v) { return {Type::U32, v}; }
  static Scalar u64(uint64_t v) { return {Type::U64, v}; }
  static Scalar i32(int32_t v) { return {Type::I32, static_cast<uint32_t>(v)}; }
  static Scalar i64(int64_t v) { return {Type::I64, static_cast<uint64_t>(v)}; }
  static Scalar f32(float v);
  static Scalar f64(double v);
  // A small number in any type; wraps for integers.
  static Scalar of(Type type, int64_t v);

  bool as_bool() const { return bits != 0; }
  uint32_t as_u32() const { return static_cast<uint32_t>(bits); }
  uint64_t as_u64() const { return bits; }
  int64_t as_i64() const;  // sign-extended for i32 and i64
  float as_f32() const;
  double as_f64() const;  // exact for f32 too
  bool is_nan() const;

  friend bool operator==(Scalar, Scalar) = default;
};

// The canonical quiet NaN of a float type.
Scalar canonical_nan(Type type);
// The same value with a NaN made canonical; integers as they are.
Scalar canonical(Scalar value);

// Applies an arithmetic op (is_arithmetic, but for Cast and Bitcast). Operand types must fit.
Scalar evaluate(Op op, std::span<const Scalar> operands);
Scalar cast(Type to, Scalar value);
Scalar bitcast(Type to, Scalar value, bool raw = false);
// One step of a fold, and the value it starts from.
Scalar fold_step(Fold fold, Scalar accumulated, Scalar value);
Scalar fold_identity(Fold fold, Type type);

// "5:u32", "-1:i64", "true", "0x1.8p+0:f32", "nan:f64", "-inf:f32"; exact, and read back the same.
std::string to_text(Scalar value);

// Elements in memory: bool and u8 take a byte, everything is little endian.
Scalar load_scalar(Type type, const void* from);
void store_scalar(Scalar value, void* to);

}  // namespace xlog::kernel
