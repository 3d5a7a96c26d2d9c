// Units that several solvers of one formula learn, for all of them. Append-only and without locks:
// a unit is written once, and each reader goes through the list with a cursor of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "solve/cnf.h"

namespace xlog::solve {

class UnitExchange {
 public:
  // Makes room for a unit of each variable. Only while nobody shares or takes.
  void need_variables(int32_t count);

  // From any thread. The first unit of a variable counts. Units of variables without room are
  // dropped.
  void share(Literal unit);

  // The next one after those that this cursor has seen; 0: none yet. From any thread, one cursor a
  // thread.
  Literal take(size_t& cursor) const;

 private:
  struct Place {
    std::atomic<Literal> unit = 0;       // in the order in which they came
    std::atomic<bool> is_known = false;  // of variable [place + 1]: some unit is shared
  };

  size_t room_ = 0;
  std::unique_ptr<Place[]> places_;
  std::atomic<size_t> used_ = 0;
};

}  // namespace xlog::solve
