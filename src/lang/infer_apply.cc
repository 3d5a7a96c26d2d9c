// Writes the types that were found into the program and converts its literals.
#include <fmt/format.h>

#include <utility>

#include "lang/infer.h"

namespace xlog::lang::infer {

namespace {

bool satisfied(Need need, TypeKind kind) {
  switch (need) {
    case Need::Number:
    case Need::AggregateNumber:
      return is_numeric(kind);
    case Need::Integer:
      return is_integer(kind);
    case Need::CastOperand:
      return is_numeric(kind) || kind == TypeKind::Bool;
  }
  return true;
}

Code code_of(Need need, TypeKind kind) {
  switch (need) {
    case Need::Number:
      return Code::NotNumeric;
    case Need::Integer:
      return is_numeric(kind) ? Code::TypeMismatch : Code::NotNumeric;
    case Need::CastOperand:
      return Code::InvalidCast;
    case Need::AggregateNumber:
      return Code::AggregateType;
  }
  return Code::TypeMismatch;
}

std::string_view wanted(Need need) {
  switch (need) {
    case Need::Number:
    case Need::AggregateNumber:
      return "a number";
    case Need::Integer:
      return "an integer";
    case Need::CastOperand:
      return "a number or bool";
  }
  return "another type";
}

// Types that would never end (a list of itself) or that are nested past what the language allows.
void refuse_deep_type(Inference& inference, NodeId node, Span span, const std::string& what) {
  TypeGraph& graph = inference.graph;
  if (!graph.too_deep(node)) return;
  inference.session.diagnostics
      .report(Code::TypeMismatch, span,
              fmt::format("{} would be a list of itself, or of lists nested more than {} deep",
                          what, ast::kMaxDepth))
      .help("use the type `term` for structures of any depth: declare the column as term");
  graph.mark_error(node);
}

void apply_columns(Inference& inference) {
  TypeGraph& graph = inference.graph;
  for (uint32_t pred = 0; pred < inference.program.predicates.size(); ++pred) {
    Predicate& predicate = inference.program.predicates[pred];
    predicate.columns.resize(predicate.arity);
    if (predicate.declared) continue;
    for (uint32_t i = 0; i < predicate.arity; ++i) {
      const NodeId node = inference.column(pred, i);
      refuse_deep_type(inference, node, predicate.span,
                       fmt::format("column {} of {}", i + 1,
                                   predicate_signature(predicate, inference.session.names)));
      predicate.columns[i].type = graph.type_of(node);
      predicate.columns[i].type_span = origin_span(inference, graph.origin(node));
    }
  }
}

void apply_variables(Inference& inference) {
  for (uint32_t rule = 0; rule < inference.program.rules.size(); ++rule) {
    auto& variables = inference.program.rules[rule].variables;
    for (uint32_t i = 0; i < variables.size(); ++i) {
      const NodeId node = inference.variable(rule, VarId{i});
      refuse_deep_type(inference, node, variables[i].span, "this variable");
      variables[i].type = inference.graph.type_of(node);
    }
  }
}

void apply_terms(Inference& inference) {
  for (const TypedTerm& typed : inference.typed) {
    Term& term = *typed.term;
    term.type = inference.graph.type_of(typed.node);
    if (term.kind != TermKind::Constant) continue;
    if (inference.graph.root(typed.node).kind == NodeKind::Error) continue;
    if (convert_literal(term.value, term.type, inference.session.names)) continue;
    report_literal(inference, term.value, term.span, typed.node, typed.place);
  }
}

// The argument of the head that an aggregate fills.
void apply_head_aggregates(Program& program) {
  for (Rule& rule : program.rules) {
    for (const HeadAggregate& aggregate : rule.aggregates) {
      Term& filled = rule.head[0].args[aggregate.column];
      filled.type = program[rule.head[0].pred].columns[aggregate.column].type;
      filled.value = Value{filled.type.kind, 0};
    }
  }
}

void cast_to_f64(Term& term, const Type& type) {
  if (type.kind == TypeKind::F64) return;
  term = cast_of(std::move(term), Type{TypeKind::F64, nullptr});
}

// A float compared with another number is compared as f64.
void cast_mixed_comparisons(Inference& inference) {
  for (const Comparison& comparison : inference.mixed) {
    const Type a = inference.graph.type_of(comparison.a);
    const Type b = inference.graph.type_of(comparison.b);
    if (a == b) continue;
    cast_to_f64(*comparison.lhs, a);
    cast_to_f64(*comparison.rhs, b);
  }
}

}  // namespace

Term cast_of(Term operand, Type type) {
  Term cast;
  cast.kind = TermKind::Arith;
  cast.op = ArithOp::Cast;
  cast.type = std::move(type);
  cast.span = operand.span;
  cast.args.push_back(std::move(operand));
  return cast;
}

void check_requirements(Inference& inference) {
  TypeGraph& graph = inference.graph;
  for (const Requirement& requirement : inference.requirements) {
    const Node& root = graph.root(requirement.node);
    if (root.kind == NodeKind::Error) continue;
    const bool is_list = root.kind == NodeKind::List;
    const TypeKind kind = is_list ? TypeKind::List : graph.default_kind(root);
    if (satisfied(requirement.need, kind)) continue;
    Diagnostic& diagnostic = inference.session.diagnostics.report(
        code_of(requirement.need, kind), requirement.span,
        fmt::format("{} needs {}, but this is {}", requirement.what, wanted(requirement.need),
                    graph.describe(requirement.node)));
    label_origin(inference, diagnostic, requirement.node);
    graph.mark_error(requirement.node);
  }
}

void apply_types(Inference& inference) {
  apply_columns(inference);
  apply_variables(inference);
  apply_terms(inference);
  apply_head_aggregates(inference.program);
  cast_mixed_comparisons(inference);
}

void convert_facts(Inference& inference) {
  constexpr int kReportedRows = 3;
  Names& names = inference.session.names;
  for (uint32_t pred = 0; pred < inference.program.predicates.size(); ++pred) {
    Predicate& predicate = inference.program.predicates[pred];
    if (predicate.facts == nullptr) continue;
    for (uint32_t i = 0; i < predicate.facts->columns.size(); ++i) {
      const NodeId node = inference.column(pred, i);
      if (inference.graph.root(node).kind == NodeKind::Error) continue;
      const Type& type = predicate.columns[i].type;
      FactColumn& column = predicate.facts->columns[i];
      size_t row = column.convert(type, names);
      for (int reported = 0; row < column.size() && reported < kReportedRows; ++row) {
        const Value literal = column.at(row);
        Value converted = literal;
        if (convert_literal(converted, type, names)) continue;
        const Span span = fact_span(*predicate.facts, row, inference.session.sources);
        report_literal(inference, literal, span, node, Place{span, pred, i, {}, true});
        ++reported;
      }
    }
  }
}

}  // namespace xlog::lang::infer
