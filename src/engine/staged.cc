#include "engine/staged.h"

#include <algorithm>
#include <set>

namespace xlog::engine {

using lang::PredId;
using lang::Term;
using lang::TermKind;
using lang::TypeKind;
using lang::VarId;
using plan::Step;
using plan::StepKind;
using relation::Derived;

namespace {

// In place of a predicate: what the host gave.
constexpr PredId kBindings{UINT32_MAX - 1};

void collect_bound(const Step& step, std::set<VarId>& out) {
  for (const plan::ColumnArg& column : step.columns) {
    if (column.use == plan::ColumnUse::Bind) out.insert(column.term.var);
  }
  if (step.target.valid()) out.insert(step.target);
  out.insert(step.outputs.begin(), step.outputs.end());
}

void collect_mentioned(const Step& step, const lang::Rule& rule, std::vector<VarId>& out) {
  for (const plan::ColumnArg& column : step.columns) {
    if (column.use != plan::ColumnUse::Ignore) lang::collect_variables(column.term, out);
  }
  lang::collect_variables(step.lhs, out);
  lang::collect_variables(step.rhs, out);
  for (const Step& member : step.members) collect_mentioned(member, rule, out);
  if (step.kind == StepKind::Host) lang::collect_variables(rule.body[step.literal], out);
}

// Constants of type `term` as the device has them.
void number_constants(Term& term, lang::Names& names) {
  if (term.kind == TermKind::Constant && term.type.kind == TypeKind::Term) {
    term.value = {TypeKind::Term, names.terms.number(term.value)};
  }
  for (Term& arg : term.args) number_constants(arg, names);
}

void number_constants(Step& step, lang::Names& names) {
  for (plan::ColumnArg& column : step.columns) number_constants(column.term, names);
  number_constants(step.lhs, names);
  number_constants(step.rhs, names);
  for (Step& member : step.members) number_constants(member, names);
}

std::vector<Term> as_terms(const std::vector<VarId>& variables, const lang::Rule& rule) {
  std::vector<Term> terms;
  for (VarId v : variables) {
    Term& term = terms.emplace_back();
    term.kind = TermKind::Variable;
    term.var = v;
    term.type = rule.variables[v.index].type;
  }
  return terms;
}

Step scan_of_bindings(const std::vector<VarId>& variables, const lang::Rule& rule) {
  Step step;
  step.kind = StepKind::Match;
  step.pred = kBindings;
  for (Term& term : as_terms(variables, rule)) {
    step.columns.push_back({plan::ColumnUse::Bind, std::move(term)});
  }
  return step;
}

}  // namespace

StagedDerivation::StagedDerivation(relation::Machine& machine, const lang::Program& program,
                                   HostSolver& host, plan::Pipeline pipeline, uint32_t source,
                                   std::vector<Term> head, std::optional<PredId> into)
    : machine_(&machine),
      program_(&program),
      host_(&host),
      pipeline_(std::move(pipeline)),
      counts_solutions_(!into.has_value()) {
  divide(source, std::move(head), into);
}

void StagedDerivation::divide(uint32_t source, std::vector<Term> head, std::optional<PredId> into) {
  const lang::Rule& rule = program_->rules[pipeline_.rule];
  for (Term& term : head) number_constants(term, host_->names());
  std::set<VarId> bound;
  // The variables that have values, and of which the rest of the pipeline speaks.
  const auto live_from = [&](size_t s) {
    std::vector<VarId> mentioned, live;
    for (const Term& term : head) lang::collect_variables(term, mentioned);
    for (; s < pipeline_.steps.size(); ++s) {
      collect_mentioned(pipeline_.steps[s], rule, mentioned);
    }
    for (VarId v : bound) {
      if (std::ranges::find(mentioned, v) != mentioned.end()) live.push_back(v);
    }
    return live;
  };
  plan::Pipeline segment{pipeline_.rule, {}};
  for (size_t s = 0; s < pipeline_.steps.size();) {
    if (pipeline_.steps[s].kind != StepKind::Host) {
      segment.steps.push_back(pipeline_.steps[s]);
      number_constants(segment.steps.back(), host_->names());
      collect_bound(pipeline_.steps[s++], bound);
      continue;
    }
    std::vector<VarId> live = live_from(s);
    HostQuestion question{pipeline_.rule, source, {}, {}};
    for (; s < pipeline_.steps.size() && pipeline_.steps[s].kind == StepKind::Host; ++s) {
      question.literals.push_back(rule.body[pipeline_.steps[s].literal]);
      collect_bound(pipeline_.steps[s], bound);
    }
    question.wanted = live_from(s);
    Step scan = scan_of_bindings(question.wanted, rule);
    relation::Derivation derivation(*machine_, *program_, std::move(segment), as_terms(live, rule),
                                    {});
    derivation.finds_bindings();
    stages_.push_back({std::move(derivation), std::move(question), std::move(live)});
    segment = {pipeline_.rule, {std::move(scan)}};
  }
  stages_.push_back(
      {relation::Derivation(*machine_, *program_, std::move(segment), std::move(head), into),
       {},
       {}});
}

relation::RelationOf StagedDerivation::with_bindings(
    const relation::RelationOf& relation_of) const {
  return [this, &relation_of](PredId pred) -> relation::Relation& {
    return pred == kBindings ? *bindings_ : relation_of(pred);
  };
}

Result<HostRows> StagedDerivation::download(const std::vector<VarId>& live,
                                            const relation::Bag& bag, uint64_t solutions) const {
  HostRows rows;
  rows.variables = live;
  rows.rows = bag.rows();
  if (live.empty()) {
    const uint64_t most = counts_solutions_ ? UINT32_MAX : 1;
    rows.rows = static_cast<uint32_t>(std::min(solutions, most));
  }
  for (uint32_t c = 0; c < live.size(); ++c) {
    Result<std::vector<std::byte>> bytes =
        device::download(machine_->device(), bag.column(c, bag.rows()));
    if (!bytes.ok()) return bytes.error();
    rows.columns.push_back(std::move(*bytes));
  }
  return rows;
}

// A relation without columns has one all the same.
Status StagedDerivation::upload(const HostRows& rows) {
  std::vector<lang::Type> types;
  for (const Term& term : as_terms(rows.variables, program_->rules[pipeline_.rule])) {
    types.push_back(term.type);
  }
  bindings_ = std::make_shared<relation::Relation>(*machine_, "bindings", types);
  if (rows.rows == 0) return Done{};
  std::vector<device::Buffer> buffers;
  for (size_t c = 0; c < bindings_->types().size(); ++c) {
    const kernel::Type type = bindings_->types()[c];
    const std::vector<std::byte> nothing(types.empty() ? uint64_t{rows.rows} * size_of(type) : 0);
    Result<device::Column> column =
        device::upload(machine_->device(), type, types.empty() ? nothing : rows.columns[c]);
    if (!column.ok()) return column.error();
    buffers.push_back(column->buffer);
  }
  const relation::Bag::Part all{0, rows.rows};
  if (Status s = bindings_->append(buffers, std::span(&all, 1), relation::Relation::Next::New);
      !s.ok()) {
    return s;
  }
  Result<bool> visible = bindings_->next_round();
  return visible.ok() ? Status(Done{}) : visible.error();
}

Result<Derived> StagedDerivation::run_before_last(const relation::RelationOf& relation_of) {
  Derived all;
  for (size_t i = 0; i + 1 < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    std::vector<kernel::Type> types;
    for (const Term& term : as_terms(stage.live, program_->rules[pipeline_.rule])) {
      types.push_back(relation::column_type(term.type.kind));
    }
    relation::Bag bag(*machine_, types);
    Result<Derived> derived = stage.derivation.run(relation_of, bag);
    if (!derived.ok()) return derived.error();
    all.valueless += derived->valueless;
    Result<HostRows> rows = download(stage.live, bag, derived->rows);
    if (!rows.ok()) return rows.error();
    Result<HostRows> solutions = host_->solve(stage.question, std::move(*rows));
    if (!solutions.ok()) return solutions.error();
    if (Status go_on = machine_->check(0); !go_on.ok()) return go_on.error();
    if (Status s = upload(*solutions); !s.ok()) return s.error();
    all.rows = solutions->rows;
    if (all.rows == 0) break;  // what is left would find nothing
  }
  return all;
}

// The last stage, which `finish` runs, over what the others give it.
Result<Derived> StagedDerivation::run_stages(const relation::RelationOf& relation_of,
                                             const FinishStages& finish) {
  if (!needs_host()) return finish(relation_of);
  const relation::RelationOf here = with_bindings(relation_of);
  Result<Derived> before = run_before_last(here);
  if (!before.ok() || before->rows == 0) return before;
  Result<Derived> derived = finish(here);
  if (derived.ok()) derived->valueless += before->valueless;
  bindings_.reset();
  return derived;
}

Result<Derived> StagedDerivation::run(const relation::RelationOf& relation_of) {
  return run_stages(relation_of, [this](const relation::RelationOf& here) {
    return stages_.back().derivation.run(here);
  });
}

Result<Derived> StagedDerivation::run(const relation::RelationOf& relation_of, relation::Bag& bag,
                                      const relation::Filled& filled) {
  return run_stages(relation_of, [&](const relation::RelationOf& here) {
    return stages_.back().derivation.run(here, bag, filled);
  });
}

}  // namespace xlog::engine
