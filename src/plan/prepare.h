// The rewriting that a program goes through before its rules become pipelines.
#pragma once

#include "plan/host_tables.h"

namespace xlog::plan {

// Expands aggregates, then lets rules read tables of the host, which are returned. The analysis is
// afterwards that of the rewritten program.
std::vector<HostTable> prepare(lang::Program& program, logic::Analysis& analysis,
                               lang::Session& session);

}  // namespace xlog::plan
