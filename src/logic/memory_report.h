// What is said when a run needs more memory than it may have, or than there is (MemoryExhausted).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lang/load.h"
#include "lang/program.h"

namespace xlog::logic {

struct RelationSize {
  std::string name;
  uint64_t rows = 0;
  uint64_t bytes = 0;
};

struct MemoryShortage {
  uint64_t limit = 0;        // `--memory`; 0: there is no more
  std::string doing = {};    // "this rule was evaluated"
  Span span = {};            // of the rule, where there is one
  std::string place = {};    // or a data file
  std::string details = {};  // who asked for how much; may be empty
  std::string advice =       // beside more memory
      "fewer rows are derived where literals bind more, and where queries have constants";
  std::optional<RelationSize> largest = {};
};

void report_memory_shortage(const MemoryShortage& shortage, lang::Session& session);

// A relation as people know it: "reach/2", or "?- reach(a, X)" for the rows of a query.
std::string relation_name(lang::PredId pred, const lang::Program& program,
                          const lang::Names& names);

// The largest table of facts, as it was loaded; nullopt where no predicate has facts.
std::optional<RelationSize> largest_fact_table(const lang::Program& program,
                                               const lang::Names& names);

}  // namespace xlog::logic
