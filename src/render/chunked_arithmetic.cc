// Arithmetic of the chunked interpreter: one loop for each op and type. The meaning of the ops is
// op.def's; scalar.cc says the same for one value.
#include <bit>
#include <cmath>
#include <type_traits>

#include "render/chunked_simd.h"

namespace xlog::render::chunked {

using kernel::Op;
using kernel::Type;

namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

// ---- one value ----

// Add, Sub and Mul wrap, so integers come here as unsigned ones; the low bits are the same. u8 is
// widened to int by the language, which cannot overflow.
struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a - b);
  }
};
struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a * b);
  }
};
struct MulHi {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (sizeof(T) == 8) {
      using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 64);
    } else {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (sizeof(T) * 8));
    }
  }
};
struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return static_cast<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
      }
    }
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
template <typename T>
constexpr T kShiftMask = static_cast<T>(sizeof(T) * 8 - 1);
struct Shl {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a << (b & kShiftMask<T>));
  }
};
struct Shr {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a >> (b & kShiftMask<T>));
  }
};
struct Eq {
  template <typename T>
  uint8_t operator()(T a, T b) const {
    return a == b ? 1 : 0;
  }
};
struct Lt {
  template <typename T>
  uint8_t operator()(T a, T b) const {
    return a < b ? 1 : 0;
  }
};
struct Popc {
  template <typename T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::popcount(a));
  }
};
struct Clz {
  template <typename T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};
struct Ctz {
  template <typename T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::countr_zero(a));
  }
};
struct Sqrt {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct Floor {
  template <typename T>
  T operator()(T a) const {
    return std::floor(a);
  }
};

// ---- all lanes ----

// Ops that no vector unit does, with many cycles a lane: they run for active lanes only.
template <typename F, typename T>
constexpr bool kSlow =
    std::is_same_v<F, Sqrt> ||
    (std::is_integral_v<T> && (std::is_same_v<F, Div> || std::is_same_v<F, Rem>));

template <typename F, typename T>
XLOG_LANE_LOOP void unary(Frame& frame, const Step& step) {
  using R = std::invoke_result_t<F, T>;
  R* to = frame.at<R>(step.to);
  const T* a = frame.at<T>(step.a);
  auto lane = [=](uint32_t i) { to[i] = F{}(a[i]); };
  if constexpr (kSlow<F, T>) {
    for_active(frame, lane);
  } else {
    for_lanes(frame, lane);
  }
}

template <typename F, typename T>
XLOG_LANE_LOOP void binary(Frame& frame, const Step& step) {
  using R = std::invoke_result_t<F, T, T>;
  R* to = frame.at<R>(step.to);
  const T* a = frame.at<T>(step.a);
  const T* b = frame.at<T>(step.b);
  auto lane = [=](uint32_t i) { to[i] = F{}(a[i], b[i]); };
  if constexpr (kSlow<F, T>) {
    for_active(frame, lane);
  } else {
    for_lanes(frame, lane);
  }
}

template <typename T>
XLOG_LANE_LOOP void select(Frame& frame, const Step& step) {
  T* to = frame.at<T>(step.to);
  const uint8_t* condition = frame.at<uint8_t>(step.a);
  const T* b = frame.at<T>(step.b);
  const T* c = frame.at<T>(step.c);
  // A mask instead of a branch: it becomes vector code on every machine.
  for_lanes(frame, [=](uint32_t i) {
    const T mask = static_cast<T>(T{0} - static_cast<T>(condition[i]));
    to[i] = static_cast<T>((b[i] & mask) | (c[i] & static_cast<T>(~mask)));
  });
}

template <typename T>
XLOG_LANE_LOOP void fma(Frame& frame, const Step& step) {
  T* to = frame.at<T>(step.to);
  const T* a = frame.at<T>(step.a);
  const T* b = frame.at<T>(step.b);
  const T* c = frame.at<T>(step.c);
  for_active(frame, [=](uint32_t i) { to[i] = std::fma(a[i], b[i], c[i]); });
}

// ---- which loop ----

template <typename F>
Run unsigned_binary(Type type) {
  switch (kernel::size_of(type)) {
    case 1:
      return best<binary<F, uint8_t>>();
    case 4:
      return best<binary<F, uint32_t>>();
    default:
      return best<binary<F, uint64_t>>();
  }
}

template <typename F>
Run integer_binary(Type type) {
  switch (type) {
    case Type::I32:
      return best<binary<F, int32_t>>();
    case Type::I64:
      return best<binary<F, int64_t>>();
    case Type::F32:
    case Type::F64:
      return nullptr;
    default:
      return unsigned_binary<F>(type);
  }
}

template <typename F>
Run float_binary(Type type) {
  return type == Type::F32 ? best<binary<F, float>>() : best<binary<F, double>>();
}

template <typename F>
Run float_unary(Type type) {
  return type == Type::F32 ? best<unary<F, float>>() : best<unary<F, double>>();
}

template <typename F>
Run count(Type type) {
  switch (kernel::size_of(type)) {
    case 1:
      return best<unary<F, uint8_t>>();
    case 4:
      return best<unary<F, uint32_t>>();
    default:
      return best<unary<F, uint64_t>>();
  }
}

template <typename F>
Run wrapping(Type type) {
  return kernel::is_float(type) ? float_binary<F>(type) : unsigned_binary<F>(type);
}

template <typename F>
Run any_binary(Type type) {
  return kernel::is_float(type) ? float_binary<F>(type) : integer_binary<F>(type);
}

}  // namespace

Run arithmetic_step(Op op, Type type) {
  switch (op) {
    case Op::Add:
      return wrapping<Add>(type);
    case Op::Sub:
      return wrapping<Sub>(type);
    case Op::Mul:
      return wrapping<Mul>(type);
    case Op::MulHi:
      return integer_binary<MulHi>(type);
    case Op::Div:
      return any_binary<Div>(type);
    case Op::Rem:
      return integer_binary<Rem>(type);
    case Op::Min:
      return integer_binary<Min>(type);
    case Op::Max:
      return integer_binary<Max>(type);
    case Op::And:
      return unsigned_binary<And>(type);
    case Op::Or:
      return unsigned_binary<Or>(type);
    case Op::Xor:
      return unsigned_binary<Xor>(type);
    case Op::Shl:
      return unsigned_binary<Shl>(type);
    case Op::Shr:
      return integer_binary<Shr>(type);
    case Op::Popc:
      return count<Popc>(type);
    case Op::Clz:
      return count<Clz>(type);
    case Op::Ctz:
      return count<Ctz>(type);
    case Op::Eq:
      return wrapping<Eq>(type);
    case Op::Lt:
      return any_binary<Lt>(type);
    case Op::Select:
      return kernel::size_of(type) == 1   ? best<select<uint8_t>>()
             : kernel::size_of(type) == 4 ? best<select<uint32_t>>()
                                          : best<select<uint64_t>>();
    case Op::Fma:
      return type == Type::F32 ? best<fma<float>>() : best<fma<double>>();
    case Op::Sqrt:
      return float_unary<Sqrt>(type);
    case Op::Floor:
      return float_unary<Floor>(type);
    default:
      return nullptr;
  }
}

}  // namespace xlog::render::chunked
