// How large the values of a column can get: rules copy most values from columns below, so a bound
// on those is a bound on all that a recursion can make. Small domains make sets of bits possible.
#pragma once

#include <vector>

#include "engine/database.h"
#include "logic/analysis.h"

namespace xlog::engine {

class Domains {
 public:
  Domains(const lang::Program& program, const logic::Analysis& analysis, Database& database)
      : program_(program),
        analysis_(analysis),
        database_(database),
        sizes_(program.predicates.size()) {}

  // Before a component is evaluated, and after all that is below it: tells its relations the sizes.
  Status bound(uint32_t component);

 private:
  static constexpr uint64_t kUnbounded = UINT64_MAX;

  uint64_t size_of(const lang::Rule& rule, const lang::Term& term, uint32_t component);
  uint64_t below(lang::PredId pred, uint32_t column);

  const lang::Program& program_;
  const logic::Analysis& analysis_;
  Database& database_;
  std::vector<std::vector<uint64_t>> sizes_;  // by predicate and column; values are below
  std::optional<Error> error_;
};

}  // namespace xlog::engine
