#include "kernel/scalar.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "kernel/transcendental.h"

namespace xlog::kernel {

namespace {

template <typename T>
T bits_to(Scalar s) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(s.bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(s.bits);
  } else {
    return static_cast<T>(s.bits);
  }
}

template <typename T>
Scalar make(Type type, T v) {
  if constexpr (std::is_same_v<T, float>) {
    return {type, std::bit_cast<uint32_t>(v)};
  } else if constexpr (std::is_same_v<T, double>) {
    return {type, std::bit_cast<uint64_t>(v)};
  } else {
    return {type, static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(v))};
  }
}

template <typename T>
T high_half(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>((static_cast<__int128>(a) * b) >> 64);
    } else {
      return static_cast<T>((static_cast<unsigned __int128>(a) * b) >> 64);
    }
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (sizeof(T) * 8));
  }
}

// In this scalar code unsigned arithmetic does the wrapping.
template <typename T>
T int_op(Op op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const auto ua = static_cast<uint64_t>(static_cast<U>(a));
  const auto ub = static_cast<uint64_t>(static_cast<U>(b));
  const auto shift = static_cast<unsigned>(ub % (sizeof(T) * 8));
  switch (op) {
    case Op::Add:
      return static_cast<T>(ua + ub);
    case Op::Sub:
      return static_cast<T>(ua - ub);
    case Op::Mul:
      return static_cast<T>(ua * ub);
    case Op::MulHi:
      return high_half(a, b);
    case Op::Div:
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return static_cast<T>(0 - ua);
      }
      return static_cast<T>(a / b);
    case Op::Rem:
      if (b == 0) return a;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return static_cast<T>(a % b);
    case Op::Min:
      return b < a ? b : a;
    case Op::Max:
      return a < b ? b : a;
    case Op::And:
      return static_cast<T>(ua & ub);
    case Op::Or:
      return static_cast<T>(ua | ub);
    case Op::Xor:
      return static_cast<T>(ua ^ ub);
    case Op::Shl:
      return static_cast<T>(ua << shift);
    case Op::Shr:
      return static_cast<T>(a >> shift);
    default:
      XLOG_UNREACHABLE("not a binary integer op");
  }
}

template <typename T>
T float_op(Op op, T a, T b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return a / b;
    case Op::Min:
      if (std::isnan(a)) return b;
      if (std::isnan(b)) return a;
      if (a == b) return std::signbit(a) ? a : b;
      return b < a ? b : a;
    case Op::Max:
      if (std::isnan(a)) return b;
      if (std::isnan(b)) return a;
      if (a == b) return std::signbit(a) ? b : a;
      return a < b ? b : a;
    default:
      XLOG_UNREACHABLE("not a binary float op");
  }
}

Scalar count_bits(Op op, Scalar a) {
  const uint32_t width = bits_of(a.type);
  switch (op) {
    case Op::Popc:
      return Scalar::u32(static_cast<uint32_t>(std::popcount(a.bits)));
    case Op::Clz:
      return Scalar::u32(static_cast<uint32_t>(std::countl_zero(a.bits)) - (64 - width));
    case Op::Ctz:
      return Scalar::u32(a.bits == 0 ? width : static_cast<uint32_t>(std::countr_zero(a.bits)));
    default:
      XLOG_UNREACHABLE("not a bit count");
  }
}

template <typename T>
bool less(Scalar a, Scalar b) {
  return bits_to<T>(a) < bits_to<T>(b);
}

bool compare_less(Scalar a, Scalar b) {
  switch (a.type) {
    case Type::I32:
      return less<int32_t>(a, b);
    case Type::I64:
      return less<int64_t>(a, b);
    case Type::F32:
      return less<float>(a, b);
    case Type::F64:
      return less<double>(a, b);
    default:
      return a.bits < b.bits;
  }
}

bool compare_equal(Scalar a, Scalar b) {
  if (a.type == Type::F32) return a.as_f32() == b.as_f32();
  if (a.type == Type::F64) return a.as_f64() == b.as_f64();
  return a.bits == b.bits;
}

template <typename T>
Scalar float_unary(Op op, Scalar s) {
  const T a = bits_to<T>(s);
  switch (op) {
    case Op::Sqrt:
      return make(s.type, std::sqrt(a));
    case Op::Floor:
      return make(s.type, std::floor(a));
    default:
      XLOG_UNREACHABLE("not a unary float op");
  }
}

