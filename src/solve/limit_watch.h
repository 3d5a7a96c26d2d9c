// Looks at the limits of a solve while it runs. Cheap enough to be asked every few microseconds:
// the process' memory and the progress callback have their turn twenty times a second.
//
//   LimitWatch watch(limits);
//   while (!watch.reached()) ...
//   return watch.outcome();
#pragma once

#include "base/memory.h"
#include "solve/solver.h"

namespace xlog::solve {

class LimitWatch {
 public:
  explicit LimitWatch(const Limits& limits) : limits_(limits) {}

  bool reached() {
    if (reached_) return true;
    if (limits_.interrupt != nullptr && limits_.interrupt->load(std::memory_order_relaxed)) {
      return reached_ = true;
    }
    const auto now = std::chrono::steady_clock::now();
    if (limits_.deadline && now >= *limits_.deadline) {
      outcome_ = Outcome::Timeout;
      return reached_ = true;
    }
    if (now < next_look_) return false;
    next_look_ = now + kBetweenLooks;
    if (limits_.progress) limits_.progress();
    return reached_ = limits_.memory_bytes && own_memory() > *limits_.memory_bytes;
  }

  // Once reached.
  Outcome outcome() const { return outcome_; }

 private:
  static constexpr std::chrono::milliseconds kBetweenLooks{50};

  const Limits& limits_;
  std::chrono::steady_clock::time_point next_look_{};
  bool reached_ = false;
  Outcome outcome_ = Outcome::Unknown;
};

}  // namespace xlog::solve
