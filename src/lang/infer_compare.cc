// What waits for its operands: comparisons, because a float may be compared with another number
// where nothing else may, and sums, because the type of a sum follows from the type of its values.
#include <algorithm>

#include "lang/infer.h"

namespace xlog::lang::infer {

namespace {

bool is_float_class(const Node& node) {
  return node.kind == NodeKind::Literal ? node.floats : is_float(node.scalar);
}

// A literal that stands in the comparison itself takes the type of the other side: `X > 5` for X of
// f64.
bool is_plain_literal(const Term& term, const Node& node) {
  return term.kind == TermKind::Constant && node.kind == NodeKind::Literal && node.size == 1;
}

// A float against a number of another type: compared as f64, each column keeps its type.
bool is_mixed(TypeGraph& graph, const Comparison& comparison) {
  const Node& a = graph.root(comparison.a);
  const Node& b = graph.root(comparison.b);
  if (!is_number(a) || !is_number(b)) return false;
  const bool a_float = is_float_class(a);
  const bool b_float = is_float_class(b);
  if (a_float && b_float) return !graph.compatible(comparison.a, comparison.b);
  if (!a_float && !b_float) return false;
  const Node& whole = a_float ? b : a;
  return !is_plain_literal(a_float ? *comparison.rhs : *comparison.lhs, whole);
}

enum class Unknowns : uint8_t { Wait, Unify };

// Settles the comparisons that can be; keeps those that wait for more.
void settle_comparisons(Inference& inference, Unknowns unknowns) {
  TypeGraph& graph = inference.graph;
  std::vector<Comparison> waiting;
  for (const Comparison& comparison : inference.comparisons) {
    if (unknowns == Unknowns::Wait && (!graph.known(comparison.a) || !graph.known(comparison.b))) {
      waiting.push_back(comparison);
    } else if (is_mixed(graph, comparison)) {
      inference.mixed.push_back(comparison);
    } else if (!graph.unify(comparison.a, comparison.b)) {
      report_comparison(inference, comparison);
      graph.mark_error(comparison.a);
      graph.mark_error(comparison.b);
    }
  }
  inference.comparisons = std::move(waiting);
}

TypeKind sum_kind(TypeKind value) {
  switch (type_class(value)) {
    case TypeClass::Unsigned:
      return TypeKind::U64;
    case TypeClass::Signed:
      return TypeKind::I64;
    default:
      return TypeKind::F64;
  }
}

void settle_sum(Inference& inference, WaitingSum& sum) {
  if (sum.done) return;
  sum.done = true;
  TypeGraph& graph = inference.graph;
  const Node value = graph.root(sum.value);
  // What is no number is reported with the other requirements.
  if (value.kind != NodeKind::Scalar || !is_numeric(value.scalar)) return;
  const NodeId type = graph.scalar(sum_kind(value.scalar),
                                   {Origin::Kind::Result, sum.place.span, kNone, 0, "`sum`"});
  if (graph.unify(sum.result, type)) return;
  const bool undeclared =
      sum.place.in_head && !inference.program.predicates[sum.place.pred].declared;
  if (undeclared) {
    report_column(inference, sum.place.pred, sum.place.column, type, sum.place);
  } else {
    report_types(inference, sum.place.span, "`sum`", type, sum.result, sum.place);
  }
  graph.mark_error(sum.result);
}

void settle_ready_sums(Inference& inference) {
  while (!inference.graph.ready.empty()) {
    const uint32_t next = inference.graph.ready.back();
    inference.graph.ready.pop_back();
    settle_sum(inference, inference.sums[next]);
  }
}

// The values of a sum are known well enough when only their default is missing.
void default_class(Inference& inference, NodeId id) {
  TypeGraph& graph = inference.graph;
  const Node root = graph.root(id);
  if (root.kind != NodeKind::Literal && root.kind != NodeKind::Unknown) return;
  graph.unify(id, graph.scalar(graph.default_kind(root), graph.origin(id)));
}

// Sums over what no other sum gives come first: their results feed the others.
void default_sums(Inference& inference) {
  TypeGraph& graph = inference.graph;
  std::vector<uint32_t> results;
  for (const WaitingSum& sum : inference.sums) {
    if (!sum.done) results.push_back(graph.find(sum.result).index);
  }
  std::sort(results.begin(), results.end());
  for (const WaitingSum& sum : inference.sums) {
    if (sum.done) continue;
    const uint32_t value = graph.find(sum.value).index;
    if (std::binary_search(results.begin(), results.end(), value)) continue;
    default_class(inference, sum.value);
  }
  settle_ready_sums(inference);
  for (uint32_t i = 0; i < inference.sums.size(); ++i) {  // what is left sums itself, in a circle
    if (inference.sums[i].done) continue;
    default_class(inference, inference.sums[i].value);
    settle_ready_sums(inference);
    settle_sum(inference, inference.sums[i]);
  }
}

// logsumexp of integer literals reads them as floats.
void settle_float_folds(Inference& inference, Unknowns unknowns) {
  TypeGraph& graph = inference.graph;
  for (const NodeId value : inference.float_folds) {
    const Node& node = graph.root(value);
    const bool literal = node.kind == NodeKind::Literal && is_number(node);
    const bool unknown = node.kind == NodeKind::Unknown && unknowns == Unknowns::Unify;
    if (!literal && !unknown) continue;
    graph.unify(value, graph.scalar(TypeKind::F64, graph.origin(value)));
  }
}

}  // namespace

bool is_number(const Node& node) {
  if (node.kind == NodeKind::Literal) return node.integers || node.floats;
  return node.kind == NodeKind::Scalar && is_numeric(node.scalar);
}

void add_comparison(Inference& inference, const Comparison& comparison) {
  inference.comparisons.push_back(comparison);
}

// From what is certain to what must be guessed: sums of known types, comparisons of known sides,
// sums of literals (which take their default now), and at last comparisons with a side that nothing
// types.
void settle_waiting(Inference& inference) {
  for (uint32_t i = 0; i < inference.sums.size(); ++i) {
    inference.graph.wait_for(inference.sums[i].value, i);
  }
  settle_ready_sums(inference);
  settle_float_folds(inference, Unknowns::Wait);
  settle_comparisons(inference, Unknowns::Wait);
  settle_ready_sums(inference);
  default_sums(inference);
  settle_comparisons(inference, Unknowns::Unify);
  settle_float_folds(inference, Unknowns::Unify);
}

}  // namespace xlog::lang::infer
