// The plan of a program as text, for `xlog explain --stage plan`.
#pragma once

#include <string>

#include "lang/load.h"
#include "lang/program.h"
#include "logic/analysis.h"

namespace xlog::plan {

// For each component its rules and the pipelines of their versions, or why a rule has none. The
// order of joins is the one for the facts of the program; later rounds see more rows.
std::string explain(const lang::Program& program, const logic::Analysis& analysis,
                    const lang::Session& session);

}  // namespace xlog::plan
