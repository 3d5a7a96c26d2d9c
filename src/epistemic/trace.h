// What an evaluation did and how long its steps took, for `xlog run --trace`.
#pragma once

#include <cstdint>

#include "epistemic/batch_trace.h"
#include "epistemic/views.h"

namespace xlog::epistemic {

struct Trace {
  // Seconds.
  double ground = 0;
  double bounds = 0;
  double split = 0;
  double solve = 0;

  uint64_t ground_rules = 0, ground_atoms = 0;
  uint64_t open_rules = 0, open_atoms = 0;  // what the bounds leave
  uint64_t units = 0;
  uint64_t largest_unit = 0;  // its atoms
  SearchCounts search;
  BatchTrace batch;
};

}  // namespace xlog::epistemic
