// What became of units that were to be solved many at a time (presolve.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace xlog::epistemic {

// The rule by which engines are chosen for units, with the names that a trace has.
#define XLOG_UNIT_FITS(X)                                                             \
  X(Fits, "small")                                                                    \
  X(TooLarge, "too_large") /* more atoms, questions or cases than SmallUnits takes */ \
  X(Aggregate, "with_aggregates")                                                     \
  X(Disjunction, "with_disjunctions") /* of atoms that need each other, or to be founded */

enum class UnitFit : uint8_t {
#define XLOG_UNIT_FIT(name, text) name,
  XLOG_UNIT_FITS(XLOG_UNIT_FIT)
#undef XLOG_UNIT_FIT
};
constexpr size_t kUnitFits = static_cast<size_t>(UnitFit::Disjunction) + 1;

struct BatchTrace {
  bool tried = false;
  double seconds = 0;
  uint64_t units = 0;  // solved in batches
  uint64_t launches = 0;
  uint64_t bytes_to_device = 0, bytes_from_device = 0;
  std::array<uint64_t, kUnitFits> by_fit{};  // distinct units that were looked at
  std::string note;                          // why the device could not be used, or ""
};

}  // namespace xlog::epistemic
