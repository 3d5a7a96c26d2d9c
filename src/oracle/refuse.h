// Constructs of the language that the reference evaluator does not evaluate.
#pragma once

#include "lang/load.h"
#include "lang/program.h"

namespace xlog::oracle {

// Reports NotSupportedByEngine for each; true when there was one.
bool refuse_unsupported(const lang::Program& program, lang::Session& session);

}  // namespace xlog::oracle
