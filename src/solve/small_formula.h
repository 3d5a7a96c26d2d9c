// Decides one formula of at most 64 variables, and counts its models, by the kernel that decides
// many (batch.h): the formula is split into cubes, which are the questions of a batch. Cubes that
// are too hard for one question are split further.
#pragma once

#include <gmpxx.h>

#include <span>

#include "base/result.h"
#include "device/device.h"
#include "solve/cnf.h"
#include "solve/solver.h"

namespace xlog::solve {

constexpr int32_t kMostSmallVariables = 64;

struct SmallAnswer {
  Outcome outcome = Outcome::Unknown;  // Sat, Unsat, Unknown or Timeout
  Model model;                         // with Sat
  mpz_class models = 0;                // where they are counted; at a limit: so many at least
};

// The limits are looked at between batches, which take parts of a second; conflicts do not count.
Result<SmallAnswer> decide_small(device::Device& device, const Cnf& cnf,
                                 std::span<const Literal> assumptions, bool count,
                                 const Limits& limits);

}  // namespace xlog::solve
