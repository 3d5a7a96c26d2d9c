#include "engine/domains.h"

#include <algorithm>

namespace xlog::engine {

using lang::Literal;
using lang::LiteralKind;
using lang::PredId;
using lang::Term;
using lang::TermKind;

// A column of a component that is finished: its greatest value, looked up once.
uint64_t Domains::below(PredId pred, uint32_t column) {
  std::vector<uint64_t>& sizes = sizes_[pred.index];
  relation::Relation& relation = database_[pred];
  if (sizes.empty()) sizes.assign(relation.arity(), kUnbounded);
  if (sizes[column] != kUnbounded || relation.types()[column] != kernel::Type::U32) {
    return sizes[column];
  }
  Result<std::optional<uint32_t>> greatest = relation.greatest(column);
  if (!greatest.ok()) {
    error_ = greatest.error();
    return kUnbounded;
  }
  sizes[column] = greatest->has_value() ? uint64_t{**greatest} + 1 : 1;
  return sizes[column];
}

// A bound on the values of a head term: the least that any positive literal gives.
uint64_t Domains::size_of(const lang::Rule& rule, const Term& term, uint32_t component) {
  if (term.type.kind == lang::TypeKind::Term) return kUnbounded;
  if (term.kind == TermKind::Constant) return (term.value.bits & UINT32_MAX) + 1;
  if (term.kind != TermKind::Variable) return kUnbounded;
  uint64_t least = kUnbounded;
  for (const Literal& literal : rule.body) {
    const bool positive =
        literal.kind == LiteralKind::Atom && literal.nots == 0 &&
        (literal.modal == lang::Modal::None || literal.modal == lang::Modal::Know ||
         literal.modal == lang::Modal::Possible);
    if (!positive) continue;
    for (uint32_t c = 0; c < literal.args.size(); ++c) {
      const Term& arg = literal.args[c];
      if (arg.kind != TermKind::Variable || arg.var != term.var) continue;
      const bool inside = analysis_.component_of[literal.pred.index] == component;
      least = std::min(least, inside ? sizes_[literal.pred.index][c] : below(literal.pred, c));
    }
  }
  return least;
}

Status Domains::bound(uint32_t component_index) {
  const logic::Component& component = analysis_.components[component_index];
  sizes_.resize(program_.predicates.size());
  for (PredId pred : component.predicates) {
    std::vector<uint64_t>& sizes = sizes_[pred.index];
    sizes.assign(database_[pred].arity(), 1);
    const lang::FactTable* facts = program_[pred].facts.get();
    if (facts == nullptr) continue;
    for (uint32_t c = 0; c < facts->columns.size(); ++c) {
      const lang::FactColumn& column = facts->columns[c];
      if (database_[pred].types()[c] != kernel::Type::U32) continue;
      if (column.type().kind == lang::TypeKind::Term) sizes[c] = kUnbounded;
      for (uint32_t value : column.narrow()) sizes[c] = std::max(sizes[c], uint64_t{value} + 1);
    }
  }
  // The least bounds that all rules keep. Each change takes over a bound from below, so it ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t r : component.rules) {
      const lang::Rule& rule = program_.rules[r];
      for (const lang::HeadElement& head : rule.head) {
        for (uint32_t c = 0; c < head.args.size(); ++c) {
          const bool folded = std::ranges::any_of(
              rule.aggregates, [&](const auto& aggregate) { return aggregate.column == c; });
          const uint64_t size = folded ? kUnbounded : size_of(rule, head.args[c], component_index);
          uint64_t& known = sizes_[head.pred.index][c];
          changed |= size > known;
          known = std::max(known, size);
        }
      }
    }
  }
  if (error_) return *error_;
  for (PredId pred : component.predicates) {
    std::vector<uint64_t> sizes = sizes_[pred.index];
    if (std::ranges::find(sizes, kUnbounded) == sizes.end()) database_[pred].set_domain(sizes);
  }
  return Done{};
}

}  // namespace xlog::engine
