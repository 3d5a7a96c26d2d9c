#include "engine/component.h"

#include <algorithm>

#include "plan/build.h"
#include "relation/aggregate.h"

namespace xlog::engine {

using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Rule;
using relation::Derivation;

plan::Pipeline Rules::pipeline(uint32_t rule, std::optional<uint32_t> delta, uint32_t component) {
  plan::VersionOptions options;
  options.delta = delta;
  options.grows = [this, component](PredId pred) { return inside(pred, component); };
  return plan::build_pipeline(program_, rule, options, [this](PredId pred) {
    return plan::Statistics{database_[pred].rows(), {}};
  });
}

Derivation Rules::version(uint32_t rule, std::optional<uint32_t> delta, uint32_t component) {
  const lang::HeadElement& head = program_.rules[rule].head[0];
  return {machine_, program_, pipeline(rule, delta, component), head.args, head.pred};
}

Status Rules::derive(Derivation& derivation, ComponentRun& run) {
  if (Status go_on = check_(rows_, run.makes_values); !go_on.ok()) return go_on;
  Result<relation::Derived> derived =
      derivation.run([this](PredId pred) -> relation::Relation& { return database_[pred]; });
  if (!derived.ok()) return derived.error();
  run.rows += derived->rows;
  rows_ += derived->rows;
  run.valueless += derived->valueless;
  return check_(rows_, run.makes_values);
}

// Whether a rule that reads its own component has a head variable that no atom brings.
bool Rules::makes_values(uint32_t c) const {
  return std::ranges::any_of(analysis_.components[c].rules, [&](uint32_t r) {
    const Rule& rule = program_.rules[r];
    std::vector<bool> brought(rule.variables.size(), false);
    bool reads_itself = false;
    for (const Literal& literal : rule.body) {
      if (literal.kind != LiteralKind::Atom || literal.nots != 0) continue;
      reads_itself |= inside(literal.pred, c);
      for (const lang::Term& arg : literal.args) {
        if (arg.kind == lang::TermKind::Variable) brought[arg.var.index] = true;
      }
    }
    return reads_itself && std::ranges::any_of(rule.head[0].args, [&](const lang::Term& arg) {
             return arg.kind == lang::TermKind::Variable && !brought[arg.var.index];
           });
  });
}

// One row with nothing but counts.
Status Rules::count(relation::Relation& into, uint64_t number, ComponentRun& run) {
  if (number == 0) return Done{};
  const std::vector<std::span<const std::byte>> columns(into.arity(),
                                                        std::as_bytes(std::span(&number, 1)));
  Result<uint32_t> added = into.load(columns, 1);
  if (!added.ok()) return added.error();
  run.rows += *added;
  return Done{};
}

// A rule with aggregates in its head: its solutions as a bag of groups and values, then the folds.
Status Rules::aggregate(uint32_t index, ComponentRun& run) {
  const Rule& rule = program_.rules[index];
  const lang::HeadElement& head = rule.head[0];
  auto is_aggregate = [&](uint32_t column) {
    return std::ranges::any_of(rule.aggregates, [&](const auto& a) { return a.column == column; });
  };
  std::vector<lang::Term> terms;
  std::vector<uint32_t> order;  // of the head's columns: groups, then aggregates
  for (uint32_t c = 0; c < head.args.size(); ++c) {
    if (is_aggregate(c)) continue;
    terms.push_back(head.args[c]);
    terms.back().type = program_[head.pred].columns[c].type;
    order.push_back(c);
  }
  const uint32_t groups = static_cast<uint32_t>(terms.size());
  std::vector<relation::AggregateColumn> columns;
  for (const lang::HeadAggregate& a : rule.aggregates) {
    relation::AggregateColumn column;
    column.fn = a.fn;
    column.result = relation::column_type(program_[head.pred].columns[a.column].type.kind);
    if (a.has_value && a.fn != lang::AggregateFn::Count) {
      column.value = static_cast<uint32_t>(terms.size());
      terms.push_back(a.value);
    } else if (a.has_value) {
      // Counted only where it has a value.
      column.value = static_cast<uint32_t>(terms.size());
      terms.push_back(a.value);
    }
    columns.push_back(column);
    order.push_back(a.column);
  }
  auto relation_of = [this](PredId pred) -> relation::Relation& { return database_[pred]; };
  Derivation derivation(machine_, program_, pipeline(index, {}, UINT32_MAX), terms, {});
  std::vector<kernel::Type> types;
  for (const lang::Term& term : terms) types.push_back(relation::column_type(term.type.kind));
  relation::Bag bag(machine_, types);
  Result<relation::Derived> derived = derivation.run(relation_of, bag);
  if (!derived.ok()) return derived.error();
  run.valueless += derived->valueless;
  relation::Relation& into = database_[head.pred];
  if (terms.empty()) return count(into, derived->rows, run);
  Result<relation::Aggregated> folded = relation::aggregate(machine_, bag, groups, columns);
  if (!folded.ok()) return folded.error();
  if (folded->rows == 0) return Done{};
  std::vector<device::Buffer> buffers(order.size());
  for (size_t c = 0; c < order.size(); ++c) buffers[order[c]] = folded->columns[c];
  Result<uint32_t> added = into.absorb(buffers, folded->rows);
  if (!added.ok()) return added.error();
  run.rows += *added;
  return Done{};
}

Result<ComponentRun> Rules::evaluate(uint32_t c) {
  const logic::Component& component = analysis_.components[c];
  ComponentRun run;
  run.makes_values = makes_values(c);
  for (PredId pred : component.predicates) {
    if (Status loaded = database_.load_facts(pred); !loaded.ok()) return loaded.error();
    database_[pred].next_round();
  }
  // The versions of the rules that read the component: one for each such literal.
  struct Version {
    PredId reads;
    Derivation derivation;
  };
  std::vector<Version> versions;
  std::vector<std::pair<uint32_t, uint32_t>> deltas;  // rule, literal
  for (uint32_t r : component.rules) {
    const Rule& rule = program_.rules[r];
    bool recursive = false;
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
      if (rule.body[i].kind != LiteralKind::Atom || !inside(rule.body[i].pred, c)) continue;
      recursive = true;
      deltas.emplace_back(r, i);
    }
    if (recursive) continue;
    if (!rule.aggregates.empty()) {
      if (Status done = aggregate(r, run); !done.ok()) return done.error();
      continue;
    }
    Derivation derivation = version(r, {}, c);
    if (Status done = derive(derivation, run); !done.ok()) return done.error();
  }
  for (PredId pred : component.predicates) {
    database_[pred].next_round();
    database_[pred].restart();
  }
  auto finish = [&] {
    for (PredId pred : component.predicates) {
      database_[pred].next_round();
      database_[pred].finish();
    }
    return run;
  };
  if (deltas.empty()) return finish();
  for (const auto& [r, literal] : deltas) {
    versions.push_back({program_.rules[r].body[literal].pred, version(r, literal, c)});
  }
  if (versions.size() == 1) versions[0].derivation.go_on_with_own_rows();
  for (bool changed = true; changed;) {
    ++run.rounds;
    for (Version& v : versions) {
      if (database_[v.reads].fresh() == database_[v.reads].rows()) continue;
      if (Status done = derive(v.derivation, run); !done.ok()) return done.error();
    }
    changed = false;
    for (PredId pred : component.predicates) changed |= database_[pred].next_round();
  }
  return finish();
}

