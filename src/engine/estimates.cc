#include "engine/estimates.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlog::engine {

using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Rule;

namespace {

lang::Term variable(uint32_t index, const lang::Type& type) {
  lang::Term term;
  term.kind = lang::TermKind::Variable;
  term.var = {index};
  term.type = type;
  return term;
}

// The rule `head(X, ...) :- body(X, ...).` for a predicate of these columns.
Rule copying_rule(const lang::Predicate& columns, PredId head, PredId body, Span span) {
  Rule rule;
  rule.span = span;
  rule.head.emplace_back().pred = head;
  Literal literal;
  literal.pred = body;
  literal.span = span;
  for (uint32_t c = 0; c < columns.columns.size(); ++c) {
    const lang::Type& type = columns.columns[c].type;
    rule.variables.emplace_back().type = type;
    literal.args.push_back(variable(c, type));
    rule.head[0].args.push_back(variable(c, type));
  }
  rule.body.push_back(std::move(literal));
  return rule;
}

}  // namespace

Estimates::Estimates(lang::Program& program, const logic::Analysis& analysis, lang::Names& names,
                     std::vector<bool> alternates, const std::map<uint32_t, uint32_t>& constraints)
    : program_(program),
      analysis_(analysis),
      alternates_(std::move(alternates)),
      predicates_(program.predicates.size()),
      rules_(program.rules.size()),
      constraints_(constraints) {
  for (const auto& [constraint, copy] : constraints) copied_[copy] = constraint;
  if (std::ranges::find(alternates_, true) == alternates_.end()) return;
  extended_ = analysis;
  for (uint32_t c = 0; c < alternates_.size(); ++c) {
    if (alternates_[c]) add_twins(c, names);
  }
  for (uint32_t c = 0; c < alternates_.size(); ++c) {
    if (!alternates_[c]) continue;
    add_rules(c);
    for (PredId pred : analysis.components[c].predicates) add_facts(c, pred, names);
  }
  for (uint32_t r : analysis.constraints) {
    Rule made = copy_of(program.rules[constraint(r)], Side::True);
    constraints_[r] = add_rule(std::move(made), r);
  }
  for (const lang::Query& query : program.queries) {
    if (this->alternates(query.pred)) add_undefined(query.pred);
  }
}

void Estimates::restore() {
  if (!extended_ || restored_) return;
  restored_ = true;
  for (const auto& [pred, holder] : moved_facts_) {
    program_[pred].facts = std::move(program_[holder].facts);
  }
  program_.predicates.erase(program_.predicates.begin() + static_cast<ptrdiff_t>(predicates_),
                            program_.predicates.end());
  program_.rules.erase(program_.rules.begin() + static_cast<ptrdiff_t>(rules_),
                       program_.rules.end());
}

uint32_t Estimates::constraint(uint32_t rule) const {
  const auto found = constraints_.find(rule);
  return found != constraints_.end() ? found->second : rule;
}

uint32_t Estimates::source(uint32_t rule) const {
  if (rule >= rules_) return sources_[rule - rules_];
  const auto copied = copied_.find(rule);
  return copied != copied_.end() ? copied->second : rule;
}

uint32_t Estimates::add_component(logic::Component component, uint32_t source) {
  extended_->components.push_back(std::move(component));
  source_components_.push_back(source);
  return static_cast<uint32_t>(extended_->components.size() - 1);
}

// A predicate of the same columns.
PredId Estimates::add_predicate(const char* role, PredId source, uint32_t component,
                                lang::Names& names) {
  const PredId pred{static_cast<uint32_t>(program_.predicates.size())};
  lang::Predicate predicate;
  predicate.name = names.symbols.intern(
      fmt::format("{} {}", role, lang::predicate_name(program_[source], names)));
  predicate.arity = program_[source].arity;
  predicate.columns = program_[source].columns;
  predicate.helper = true;
  predicate.span = program_[source].span;
  program_.predicates.push_back(std::move(predicate));
  source_predicates_.push_back(source);
  extended_->component_of.push_back(component);
  extended_->best.emplace_back();
  extended_->components[component].predicates.push_back(pred);
  return pred;
}

uint32_t Estimates::add_rule(Rule rule, uint32_t source) {
  program_.rules.push_back(std::move(rule));
  sources_.push_back(source);
  return static_cast<uint32_t>(program_.rules.size() - 1);
}

void Estimates::add_twins(uint32_t component, lang::Names& names) {
  parts_[component].possible = add_component({}, component);
  for (PredId pred : analysis_.components[component].predicates) {
    possible_[pred] = add_predicate("possible", pred, parts_[component].possible, names);
  }
}

// What is true follows from what is true and from the absence of what is possible, and the other
// way round.
Rule Estimates::copy_of(const Rule& rule, Side side) const {
  Rule made = rule;
  for (Literal& literal : made.body) {
    if (literal.kind != LiteralKind::Atom || !alternates(literal.pred)) continue;
    if ((literal.nots == 0) == (side == Side::Possible)) literal.pred = possible(literal.pred);
  }
  if (side == Side::Possible) made.head[0].pred = possible(made.head[0].pred);
  return made;
}

void Estimates::add_rules(uint32_t component) {
  Parts& parts = parts_[component];
  std::vector<uint32_t> rules, twins;
  bool recursive = false;
  for (uint32_t r : analysis_.components[component].rules) {
    for (const Literal& literal : program_.rules[r].body) {
      if (literal.kind != LiteralKind::Atom) continue;
      if (analysis_.component_of[literal.pred.index] != component) continue;
      (literal.nots == 0 ? recursive : parts.cyclic) = true;
    }
    Rule when_true = copy_of(program_.rules[r], Side::True);
    rules.push_back(add_rule(std::move(when_true), r));
    Rule when_possible = copy_of(program_.rules[r], Side::Possible);
    twins.push_back(add_rule(std::move(when_possible), r));
  }
  logic::Component& own = extended_->components[component];
  own.rules = std::move(rules);
  own.recursive = recursive;
  logic::Component& twin = extended_->components[parts.possible];
  twin.rules = std::move(twins);
  twin.recursive = recursive;
}

// Facts go to the device once, into a relation of their own.
void Estimates::add_facts(uint32_t component, PredId pred, lang::Names& names) {
  if (program_[pred].facts == nullptr) return;
  const uint32_t holds = add_component({}, component);
  parts_[component].facts.push_back(holds);
  const PredId facts = add_predicate("facts of", pred, holds, names);
  program_[facts].facts = std::move(program_[pred].facts);
  moved_facts_[pred] = facts;
  const uint32_t source = analysis_.components[component].rules.front();
  for (const PredId head : {pred, possible(pred)}) {
    const uint32_t rule =
        add_rule(copying_rule(program_[pred], head, facts, program_[pred].span), source);
    extended_->components[extended_->component_of[head.index]].rules.push_back(rule);
  }
}

void Estimates::add_undefined(PredId pred) {
  if (undefined_.contains(pred)) return;
  Rule rule = copying_rule(program_[pred], pred, possible(pred), program_[pred].span);
  Literal certain = rule.body[0];
  certain.pred = pred;
  certain.nots = 1;
  rule.body.push_back(std::move(certain));
  rule.head.clear();
  rule.head_kind = lang::HeadKind::None;
  undefined_[pred] = add_rule(std::move(rule), program_[pred].rules.front());
}

}  // namespace xlog::engine
