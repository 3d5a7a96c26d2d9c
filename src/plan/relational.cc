#include "plan/relational.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlog::plan {

using lang::BuiltinId;
using lang::Literal;
using lang::LiteralKind;
using lang::Rule;
using lang::Term;
using lang::TermKind;
using lang::TypeKind;

namespace {

// A pipeline becomes one kernel: past this it is too large for a compiler.
constexpr size_t kMostLiterals = 64;
constexpr size_t kMostVariables = 256;
constexpr size_t kMostColumns = 64;

bool is_number(const lang::Type& type) {
  return lang::is_numeric(type.kind) || type.kind == TypeKind::Bool;
}

// Terms are equal when their numbers are, but for the zeros and NaNs among them.
bool compares_on_device(lang::CompareOp op, const lang::Type& type) {
  const bool ordered = op != lang::CompareOp::Eq && op != lang::CompareOp::Ne;
  return is_number(type) || (!ordered && type.kind != TypeKind::Term);
}

std::optional<std::string> why_not(const Rule& rule, const Literal& literal) {
  if (literal.kind != LiteralKind::Atom) return std::nullopt;
  if (!std::ranges::all_of(literal.args, is_simple)) return "a pattern in an atom";
  // `know p(X, _)` is one solution for each X, however many rows there are.
  const bool projects =
      literal.modal != lang::Modal::None && std::ranges::any_of(literal.args, [&](const Term& arg) {
        return arg.kind == TermKind::Variable && rule.variables[arg.var.index].anonymous;
      });
  if (projects && !rule.aggregates.empty()) return "an aggregate over a modal literal with `_`";
  return std::nullopt;
}

}  // namespace

bool is_simple(const Term& term) {
  return term.kind == TermKind::Variable || term.kind == TermKind::Constant;
}

bool needs_host(const Term& term) {
  if (is_simple(term)) return false;
  if (term.kind != TermKind::Arith) return true;
  switch (term.op) {
    case lang::ArithOp::Pow:  // works in the host's floats
      return true;
    case lang::ArithOp::If:
      if (!compares_on_device(term.compare, term.args[0].type)) return true;
      break;
    default:
      if (!is_number(term.type) || !is_number(term.args[0].type)) return true;
      break;
  }
  return std::ranges::any_of(term.args, [](const Term& arg) { return needs_host(arg); });
}

bool needs_host(const Literal& literal) {
  if (literal.kind == LiteralKind::Aggregate) return true;
  if (literal.kind == LiteralKind::Builtin) return literal.builtin != BuiltinId::Between;
  if (needs_host(literal.lhs) || needs_host(literal.rhs)) return true;
  // Between two terms `=` may bind, which a device can.
  return literal.op != lang::CompareOp::Eq && !compares_on_device(literal.op, literal.lhs.type);
}

std::optional<std::string> why_not_relational(const lang::Program&, const Rule& rule) {
  if (rule.body.size() > kMostLiterals) {
    return fmt::format("a body of {} literals", rule.body.size());
  }
  if (rule.variables.size() > kMostVariables) {
    return fmt::format("a rule with {} variables", rule.variables.size());
  }
  if (rule.annotated || rule.learnable) return "a probabilistic or learnable rule";
  if (rule.head_kind == lang::HeadKind::Choice) return "a choice";
  if (rule.head_kind == lang::HeadKind::Disjunction) return "a disjunction";
  for (const lang::HeadElement& element : rule.head) {
    if (!std::ranges::all_of(element.args, is_simple)) return "a pattern in the head";
  }
  for (const lang::HeadAggregate& aggregate : rule.aggregates) {
    if (aggregate.has_value && needs_host(aggregate.value)) return "an aggregate of a pattern";
  }
  for (const Literal& literal : rule.body) {
    if (auto reason = why_not(rule, literal)) return reason;
  }
  return std::nullopt;
}

std::optional<std::string> why_not_relational(const lang::Predicate& predicate) {
  if (predicate.columns.size() <= kMostColumns) return std::nullopt;
  return fmt::format("a relation of {} columns", predicate.columns.size());
}

std::optional<std::string> why_not_relational(const lang::Program& program,
                                              const logic::Component& component) {
  for (lang::PredId pred : component.predicates) {
    if (auto reason = why_not_relational(program[pred])) return reason;
  }
  for (uint32_t r : component.rules) {
    if (auto reason = why_not_relational(program, program.rules[r])) return reason;
  }
  return std::nullopt;
}

}  // namespace xlog::plan