Result<Rules::Solutions> Rules::solve(uint32_t constraint, uint64_t& valueless) {
  const Rule& rule = program_.rules[constraint];
  Solutions solutions;
  std::vector<lang::Term> terms;
  std::vector<kernel::Type> types;
  std::vector<lang::TypeKind> kinds;
  for (uint32_t v = 0; v < rule.variables.size(); ++v) {
    const lang::Variable& variable = rule.variables[v];
    if (variable.anonymous || variable.helper) continue;
    lang::Term term;
    term.kind = lang::TermKind::Variable;
    term.var = {v};
    term.type = variable.type;
    solutions.variables.push_back(v);
    kinds.push_back(variable.type.kind);
    types.push_back(relation::column_type(variable.type.kind));
    terms.push_back(std::move(term));
  }
  auto relation_of = [this](PredId pred) -> relation::Relation& { return database_[pred]; };
  Derivation derivation(machine_, program_, pipeline(constraint, {}, UINT32_MAX), terms, {});
  relation::Bag bag(machine_, types);
  Result<relation::Derived> derived = derivation.run(relation_of, bag);
  if (!derived.ok()) return derived.error();
  valueless += derived->valueless;
  Result<std::vector<std::vector<lang::Value>>> rows =
      download_rows(machine_.device(), bag.columns(), kinds, bag.rows());
  if (!rows.ok()) return rows.error();
  solutions.rows = std::move(*rows);
  if (terms.empty() && derived->rows > 0) solutions.rows.resize(1);
  return solutions;
}

}  // namespace xlog::engine
