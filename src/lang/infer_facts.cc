// Facts give their literals to the columns of predicates that no declaration types. Declared
// columns are not looked at here: their facts are converted at the end.
#include <algorithm>

#include "lang/infer.h"

namespace xlog::lang::infer {

namespace {

Origin fact_origin(uint32_t pred, size_t row) {
  return {Origin::Kind::Fact, {}, pred, static_cast<uint32_t>(row), {}};
}

void report_row(Inference& inference, uint32_t pred, uint32_t column, size_t row,
                const Value& value) {
  const FactTable& table = *inference.program.predicates[pred].facts;
  const Span span = fact_span(table, row, inference.session.sources);
  const NodeId other = inference.graph.fresh();
  if (!add_value(inference, other, value, fact_origin(pred, row))) {
    inference.session.diagnostics
        .report(Code::HeterogeneousList, span,
                "the list " + to_source(value, inference.session.names) +
                    " has elements of different types")
        .help("declare the column as `list<term>` if mixed elements are meant");
    return;
  }
  report_column(inference, pred, column, other, Place{span, pred, column, {}, true});
}

// Numbers, names or structures row by row. Stops at the first that does not fit.
void add_rows(Inference& inference, uint32_t pred, uint32_t column, const FactColumn& facts) {
  const NodeId node = inference.column(pred, column);
  for (size_t row = 0; row < facts.size(); ++row) {
    const Value value = facts.at(row);
    if (add_value(inference, node, value, fact_origin(pred, row))) continue;
    report_row(inference, pred, column, row, value);
    inference.graph.mark_error(node);
    return;
  }
}

// One look at the range, or at names until one is neither true nor false, says all there is to
// know.
void add_column(Inference& inference, uint32_t pred, uint32_t column, const FactColumn& facts) {
  const NodeId node = inference.column(pred, column);
  switch (facts.form()) {
    case ColumnForm::Empty:
    case ColumnForm::Typed:
      return;
    case ColumnForm::Nat32:
    case ColumnForm::Int64: {
      int64_t lo = 0;
      int64_t hi = 0;
      facts.integer_range(lo, hi);
      inference.graph.add_integers(node, lo, hi, fact_origin(pred, 0));
      return;
    }
    case ColumnForm::Float64:
      add_value(inference, node, facts.at(0), fact_origin(pred, 0));
      return;
    case ColumnForm::Symbol32:
      for (size_t row = 0; row < facts.size(); ++row) {
        add_value(inference, node, facts.at(row), fact_origin(pred, row));
        if (inference.graph.root(node).names_beyond_bool) return;
      }
      return;
    case ColumnForm::Mixed:
      add_rows(inference, pred, column, facts);
      return;
  }
}

void add_data(Inference& inference, const DataColumn& data, NodeId node, const Origin& origin) {
  if (!data.name.empty()) {
    const Symbol name = inference.session.names.symbols.intern(data.name);
    add_value(inference, node, Value::symbol(name), origin);
    return;
  }
  if (data.floats) add_value(inference, node, Value::f64(0.5), origin);
  if (!data.integers) return;
  if (data.least < 0) add_value(inference, node, Value::i64(data.least), origin);
  add_value(inference, node, Value::u64(data.most), origin);
}

}  // namespace

bool add_value(Inference& inference, NodeId node, const Value& value, const Origin& origin) {
  TypeGraph& graph = inference.graph;
  const Names& names = inference.session.names;
  if (value.kind != TypeKind::List) return graph.add_literal(node, value, names, origin);
  const Node root = graph.root(node);
  if (root.kind == NodeKind::Scalar || root.kind == NodeKind::Error) return true;
  if (root.kind == NodeKind::Literal) return false;
  NodeId element = root.element;
  if (root.kind == NodeKind::Unknown) {
    element = graph.fresh();
    graph.unify(node, graph.list_of(element, origin));
  }
  for (const Value& part : names.terms.elements(value)) {
    if (!add_value(inference, element, part, origin)) return false;
  }
  return true;
}

void type_facts(Inference& inference) {
  for (uint32_t pred = 0; pred < inference.program.predicates.size(); ++pred) {
    const Predicate& predicate = inference.program.predicates[pred];
    if (predicate.declared || predicate.facts == nullptr) continue;
    for (uint32_t column = 0; column < predicate.facts->columns.size(); ++column) {
      add_column(inference, pred, column, predicate.facts->columns[column]);
    }
  }
}

// Data decides only what the program leaves open, and any text can be a name: where columns with
// and without numbers meet, both hold names, unless the program compares them with numbers or
// computes with them. What does not fit is reported when it is loaded.
void type_data(Inference& inference) {
  TypeGraph& graph = inference.graph;
  std::vector<uint32_t> compared;  // classes
  for (const Comparison& comparison : inference.comparisons) {
    if (is_number(graph.root(comparison.a))) compared.push_back(graph.find(comparison.b).index);
    if (is_number(graph.root(comparison.b))) compared.push_back(graph.find(comparison.a).index);
  }
  for (const bool names : {true, false}) {
    for (uint32_t pred = 0; pred < inference.program.predicates.size(); ++pred) {
      const Predicate& predicate = inference.program.predicates[pred];
      for (uint32_t i = 0; i < predicate.data.size(); ++i) {
        const DataColumn& data = predicate.data[i];
        if (data.name.empty() == names) continue;
        const NodeId node = inference.column(pred, i % predicate.arity);
        const bool wants_numbers =
            graph.root(node).arithmetic ||
            std::ranges::find(compared, graph.find(node).index) != compared.end();
        if (names && wants_numbers) continue;
        add_data(inference, data, node, {Origin::Kind::Data, {}, pred, 0, {}});
      }
    }
  }
}

}  // namespace xlog::lang::infer
