// Numbers for random tests: the same on every machine for one seed, and full of edges.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "kernel/scalar.h"

namespace xlog::kernel {

// SplitMix64 (Steele, Lea, Flood, 2014): one word of state, good enough for tests.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint32_t below(uint64_t limit) { return static_cast<uint32_t>(bits() % limit); }

 private:
  uint64_t state_;
};

inline Scalar random_float(Random& random, Type type) {
  constexpr double edges[] = {0.0,    -0.0,   1.0,          -1.0,   0.5,     1.5,   2.5,
                              -0.75,  255.5,  4294967295.0, 1e10,   -1e10,   3e38,  1e-40,
                              0x1p31, 0x1p32, -0x1p31,      0x1p63, -0x1p63, 0x1p64};
  switch (random.below(8)) {
    case 0:
      return canonical_nan(type);
    case 1: {
      const bool negative = random.below(2) == 1;
      const auto inf = std::numeric_limits<double>::infinity();
      return cast(type, Scalar::f64(negative ? -inf : inf));
    }
    case 2:
      return {type, random.bits() & mask_of(type)};  // any bits, NaN with payload among them
    case 3:
      return {type, random.bits() & mask_of(type) >> 10};  // small and denormal
    default:
      return cast(type, Scalar::f64(edges[random.below(std::size(edges))]));
  }
}

inline Scalar random_value(Random& random, Type type) {
  if (is_float(type)) return random_float(random, type);
  if (is_bool(type)) return Scalar::boolean(random.below(2) == 1);
  const uint64_t all = mask_of(type);
  switch (random.below(6)) {
    case 0:
      return {type, random.bits() & all};
    case 1:
      return {type, all >> random.below(3)};  // all ones and the greatest ones
    case 2:
      return {type, (all >> 1) + 1};  // the least signed one
    case 3:
      return {type, (uint64_t{1} << random.below(bits_of(type))) & all};
    default:
      return Scalar::of(type, static_cast<int64_t>(random.below(20)) - 4);
  }
}

}  // namespace xlog::kernel
