// The functions that the simplification rules name, their measure, and the pass.
#include <bit>
#include <cmath>

#include "kernel/rules.h"
#include "kernel/rules_facts.h"
#include "kernel/rules_simplify.h"

namespace xlog::kernel {

namespace {

// What an op costs on the machines we know, as far as order matters.
int64_t cost(const Graph& graph, Id node) {
  switch (graph.op(node)) {
    case Op::Div:
    case Op::Rem:
    case Op::Sqrt:
      return 16;
    case Op::Exp2:
    case Op::Log2:
      return 32;
    case Op::MulHi:
    case Op::Fma:
      return 4;
    case Op::Mul:
      return 3;
    case Op::Popc:
    case Op::Clz:
    case Op::Ctz:
      return 2;
    default:
      return is_arithmetic(graph.op(node)) ? 1 : 0;
  }
}

// Among ops of one cost, those that others see through better come last.
int64_t rank(Op op) {
  switch (op) {
    case Op::Select:
      return 6;
    case Op::Lt:
      return 5;
    case Op::Eq:
    case Op::Sub:
      return 4;
    case Op::Xor:
      return 2;
    case Op::And:
    case Op::Or:
    case Op::Cast:
      return 1;
    default:
      return 0;
  }
}

bool is_out_of_order(const Graph& graph, Id node) {
  if (!is_commutative(graph.op(node))) return false;
  const Id a = graph.operand(node, 0), b = graph.operand(node, 1);
  const bool constant_a = graph.is_const(a), constant_b = graph.is_const(b);
  if (constant_a != constant_b) return constant_a;
  return b < a;
}

bool has_large_shift(const Graph& graph, Id node) {
  if (graph.op(node) != Op::Shl && graph.op(node) != Op::Shr) return false;
  const Id amount = graph.operand(node, 1);
  return graph.is_const(amount) && graph.value(amount).bits >= bits_of(graph.type(node));
}

}  // namespace

// Constants weigh nothing: there are always enough of them.
Weight simplify_measure(const Graph& graph, Id node) {
  const bool odd = is_out_of_order(graph, node) || has_large_shift(graph, node);
  return {cost(graph, node), graph.is_const(node) ? 0 : 1, rank(graph.op(node)), odd ? 1 : 0};
}

Id fold_code(Rewriter& rewriter, Id node, std::span<const Id>) {
  Graph& graph = rewriter.graph();
  for (Id operand : graph.operands(node)) {
    if (!graph.is_const(operand)) return node;
  }
  return graph.constant(fold_constants(graph, node));
}

Id order_code(Rewriter& rewriter, Id node, std::span<const Id>) {
  Graph& graph = rewriter.graph();
  if (!is_out_of_order(graph, node)) return node;
  return graph.make(graph.op(node), {graph.operand(node, 1), graph.operand(node, 0)});
}

Id shift_code(Rewriter& rewriter, Id node, std::span<const Id>) {
  Graph& graph = rewriter.graph();
  Scalar amount = graph.value(graph.operand(node, 1));
  amount.bits %= bits_of(amount.type);
  return graph.make(graph.op(node), {graph.operand(node, 0), graph.constant(amount)});
}

// Only the step from a float to an integer can change bits: it makes NaN canonical unless raw.
Id bitcast_code(Rewriter& rewriter, Id node, std::span<const Id> names) {
  Graph& graph = rewriter.graph();
  const Id inner = graph.operand(node, 0);
  const Id value = names[0];
  const Type from = graph.type(value), to = graph.type(node);
  bool raw = graph.is_raw(inner);
  if (is_float(graph.type(inner))) {
    if (!graph.is_raw(node) || is_float(from)) return node;
    raw = true;
  }
  if (from != to) return graph.bitcast(to, value, raw);
  return raw || is_int(from) ? value : node;
}

// x / 2^k is x * 2^-k, exactly, as long as 2^-k is a normal number.
Id reciprocal_code(Rewriter& rewriter, Id node, std::span<const Id> names) {
  Graph& graph = rewriter.graph();
  const Scalar divisor = graph.value(names[1]);
  const double value = divisor.as_f64();
  int exponent = 0;
  if (!std::isfinite(value) || std::abs(std::frexp(value, &exponent)) != 0.5) return node;
  const int most = divisor.type == Type::F32 ? 126 : 1022;
  if (std::abs(exponent) >= most) return node;
  const double inverse = 1.0 / value;
  const Scalar factor =
      divisor.type == Type::F32 ? Scalar::f32(static_cast<float>(inverse)) : Scalar::f64(inverse);
  return graph.make(Op::Mul, {names[0], graph.constant(factor)});
}

Id exact_code(Rewriter& rewriter, Id node, std::span<const Id>) {
  Graph& graph = rewriter.graph();
  const Type type = graph.type(node);
  if (!in_domain(Domain::Bits, type)) return node;
  const Fact& fact = rewriter.facts()->of(node);
  if (fact.min != fact.max) return node;
  return graph.constant({type, static_cast<uint64_t>(fact.min) & mask_of(type)});
}

const RuleSet& simplify_rules() {
  static const RuleSet rules("simplify", {kSimplifyRules}, simplify_measure);
  return rules;
}

const RuleSet& facts_rules() {
  static const RuleSet rules("facts", {kSimplifyRules, kFactsRules}, simplify_measure);
  return rules;
}

Id simplify(PassContext& context, Id kernel) {
  return Rewriter(context, simplify_rules()).run(kernel);
}

Id use_facts(PassContext& context, Id kernel) {
  Facts facts(context.graph, kernel);
  return Rewriter(context, facts_rules(), &facts).run(kernel);
}

}  // namespace xlog::kernel
