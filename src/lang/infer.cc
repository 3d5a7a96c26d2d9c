#include "lang/infer.h"

namespace xlog::lang {

namespace infer {

namespace {

// Nodes of columns and variables come first, so that a table by node number can hold what is known
// about them.
void make_nodes(Inference& inference) {
  TypeGraph& graph = inference.graph;
  for (const Predicate& predicate : inference.program.predicates) {
    uint32_t first = kNone;
    for (uint32_t i = 0; i < predicate.arity; ++i) {
      const NodeId node = graph.fresh();
      if (i == 0) first = node.index;
    }
    inference.first_column.push_back(first);
  }
  uint32_t nodes = 0;
  for (const Predicate& predicate : inference.program.predicates) nodes += predicate.arity;
  for (const Rule& rule : inference.program.rules) {
    inference.first_variable.push_back(nodes);
    for (size_t i = 0; i < rule.variables.size(); ++i) graph.fresh();
    nodes += static_cast<uint32_t>(rule.variables.size());
  }
  inference.sources.resize(nodes);
  inference.reported.resize(nodes, false);
}

void type_declarations(Inference& inference) {
  for (uint32_t pred = 0; pred < inference.program.predicates.size(); ++pred) {
    const Predicate& predicate = inference.program.predicates[pred];
    if (!predicate.declared) continue;
    for (uint32_t i = 0; i < predicate.arity; ++i) {
      const PredicateColumn& column = predicate.columns[i];
      const Span span = column.type_span.empty() ? predicate.span : column.type_span;
      const Origin origin{Origin::Kind::Declared, span, kNone, 0, {}};
      inference.graph.unify(inference.column(pred, i),
                            inference.graph.from_type(column.type, origin));
    }
  }
}

}  // namespace

}  // namespace infer

void infer_types(Program& program, Session& session) {
  infer::Inference inference{program, session, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  infer::make_nodes(inference);
  infer::type_declarations(inference);
  infer::type_facts(inference);
  infer::type_rules(inference);
  infer::type_ground_atoms(inference);
  infer::type_data(inference);
  infer::settle_waiting(inference);
  infer::check_requirements(inference);
  infer::apply_types(inference);
  infer::convert_facts(inference);
  infer::finish_rules(inference);
#ifndef NDEBUG
  if (!session.diagnostics.has_errors()) infer::verify_types(program);
#endif
}

}  // namespace xlog::lang
