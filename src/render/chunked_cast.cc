// Casts of the chunked interpreter, between all types.
#include <cmath>
#include <limits>
#include <type_traits>

#include "render/chunked_simd.h"

namespace xlog::render::chunked {

using kernel::Type;

namespace {

// Saturates; NaN gives 0. The limits are powers of two: exact in both float types.
template <typename To, typename From>
To float_to_int(From v) {
  constexpr int kBits = std::numeric_limits<To>::digits;
  constexpr From kLimit = static_cast<From>(uint64_t{1} << (kBits - 1)) * 2;
  if (std::isnan(v)) return 0;
  if (v >= kLimit) return std::numeric_limits<To>::max();
  if constexpr (std::is_signed_v<To>) {
    if (v < -kLimit) return std::numeric_limits<To>::min();
  } else {
    if (v <= 0) return 0;
  }
  return static_cast<To>(v);
}

template <typename From, typename To>
XLOG_LANE_LOOP void convert(Frame& frame, const Step& step) {
  To* to = frame.at<To>(step.to);
  const From* a = frame.at<From>(step.a);
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    for_active(frame, [=](uint32_t i) { to[i] = float_to_int<To>(a[i]); });
  } else {
    for_lanes(frame, [=](uint32_t i) { to[i] = static_cast<To>(a[i]); });
  }
}

template <typename From>
XLOG_LANE_LOOP void to_bool(Frame& frame, const Step& step) {
  uint8_t* to = frame.at<uint8_t>(step.to);
  const From* a = frame.at<From>(step.a);
  for_lanes(frame, [=](uint32_t i) { to[i] = a[i] != 0 ? 1 : 0; });
}

template <typename From>
Run cast_from(Type to) {
  switch (to) {
    case Type::Bool:
      return best<to_bool<From>>();
    case Type::U8:
      return best<convert<From, uint8_t>>();
    case Type::U32:
      return best<convert<From, uint32_t>>();
    case Type::U64:
      return best<convert<From, uint64_t>>();
    case Type::I32:
      return best<convert<From, int32_t>>();
    case Type::I64:
      return best<convert<From, int64_t>>();
    case Type::F32:
      return best<convert<From, float>>();
    case Type::F64:
      return best<convert<From, double>>();
    case Type::Void:
      break;
  }
  return nullptr;
}

}  // namespace

Run cast_step(Type from, Type to) {
  switch (from) {
    case Type::Bool:  // 0 or 1 in a byte
    case Type::U8:
      return cast_from<uint8_t>(to);
    case Type::U32:
      return cast_from<uint32_t>(to);
    case Type::U64:
      return cast_from<uint64_t>(to);
    case Type::I32:
      return cast_from<int32_t>(to);
    case Type::I64:
      return cast_from<int64_t>(to);
    case Type::F32:
      return cast_from<float>(to);
    case Type::F64:
      return cast_from<double>(to);
    case Type::Void:
      break;
  }
  return nullptr;
}

}  // namespace xlog::render::chunked
