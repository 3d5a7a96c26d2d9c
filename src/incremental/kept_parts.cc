// The parts of a program that are kept: rules compiled for each atom that may change, and the
// tables that they count in.
#include <algorithm>

#include "incremental/kept.h"
#include "logic/components.h"
#include "logic/memory_report.h"

namespace xlog::incremental {

using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Rule;
using lang::Term;

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
    if (part.kind == KeptKind::Recomputed || part.kind == KeptKind::Results) continue;
    if (part.kind == KeptKind::Best) add_best_tables(part);
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

void Kept::add_best_tables(Part& part) {
  part.makes_values = true;
  for (const PredId pred : part.predicates) {
    BestTable made;
    made.pred = pred.index;
    const lang::Predicate& predicate = program_.program[pred];
    made.rows = add_table(predicate.arity, true);
    made.candidates = add_table(predicate.arity);
    const std::optional<logic::Best>& best = program_.analysis.best[pred.index];
    if (best) {
      made.column = best->column;
      made.least = best->fn == lang::AggregateFn::Min;
      made.kind = predicate.columns[best->column].type.kind;
      made.group = static_cast<uint32_t>(part.best.size()) + 1;
      const auto alike = std::ranges::find_if(part.best, [&](const BestTable& other) {
        return other.column && other.least == made.least && other.kind == made.kind;
      });
      if (alike != part.best.end()) made.group = alike->group;
    }
    for (uint32_t c = 0; c < predicate.arity; ++c) {
      if (made.column != c) made.key.push_back(c);
    }
    part.best.push_back(std::move(made));
  }
}

void Kept::read_best_rows(Version& version, const Part& part) {
  const auto rows_of = [&](uint32_t pred) {
    return std::ranges::find(part.best, pred, &BestTable::pred)->rows;
  };
  if (version.own) version.table = rows_of(version.table);
  for (Step& step : version.steps) {
    if (step.own) step.table = rows_of(step.table);
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
  } else if (part.kind == KeptKind::Best) {
    made.target = RuleTarget::Candidates;
    made.table =
        std::ranges::find(part.best, rule.head[0].pred.index, &BestTable::pred)->candidates;
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
    if (part.kind == KeptKind::Best) read_best_rows(version, part);
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
  // The first one without a value is met, of the head and of what is folded.
  std::vector<const Term*> valued;
  const auto add = [&](const Term& term) {
    if (!may_have_no_value(term)) return;
    add_valueless_rule(part, r, before, term, valued);
    valued.push_back(&term);
  };
  for (const Term& arg : rule.head[0].args) add(arg);
  valued.clear();
  for (const lang::HeadAggregate& aggregate : rule.aggregates) {
    if (aggregate.has_value) add(aggregate.value);
  }
}

void Kept::add_valueless_rule(Part& part, uint32_t r, const std::vector<uint32_t>& literals,
                              const Term& term, const std::vector<const Term*>& valued) {
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
  made.valued = valued;
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

}  // namespace xlog::incremental
