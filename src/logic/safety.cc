#include "logic/safety.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace xlog::logic {

using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Variable;
using lang::VarId;

namespace {

// "`X`"; a variable that the front end made stands for an expression of the source.
std::string shown(const Variable& variable, const lang::Session& session) {
  if (variable.anonymous) return "`_`";
  if (!variable.name.empty()) return fmt::format("`{}`", session.names.symbols.text(variable.name));
  if (session.sources.file_of(variable.span) == nullptr) return "a value";
  return fmt::format("the value of `{}`", session.sources.text(variable.span));
}

Span place_of(const Variable& variable, Span otherwise) {
  return variable.span.empty() ? otherwise : variable.span;
}

bool is_positive_modal(const Literal& literal) {
  return literal.kind == LiteralKind::Atom &&
         (literal.modal == Modal::Know || literal.modal == Modal::Possible);
}

// Why the literal does not bind the variable itself.
std::string explanation(const Scope& scope, const Literal& literal, const std::string& variable,
                        const lang::Session& session) {
  if (is_positive_modal(literal)) {
    return fmt::format(
        "this would bind {} only if `{}` did not depend on the head of the rule, or in the mode "
        "faeel",
        variable, predicate_name(scope.program[literal.pred], session.names));
  }
  if (literal.kind == LiteralKind::Atom) return fmt::format("this only tests {}", variable);
  if (has_braces(literal)) {
    return fmt::format("{} also occurs outside the braces, so it groups and must be bound",
                       variable);
  }
  return fmt::format("this needs {}", variable);
}

// "append(+, +, ?) or append(?, ?, +)".
std::string calls_of(const lang::BuiltinInfo& info) {
  std::string calls(info.spelling);
  calls += '(';
  for (size_t i = 0; i < info.modes.size(); ++i) {
    if (info.modes[i] == ' ') {
      calls += fmt::format(") or {}(", info.spelling);
      continue;
    }
    if (calls.back() != '(') calls += ", ";
    calls += info.modes[i];
  }
  return calls + ')';
}

// Whether a rule mentions the variable outside this literal, where `_` would not do.
bool occurs_elsewhere(const lang::Rule& rule, const Literal& literal, VarId var) {
  std::vector<VarId> found;
  const auto collect = [&](const Literal& other) {
    if (other.span != literal.span) lang::collect_variables(other, found);
  };
  for (const lang::HeadElement& head : rule.head) {
    for (const lang::Term& arg : head.args) lang::collect_variables(arg, found);
    for (const Literal& condition : head.condition) collect(condition);
  }
  for (const lang::HeadAggregate& aggregate : rule.aggregates) {
    lang::collect_variables(aggregate.value, found);
  }
  for (const Literal& other : rule.body) collect(other);
  return std::ranges::find(found, var) != found.end();
}

std::string advice(const Scope& scope, const Literal& literal, VarId var, const std::string& name) {
  const Variable& variable = scope.rule.variables[var.index];
  if (literal.kind == LiteralKind::Builtin && !has_braces(literal)) {
    return fmt::format("bind {} first; the ways to call it are {}, with + for bound", name,
                       calls_of(builtin_info(literal.builtin)));
  }
  if (literal.kind == LiteralKind::Atom && !is_positive_modal(literal) && !variable.helper &&
      !occurs_elsewhere(scope.rule, literal, var)) {
    return fmt::format("add a positive literal that binds {}, or write `_` if any value is meant",
                       name);
  }
  if (has_braces(literal)) {
    return fmt::format("add a positive literal that binds {}, or rename it inside the braces",
                       name);
  }
  if (scope.rule.origin == lang::RuleOrigin::Query) {
    return fmt::format("add a positive literal to the query that binds {}", name);
  }
  return fmt::format("add a positive literal that binds {}", name);
}

}  // namespace

void report_blocked(const Scope& scope, const Literal& literal, VarId var, bool circular,
                    lang::Session& session) {
  const Variable& variable = scope.rule.variables[var.index];
  const std::string name = shown(variable, session);
  const bool builtin = literal.kind == LiteralKind::Builtin && !has_braces(literal);
  const std::string message =
      builtin    ? fmt::format("`{}` needs {}, but nothing binds it",
                               builtin_info(literal.builtin).spelling, name)
      : circular ? fmt::format("{} is bound only by literals that wait for each other", name)
                 : fmt::format("nothing binds {}", name);
  session.diagnostics
      .report(builtin ? Code::InsufficientlyBound : Code::UnsafeVariable,
              place_of(variable, literal.span), message)
      .label(literal.span, explanation(scope, literal, name, session))
      .help(advice(scope, literal, var, name));
}

void report_unbound(const Scope& scope, VarId var, Span needed_at, std::string_view needed_by,
                    lang::Session& session) {
  const Variable& variable = scope.rule.variables[var.index];
  const std::string name = shown(variable, session);
  session.diagnostics
      .report(Code::UnsafeVariable, place_of(variable, needed_at),
              fmt::format("nothing binds {}", name))
      .label(needed_at, fmt::format("{} needs a value for it", needed_by))
      .help(fmt::format("add a positive literal that binds {}", name));
}

void report_assigned_twice(const Scope& scope, const Literal& assignment, const Literal* other,
                           lang::Session& session) {
  const std::string name = shown(scope.rule.variables[assignment.lhs.var.index], session);
  Diagnostic& diagnostic = session.diagnostics.report(
      Code::InvalidAssignmentTarget, assignment.span, fmt::format("{} is already bound", name));
  if (other != nullptr) diagnostic.label(other->span, fmt::format("{} is bound here", name));
  diagnostic.help("write `=` to compare");
}

void report_anonymous_head(Span head, Span variable, lang::Session& session) {
  session.diagnostics
      .report(Code::InvalidHead, variable.empty() ? head : variable, "`_` in a head has no value")
      .help("name the value with a variable that the body binds");
}

}  // namespace xlog::logic