// Computes the steps of transcendental.h with numbers.
struct NumberSteps {
  using Value = Scalar;

  template <typename... Operands>
  Scalar op(Op op, Operands... operands) {
    const Scalar list[] = {operands...};
    return evaluate(op, list);
  }
  Scalar constant(Scalar value) { return value; }
  Scalar cast(Type to, Scalar value) { return kernel::cast(to, value); }
  Scalar bits(Type to, Scalar value) { return bitcast(to, value, true); }
};

Scalar binary(Op op, Scalar a, Scalar b) {
  switch (a.type) {
    case Type::Bool:
      return {Type::Bool, int_op<uint8_t>(op, a.bits & 1, b.bits & 1) & 1u};
    case Type::U8:
      return make(a.type, int_op(op, bits_to<uint8_t>(a), bits_to<uint8_t>(b)));
    case Type::U32:
      return make(a.type, int_op(op, bits_to<uint32_t>(a), bits_to<uint32_t>(b)));
    case Type::U64:
      return make(a.type, int_op(op, bits_to<uint64_t>(a), bits_to<uint64_t>(b)));
    case Type::I32:
      return make(a.type, int_op(op, bits_to<int32_t>(a), bits_to<int32_t>(b)));
    case Type::I64:
      return make(a.type, int_op(op, bits_to<int64_t>(a), bits_to<int64_t>(b)));
    case Type::F32:
      return make(a.type, float_op(op, a.as_f32(), b.as_f32()));
    case Type::F64:
      return make(a.type, float_op(op, a.as_f64(), b.as_f64()));
    case Type::Void:
      break;
  }
  XLOG_UNREACHABLE("arithmetic on void");
}

// Saturates; NaN gives 0.
Scalar float_to_int(Type to, double v) {
  if (v != v) return Scalar::of(to, 0);
  v = std::trunc(v);
  const uint32_t bits = bits_of(to);
  if (is_signed(to)) {
    const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
    const uint64_t most = mask_of(to) >> 1;
    if (v >= limit) return {to, most};
    if (v < -limit) return {to, most + 1};
    return {to, static_cast<uint64_t>(static_cast<int64_t>(v)) & mask_of(to)};
  }
  if (v <= 0) return {to, 0};
  if (v >= std::ldexp(1.0, static_cast<int>(bits))) return {to, mask_of(to)};
  return {to, static_cast<uint64_t>(v)};
}

}  // namespace

Scalar Scalar::f32(float v) { return {Type::F32, std::bit_cast<uint32_t>(v)}; }
Scalar Scalar::f64(double v) { return {Type::F64, std::bit_cast<uint64_t>(v)}; }

Scalar Scalar::of(Type type, int64_t v) {
  if (type == Type::F32) return f32(static_cast<float>(v));
  if (type == Type::F64) return f64(static_cast<double>(v));
  if (type == Type::Bool) return boolean(v != 0);
  return {type, static_cast<uint64_t>(v) & mask_of(type)};
}

int64_t Scalar::as_i64() const {
  return type == Type::I32 ? static_cast<int32_t>(bits) : static_cast<int64_t>(bits);
}
float Scalar::as_f32() const { return bits_to<float>(*this); }
double Scalar::as_f64() const {
  return type == Type::F32 ? static_cast<double>(as_f32()) : bits_to<double>(*this);
}
bool Scalar::is_nan() const { return is_float(type) && as_f64() != as_f64(); }

Scalar canonical_nan(Type type) {
  return {type, type == Type::F32 ? 0x7fc00000u : 0x7ff8000000000000u};
}

Scalar canonical(Scalar value) { return value.is_nan() ? canonical_nan(value.type) : value; }

