// The rewriting that a program goes through before its rules become pipelines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/conditions.h"
#include "plan/host_tables.h"
#include "plan/recursive_joins.h"
#include "plan/shared_joins.h"
#include "plan/transitive.h"

namespace xlog::plan {

struct Prepared {
  std::vector<HostTable> tables;
  std::vector<Closure> closures;
  std::vector<Condition> conditions;
  std::vector<SharedJoin> joins;
  std::vector<KeptJoin> kept_joins;
  // A violated constraint is shown as it was written. Those that have to be rewritten stay as they
  // are, with a copy behind the program's rules, which the analysis does not know.
  std::map<uint32_t, uint32_t> constraints;
};

// Expands aggregates, in constraints too, lets rules read tables of the host and ask it for the
// rest, closes relations step by step, asks once for what only has to exist, has joins computed
// once that several rules have, and keeps those of a recursion that it would compute in vain again
// and again. The analysis is afterwards that of the rewritten program. With the well-founded
// semantics components that are not determined are rewritten too.
Prepared prepare(lang::Program& program, logic::Analysis& analysis, lang::Session& session,
                 bool well_founded, Sharing sharing = Sharing::WherePays);

// What was rewritten, and what was not and why.
std::string to_text(const Prepared& prepared);

// Takes away the copies.
void forget_copies(lang::Program& program, Prepared& prepared);

}  // namespace xlog::plan
