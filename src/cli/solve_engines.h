// The engines of `xlog solve` and what each can do: one table, from which the default, the checks
// and the help come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "solve/sir.h"

namespace xlog::cli {

struct SolveJob;
struct SolveOptions;

enum class EngineId : uint8_t { Cadical, Batch, Search, Cores, Portfolio, LocalSearch };

enum class EngineDevice : uint8_t { None, Cpu, Any };

struct EngineInfo {
  EngineId id;
  std::string_view name;
  uint32_t answers[3];  // by SirKind: bits of the SirAnswers it can give
  EngineDevice device;
  bool threads;            // takes --threads
  bool conflicts;          // keeps to a limit of conflicts
  int32_t most_variables;  // of a formula; 0: any number
  std::string_view what;   // for people
};

std::vector<std::string> engine_names();
// The table for people, a line an engine.
std::string engines_text();

// Sets job.engine: the one that is asked for, or the first of the table that can do the job. Fails
// where there is none, and where an option does not belong to the job or the engine.
Status choose_engine(SolveJob& job);

// What cannot be said at all, whatever the file holds; empty: all is well.
struct UsageError {
  std::string option;
  std::string message;
};
std::optional<UsageError> check_usage(const SolveOptions& options);

// Opens the device that the engine needs. A portfolio's is for its local search alone.
Status open_engine_device(SolveJob& job);

}  // namespace xlog::cli
