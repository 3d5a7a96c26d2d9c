// What generators of random programs share: dice, and the statements so far. For tests.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace xlog::lang {

class RandomText {
 protected:
  explicit RandomText(uint32_t seed) : random_(seed) {}

  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool chance(uint32_t percent) { return pick(100) < percent; }
  void line(const std::string& statement) { text_ += statement + "\n"; }
  // A predicate that worlds differ in.
  std::string name() {
    constexpr const char* kNames[] = {"p", "q", "r"};
    return kNames[pick(3)];
  }

  std::mt19937 random_;
  std::string text_;
};

}  // namespace xlog::lang
