// The relational engine: evaluates the determined part of a program on a device. What it cannot do
// there yet (built-ins over lists and terms, choice, disjunction, cycles through negation) is left
// to the reference evaluator, which starts from the rows that the engine found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "relation/machine.h"

namespace xlog::engine {

// Where a component was evaluated, and why not on the device.
struct Placement {
  uint32_t component = 0;
  bool on_device = true;
  std::string reason;
};

struct Statistics {
  std::vector<Placement> placements;
  uint64_t rounds = 0;
  uint64_t rows = 0;  // derived on the device
  device::Counters device;
};

// Reports as oracle::evaluate does. nullopt on refusal or limit. `form`: of kernels, where it is
// not the one that fits the device.
std::optional<logic::Answer> evaluate(lang::Program& program, logic::Analysis& analysis,
                                      lang::Session& session, const logic::AnswerOptions& options,
                                      device::Device& device, Statistics& statistics,
                                      std::optional<relation::Form> form = {});

}  // namespace xlog::engine
