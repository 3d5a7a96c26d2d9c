// Answers programs with choice, disjunction, cycles through negation and modal literals: as
// oracle::evaluate does, by splitting and solving instead of trying all guesses.
#pragma once

#include <optional>

#include "epistemic/views.h"
#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"
#include "oracle/evaluate.h"

namespace xlog::epistemic {

// Reports as oracle::evaluate does.
std::optional<logic::Answer> evaluate(const lang::Program& program, const logic::Analysis& analysis,
                                      lang::Session& session, const logic::AnswerOptions& options,
                                      const oracle::Preset* preset = nullptr);

}  // namespace xlog::epistemic
