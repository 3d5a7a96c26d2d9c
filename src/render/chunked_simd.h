// Each loop over lanes is compiled twice on x86: for every machine, and for those with AVX2. The
// second has twice the vector width and no fused multiply-add, so both compute the same bits.
#pragma once

#include "render/chunked_step.h"

namespace xlog::render::chunked {

#define XLOG_LANE_LOOP [[gnu::always_inline]] inline

template <Run kLoop>
void plain(Frame& frame, const Step& step) {
  kLoop(frame, step);
}

#ifdef __x86_64__
template <Run kLoop>
[[gnu::target("avx2,bmi,popcnt")]] void avx2(Frame& frame, const Step& step) {
  kLoop(frame, step);
}

inline bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("popcnt");
  return has;
}
#endif

// The fastest form of a loop that this machine runs.
template <Run kLoop>
Run best() {
#ifdef __x86_64__
  if (has_avx2()) return avx2<kLoop>;
#endif
  return plain<kLoop>;
}

}  // namespace xlog::render::chunked
