#include "oracle/context.h"

#include <fmt/format.h>

#include "base/memory.h"

namespace xlog::oracle {

void Context::check_limits() const {
  if (options.progress && component < analysis.components.size()) {
    options.progress({
        .component = component,
        .components = static_cast<uint32_t>(analysis.components.size()),
        .name = logic::relation_name(analysis.components[component].predicates.front(), program,
                                     session.names),
        .round = round,
        .new_rows = rows - rows_before,
        .rows = rows,
    });
  }
  if (logic::is_interrupted(options)) throw LimitExceeded{std::string(logic::kInterrupted), ""};
  if (options.memory_limit > 0 && steps % kStepsPerLook == 0) {
    const uint64_t used = own_memory();
    if (used > options.memory_limit) {
      out_of_memory(options.memory_limit, fmt::format("the process takes {}", size_text(used)));
    }
  }
  if (options.timeout_seconds <= 0) return;
  const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start;
  if (used.count() < options.timeout_seconds) return;
  const bool grows =
      component < analysis.components.size() && analysis.components[component].recursive;
  beyond_limit(fmt::format("the time limit of {} s is over", options.timeout_seconds),
               grows ? "raise it with `--timeout SECONDS`; recursion that makes ever new values, "
                       "like `n(X + 1) :- n(X)`, needs a bound such as `X < 100`"
                     : "raise it with `--timeout SECONDS`");
}

void Context::beyond_limit(std::string message, std::string_view help) const {
  if (component < analysis.components.size()) {
    const lang::PredId growing = analysis.components[component].predicates.front();
    message += fmt::format(", in round {} of `{}` with {} rows so far", round,
                           logic::relation_name(growing, program, session.names), rows);
  }
  throw LimitExceeded{std::move(message), std::string(help),
                      rule ? program.rules[*rule].span : Span{}};
}

void Context::out_of_memory(uint64_t limit, std::string details) const {
  logic::MemoryShortage shortage;
  shortage.limit = limit;
  shortage.doing = "the program was evaluated";
  if (rule) {
    shortage.doing = "this rule was evaluated";
    shortage.span = program.rules[*rule].span;
  }
  shortage.details = std::move(details);
  if (largest) shortage.largest = largest();
  throw MemoryExceeded{std::move(shortage)};
}

void Context::count_rows(uint64_t count, std::string_view help) {
  tick();
  rows += count;
  if (rows <= most_rows()) return;
  beyond_limit(fmt::format("at most {} rows and ground rules are held", most_rows()), help);
}

void Context::count_candidate() {
  tick();
  if (++candidates <= options.max_candidates) return;
  throw LimitExceeded{
      fmt::format("at most {} candidates for the worlds of a program are tried",
                  options.max_candidates),
      "raise it with `--max-candidates N`; each open atom that others are coupled to doubles the "
      "number of "
      "candidates"};
}

}  // namespace xlog::oracle
