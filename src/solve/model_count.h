// How many models a formula has: exact, without listing them.
#pragma once

#include <gmpxx.h>

#include "solve/count_formula.h"
#include "solve/solver.h"

namespace xlog::solve {

struct CountOptions {
  // Of what is known about parts of the formula; when that is full, half of it is forgotten.
  uint64_t cache_bytes = uint64_t{1} << 30;
};

struct ModelCount {
  mpz_class models = 0;
  Outcome outcome = Outcome::Unsat;  // Sat: some; Unsat: none; else a limit, and nothing is known
  uint64_t decisions = 0;
  uint64_t conflicts = 0;
};

// Over all variables but the derived ones.
ModelCount count_models(const CountFormula& formula, const Limits& limits,
                        const CountOptions& options = {});

}  // namespace xlog::solve
