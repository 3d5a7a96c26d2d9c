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
};

struct Placements {
  std::vector<Placement> components;
  std::vector<bool> alternates;  // by component: on the device, by two estimates (estimates.h)
  bool all_on_device = true;     // the constraints too
};

Placements place_components(const lang::Program& program, const logic::Analysis& analysis,
                            const plan::Prepared& prepared, const logic::AnswerOptions& options,
                            const lang::Names& names);

}  // namespace xlog::engine
