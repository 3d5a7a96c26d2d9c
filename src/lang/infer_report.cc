// Type errors in words: both types, and where each came from.
#include <fmt/format.h>

#include <algorithm>

#include "lang/infer.h"

namespace xlog::lang::infer {

namespace {

std::string signature(const Inference& inference, uint32_t pred) {
  return predicate_signature(inference.program.predicates[pred], inference.session.names);
}

std::string column_name(const Inference& inference, uint32_t pred, uint32_t column) {
  return fmt::format("column {} of {}", column + 1, signature(inference, pred));
}

std::string variable_name(const Inference& inference, uint32_t rule, VarId var) {
  const Rule& source = inference.program.rules[rule];
  const std::string_view name =
      inference.session.names.symbols.text(source.variables[var.index].name);
  const bool written = !name.empty() && source.origin != RuleOrigin::Coherence;
  return written ? fmt::format("variable {}", name) : "this value";
}

void add_label(Diagnostic& diagnostic, Span span, std::string text) {
  if (span.empty()) return;
  const bool there = std::any_of(diagnostic.labels.begin(), diagnostic.labels.end(),
                                 [&](const Label& label) { return label.span == span; });
  if (!there) diagnostic.label(span, std::move(text));
}

bool is_number(TypeGraph& graph, NodeId node) {
  const Node& root = graph.root(node);
  if (root.kind != NodeKind::Literal && root.kind != NodeKind::Scalar) return false;
  return is_numeric(graph.default_kind(root));
}

std::string from(const Inference& inference, const Place& place) {
  const std::string name = place_name(inference, place);
  return name.empty() ? name : fmt::format(" (from {})", name);
}

std::string cast_help(TypeGraph& graph, std::string_view value, NodeId from_type, NodeId to_type) {
  if (!is_number(graph, from_type) || !is_number(graph, to_type)) return {};
  return fmt::format("use cast({}, {})", value, graph.describe(to_type));
}

std::string_view verb(ArithOp op) {
  switch (op) {
    case ArithOp::Add:
      return "add";
    case ArithOp::Sub:
      return "subtract";
    case ArithOp::Mul:
      return "multiply";
    case ArithOp::Div:
      return "divide";
    case ArithOp::Mod:
      return "take the remainder of";
    case ArithOp::Min:
      return "take the minimum of";
    case ArithOp::Max:
      return "take the maximum of";
    case ArithOp::If:
      return "choose between";
    default:
      return "combine";
  }
}

}  // namespace

std::string clipped_source(const Inference& inference, Span span) {
  std::string text(inference.session.sources.text(span));
  constexpr size_t kLongest = 40;
  const bool plain = text.size() <= kLongest && text.find('\n') == std::string::npos;
  return plain ? text : std::string();
}

std::string place_name(const Inference& inference, const Place& place) {
  if (place.pred == kNone || !place.what.empty()) return std::string(place.what);
  return fmt::format("{} column {}", signature(inference, place.pred), place.column + 1);
}

Span origin_span(Inference& inference, const Origin& origin) {
  if (origin.kind != Origin::Kind::Fact && origin.kind != Origin::Kind::Data) return origin.span;
  const Predicate& predicate = inference.program.predicates[origin.pred];
  if (origin.kind == Origin::Kind::Data) return predicate.span;
  return fact_span(*predicate.facts, origin.row, inference.session.sources);
}

void label_origin(Inference& inference, Diagnostic& diagnostic, NodeId node) {
  const Origin origin = inference.graph.origin(node);
  const Span span = origin_span(inference, origin);
  const std::string type = inference.graph.describe(node);
  switch (origin.kind) {
    case Origin::Kind::None:
      return;
    case Origin::Kind::Declared:
      add_label(diagnostic, span, fmt::format("declared {} here", type));
      return;
    case Origin::Kind::Literal: {
      const std::string text = clipped_source(inference, span);
      add_label(diagnostic, span,
                text.empty() ? fmt::format("this is {}", type)
                             : fmt::format("the literal `{}` is {}", text, type));
      return;
    }
    case Origin::Kind::Fact:
      add_label(diagnostic, span, fmt::format("{} because of this fact", type));
      return;
    case Origin::Kind::Data:
      add_label(diagnostic, span, fmt::format("{} because of the data in its --input", type));
      return;
    case Origin::Kind::Result:
      add_label(diagnostic, span, fmt::format("{} gives {}", origin.text, type));
      return;
  }
}

namespace {

// Classes of declared columns merge, so the declaration of the column itself says more than the
// origin of its class.
void label_place(Inference& inference, Diagnostic& diagnostic, NodeId node, const Place& place) {
  if (place.pred != kNone && place.what.empty()) {
    const Predicate& predicate = inference.program.predicates[place.pred];
    if (predicate.declared && !predicate.columns[place.column].type_span.empty()) {
      add_label(diagnostic, predicate.columns[place.column].type_span,
                fmt::format("declared {} here", inference.graph.describe(node)));
      return;
    }
  }
  label_origin(inference, diagnostic, node);
}

}  // namespace

void report_variable(Inference& inference, uint32_t rule, VarId var, NodeId other,
                     const Place& place) {
  const NodeId own = inference.variable(rule, var);
  if (inference.reported[own.index]) return;
  inference.reported[own.index] = true;
  TypeGraph& graph = inference.graph;
  const Variable& variable = inference.program.rules[rule].variables[var.index];
  const Place& source = inference.sources[own.index];
  const std::string name = variable_name(inference, rule, var);
  Diagnostic& diagnostic = inference.session.diagnostics.report(
      Code::TypeMismatch, place.span.empty() ? variable.span : place.span,
      fmt::format("{} is {}{} but {}{}", name, graph.describe(own), from(inference, source),
                  graph.describe(other), from(inference, place)));
  if (!(source.span == place.span)) {
    add_label(diagnostic, source.span, fmt::format("{} here", graph.describe(own)));
  }
  label_place(inference, diagnostic, own, source);
  label_place(inference, diagnostic, other, place);
  if (variable.name.empty()) return;
  const auto help =
      cast_help(graph, inference.session.names.symbols.text(variable.name), own, other);
  if (!help.empty()) diagnostic.help(help);
}

void report_column(Inference& inference, uint32_t pred, uint32_t column, NodeId other,
                   const Place& place) {
  const NodeId node = inference.column(pred, column);
  if (inference.reported[node.index]) return;
  inference.reported[node.index] = true;
  TypeGraph& graph = inference.graph;
  const Place& source = inference.sources[node.index];
  Diagnostic& diagnostic = inference.session.diagnostics.report(
      Code::ConflictingColumnTypes, place.span,
      fmt::format("{} is {} here but {} elsewhere", column_name(inference, pred, column),
                  graph.describe(other), graph.describe(node)));
  add_label(diagnostic, source.span, fmt::format("{} here", graph.describe(node)));
  label_origin(inference, diagnostic, node);
  label_origin(inference, diagnostic, other);
  diagnostic.help(
      fmt::format("make the clauses agree, or declare `pred {}(...).`",
                  predicate_name(inference.program.predicates[pred], inference.session.names)));
}

void report_literal(Inference& inference, const Value& literal, Span span, NodeId expected,
                    const Place& place) {
  const std::string type = inference.graph.describe(expected);
  std::string message = fmt::format("the literal `{}` does not fit {}",
                                    to_source(literal, inference.session.names), type);
  if (place.pred != kNone) {
    message += ", the type of " + column_name(inference, place.pred, place.column);
  }
  Diagnostic& diagnostic =
      inference.session.diagnostics.report(Code::LiteralOutOfRange, span, std::move(message));
  if (place.pred != kNone) {
    const Place& source = inference.sources[inference.column(place.pred, place.column).index];
    if (!(source.span == span)) add_label(diagnostic, source.span, fmt::format("{} here", type));
  }
  if (!(origin_span(inference, inference.graph.origin(expected)) == span)) {
    label_place(inference, diagnostic, expected, place);
  }
}

void report_arithmetic(Inference& inference, const Term& term, NodeId a, NodeId b) {
  TypeGraph& graph = inference.graph;
  const bool numbers = is_number(graph, a) && is_number(graph, b);
  const bool condition = term.op == ArithOp::If;
  Diagnostic& diagnostic = inference.session.diagnostics.report(
      numbers || condition ? Code::TypeMismatch : Code::NotNumeric, term.span,
      fmt::format("cannot {} {} and {}", verb(term.op), graph.describe(a), graph.describe(b)));
  label_origin(inference, diagnostic, a);
  label_origin(inference, diagnostic, b);
  if (!numbers) return;
  // Widen towards the float; otherwise towards the left side.
  const bool to_second = is_float(graph.default_kind(graph.root(b)));
  const Term& operand = term.args[(condition ? 2 : 0) + (to_second ? 0 : 1)];
  const std::string text = clipped_source(inference, operand.span);
  diagnostic.help(
      cast_help(graph, text.empty() ? "X" : text, to_second ? a : b, to_second ? b : a));
}

void report_comparison(Inference& inference, const Comparison& comparison) {
  TypeGraph& graph = inference.graph;
  const Term* literal = comparison.lhs->kind == TermKind::Constant   ? comparison.lhs
                        : comparison.rhs->kind == TermKind::Constant ? comparison.rhs
                                                                     : nullptr;
  if (literal != nullptr) {
    const NodeId other = literal == comparison.lhs ? comparison.b : comparison.a;
    const Term& side = literal == comparison.lhs ? *comparison.rhs : *comparison.lhs;
    Place place{literal->span, kNone, 0, {}, false};
    if (side.kind == TermKind::Variable) {
      place = inference.sources[inference.variable(comparison.rule, side.var).index];
    }
    report_literal(inference, literal->value, literal->span, other, place);
    return;
  }
  Diagnostic& diagnostic = inference.session.diagnostics.report(
      Code::TypeMismatch, comparison.span,
      fmt::format("cannot compare {} and {}", graph.describe(comparison.a),
                  graph.describe(comparison.b)));
  for (const auto& [term, node] :
       {std::pair{comparison.lhs, comparison.a}, std::pair{comparison.rhs, comparison.b}}) {
    if (term->kind != TermKind::Variable) {
      label_origin(inference, diagnostic, node);
      continue;
    }
    const Place& source = inference.sources[inference.variable(comparison.rule, term->var).index];
    add_label(diagnostic, source.span,
              fmt::format("{} is {} here", variable_name(inference, comparison.rule, term->var),
                          graph.describe(node)));
    label_place(inference, diagnostic, node, source);
  }
  const std::string text = clipped_source(inference, comparison.lhs->span);
  const std::string help = cast_help(graph, text.empty() ? "X" : text, comparison.a, comparison.b);
  if (!help.empty()) diagnostic.help(help);
}

void report_list_element(Inference& inference, const Term& element, NodeId found,
                         NodeId list_element) {
  TypeGraph& graph = inference.graph;
  Diagnostic& diagnostic = inference.session.diagnostics.report(
      Code::HeterogeneousList, element.span,
      fmt::format("{} in a list of {}", graph.describe(found), graph.describe(list_element)));
  label_origin(inference, diagnostic, list_element);
  diagnostic.help("declare the column as `list<term>` if mixed elements are meant");
}

void report_types(Inference& inference, Span span, std::string_view what, NodeId found,
                  NodeId expected, const Place& place) {
  TypeGraph& graph = inference.graph;
  std::string message = fmt::format("{} is {} but ", what, graph.describe(found));
  if (place.pred != kNone) {
    message += fmt::format("{} is {}", column_name(inference, place.pred, place.column),
                           graph.describe(expected));
  } else {
    message += fmt::format("{} is expected", graph.describe(expected));
    if (!place.what.empty() && place.what != what) message += fmt::format(" by {}", place.what);
  }
  Diagnostic& diagnostic =
      inference.session.diagnostics.report(Code::TypeMismatch, span, std::move(message));
  label_place(inference, diagnostic, expected, place);
  label_origin(inference, diagnostic, found);
  const std::string text = clipped_source(inference, span);
  const std::string help = cast_help(graph, text.empty() ? "X" : text, found, expected);
  if (!help.empty() && place.what != what) diagnostic.help(help);
}

}  // namespace xlog::lang::infer
