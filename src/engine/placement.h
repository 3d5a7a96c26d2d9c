// Which components run on the device, and why others do not.
#pragma once

#include <string>
#include <vector>

#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "plan/prepare.h"

namespace xlog::engine {

// Where a component was evaluated, and why not on the device.
struct Placement {
  uint32_t component = 0;
  bool on_device = true;
  std::string reason;
  // It differs between worlds, which whoever evaluates the rest searches for.
  bool open = false;
  // And bounds were found on the device (estimates.h), between which they are searched for.
  bool bounded = false;
};

// What becomes of components that differ between worlds. Unless the engine is told otherwise, they
// are left where launches would take longer than to bound the rows without a device: few rows, or
// recursion that adds few rows a round. So are the instances of their rules (open_instances.h).
enum class OpenComponents : uint8_t { Left, WherePays, Bounded, BoundedWithInstances };

// A launch with the kernel that is made for it takes as long as to bound about so many rows without
// a device.
inline constexpr uint64_t kRowsOfLaunch = 256;

struct Placements {
  std::vector<Placement> components;
  std::vector<bool> alternates;  // by component: on the device, by two estimates (estimates.h)
  bool all_on_device = true;     // the constraints too
  // WherePays: the rows that are expected in all that differs between worlds.
  std::optional<uint64_t> open_rows;
  bool too_few = false;  // these are, to bound it
};

Placements place_components(const lang::Program& program, const logic::Analysis& analysis,
                            const plan::Prepared& prepared, const logic::AnswerOptions& options,
                            const lang::Names& names, OpenComponents open);

}  // namespace xlog::engine
