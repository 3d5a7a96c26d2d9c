// The relational engine: evaluates the determined part of a program on a device, and with the
// well-founded semantics cycles through negation too. What it cannot do there yet (`maplist`,
// choice, disjunction, worlds) is left to another evaluator, which starts from the rows that the
// engine found.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "engine/database.h"
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
  Trace trace;  // whoever wants events says so before
};

// Who answers what is left, from the rows that the engine found: as oracle::evaluate does.
using EvaluateRest = std::function<std::optional<logic::Answer>(
    const lang::Program& program, const logic::Analysis& analysis, lang::Session& session,
    const logic::AnswerOptions& options, const oracle::Preset* preset)>;

// Reports as oracle::evaluate does. nullopt on refusal or limit; the statistics are those of what
// was done until then. `form`: of kernels, where it is not the one that fits the device.
std::optional<logic::Answer> evaluate(lang::Program& program, logic::Analysis& analysis,
                                      lang::Session& session, const logic::AnswerOptions& options,
                                      device::Device& device, Statistics& statistics,
                                      std::optional<relation::Form> form = {},
                                      const EvaluateRest& rest = oracle::evaluate);

// ---- Rows instead of answers, for who looks into them (engine/proof.h) ----

// All rows of an evaluated program, each predicate's when it is asked for. Refers to the program
// and the device.
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