Scalar evaluate(Op op, std::span<const Scalar> s) {
  switch (op) {
    case Op::Popc:
    case Op::Clz:
    case Op::Ctz:
      return count_bits(op, s[0]);
    case Op::Eq:
      return Scalar::boolean(compare_equal(s[0], s[1]));
    case Op::Lt:
      return Scalar::boolean(compare_less(s[0], s[1]));
    case Op::Select:
      return s[0].as_bool() ? s[1] : s[2];
    case Op::Fma:
      if (s[0].type == Type::F32) {
        return Scalar::f32(std::fma(s[0].as_f32(), s[1].as_f32(), s[2].as_f32()));
      }
      return Scalar::f64(std::fma(s[0].as_f64(), s[1].as_f64(), s[2].as_f64()));
    case Op::Exp2: {
      NumberSteps steps;
      return exp2_steps(steps, s[0].type, s[0]);
    }
    case Op::Log2: {
      NumberSteps steps;
      return log2_steps(steps, s[0].type, s[0]);
    }
    case Op::Sqrt:
    case Op::Floor:
      return s[0].type == Type::F32 ? float_unary<float>(op, s[0]) : float_unary<double>(op, s[0]);
    default:
      return binary(op, s[0], s[1]);
  }
}

Scalar cast(Type to, Scalar value) {
  const Type from = value.type;
  if (to == Type::Bool) {
    if (is_float(from)) return Scalar::boolean(value.as_f64() != 0);
    return Scalar::boolean(value.bits != 0);
  }
  if (is_float(from)) {
    if (is_int(to)) return float_to_int(to, value.as_f64());
    if (to == Type::F32) {
      return from == Type::F32 ? value : Scalar::f32(static_cast<float>(value.as_f64()));
    }
    return Scalar::f64(value.as_f64());
  }
  if (to == Type::F32) {
    return Scalar::f32(is_signed(from) ? static_cast<float>(value.as_i64())
                                       : static_cast<float>(value.bits));
  }
  if (to == Type::F64) {
    return Scalar::f64(is_signed(from) ? static_cast<double>(value.as_i64())
                                       : static_cast<double>(value.bits));
  }
  const uint64_t wide = is_signed(from) ? static_cast<uint64_t>(value.as_i64()) : value.bits;
  return {to, wide & mask_of(to)};
}

Scalar bitcast(Type to, Scalar value, bool raw) {
  if (!raw) value = canonical(value);
  return {to, value.bits};
}

Scalar fold_step(Fold fold, Scalar accumulated, Scalar value) {
  if (fold == Fold::Exch) return value;
  const Scalar operands[] = {accumulated, value};
  return evaluate(*step_of(fold), operands);
}

Scalar fold_identity(Fold fold, Type type) {
  const uint64_t all = mask_of(type);
  switch (fold) {
    case Fold::Add:
      // -0 + x is x for every x; +0 would turn -0 into +0.
      if (is_float(type)) return type == Type::F32 ? Scalar::f32(-0.0f) : Scalar::f64(-0.0);
      return {type, 0};
    case Fold::Or:
    case Fold::Xor:
    case Fold::Exch:
      return {type, 0};
    case Fold::And:
      return {type, all};
    case Fold::Min:
      if (is_float(type)) return canonical_nan(type);
      return {type, is_signed(type) ? all >> 1 : all};
    case Fold::Max:
      if (is_float(type)) return canonical_nan(type);
      return {type, is_signed(type) ? (all >> 1) + 1 : 0};
  }
  XLOG_UNREACHABLE("fold without identity");
}

std::string to_text(Scalar value) {
  if (value.type == Type::Bool) return value.as_bool() ? "true" : "false";
  std::string text;
  if (is_float(value.type)) {
    const double v = value.as_f64();
    if (v != v) {
      // Payloads are written out: a constant keeps its bits.
      text = value == canonical_nan(value.type) ? "nan" : "nan_" + std::to_string(value.bits);
    } else if (std::isinf(v)) {
      text = v < 0 ? "-inf" : "inf";
    } else {
      char buffer[64];
      std::snprintf(buffer, sizeof buffer, "%.*g", value.type == Type::F32 ? 9 : 17, v);
      text = buffer;
      if (text.find_first_of(".e") == std::string::npos) text += ".0";
    }
  } else if (is_signed(value.type)) {
    text = std::to_string(value.as_i64());
  } else {
    text = std::to_string(value.bits);
  }
  text += ':';
  text += spelling(value.type);
  return text;
}

Scalar load_scalar(Type type, const void* from) {
  Scalar value{type, 0};
  std::memcpy(&value.bits, from, size_of(type));
  if (type == Type::Bool) value.bits = value.bits != 0 ? 1 : 0;
  return value;
}

void store_scalar(Scalar value, void* to) { std::memcpy(to, &value.bits, size_of(value.type)); }

}  // namespace xlog::kernel
