// What the benchmarks that read text share: a fixed sequence of numbers, so that every run reads
// the same text, and names.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

struct TextRandom {
  uint64_t state = 1;
  uint32_t below(uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(((state >> 33) * n) >> 31);
  }
};

inline std::string name_of(uint32_t i) {
  static constexpr std::string_view kFirst[] = {"alice", "bob",   "carol", "dave",
                                                "erin",  "frank", "grace", "heidi"};
  return fmt::format("{}_{}", kFirst[i % 8], i / 8);
}

}  // namespace bench
