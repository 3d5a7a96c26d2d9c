// Work that may be shared among threads, for code that does not know which. Only work whose result
// does not depend on who does what belongs here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace xlog {

using Piece = std::function<void(uint32_t lo, uint32_t hi)>;

// Calls the piece over ranges of at most `grain` that cover 0 .. n, from one thread or several.
using Parallel = std::function<void(uint32_t n, uint32_t grain, const Piece& piece)>;

inline void in_turn(uint32_t n, uint32_t grain, const Piece& piece) {
  for (uint64_t lo = 0; lo < n; lo += grain) {
    piece(static_cast<uint32_t>(lo), static_cast<uint32_t>(std::min<uint64_t>(n, lo + grain)));
  }
}

}  // namespace xlog
