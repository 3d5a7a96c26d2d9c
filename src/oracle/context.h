// What every step of the reference evaluator shares: the program, its limits, and the counters
// behind them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "logic/memory_report.h"

namespace xlog::oracle {

// Thrown inside the evaluator only; evaluate() turns it into a LimitReached diagnostic.
struct LimitExceeded {
  std::string message;
  std::string help;
  Span span = {};
};

// The same for MemoryExhausted.
struct MemoryExceeded {
  logic::MemoryShortage shortage;
};

struct Preset;
struct Shortcut;

// Asking the system for the memory in use takes as long as some hundred steps.
inline constexpr uint64_t kStepsPerLook = 0x10000;

inline constexpr std::string_view kEndlessHelp =
    "raise it with `--max-rows N`; recursion that makes ever new values, like "
    "`n(X + 1) :- n(X)`, needs a bound such as `X < 100`";

struct Context {
  const lang::Program& program;
  const logic::Analysis& analysis;
  lang::Session& session;
  const logic::AnswerOptions& options;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  const Preset* preset = nullptr;      // what is known before (evaluate.h)
  const Shortcut* shortcut = nullptr;  // for some bodies (matcher.h)

  uint64_t rows = 0;        // stored tuples and ground rules
  uint64_t candidates = 0;  // guesses tried for stable models
  uint64_t steps = 0;

  // Where the evaluation is, for progress and for those who ask what took the memory.
  uint32_t component = 0;
  uint64_t round = 0;
  uint64_t rows_before = 0;      // this round
  std::optional<uint32_t> rule;  // that is evaluated
  std::function<std::optional<logic::RelationSize>()> largest;

  // Instances whose arithmetic has no value (division by zero, a cast out of range): each counts
  // once.
  std::set<std::pair<uint32_t, std::vector<std::pair<uint8_t, uint64_t>>>> valueless;
  Span valueless_span;

  Context(const lang::Program& program_in, const logic::Analysis& analysis_in,
          lang::Session& session_in, const logic::AnswerOptions& options_in)
      : program(program_in), analysis(analysis_in), session(session_in), options(options_in) {}

  lang::Names& names() { return session.names; }

  // Called in every inner loop.
  void tick() {
    if ((++steps & 0xFFF) == 0) check_limits();
  }
  void check_limits() const;
  // The same after work that took long, with a look at the memory in any case.
  void check_all_limits() {
    steps = (steps / kStepsPerLook + 1) * kStepsPerLook;
    check_limits();
  }
  void begin_round(uint32_t component_in, uint64_t round_in) {
    component = component_in;
    round = round_in;
    rows_before = rows;
  }
  // "the time limit is over" and the like, with the predicate and the rule that are evaluated.
  [[noreturn]] void beyond_limit(std::string message, std::string_view help) const;
  [[noreturn]] void out_of_memory(uint64_t limit, std::string details) const;
  // Unless the user says otherwise.
  uint64_t most_rows() const { return options.max_rows > 0 ? options.max_rows : 20'000'000; }
  void count_row(std::string_view help = kEndlessHelp) { count_rows(1, help); }
  void count_rows(uint64_t count, std::string_view help = kEndlessHelp);
  void count_candidate();
};

}  // namespace xlog::oracle
