// Answers programs with choice, disjunction, cycles through negation and modal literals: as
// oracle::evaluate does, by splitting and solving instead of trying all guesses.
#pragma once

#include <optional>

#include "epistemic/trace.h"
#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "oracle/evaluate.h"

namespace xlog::epistemic {

// Reports as oracle::evaluate does. `trace`, where there is one, is filled as far as it came.
std::optional<logic::Answer> evaluate(const lang::Program& program, const logic::Analysis& analysis,
                                      lang::Session& session, const logic::AnswerOptions& options,
                                      const oracle::Preset* preset = nullptr,
                                      Trace* trace = nullptr);

}  // namespace xlog::epistemic
