// The reference evaluator: slow, obvious, straight from the definition of the language. It answers
// `xlog run
// --engine reference` and judges every other evaluator in tests.
#pragma once

#include <optional>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "logic/answer.h"

namespace xlog::oracle {

// Reports what it refuses (probabilistic, neural and learnable constructs: NotSupportedByEngine),
// limits (LimitReached), violated constraints of plain Datalog programs, divisions by zero. nullopt
// on refusal or limit.
std::optional<logic::Answer> evaluate(const lang::Program& program, const logic::Analysis& analysis,
                                      lang::Session& session, const logic::AnswerOptions& options);

}  // namespace xlog::oracle
