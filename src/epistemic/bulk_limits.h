// Tells work on several threads when a limit is reached: it then ends early, and the thread that
// began it throws.
#pragma once

#include <atomic>
#include <cstdint>

#include "oracle/context.h"

namespace xlog::epistemic {

class BulkLimits {
 public:
  explicit BulkLimits(const oracle::Context& context);

  // Called now and then, with what was made since: whether to go on.
  bool go_on(uint64_t made);

  // By the thread that began it, when all are done.
  void throw_if_reached(oracle::Context& context);

 private:
  enum class Limit : uint8_t { None, Rows, Time, Memory };
  void reach(Limit limit) {
    Limit none = Limit::None;
    reached_.compare_exchange_strong(none, limit, std::memory_order_relaxed);
  }

  const oracle::Context& context_;
  const uint64_t most_;  // that may be made
  std::atomic<uint64_t> made_{0};
  std::atomic<Limit> reached_{Limit::None};
};

}  // namespace xlog::epistemic
