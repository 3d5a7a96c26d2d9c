// Structural equality of statements: everything but spans (and depths, which follow from the
// structure).
#include <algorithm>
#include <bit>

#include "lang/printer.h"

namespace xlog::lang {

namespace ast {
namespace {

bool same(const Expr& a, const Expr& b);
bool same(const Literal& a, const Literal& b);
bool same(const HeadElement& a, const HeadElement& b);
bool same(const TypeExpr& a, const TypeExpr& b);
bool same(const PredColumn& a, const PredColumn& b);
bool same(const FuncParam& a, const FuncParam& b);

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](const T& x, const T& y) { return same(x, y); });
}

template <typename T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

bool same(const Expr& a, const Expr& b) {
  // Numbers by bits: -0.0 and 0.0 are two literals.
  return a.kind == b.kind && a.binary_op == b.binary_op && a.compare_op == b.compare_op &&
         a.negative == b.negative && a.has_parens == b.has_parens && a.has_tail == b.has_tail &&
         a.name == b.name && a.magnitude == b.magnitude &&
         std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number) &&
         same(a.args, b.args) && same(a.body, b.body);
}

bool same(const Atom& a, const Atom& b) {
  return a.strong_negation == b.strong_negation && a.has_parens == b.has_parens &&
         a.name == b.name && same(a.args, b.args);
}

bool same(const Literal& a, const Literal& b) {
  return a.kind == b.kind && a.op == b.op && a.prefix == b.prefix && same(a.atom, b.atom) &&
         same(a.lhs, b.lhs) && same(a.rhs, b.rhs);
}

bool same(const HeadElement& a, const HeadElement& b) {
  return same(a.probability, b.probability) && same(a.atom, b.atom) &&
         same(a.condition, b.condition);
}

bool same(const Rule& a, const Rule& b) {
  return a.head_kind == b.head_kind && same(a.head, b.head) && same(a.lower, b.lower) &&
         same(a.upper, b.upper) && same(a.body, b.body) && a.learnable_mask == b.learnable_mask &&
         a.trainable_name == b.trainable_name && same(a.trainable_weight, b.trainable_weight);
}

bool same(const TypeExpr& a, const TypeExpr& b) { return a.name == b.name && same(a.args, b.args); }

bool same(const UseDecl& a, const UseDecl& b) {
  return a.path == b.path && a.selective == b.selective && a.names == b.names;
}

bool same(const DomainDecl& a, const DomainDecl& b) {
  return a.name == b.name && same(a.type, b.type);
}

bool same(const PredColumn& a, const PredColumn& b) {
  return a.name == b.name && same(a.type, b.type);
}

bool same(const PredDecl& a, const PredDecl& b) {
  return a.is_private == b.is_private && a.name == b.name && same(a.columns, b.columns);
}

bool same(const FuncParam& a, const FuncParam& b) {
  return a.name == b.name && same(a.type, b.type);
}

bool same(const FuncDef& a, const FuncDef& b) {
  return a.is_private == b.is_private && a.name == b.name && same(a.params, b.params) &&
         same(a.result_type, b.result_type) && same(a.result, b.result) &&
         a.has_goals == b.has_goals && same(a.goals, b.goals);
}

bool same(const PragmaDecl& a, const PragmaDecl& b) {
  return a.key == b.key && same(a.value, b.value);
}
bool same(const ConstDef& a, const ConstDef& b) {
  return a.name == b.name && same(a.value, b.value);
}
bool same(const Query& a, const Query& b) { return same(a.body, b.body); }
bool same(const ProbQuery& a, const ProbQuery& b) { return same(a.atom, b.atom); }
bool same(const Evidence& a, const Evidence& b) {
  return same(a.atom, b.atom) && a.value == b.value;
}

bool same(const NeuralDecl& a, const NeuralDecl& b) {
  return a.network == b.network && same(a.inputs, b.inputs) && same(a.output, b.output) &&
         a.has_labels == b.has_labels && same(a.labels, b.labels) && same(a.atom, b.atom);
}

bool same(const FactRun& a, const FactRun& b) {
  return a.table == b.table && a.first_row == b.first_row && a.rows == b.rows;
}

bool same(const Statement& a, const Statement& b) {
  if (a.node.index() != b.node.index()) return false;
  return std::visit(
      [&](const auto& node) { return same(node, std::get<std::decay_t<decltype(node)>>(b.node)); },
      a.node);
}

}  // namespace
}  // namespace ast

bool equal(const ast::Statement& a, const ast::Statement& b) { return ast::same(a, b); }

}  // namespace xlog::lang
