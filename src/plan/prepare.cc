#include "plan/prepare.h"

#include <algorithm>

#include "base/check.h"
#include "plan/aggregates.h"
#include "plan/patterns.h"

namespace xlog::plan {

namespace {

void analyze_again(const lang::Program& program, logic::Analysis& analysis,
                   lang::Session& session) {
  std::optional<logic::Analysis> again = logic::analyze(program, session);
  XLOG_CHECK(again.has_value(), "a rewritten program is as safe as it was");
  analysis = std::move(*again);
}

void copy_constraints(lang::Program& program, const logic::Analysis& analysis,
                      lang::Session& session, Prepared& prepared) {
  for (uint32_t r : analysis.constraints) {
    lang::Rule copy = program.rules[r];
    const size_t predicates = program.predicates.size();
    std::vector<lang::Rule> helpers;
    const bool changed = lift_patterns(copy, program, session, helpers);
    program.predicates.erase(program.predicates.begin() + static_cast<ptrdiff_t>(predicates),
                             program.predicates.end());
    if (!changed || !helpers.empty()) continue;  // nobody would evaluate the helpers
    prepared.constraints[r] = static_cast<uint32_t>(program.rules.size());
    program.rules.push_back(std::move(copy));
  }
}

}  // namespace

Prepared prepare(lang::Program& program, logic::Analysis& analysis, lang::Session& session,
                 bool well_founded, Sharing sharing) {
  Prepared prepared;
  if (expand_aggregates(program, analysis, session)) analyze_again(program, analysis, session);
  bool changed = false;
  prepared.tables = use_host_tables(program, analysis, session, well_founded, changed);
  if (changed) analyze_again(program, analysis, session);
  prepared.joins = share_joins(program, analysis, session, sharing);
  const bool shared = std::ranges::any_of(
      prepared.joins, [](const SharedJoin& join) { return !join.helper.empty(); });
  if (shared) analyze_again(program, analysis, session);
  copy_constraints(program, analysis, session, prepared);
  return prepared;
}

void forget_copies(lang::Program& program, Prepared& prepared) {
  program.rules.erase(program.rules.end() - static_cast<ptrdiff_t>(prepared.constraints.size()),
                      program.rules.end());
  prepared.constraints.clear();
}

}  // namespace xlog::plan
