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
                     std::vector<bool> alternates, const std::map<uint32_t, uint32_t>& constraints,
                     std::optional<logic::Mode> worlds)
    : program_(program),
      analysis_(analysis),
      alternates_(std::move(alternates)),
      worlds_(worlds),
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
    if (worlds_) add_open(c, names);
  }
  if (worlds_) return;
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
PredId Estimates::add_twin(const char* role, PredId source, uint32_t component,
                           lang::Names& names) {
  lang::Predicate predicate;
  predicate.name = names.symbols.intern(
      fmt::format("{} {}", role, lang::predicate_name(program_[source], names)));
  predicate.columns = program_[source].columns;
  predicate.span = program_[source].span;
  return add_predicate(std::move(predicate), source, component);
}

PredId Estimates::add_predicate(lang::Predicate predicate, PredId source, uint32_t component) {
  const PredId pred{static_cast<uint32_t>(program_.predicates.size())};
  predicate.arity = static_cast<uint32_t>(predicate.columns.size());
  predicate.helper = true;
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
    possible_[pred] = add_twin("possible", pred, parts_[component].possible, names);
  }
}

bool Estimates::is_inside(const Literal& literal, uint32_t component) const {
  return literal.kind == LiteralKind::Atom &&
         analysis_.component_of[literal.pred.index] == component;
}

// Of a rule for what is possible.
bool Estimates::is_left_out(const Literal& literal, uint32_t component) const {
  return worlds_ && is_inside(literal, component) && !is_negative(literal) &&
         !needs_derivation(literal, *worlds_);
}

// What is true follows from what is true and from the absence of what is possible, and the other
// way round.
Rule Estimates::copy_of(const Rule& rule, Side side) const {
  Rule made = rule;
  for (Literal& literal : made.body) {
    if (literal.kind != LiteralKind::Atom || !alternates(literal.pred)) continue;
    const bool negative = is_negative(literal);
    literal.modal = lang::Modal::None;
    literal.nots = negative ? 1 : 0;
    if (negative == (side == Side::True)) literal.pred = possible(literal.pred);
  }
  return made;
}

void Estimates::add_to(uint32_t component, Side side, const Rule& rule, uint32_t source) {
  Parts& parts = parts_[component];
  const bool is_certain = side == Side::True;
  logic::Component& own = extended_->components[is_certain ? component : parts.possible];
  for (const Literal& literal : rule.body) {
    if (!is_inside(literal, component)) continue;
    bool& reads_other = is_certain ? parts.certain_reads_possible : parts.possible_reads_certain;
    (is_negative(literal) ? reads_other : own.recursive) = true;
  }
  Rule made = copy_of(rule, side);
  if (!is_certain) made.head[0].pred = possible(made.head[0].pred);
  own.rules.push_back(add_rule(std::move(made), source));
}

void Estimates::add_rules_of(uint32_t component, uint32_t r) {
  for (PlainRule& plain : plain_rules(program_.rules[r])) {
    Rule when_true = plain.rule;
    for (Literal other : plain.others) {
      other.nots = 1;
      when_true.body.push_back(std::move(other));
    }
    if (plain.is_forced) add_to(component, Side::True, when_true, r);
    const size_t left_out = std::erase_if(
        plain.rule.body, [&](const Literal& literal) { return is_left_out(literal, component); });
    const bool is_open = !plain.is_forced || !plain.others.empty() || left_out > 0;
    if (is_open) parts_[component].makes_open = true;
    add_to(component, Side::Possible, plain.rule, r);
  }
}

void Estimates::add_rules(uint32_t component) {
  extended_->components[component].rules.clear();
  extended_->components[component].recursive = false;
  for (uint32_t r : analysis_.components[component].rules) add_rules_of(component, r);
}

void Estimates::add_open(uint32_t component, lang::Names& names) {
  const uint32_t open = add_component({}, component);
  parts_[component].open = open;
  for (PredId pred : analysis_.components[component].predicates) {
    open_[pred] = add_twin("open", pred, open, names);
    Rule rule = possible_only(pred, open_[pred]);
    const uint32_t made = add_rule(std::move(rule), analysis_.components[component].rules.front());
    extended_->components[open].rules.push_back(made);
  }
}

