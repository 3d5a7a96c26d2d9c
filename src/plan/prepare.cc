#include "plan/prepare.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "logic/binding.h"
#include "logic/components.h"
#include "plan/aggregates.h"
#include "plan/patterns.h"

namespace xlog::plan {

using lang::PredId;

namespace {

void analyze_again(const lang::Program& program, logic::Analysis& analysis,
                   lang::Session& session) {
  std::optional<logic::Analysis> again = logic::analyze(program, session);
  XLOG_CHECK(again.has_value(), "a rewritten program is as safe as it was");
  analysis = std::move(*again);
}

// A constraint with its patterns as equations.
struct Lifted {
  lang::Rule rule;
  bool changed = false;
  bool takes_helpers = false;  // rules that nobody would evaluate
};

Lifted lifted(const lang::Rule& rule, lang::Program& program, lang::Session& session) {
  Lifted made{rule};
  const size_t predicates = program.predicates.size();
  std::vector<lang::Rule> helpers;
  made.changed = lift_patterns(made.rule, program, session, helpers);
  made.takes_helpers = !helpers.empty();
  program.predicates.erase(program.predicates.begin() + static_cast<ptrdiff_t>(predicates),
                           program.predicates.end());
  return made;
}

bool is_determined(const lang::Rule& rule, const logic::Analysis& analysis) {
  bool determined = true;
  logic::for_each_predicate(rule.body, [&](const lang::Literal& literal, const lang::Literal*) {
    const uint32_t component = analysis.component_of[literal.pred.index];
    determined &= analysis.components[component].klass == logic::ComponentClass::Determined;
  });
  return determined;
}

// Bodies of constraints that become several rules are those of a predicate without columns each,
// by constraint.
std::map<uint32_t, PredId> name_constraints(lang::Program& program, const logic::Analysis& analysis,
                                            lang::Session& session) {
  std::map<uint32_t, PredId> named;
  for (uint32_t r : analysis.constraints) {
    if (!is_determined(program.rules[r], analysis)) continue;
    const bool folds = std::ranges::any_of(program.rules[r].body, logic::has_braces);
    if (!folds && !lifted(program.rules[r], program, session).takes_helpers) continue;
    const PredId pred{static_cast<uint32_t>(program.predicates.size())};
    lang::Rule rule = program.rules[r];
    rule.origin = lang::RuleOrigin::Function;
    rule.head_kind = lang::HeadKind::Atom;
    rule.head = {{pred, {}, {}, 1, rule.head_span}};
    lang::Predicate predicate;
    predicate.name = session.names.symbols.intern(fmt::format("__xlog_violated_{}", pred.index));
    predicate.helper = true;
    predicate.span = rule.span;
    predicate.rules = {static_cast<uint32_t>(program.rules.size())};
    program.predicates.push_back(std::move(predicate));
    program.rules.push_back(std::move(rule));
    named[r] = pred;
  }
  return named;
}

void copy_constraints(lang::Program& program, const logic::Analysis& analysis,
                      lang::Session& session, const std::map<uint32_t, PredId>& named,
                      Prepared& prepared) {
  for (uint32_t r : analysis.constraints) {
    Lifted copy;
    if (const auto name = named.find(r); name != named.end()) {
      copy = {program.rules[r], true, false};
      lang::Literal violated;
      violated.pred = name->second;
      violated.span = copy.rule.span;
      copy.rule.body = {violated};
    } else {
      copy = lifted(program.rules[r], program, session);
    }
    if (!copy.changed || copy.takes_helpers) continue;
    prepared.constraints[r] = static_cast<uint32_t>(program.rules.size());
    program.rules.push_back(std::move(copy.rule));
  }
}

}  // namespace

Prepared prepare(lang::Program& program, logic::Analysis& analysis, lang::Session& session,
                 bool well_founded, Sharing sharing) {
  Prepared prepared;
  const std::map<uint32_t, PredId> named = name_constraints(program, analysis, session);
  if (!named.empty()) analyze_again(program, analysis, session);
  while (expand_aggregates(program, analysis, session)) analyze_again(program, analysis, session);
  bool changed = false;
  prepared.tables = use_host_tables(program, analysis, session, well_founded, changed);
  if (changed) analyze_again(program, analysis, session);
  prepared.closures = close_by_steps(program, analysis, session, sharing);
  if (!prepared.closures.empty()) analyze_again(program, analysis, session);
  prepared.conditions = separate_conditions(program, analysis, session, sharing);
  if (!prepared.conditions.empty()) analyze_again(program, analysis, session);
  prepared.joins = share_joins(program, analysis, session, sharing);
  const bool shared = std::ranges::any_of(
      prepared.joins, [](const SharedJoin& join) { return !join.helper.empty(); });
  if (shared) analyze_again(program, analysis, session);
  prepared.kept_joins = keep_joins(program, analysis, session, sharing);
  const bool kept = std::ranges::any_of(prepared.kept_joins,
                                        [](const KeptJoin& join) { return !join.helper.empty(); });
  if (kept) analyze_again(program, analysis, session);
  copy_constraints(program, analysis, session, named, prepared);
  return prepared;
}

std::string to_text(const Prepared& prepared) {
  return to_text(prepared.closures) + to_text(prepared.conditions) + to_text(prepared.joins) +
         to_text(prepared.kept_joins);
}

void forget_copies(lang::Program& program, Prepared& prepared) {
  program.rules.erase(program.rules.end() - static_cast<ptrdiff_t>(prepared.constraints.size()),
                      program.rules.end());
  prepared.constraints.clear();
}

}  // namespace xlog::plan
