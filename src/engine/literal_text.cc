#include "engine/literal_text.h"

#include <fmt/format.h>

#include "engine/instances.h"

namespace xlog::engine {

using lang::Literal;
using lang::LiteralKind;
using lang::Term;

namespace {

void substitute(Term& term, const oracle::Bindings& bindings) {
  if (term.kind == lang::TermKind::Variable) {
    if (!term.var.valid() || !bindings.bound(term.var)) return;
    term.value = bindings[term.var];
    term.kind = lang::TermKind::Constant;
    return;
  }
  for (Term& arg : term.args) substitute(arg, bindings);
}

void substitute(Literal& literal, const oracle::Bindings& bindings) {
  for (Term& arg : literal.args) substitute(arg, bindings);
  substitute(literal.lhs, bindings);
  substitute(literal.rhs, bindings);
  for (Literal& inner : literal.body) substitute(inner, bindings);
}

}  // namespace

std::string fact_text(const lang::Predicate& predicate, std::span<const lang::Value> values,
                      const lang::Names& names) {
  std::string text = lang::predicate_name(predicate, names);
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + lang::to_source(values[i], names);
  }
  return values.empty() ? text : text + ")";
}

std::string literal_text(const Literal& literal, const lang::Rule& rule,
                         const oracle::Bindings& bindings, const lang::Program& program,
                         const lang::Names& names) {
  Literal with_values = literal;
  substitute(with_values, bindings);
  return lang::to_source(with_values, rule, program, names);
}

std::string aggregate_text(const lang::HeadAggregate& aggregate, const lang::Rule& rule,
                           const lang::Program& program, const lang::Names& names) {
  return fmt::format(
      "{}({})", lang::spelling(aggregate.fn),
      aggregate.has_value ? lang::to_source(aggregate.value, rule, program, names) : "");
}

std::string failure_text(const Literal& literal, const std::string& text) {
  if (literal.kind == LiteralKind::Compare) return text + " is false";
  if (literal.kind != LiteralKind::Atom) return text + " does not hold";
  return wants_row(literal) ? "no row of " + text : text + " is false: there is such a row";
}

std::string counted_rows(uint64_t count) {
  return count == 1 ? "1 row" : fmt::format("{} rows", count);
}

}  // namespace xlog::engine