// Facts go to the device once, into a relation of their own.
void Estimates::add_facts(uint32_t component, PredId pred, lang::Names& names) {
  if (program_[pred].facts == nullptr) return;
  const uint32_t holds = add_component({}, component);
  parts_[component].facts.push_back(holds);
  const PredId facts = add_twin("facts of", pred, holds, names);
  program_[facts].facts = std::move(program_[pred].facts);
  moved_facts_[pred] = facts;
  const uint32_t source = analysis_.components[component].rules.front();
  for (const PredId head : {pred, possible(pred)}) {
    const uint32_t rule =
        add_rule(copying_rule(program_[pred], head, facts, program_[pred].span), source);
    extended_->components[extended_->component_of[head.index]].rules.push_back(rule);
  }
}

// The rule `head(X, ...) :- possible pred(X, ...), not pred(X, ...).`
Rule Estimates::possible_only(PredId pred, PredId head) const {
  Rule rule = copying_rule(program_[pred], head, possible(pred), program_[pred].span);
  Literal certain = rule.body[0];
  certain.pred = pred;
  certain.nots = 1;
  rule.body.push_back(std::move(certain));
  return rule;
}

std::vector<Estimates::Instances> Estimates::add_instances(
    uint32_t rule, const std::function<bool(PredId)>& has_open, lang::Names& names) {
  std::vector<PlainRule> plain = plain_rules(program_.rules[rule]);
  if (program_.rules[rule].head_kind != lang::HeadKind::Choice) {
    return {add_instances_of(rule, plain, has_open, names)};
  }
  std::vector<Instances> made;
  for (PlainRule& element : plain) {
    made.push_back(add_instances_of(rule, {std::move(element)}, has_open, names));
  }
  return made;
}

// Those of rules that have one body: a disjunction matters where one of its atoms is open. A
// constraint, which has no atoms, matters where its body may hold.
Estimates::Instances Estimates::add_instances_of(uint32_t source,
                                                 const std::vector<PlainRule>& plain,
                                                 const std::function<bool(PredId)>& has_open,
                                                 lang::Names& names) {
  const Rule& body = plain.empty() ? program_.rules[source] : plain.front().rule;
  Instances made;
  for (const PlainRule& element : plain) {
    for (const lang::Term& arg : element.rule.head[0].args) {
      lang::collect_variables(arg, made.variables);
    }
  }
  for (const Literal& literal : body.body) {
    if (literal.kind != LiteralKind::Atom || !has_open(literal.pred)) continue;
    lang::collect_variables(literal, made.variables);
  }
  std::ranges::sort(made.variables);
  made.variables.erase(std::ranges::unique(made.variables).begin(), made.variables.end());

  Rule rule = copy_of(body, Side::Possible);
  rule.head_kind = lang::HeadKind::Atom;
  rule.head.assign(1, {});
  lang::Predicate predicate;
  predicate.name = names.symbols.intern("instances");
  predicate.span = rule.span;
  for (const lang::VarId v : made.variables) {
    rule.variables[v.index].anonymous = false;
    rule.head[0].args.push_back(variable(v.index, rule.variables[v.index].type));
    predicate.columns.emplace_back().type = rule.variables[v.index].type;
  }
  made.component = add_component({}, UINT32_MAX);
  const PredId pred = add_predicate(std::move(predicate), {}, made.component);
  rule.head[0].pred = pred;
  std::vector<uint32_t>& rules = extended_->components[made.component].rules;
  if (plain.empty()) rules.push_back(add_rule(rule, source));
  for (const PlainRule& element : plain) {
    const lang::HeadElement& head = element.rule.head[0];
    if (!has_open(head.pred)) continue;
    Rule of_element = rule;
    Literal is_open;
    is_open.pred = open(head.pred);
    is_open.args = head.args;
    is_open.span = rule.head_span;
    of_element.body.push_back(std::move(is_open));
    rules.push_back(add_rule(std::move(of_element), source));
  }
  return made;
}

void Estimates::add_undefined(PredId pred) {
  if (undefined_.contains(pred)) return;
  Rule rule = possible_only(pred, pred);
  rule.head.clear();
  rule.head_kind = lang::HeadKind::None;
  undefined_[pred] = add_rule(std::move(rule), program_[pred].rules.front());
}

}  // namespace xlog::engine
