// The well-founded model of a component with a cycle through negation, or above one: the two
// estimates of estimates.h in turn, on the device. The host learns how many rows each has.
//
//   possible: what follows where nothing is known to be true
//   true:     what follows where `not p` means that p is not possible
//   possible: what follows where `not p` means that p is not true ...
//
// What is true only grows and what is possible only shrinks, so equal numbers mean equal sets.
#pragma once

#include <vector>

#include "engine/component.h"
#include "engine/domains.h"
#include "engine/estimates.h"

namespace xlog::engine {

class Alternation {
 public:
  Alternation(const Estimates& estimates, Database& database, Domains& domains, Rules& rules,
              Trace& trace)
      : estimates_(estimates),
        database_(database),
        domains_(domains),
        rules_(rules),
        trace_(trace),
        has_undefined_(estimates.analysis().components.size(), false) {}

  // A component that alternates, after all that is below it.
  Result<ComponentRun> evaluate(uint32_t component);
  // Whether an evaluated component has rows that are neither true nor false.
  bool has_undefined(uint32_t component) const { return has_undefined_[component]; }

 private:
  // One estimate that is made again and again.
  struct Estimate {
    uint32_t component;
    uint64_t rows = 0;
    Rules::Kept kept = {};
  };
  Status make(Estimate& estimate, ComponentRun& run);
  Status alternate(Estimate& certain, Estimate& possible, ComponentRun& run);
  bool reads_undefined(uint32_t component) const;

  const Estimates& estimates_;
  Database& database_;
  Domains& domains_;
  Rules& rules_;
  Trace& trace_;
  std::vector<bool> has_undefined_;  // by component
};

}  // namespace xlog::engine
