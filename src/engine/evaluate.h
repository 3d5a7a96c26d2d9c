// The relational engine: evaluates the determined part of a program on a device, and with the
// well-founded semantics cycles through negation too. Of what differs between worlds it finds
// bounds: rows that are true in all of them, and rows that may be true in some. The worlds are left
// to another evaluator, which starts from the rows that the engine found.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "engine/database.h"
#include "engine/open_instances.h"
#include "engine/placement.h"
#include "engine/trace.h"
#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "oracle/evaluate.h"
#include "relation/machine.h"

namespace xlog::engine {

struct Statistics {
  std::vector<Placement> placements;
  uint64_t rounds = 0;
  uint64_t rows = 0;  // derived on the device
  device::Counters device;
  std::vector<RelationFigures> relations;
  // Of components that differ between worlds and were bounded on the device.
  struct Bounded {
    uint64_t components = 0;
    uint64_t certain = 0, open = 0;  // rows
    uint64_t launches = 0;
    double seconds = 0;
    std::string note;  // why it was not all of them
  };
  Bounded bounded;
  OpenInstances::Figures instances;  // of rules of these components
  Trace trace;                       // whoever wants events says so before
};

// Who answers what is left, from the rows that the engine found: as oracle::evaluate does.
using EvaluateRest = std::function<std::optional<logic::Answer>(
    const lang::Program& program, const logic::Analysis& analysis, lang::Session& session,
    const logic::AnswerOptions& options, const oracle::Preset* preset)>;

// Reports as oracle::evaluate does. nullopt on refusal or limit; the statistics are those of what
// was done until then. `form`: of kernels, where it is not the one that fits the device. `open`:
// what is found of components that differ between worlds before they are left to `rest`.
std::optional<logic::Answer> evaluate(lang::Program& program, logic::Analysis& analysis,
                                      lang::Session& session, const logic::AnswerOptions& options,
                                      device::Device& device, Statistics& statistics,
                                      std::optional<relation::Form> form = {},
                                      const EvaluateRest& rest = oracle::evaluate,
                                      OpenComponents open = OpenComponents::WherePays);

// ---- Rows instead of answers, for who looks into them (engine/proof.h) ----

// All rows of an evaluated program, each predicate's when it is asked for. Refers to the program,
// the options and the device.
struct Settled {
  std::function<Result<Rows>(lang::PredId)> rows;
};

// Evaluates a program without queries whose components are all settled (oracle::is_settled).
// Without a device the reference evaluator does it. Reports as evaluate() does; the program and the
// analysis are afterwards as they were.
std::optional<Settled> settle(lang::Program& program, const logic::Analysis& analysis,
                              lang::Session& session, const logic::AnswerOptions& options,
                              device::Device* device, Statistics& statistics);

}  // namespace xlog::engine
