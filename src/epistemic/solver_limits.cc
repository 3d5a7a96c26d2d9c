#include "epistemic/solver_limits.h"

#include <fmt/format.h>

namespace xlog::epistemic {

void show_progress(const oracle::Context& context, const SearchCounts& counts) {
  if (!context.options.progress) return;
  context.options.progress({.clusters = counts.clusters,
                            .clusters_done = counts.clusters_done,
                            .candidates = counts.candidates,
                            .accepted = counts.accepted});
}

solve::Limits limits_of(const oracle::Context& context, const SearchCounts& counts) {
  solve::Limits limits;
  limits.interrupt = context.options.interrupt;
  if (context.options.progress) {
    limits.progress = [&context, &counts] { show_progress(context, counts); };
  }
  const double seconds = context.options.timeout_seconds;
  if (seconds > 0) {
    limits.deadline = context.start + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::duration<double>(seconds));
  }
  if (context.options.memory_limit > 0) limits.memory_bytes = context.options.memory_limit;
  return limits;
}

solve::Outcome settled(solve::Outcome outcome, const oracle::Context& context) {
  if (outcome == solve::Outcome::Timeout) {
    throw oracle::LimitExceeded{
        fmt::format("not finished after {} seconds, in the search for world views",
                    context.options.timeout_seconds),
        "raise it with `--timeout SECONDS`"};
  }
  if (outcome == solve::Outcome::Unknown && logic::is_interrupted(context.options)) {
    throw oracle::LimitExceeded{std::string(logic::kInterrupted), ""};
  }
  if (outcome == solve::Outcome::Unknown) {
    context.out_of_memory(context.options.memory_limit, "the solver's clauses took it");
  }
  return outcome;
}

}  // namespace xlog::epistemic
