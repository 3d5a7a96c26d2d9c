#include "engine/plain_rules.h"

#include "oracle/well_founded.h"

namespace xlog::engine {

using lang::HeadElement;
using lang::HeadKind;
using lang::Literal;
using lang::Modal;
using lang::Rule;

namespace {

Literal literal_of(const HeadElement& element, Span span) {
  Literal literal;
  literal.pred = element.pred;
  literal.args = element.args;
  literal.span = span;
  return literal;
}

}  // namespace

std::vector<PlainRule> plain_rules(const Rule& rule) {
  std::vector<PlainRule> made;
  for (const HeadElement& element : rule.head) {
    PlainRule& plain = made.emplace_back();
    plain.rule = rule;
    plain.rule.head_kind = HeadKind::Atom;
    plain.rule.head = {element};
    plain.rule.head[0].condition.clear();
    plain.rule.lower.reset();
    plain.rule.upper.reset();
    plain.rule.body.insert(plain.rule.body.end(), element.condition.begin(),
                           element.condition.end());
    plain.is_forced = rule.head_kind != HeadKind::Choice;
    if (!plain.is_forced) continue;
    for (const HeadElement& other : rule.head) {
      if (&other != &element) plain.others.push_back(literal_of(other, rule.head_span));
    }
  }
  return made;
}

bool is_negative(const Literal& literal) {
  if (literal.modal == Modal::None) return literal.nots == 1;
  return literal.modal == Modal::NotKnow || literal.modal == Modal::NotPossible;
}

bool needs_derivation(const Literal& literal, logic::Mode mode) {
  if (literal.modal == Modal::None) return literal.nots == 0;
  return oracle::needs_foundation(literal.modal, mode);
}

}  // namespace xlog::engine
