// A formula's fingerprint: the same for the same clauses in any order, with their literals in any
// order. Formulas that differ have different ones, as far as 128 bits can tell.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "solve/cnf.h"

namespace xlog::solve {

struct Fingerprint {
  uint64_t high = 0;
  uint64_t low = 0;

  std::string text() const;  // 32 hexadecimal digits
  auto operator<=>(const Fingerprint&) const = default;
};

// A literal that is twice in a clause counts once; a clause that is there twice counts twice. The
// number of variables counts too.
Fingerprint fingerprint(const Cnf& cnf);

}  // namespace xlog::solve
