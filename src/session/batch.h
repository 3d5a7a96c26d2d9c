// One commit: what it changed in the facts.
#pragma once

#include <cstdint>
#include <vector>

#include "incremental/maintained.h"

namespace xlog::session {

struct Batch {
  uint64_t number = 0;                            // from 1; 0 is what the program states
  uint64_t undo_of = 0;                           // the batch that it takes back; 0: none
  std::vector<incremental::FactChanges> changes;  // net, in canonical order
};

}  // namespace xlog::session
