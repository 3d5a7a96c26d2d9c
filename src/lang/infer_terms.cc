// Terms: what a variable, a literal, a list, a compound term or an expression says about types.
#include <array>

#include "base/check.h"
#include "lang/infer.h"

namespace xlog::lang::infer {

namespace {

Origin literal_origin(const Term& term) { return {Origin::Kind::Literal, term.span, kNone, 0, {}}; }

NodeId record(Inference& inference, Term& term, NodeId node, const Place& place = {}) {
  inference.typed.push_back({&term, node, place});
  return node;
}

NodeId term_node(Inference& inference, const Term& term) {
  return inference.graph.scalar(TypeKind::Term,
                                {Origin::Kind::Result, term.span, kNone, 0, "a compound term"});
}

// Inside a compound term, or a list of terms, values of every type may stand: nothing is unified. A
// variable that nothing else types is a term.
void type_inside_term(Inference& inference, uint32_t rule, Term& term) {
  if (term.kind == TermKind::Variable) {
    inference.graph.root(inference.variable(rule, term.var)).term_position = true;
    return;
  }
  if (term.kind == TermKind::Arith) {
    type_term(inference, rule, term);
    return;
  }
  record(inference, term, term_node(inference, term));
  for (Term& arg : term.args) type_inside_term(inference, rule, arg);
}

// The clauses that define an undeclared column must agree among themselves.
bool defines_undeclared_column(const Inference& inference, const Place& place) {
  return place.in_head && !inference.program.predicates[place.pred].declared;
}

void note_source(Inference& inference, const Place& place) {
  if (!place.in_head) return;
  Place& source = inference.sources[inference.column(place.pred, place.column).index];
  if (source.span.empty()) source = place;
}

void expect_constant(Inference& inference, Term& term, NodeId expected, const Place& place) {
  if (add_value(inference, expected, term.value, literal_origin(term))) {
    note_source(inference, place);
    record(inference, term, expected, place);
    return;
  }
  if (defines_undeclared_column(inference, place)) {
    const NodeId literal = inference.graph.fresh();
    add_value(inference, literal, term.value, literal_origin(term));
    report_column(inference, place.pred, place.column, literal, place);
  } else {
    report_literal(inference, term.value, term.span, expected, place);
  }
  inference.graph.mark_error(expected);
}

void report_structure(Inference& inference, const Term& term, NodeId found, NodeId expected,
                      const Place& place) {
  if (defines_undeclared_column(inference, place)) {
    report_column(inference, place.pred, place.column, found, place);
  } else {
    const char* what = term.kind == TermKind::List ? "this list" : "this compound term";
    report_types(inference, term.span, what, found, expected, place);
  }
  inference.graph.mark_error(expected);
}

// The elements meet in `element`; the first that does not fit is reported for the whole list.
void type_elements(Inference& inference, uint32_t rule, Term& term, NodeId element, NodeId list,
                   bool written_here) {
  TypeGraph& graph = inference.graph;
  const size_t leading = term.args.size() - (term.has_tail ? 1 : 0);
  const Node& root = graph.root(element);
  const bool of_terms = root.kind == NodeKind::Scalar && root.scalar == TypeKind::Term;
  for (size_t i = 0; i < leading; ++i) {
    Term& arg = term.args[i];
    if (of_terms) {
      type_inside_term(inference, rule, arg);
      continue;
    }
    if (!written_here) {
      expect(inference, rule, arg, element, Place{arg.span, kNone, 0, "the other elements", false});
      continue;
    }
    const NodeId node = type_term(inference, rule, arg);
    if (graph.unify(node, element)) continue;
    report_list_element(inference, arg, node, element);
    graph.mark_error(element);
    graph.mark_error(node);
  }
  if (term.has_tail) {
    expect(inference, rule, term.args.back(), list,
           Place{term.args.back().span, kNone, 0, "the tail of a list", false});
  }
}

void expect_list(Inference& inference, uint32_t rule, Term& term, NodeId expected,
                 const Place& place) {
  TypeGraph& graph = inference.graph;
  const Node root = graph.root(expected);
  if (root.kind == NodeKind::Scalar && root.scalar == TypeKind::Term) {
    type_inside_term(inference, rule, term);
    return;
  }
  if (root.kind == NodeKind::List) {
    record(inference, term, expected, place);
    const bool written_here = !graph.known(root.element);
    type_elements(inference, rule, term, root.element, expected, written_here);
    return;
  }
  const NodeId element = graph.fresh();
  const NodeId list = graph.list_of(element, literal_origin(term));
  record(inference, term, list, place);
  type_elements(inference, rule, term, element, list, true);
  if (!graph.unify(list, expected)) {
    report_structure(inference, term, list, expected, place);
    return;
  }
  note_source(inference, place);
}

void expect_compound(Inference& inference, uint32_t rule, Term& term, NodeId expected,
                     const Place& place) {
  TypeGraph& graph = inference.graph;
  const NodeId compound = graph.fresh();
  graph.add_literal(compound, Value{TypeKind::Compound, 0}, inference.session.names,
                    literal_origin(term));
  record(inference, term, compound, place);
  for (Term& arg : term.args) type_inside_term(inference, rule, arg);
  if (!graph.unify(compound, expected)) {
    report_structure(inference, term, compound, expected, place);
    return;
  }
  note_source(inference, place);
}

// ---- Arithmetic ----

std::string_view quoted_op(ArithOp op) {
  switch (op) {
    case ArithOp::Neg:
    case ArithOp::Sub:
      return "`-`";
    case ArithOp::Add:
      return "`+`";
    case ArithOp::Mul:
      return "`*`";
    case ArithOp::Div:
      return "`/`";
    case ArithOp::Mod:
      return "`%`";
    case ArithOp::Abs:
      return "`abs`";
    case ArithOp::Min:
      return "`min`";
    case ArithOp::Max:
      return "`max`";
    case ArithOp::Pow:
      return "`pow`";
    case ArithOp::Cast:
      return "`cast`";
    case ArithOp::If:
      return "`if`";
  }
  XLOG_UNREACHABLE("an unknown operator");
}

NodeId mismatched(Inference& inference, const Term& term, NodeId a, NodeId b) {
  report_arithmetic(inference, term, a, b);
  const NodeId error = inference.graph.fresh();
  inference.graph.mark_error(error);
  return error;
}

NodeId type_operands(Inference& inference, uint32_t rule, Term& term) {
  TypeGraph& graph = inference.graph;
  const NodeId first = type_term(inference, rule, term.args[0]);
  graph.root(first).arithmetic = true;
  if (term.args.size() > 1) {
    const NodeId second = type_term(inference, rule, term.args[1]);
    graph.root(second).arithmetic = true;
    if (!graph.unify(first, second)) return mismatched(inference, term, first, second);
  }
  const Need need = term.op == ArithOp::Mod ? Need::Integer : Need::Number;
  require(inference, need, first, term.args[0].span, quoted_op(term.op));
  return first;
}
NodeId type_cast(Inference& inference, uint32_t rule, Term& term) {
  TypeGraph& graph = inference.graph;
  const NodeId operand = type_term(inference, rule, term.args[0]);
  if (term.args[0].kind == TermKind::Constant) graph.root(operand).arithmetic = true;
  require(inference, Need::CastOperand, operand, term.args[0].span, "`cast`");
  const NodeId result =
      graph.from_type(term.type, {Origin::Kind::Result, term.span, kNone, 0, "`cast`"});
  if (!is_numeric(term.type.kind) && term.type.kind != TypeKind::Bool) {
    inference.session.diagnostics.report(
        Code::InvalidCast, term.span,
        "`cast` cannot give " + to_string(term.type) + ", only numbers and bool");
    graph.mark_error(result);
  }
  return result;
}

NodeId type_condition(Inference& inference, uint32_t rule, Term& term) {
  TypeGraph& graph = inference.graph;
  const NodeId a = type_term(inference, rule, term.args[0]);
  const NodeId b = type_term(inference, rule, term.args[1]);
  add_comparison(inference, {&term.args[0], &term.args[1], a, b, rule, term.span});
  const NodeId then = type_term(inference, rule, term.args[2]);
  const NodeId otherwise = type_term(inference, rule, term.args[3]);
  return graph.unify(then, otherwise) ? then : mismatched(inference, term, then, otherwise);
}

NodeId type_arithmetic(Inference& inference, uint32_t rule, Term& term) {
  switch (term.op) {
    case ArithOp::Pow:
      for (Term& arg : term.args) {
        const NodeId node = type_term(inference, rule, arg);
        if (arg.kind == TermKind::Constant) inference.graph.root(node).arithmetic = true;
        require(inference, Need::Number, node, arg.span, "`pow`");
      }
      return inference.graph.scalar(TypeKind::F64,
                                    {Origin::Kind::Result, term.span, kNone, 0, "`pow`"});
    case ArithOp::Cast:
      return type_cast(inference, rule, term);
    case ArithOp::If:
      return type_condition(inference, rule, term);
    default:
      return type_operands(inference, rule, term);
  }
}

}  // namespace

void require(Inference& inference, Need need, NodeId node, Span span, std::string_view what) {
  inference.requirements.push_back({need, node, span, what});
}

void unify_variable(Inference& inference, uint32_t rule, VarId var, NodeId node,
                    const Place& place) {
  TypeGraph& graph = inference.graph;
  const NodeId own = inference.variable(rule, var);
  Place& source = inference.sources[own.index];
  const bool was_known = graph.known(own);
  if (!graph.unify(own, node)) {
    if (defines_undeclared_column(inference, place)) {
      report_column(inference, place.pred, place.column, own, place);
    } else {
      report_variable(inference, rule, var, node, place);
    }
    graph.mark_error(own);
    graph.mark_error(node);
    return;
  }
  if (!was_known && (graph.known(own) || source.span.empty())) source = place;
  note_source(inference, place);
}

NodeId type_term(Inference& inference, uint32_t rule, Term& term) {
  switch (term.kind) {
    case TermKind::Variable:
      return inference.variable(rule, term.var);
    case TermKind::Arith: {
      const NodeId node = type_arithmetic(inference, rule, term);
      return record(inference, term, node);
    }
    case TermKind::Constant:
    case TermKind::List:
    case TermKind::Compound:
      break;
  }
  const NodeId node = inference.graph.fresh();
  expect(inference, rule, term, node, Place{term.span, kNone, 0, {}, false});
  return node;
}

void expect(Inference& inference, uint32_t rule, Term& term, NodeId expected, const Place& place) {
  switch (term.kind) {
    case TermKind::Variable:
      unify_variable(inference, rule, term.var, expected, place);
      return;
    case TermKind::Constant:
      expect_constant(inference, term, expected, place);
      return;
    case TermKind::List:
      expect_list(inference, rule, term, expected, place);
      return;
    case TermKind::Compound:
      expect_compound(inference, rule, term, expected, place);
      return;
    case TermKind::Arith: {
      const NodeId node = record(inference, term, type_arithmetic(inference, rule, term));
      if (inference.graph.unify(node, expected)) return;
      report_types(inference, term.span, "this expression", node, expected, place);
      inference.graph.mark_error(node);
      inference.graph.mark_error(expected);
      return;
    }
  }
}

}  // namespace xlog::lang::infer
