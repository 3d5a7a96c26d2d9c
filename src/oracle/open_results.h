// The results that an aggregate over open rows may have.
#pragma once

#include <vector>

#include "lang/program.h"
#include "oracle/ground.h"

namespace xlog::oracle {

struct OpenResults {
  std::vector<std::vector<Value>> values;
  bool is_open = false;  // some element counts only under a condition
};

// Throws LimitExceeded where there are too many.
OpenResults open_results(const AggregateInput& input, lang::Names& names);

}  // namespace xlog::oracle
