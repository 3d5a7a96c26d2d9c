#include "logic/binding.h"

#include <string_view>
#include <utility>

#include "logic/modes.h"
#include "logic/order.h"

namespace xlog::logic {

using lang::BuiltinId;
using lang::CompareOp;
using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Term;
using lang::TermKind;
using lang::VarId;

namespace {

bool is_findall(const Literal& literal) {
  return literal.kind == LiteralKind::Builtin && literal.builtin == BuiltinId::Findall;
}

bool is_maplist(const Literal& literal) {
  return literal.kind == LiteralKind::Builtin &&
         (literal.builtin == BuiltinId::Maplist2 || literal.builtin == BuiltinId::Maplist3);
}

// The variables that matching the term against a value binds, and those that must be bound before
// (inside arithmetic).
void collect_pattern(const Term& term, std::vector<VarId>& binds, std::vector<VarId>& needs) {
  switch (term.kind) {
    case TermKind::Variable:
      binds.push_back(term.var);
      return;
    case TermKind::Constant:
      return;
    case TermKind::List:
    case TermKind::Compound:
      for (const Term& arg : term.args) collect_pattern(arg, binds, needs);
      return;
    case TermKind::Arith:
      collect_variables(term, needs);
      return;
  }
}

void append(std::vector<VarId>& to, const std::vector<VarId>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void append_named(std::vector<VarId>& to, const std::vector<VarId>& from, const Scope& scope) {
  for (const VarId var : from) {
    if (!scope.rule.variables[var.index].anonymous) to.push_back(var);
  }
}

bool is_pattern(const Term& term) {
  return term.kind == TermKind::Variable || term.kind == TermKind::List ||
         term.kind == TermKind::Compound;
}

// Positive atoms, and positive modal ones that may bind.
Binding generator(const Literal& literal, const Scope& scope) {
  Binding binding;
  binding.generates = true;
  binding.ways.emplace_back();
  for (const Term& arg : literal.args) {
    collect_pattern(arg, binding.outputs, binding.ways[0]);
    if (arg.kind == TermKind::Constant) binding.anchored = true;
  }
  append_named(binding.names, binding.outputs, scope);
  return binding;
}

// Literals that only test: `_` means "some value", everything else must be bound.
Binding test(const Literal& literal, const Scope& scope) {
  std::vector<VarId> variables;
  for (const Term& arg : literal.args) collect_variables(arg, variables);
  Binding binding;
  append_named(binding.names, variables, scope);
  binding.ways.push_back(binding.names);
  return binding;
}

bool is_in_recursion(const Literal& literal, const Scope& scope) {
  return !scope.rule.head.empty() && scope.component_of[literal.pred.index] ==
                                         scope.component_of[scope.rule.head[0].pred.index];
}

Binding atom_binding(const Literal& literal, const Scope& scope) {
  if (literal.modal == Modal::None && literal.nots == 0) return generator(literal, scope);
  if (!modal_binds(literal, scope)) return test(literal, scope);
  Binding binding = generator(literal, scope);
  binding.believes = is_in_recursion(literal, scope);
  return binding;
}

// One way for an equation: the pattern on one side is matched against the value of the other.
void add_equation_way(const Term& pattern, const Term& value, Binding& binding) {
  if (!is_pattern(pattern)) return;
  std::vector<VarId> needs;
  collect_variables(value, needs);
  collect_pattern(pattern, binding.outputs, needs);
  binding.ways.push_back(std::move(needs));
}

Binding compare_binding(const Literal& literal, const Scope& scope) {
  Binding binding;
  binding.compares = !literal.brings;
  if (literal.op == CompareOp::Eq) {
    add_equation_way(literal.lhs, literal.rhs, binding);
    add_equation_way(literal.rhs, literal.lhs, binding);
  }
  std::vector<VarId> all;
  collect_variables(literal.lhs, all);
  collect_variables(literal.rhs, all);
  append_named(binding.names, all, scope);
  binding.ways.push_back(std::move(all));
  return binding;
}

// One way for a mode such as "+?". Maplist's predicate is no term, so its mode letter is passed
// over.
void add_mode(const Literal& literal, std::string_view mode, Binding& binding) {
  if (is_maplist(literal)) mode.remove_prefix(1);
  std::vector<VarId> needs;
  for (size_t i = 0; i < literal.args.size(); ++i) {
    if (mode[i] == '+') {
      collect_variables(literal.args[i], needs);
    } else {
      collect_pattern(literal.args[i], binding.outputs, needs);
    }
  }
  binding.ways.push_back(std::move(needs));
}

Binding builtin_binding(const Literal& literal, const Scope& scope) {
  Binding binding;
  std::string_view modes = builtin_info(literal.builtin).modes;
  while (!modes.empty()) {
    const size_t space = modes.find(' ');
    add_mode(literal, modes.substr(0, space), binding);
    modes = space == std::string_view::npos ? "" : modes.substr(space + 1);
  }
  std::vector<VarId> all;
  for (const Term& arg : literal.args) collect_variables(arg, all);
  append_named(binding.names, all, scope);
  if (literal.nots > 0) {
    binding.outputs.clear();
    for (auto& way : binding.ways) append(way, binding.names);
  }
  return binding;
}

// Aggregates and findall: `result` is what the collected values are compared with or bound to.
Binding braces_binding(const Literal& literal, const Term& result, bool may_bind,
                       const Scope& scope) {
  Binding binding;
  std::vector<VarId> inside;
  if (const Term* collected = collected_term(literal)) collect_variables(*collected, inside);
  for (const Literal& inner : literal.body) collect_variables(inner, inside);
  std::vector<VarId>& needs = binding.ways.emplace_back();
  for (const VarId var : inside) {
    if (scope.visible[var.index] > 0) needs.push_back(var);
  }
  if (may_bind) {
    collect_pattern(result, binding.outputs, needs);
  } else {
    collect_variables(result, needs);
  }
  append_named(binding.names, needs, scope);
  append_named(binding.names, binding.outputs, scope);
  return binding;
}

}  // namespace

bool has_braces(const Literal& literal) {
  return literal.kind == LiteralKind::Aggregate || is_findall(literal);
}

const Term* collected_term(const Literal& literal) {
  if (is_findall(literal)) return &literal.args[0];
  return literal.has_value ? &literal.rhs : nullptr;
}

bool modal_binds(const Literal& literal, const Scope& scope) {
  if (literal.modal != Modal::Know && literal.modal != Modal::Possible) return false;
  return !is_in_recursion(literal, scope) ||
         follows_derivation(literal.modal, scope.program.pragmas);
}

std::vector<uint32_t> visible_in_body(const lang::Rule& rule) {
  std::vector<VarId> variables;
  for (const Literal& literal : rule.body) collect_outside(literal, variables);
  for (const lang::HeadElement& element : rule.head) {
    for (const Term& arg : element.args) collect_variables(arg, variables);
    for (const Literal& literal : element.condition) collect_outside(literal, variables);
  }
  for (const lang::HeadAggregate& aggregate : rule.aggregates) {
    if (aggregate.has_value) collect_variables(aggregate.value, variables);
  }
  for (const auto* bound : {&rule.lower, &rule.upper}) {
    if (*bound) collect_variables(**bound, variables);
  }
  std::vector<uint32_t> visible(rule.variables.size(), 0);
  for (const VarId var : variables) ++visible[var.index];
  return visible;
}

Binding binding_of(const Literal& literal, const Scope& scope) {
  switch (literal.kind) {
    case LiteralKind::Atom:
      return atom_binding(literal, scope);
    case LiteralKind::Compare:
      return compare_binding(literal, scope);
    case LiteralKind::Builtin:
      if (!is_findall(literal)) return builtin_binding(literal, scope);
      return braces_binding(literal, literal.args[1], literal.nots == 0, scope);
    case LiteralKind::Aggregate:
      return braces_binding(literal, literal.lhs, literal.nots == 0 && literal.op == CompareOp::Eq,
                            scope);
  }
  return {};
}

void collect_outside(const Literal& literal, std::vector<VarId>& out) {
  switch (literal.kind) {
    case LiteralKind::Atom:
      for (const Term& arg : literal.args) collect_variables(arg, out);
      return;
    case LiteralKind::Compare:
      collect_variables(literal.lhs, out);
      collect_variables(literal.rhs, out);
      return;
    case LiteralKind::Builtin:
      for (size_t i = is_findall(literal) ? 1 : 0; i < literal.args.size(); ++i) {
        collect_variables(literal.args[i], out);
      }
      return;
    case LiteralKind::Aggregate:
      collect_variables(literal.lhs, out);
      return;
  }
}

void collect_inside(const Literal& literal, std::vector<VarId>& out) {
  if (!has_braces(literal)) return;
  if (const Term* collected = collected_term(literal)) collect_variables(*collected, out);
  for (const Literal& inner : literal.body) collect_outside(inner, out);
}

void collect_bound_by(const Literal& literal, std::vector<VarId>& out) {
  const bool tests =
      literal.nots > 0 || (literal.kind == LiteralKind::Atom && literal.modal != Modal::None &&
                           literal.modal != Modal::Know && literal.modal != Modal::Possible);
  if (!tests) collect_outside(literal, out);
}

}  // namespace xlog::logic
