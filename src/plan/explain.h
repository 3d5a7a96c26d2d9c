// The plan of a program as text, for `xlog explain --stage plan`.
#pragma once

#include <string>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"
#include "plan/prepare.h"

namespace xlog::plan {

// For each component its size, its rules and the pipelines of their versions, or why a rule has
// none. The order of joins is the one for the facts of the program, and for estimates of what rules
// derive (estimate.h); a run knows how much that was, and plans rounds again as relations grow.
std::string explain(const lang::Program& program, const logic::Analysis& analysis,
                    const Prepared& prepared, const lang::Session& session);

}  // namespace xlog::plan
