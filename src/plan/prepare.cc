#include "plan/prepare.h"

#include "base/check.h"
#include "plan/aggregates.h"

namespace xlog::plan {

namespace {

void analyze_again(const lang::Program& program, logic::Analysis& analysis,
                   lang::Session& session) {
  std::optional<logic::Analysis> again = logic::analyze(program, session);
  XLOG_CHECK(again.has_value(), "a rewritten program is as safe as it was");
  analysis = std::move(*again);
}

}  // namespace

std::vector<HostTable> prepare(lang::Program& program, logic::Analysis& analysis,
                               lang::Session& session) {
  if (expand_aggregates(program, analysis, session)) analyze_again(program, analysis, session);
  std::vector<HostTable> tables = use_host_tables(program, analysis, session);
  if (!tables.empty()) analyze_again(program, analysis, session);
  return tables;
}

}  // namespace xlog::plan
