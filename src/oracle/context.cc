#include "oracle/context.h"

#include <fmt/format.h>

namespace xlog::oracle {

void Context::check_time() const {
  if (options.timeout_seconds <= 0) return;
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start;
  if (used.count() < options.timeout_seconds) return;
  throw LimitExceeded{fmt::format("the time limit of {} s is over", options.timeout_seconds),
                      "raise it with `--timeout SECONDS`"};
}

void Context::count_row() {
  tick();
  if (++rows <= most_rows()) return;
  throw LimitExceeded{
      fmt::format("the reference evaluator holds at most {} rows and ground rules", most_rows()),
      "raise it with `--max-rows N`; recursion that makes ever new values, like "
      "`n(X + 1) :- n(X)`, needs a "
      "bound such as `X < 100`"};
}

void Context::count_candidate() {
  tick();
  if (++candidates <= options.max_candidates) return;
  throw LimitExceeded{
      fmt::format("the reference evaluator tries at most {} candidates for the worlds of a program",
                  options.max_candidates),
      "raise it with `--max-candidates N`; each open atom that others are coupled to doubles the "
      "number of "
      "candidates"};
}

}  // namespace xlog::oracle
