// Answers programs with choice, disjunction, cycles through negation and modal literals: as
// oracle::evaluate does, by splitting and solving instead of trying all guesses.
#pragma once

#include <optional>

#include "device/device.h"
#include "epistemic/trace.h"
#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "oracle/evaluate.h"

namespace xlog::epistemic {

// Reports as oracle::evaluate does. `trace`, where there is one, is filled as far as it came. With
// a device, many small units are solved there at once.
std::optional<logic::Answer> evaluate(const lang::Program& program, const logic::Analysis& analysis,
                                      lang::Session& session, const logic::AnswerOptions& options,
                                      const oracle::Preset* preset = nullptr,
                                      Trace* trace = nullptr, device::Device* device = nullptr);

}  // namespace xlog::epistemic
