#include "incremental/kept.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "incremental/fact_set.h"
#include "logic/components.h"
#include "logic/memory_report.h"

namespace xlog::incremental {

using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Rule;
using lang::Term;
using lang::Value;

Kept::Kept(const KeptProgram& program, lang::Session& session, const logic::AnswerOptions& options,
           device::Device* device)
    : program_(program),
      session_(session),
      options_(options),
      device_(device),
      runner_(tables_, cells_, session.names) {
  const logic::Analysis& analysis = program.analysis;
  const size_t predicates = program.program.predicates.size();
  for (uint32_t p = 0; p < predicates; ++p) {
    const KeptKind kind = program.kinds[analysis.component_of[p]];
    add_table(program.program.predicates[p].arity, kind == KeptKind::Supported);
  }
  for (uint32_t p = 0; p < predicates; ++p) {
    const KeptKind kind = program.kinds[analysis.component_of[p]];
    const bool derived = kind != KeptKind::Open && !program.program.predicates[p].rules.empty();
    fact_tables_.push_back(derived ? add_table(program.program.predicates[p].arity) : p);
  }
  fact_events_.resize(predicates);
  make_parts();
}

uint32_t Kept::add_table(uint32_t arity, bool supported) {
  tables_.emplace_back(arity, supported);
  changed_.emplace_back();
  touched_.emplace_back();
  return static_cast<uint32_t>(tables_.size() - 1);
}

// ---- what is kept ----

void Kept::make_parts() {
  const logic::Analysis& analysis = program_.analysis;
  for (uint32_t c = 0; c < analysis.components.size(); ++c) {
    const logic::Component& component = analysis.components[c];
    if (program_.kinds[c] == KeptKind::Open || component.rules.empty()) continue;
    const PredId first = component.predicates.front();
    if (program_.same_as[first.index] != first) continue;
    Part& part = parts_.emplace_back();
    part.kind = program_.kinds[c];
    part.predicates = component.predicates;
    part.reason = program_.reasons[c];
    part.name =
        logic::relation_name(component.predicates.front(), program_.program, session_.names);
    for (const PredId pred : component.predicates) {
      for (const logic::Edge& edge : logic::edges_to(analysis.edges, pred)) {
        const bool below = analysis.component_of[edge.from.index] != c;
        if (below && std::ranges::count(part.reads, edge.from.index) == 0) {
          part.reads.push_back(edge.from.index);
        }
      }
    }
    if (part.kind == KeptKind::Recomputed) continue;
    for (const uint32_t r : component.rules) add_rule(part, r, c);
  }
  if (program_.constraints.empty()) return;
  Part& part = parts_.emplace_back();
  part.name = "the constraints";
  for (const uint32_t r : program_.constraints) {
    logic::for_each_predicate(
        program_.program.rules[r].body,
        [&](const Literal& literal, const Literal*) { part.reads.push_back(literal.pred.index); });
    add_rule(part, r, UINT32_MAX);
  }
}

namespace {

// Whether a rule that reads its own component has a head variable that no atom brings.
bool makes_values(const Rule& rule, const logic::Analysis& analysis, uint32_t component) {
  std::vector<bool> brought(rule.variables.size(), false);
  bool reads_itself = false;
  for (const Literal& literal : rule.body) {
    if (literal.kind != LiteralKind::Atom || is_negative(literal)) continue;
    reads_itself |= analysis.component_of[literal.pred.index] == component;
    for (const Term& arg : literal.args) {
      if (arg.kind == lang::TermKind::Variable) brought[arg.var.index] = true;
    }
  }
  return reads_itself && std::ranges::any_of(rule.head[0].args, [&](const Term& term) {
           if (term.kind == lang::TermKind::Variable) return !brought[term.var.index];
           return term.kind != lang::TermKind::Constant;
         });
}

}  // namespace

void Kept::add_rule(Part& part, uint32_t r, uint32_t component) {
  const Rule& rule = program_.program.rules[r];
  KeptRule made;
  made.rule = r;
  for (uint32_t i = 0; i < rule.body.size(); ++i) made.literals.push_back(i);
  if (rule.head.empty()) {
    made.target = RuleTarget::Violations;
    made.table = add_table(0);
    violation_tables_.push_back(made.table);
  } else if (!rule.aggregates.empty()) {
    made.target = RuleTarget::Bag;
    Groups groups(rule, program_.program);
    made.table = add_table(groups.bag_columns());
    groups_.emplace(made.table, std::move(groups));
  } else {
    made.table = rule.head[0].pred.index;
    part.makes_values |= makes_values(rule, program_.analysis, component);
  }
  const auto number = static_cast<uint32_t>(part.rules.size());
  for (Version& version : make_versions(made, number, program_, component, cells_)) {
    part.versions.push_back(std::move(version));
  }
  part.rules.push_back(std::move(made));
  add_valueless_rules(part, r);
}

// Each term whose arithmetic may have no value is met by the solutions of the literals before it,
// in the order of the reference evaluator.
void Kept::add_valueless_rules(Part& part, uint32_t r) {
  const Rule& rule = program_.program.rules[r];
  if (!may_have_no_value(rule)) return;
  std::vector<uint32_t> before;
  std::vector<bool> bound(rule.variables.size(), false);
  const auto is_bound = [&](const Term& term) {
    std::vector<lang::VarId> found;
    lang::collect_variables(term, found);
    return std::ranges::all_of(found, [&](lang::VarId v) { return bound[v.index]; });
  };
  for (const uint32_t i : program_.analysis.orders[r].body.sequence) {
    const Literal& literal = rule.body[i];
    const std::vector<uint32_t> so_far = before;
    if (literal.kind == LiteralKind::Compare) {
      const bool tests = is_bound(literal.lhs) && is_bound(literal.rhs);
      for (const Term* side : {&literal.lhs, &literal.rhs}) {
        if (tests || is_bound(*side)) add_valueless_rule(part, r, so_far, *side);
      }
    }
    for (const Term& arg : literal.args) {
      if (is_bound(arg)) add_valueless_rule(part, r, so_far, arg);
    }
    before.insert(std::ranges::upper_bound(before, i), i);
    std::vector<lang::VarId> found;
    lang::collect_variables(literal, found);
    for (lang::VarId v : found) bound[v.index] = true;
  }
  if (rule.head.empty()) return;
  for (const Term& arg : rule.head[0].args) add_valueless_rule(part, r, before, arg);
  for (const lang::HeadAggregate& aggregate : rule.aggregates) {
    if (aggregate.has_value) add_valueless_rule(part, r, before, aggregate.value);
  }
}

void Kept::add_valueless_rule(Part& part, uint32_t r, const std::vector<uint32_t>& literals,
                              const Term& term) {
  if (!may_have_no_value(term)) return;
  // What is no value of the wanted type does not match; that is no arithmetic.
  const bool reads_term = term.kind == lang::TermKind::Arith && term.op == lang::ArithOp::Cast &&
                          term.args[0].type.kind == lang::TypeKind::Term;
  if (reads_term) return;
  const Rule& rule = program_.program.rules[r];
  std::vector<lang::VarId> found;
  lang::collect_variables(term, found);
  std::vector<lang::TypeKind> kinds;
  for (lang::VarId v : found) kinds.push_back(rule.variables[v.index].type.kind);
  KeptRule made;
  made.rule = r;
  made.target = RuleTarget::NoValue;
  made.literals = literals;
  made.term = &term;
  // Rules that were made from one rule of the source meet the same instances.
  const auto key = std::pair(std::pair(rule.span.begin, rule.span.end), kinds);
  const auto [it, is_new] = valueless_tables_.try_emplace(key, 0);
  if (is_new) {
    it->second = add_table(static_cast<uint32_t>(kinds.size()));
    valueless_.push_back({it->second, term.span, rule.head.empty()});
  }
  made.table = it->second;
  const auto number = static_cast<uint32_t>(part.after_rules.size());
  for (Version& version : make_versions(made, number, program_, UINT32_MAX, cells_)) {
    part.after.push_back(std::move(version));
  }
  part.after_rules.push_back(std::move(made));
}

// ---- facts ----

void Kept::load_facts(const lang::Program& source) {
  for (uint32_t p = 0; p < source.predicates.size(); ++p) {
    const lang::FactTable* facts = source.predicates[p].facts.get();
    if (facts == nullptr) continue;
    Table& table = tables_[fact_tables_[p]];
    table.reserve(facts->rows);
    std::vector<uint64_t> cells(facts->arity);
    for (size_t r = 0; r < facts->rows; ++r) {
      for (uint32_t c = 0; c < facts->arity; ++c) {
        cells[c] = cells_.cell(source.predicates[p].columns[c].type.kind, facts->columns[c].at(r));
      }
      uint32_t row = table.find(cells.data());
      if (row == kNoRow) {
        row = table.add(cells.data());
        table.set_state(row, kOld | kNew);
      }
      table.set_weight(row, table.weight(row) + 1);
    }
  }
}

Result<NetChange> Kept::net_change(std::span<const FactChanges> batch) {
  NetChange change;
  const auto too_heavy = [&](PredId pred, const Table& rows, uint32_t row) {
    return weight_overflow(
        fact_text(pred, values_of(rows, pred, row), program_.program, session_.names));
  };
  for (const FactChanges& facts : batch) {
    const lang::Predicate& predicate = program_.program[facts.pred];
    if (predicate.helper) {
      return Error{fmt::format("{} is a helper of the program and has no facts of its own",
                               lang::predicate_signature(predicate, session_.names)),
                   "state facts of predicates that the program names"};
    }
    Table& rows = change.rows.try_emplace(facts.pred.index, predicate.arity).first->second;
    XLOG_CHECK(facts.values.size() == facts.weights.size() * predicate.arity, "rows are whole");
    std::vector<uint64_t> cells(predicate.arity);
    for (size_t i = 0; i < facts.weights.size(); ++i) {
      for (uint32_t c = 0; c < predicate.arity; ++c) {
        cells[c] =
            cells_.cell(predicate.columns[c].type.kind, facts.values[i * predicate.arity + c]);
      }
      uint32_t row = rows.find(cells.data());
      if (row == kNoRow) row = rows.add(cells.data());
      int64_t weight = rows.weight(row);
      if (__builtin_add_overflow(weight, facts.weights[i], &weight)) {
        return too_heavy(facts.pred, rows, row);
      }
      rows.set_weight(row, weight);
    }
  }
  for (const auto& [pred, rows] : change.rows) {
    const Table& there = tables_[fact_tables_[pred]];
    for (uint32_t r = 0; r < rows.end(); ++r) {
      if (rows.weight(r) == 0) continue;
      const uint32_t row = there.find(rows.row(r));
      int64_t weight = row == kNoRow ? 0 : there.weight(row);
      if (__builtin_add_overflow(weight, rows.weight(r), &weight)) {
        return too_heavy(PredId{pred}, rows, r);
      }
      if (weight < 0) {
        return cannot_retract(PredId{pred}, values_of(rows, PredId{pred}, r),
                              weight - rows.weight(r), rows.weight(r), program_.program,
                              session_.names);
      }
      change.items.push_back({pred, r});
    }
  }
  return change;
}

void Kept::change_facts(const NetChange& change) {
  for (const NetChange::Item& item : change.items) {
    const Table& rows = change.rows.at(item.pred);
    const uint32_t t = fact_tables_[item.pred];
    Table& table = tables_[t];
    uint32_t row = table.find(rows.row(item.row));
    if (row == kNoRow) row = table.add(rows.row(item.row));
    const bool was = table.weight(row) > 0;
    table.set_weight(row, table.weight(row) + rows.weight(item.row));
    const bool is = table.weight(row) > 0;
    if (was == is) continue;
    table.set_state(row, is ? kNew : kOld);
    if (t != item.pred) {
      fact_events_[item.pred].push_back(row);
    }
    changed_[t].push_back(row);
    changed_tables_.push_back(t);
  }
}

void Kept::restore_facts(const NetChange& change) {
  for (const NetChange::Item& item : change.items) {
    const Table& rows = change.rows.at(item.pred);
    Table& table = tables_[fact_tables_[item.pred]];
    uint32_t row = table.find(rows.row(item.row));
    if (row == kNoRow) row = table.add(rows.row(item.row));
    table.set_weight(row, table.weight(row) - rows.weight(item.row));
    if (table.weight(row) == 0) {
      table.remove(row);
    } else {
      table.set_state(row, kOld | kNew);
    }
  }
}

uint64_t Kept::fact_rows() const {
  uint64_t rows = 0;
  for (const uint32_t t : fact_tables_) rows += tables_[t].new_rows();
  return rows;
}

namespace {

std::unique_ptr<lang::FactTable> to_facts(const Table& table, const lang::Predicate& predicate,
                                          const Cells& cells, lang::Names& names) {
  auto facts = std::make_unique<lang::FactTable>();
  facts->name = predicate.name;
  facts->strong_negation = predicate.strong_negation;
  facts->arity = predicate.arity;
  for (uint32_t c = 0; c < predicate.arity; ++c) {
    lang::FactColumn& column = facts->columns.emplace_back();
    const lang::TypeKind kind = predicate.columns[c].type.kind;
    column.convert(predicate.columns[c].type, names);
    for (uint32_t r = 0; r < table.end(); ++r) {
      if ((table.flags(r) & kNew) == 0) continue;
      column.append_typed(cells.value(kind, table.row(r)[c]));
    }
  }
  facts->rows = table.new_rows();
  facts->runs.push_back({0, 0});
  return facts;
}

}  // namespace

std::unique_ptr<lang::FactTable> Kept::fact_table(PredId pred) const {
  const Table& table = tables_[fact_tables_[pred.index]];
  if (table.new_rows() == 0) return nullptr;
  return to_facts(table, program_.program[pred], cells_, session_.names);
}

std::unique_ptr<lang::FactTable> Kept::rows(PredId pred) const {
  return to_facts(tables_[pred.index], program_.program[pred], cells_, session_.names);
}

std::vector<Value> Kept::values_of(const Table& table, PredId pred, uint32_t row) const {
  std::vector<Value> values;
  const lang::Predicate& predicate = program_.program[pred];
  for (uint32_t c = 0; c < predicate.arity; ++c) {
    values.push_back(cells_.value(predicate.columns[c].type.kind, table.row(row)[c]));
  }
  return values;
}

std::vector<Value> Kept::values(PredId pred, uint32_t row) const {
  return values_of(tables_[pred.index], pred, row);
}

std::vector<Value> Kept::fact_values(PredId pred, uint32_t row) const {
  return values_of(facts(pred), pred, row);
}

// ---- batches ----

Status Kept::build(Allowance& allowance) {
  XLOG_CHECK(!built_, "built once");
  for (uint32_t p = 0; p < fact_tables_.size(); ++p) {
    const uint32_t t = fact_tables_[p];
    Table& table = tables_[t];
    for (uint32_t r = 0; r < table.end(); ++r) {
      if (!table.is_used(r)) continue;
      table.set_state(r, kNew);
      changed_[t].push_back(r);
      if (t != p) fact_events_[p].push_back(r);
    }
    if (!changed_[t].empty()) changed_tables_.push_back(t);
  }
  allowance_ = &allowance;
  runner_.begin(allowance);
  built_ = true;
  for (Part& part : parts_) {
    if (Status done = update(part, true); !done.ok()) return done;
  }
  finish();
  for (Part& part : parts_) {
    for (Version& version : part.versions) ensure_indexes(version);
    for (Version& version : part.after) ensure_indexes(version);
  }
  return Done{};
}

Status Kept::update(Allowance& allowance, Effort& effort) {
  XLOG_CHECK(built_, "kept from the first batch on");
  allowance_ = &allowance;
  runner_.begin(allowance);
  for (Part& part : parts_) {
    if (!is_touched(part)) continue;
    ++effort.components;
    if (part.kind == KeptKind::Recomputed) {
      ++effort.recomputed;
      effort.reasons.push_back(fmt::format("{}: {}", part.name, part.reason));
    }
    if (Status done = update(part, false); !done.ok()) return done;
    effort.instances = runner_.instances();
  }
  return Done{};
}

bool Kept::is_touched(const Part& part) const {
  return std::ranges::any_of(part.reads, [&](uint32_t t) { return !changed_[t].empty(); }) ||
         std::ranges::any_of(part.predicates,
                             [&](PredId pred) { return !fact_events_[pred.index].empty(); });
}

Status Kept::update(Part& part, bool building) {
  switch (part.kind) {
    case KeptKind::Counted:
      update_counted(part, building);
      break;
    case KeptKind::Supported:
      update_supported(part, building);
      break;
    case KeptKind::Recomputed:
      if (Status done = recompute(part); !done.ok()) return done;
      break;
    case KeptKind::Open:
      break;
  }
  if (!part.after.empty() && status().ok()) {
    count(part.after, part.after_rules, building);
    for (const KeptRule& rule : part.after_rules) settle(rule.table);
  }
  return status();
}

Status Kept::status() const {
  if (allowance_->error()) return *allowance_->error();
  if (allowance_->too_many()) return Error{"the batch changes too much", ""};
  return Done{};
}

void Kept::finish() {
  for (const uint32_t t : changed_tables_) {
    for (const uint32_t row : changed_[t]) {
      Table& table = tables_[t];
      if (!table.is_used(row)) continue;
      if ((table.flags(row) & kNew) != 0) {
        table.set_state(row, kOld | kNew);
      } else {
        table.remove(row);
      }
    }
    changed_[t].clear();
  }
  changed_tables_.clear();
  for (auto& events : fact_events_) events.clear();
}

void Kept::forget() {
  finish();
  for (uint32_t p = 0; p < fact_tables_.size(); ++p) {
    const bool derived = fact_tables_[p] != p;
    if (derived) tables_[p] = Table(tables_[p].arity(), tables_[p].supported());
  }
  std::vector<bool> is_fact_table(tables_.size(), false);
  for (const uint32_t t : fact_tables_) is_fact_table[t] = true;
  for (uint32_t t = static_cast<uint32_t>(fact_tables_.size()); t < tables_.size(); ++t) {
    if (!is_fact_table[t]) tables_[t] = Table(tables_[t].arity());
  }
  for (auto& rows : touched_) rows.clear();
  for (auto& [table, groups] : groups_) groups.clear();
  emitted_.clear();
  clock_ = 0;
  ++index_epoch_;
  built_ = false;
}

// ---- what is reported ----

uint64_t Kept::violations() const {
  return static_cast<uint64_t>(std::ranges::count_if(
      violation_tables_, [&](uint32_t t) { return tables_[t].new_rows() > 0; }));
}

std::optional<uint32_t> Kept::first_violated() const {
  for (size_t i = 0; i < violation_tables_.size(); ++i) {
    if (tables_[violation_tables_[i]].new_rows() > 0) return program_.constraints[i];
  }
  return std::nullopt;
}

bool Kept::violations_changed() const {
  return std::ranges::any_of(violation_tables_, [&](uint32_t t) { return !changed_[t].empty(); });
}

uint64_t Kept::valueless(bool with_constraints) const {
  uint64_t count = 0;
  for (const Valueless& kept : valueless_) {
    if (with_constraints || !kept.in_constraint) count += tables_[kept.table].new_rows();
  }
  return count;
}

bool Kept::valueless_changed() const {
  return std::ranges::any_of(valueless_,
                             [&](const Valueless& kept) { return !changed_[kept.table].empty(); });
}

Span Kept::valueless_span() const {
  for (const Valueless& kept : valueless_) {
    if (tables_[kept.table].new_rows() > 0) return kept.span;
  }
  return {};
}

}  // namespace xlog::incremental
