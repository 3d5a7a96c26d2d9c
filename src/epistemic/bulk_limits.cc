#include "epistemic/bulk_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/memory.h"

namespace xlog::epistemic {

BulkLimits::BulkLimits(const oracle::Context& context)
    : context_(context), most_(context.most_rows() - std::min(context.rows, context.most_rows())) {}

bool BulkLimits::go_on(uint64_t made) {
  const logic::AnswerOptions& options = context_.options;
  if (made_.fetch_add(made, std::memory_order_relaxed) + made > most_) reach(Limit::Rows);
  if (logic::is_interrupted(options)) reach(Limit::Time);
  if (options.timeout_seconds > 0) {
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - context_.start;
    if (used.count() >= options.timeout_seconds) reach(Limit::Time);
  }
  if (options.memory_limit > 0 && own_memory() > options.memory_limit) reach(Limit::Memory);
  return reached_.load(std::memory_order_relaxed) == Limit::None;
}

void BulkLimits::throw_if_reached(oracle::Context& context) {
  switch (reached_.load(std::memory_order_relaxed)) {
    case Limit::None:
      return;
    case Limit::Rows:
      return context.count_rows(made_.load(std::memory_order_relaxed));
    case Limit::Time:
      return context.check_limits();
    case Limit::Memory:
      return context.out_of_memory(context.options.memory_limit,
                                   fmt::format("the process takes {}", size_text(own_memory())));
  }
}

}  // namespace xlog::epistemic
