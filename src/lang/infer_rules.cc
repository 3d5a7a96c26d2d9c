// Rules: atoms meet their columns, built-ins and aggregates their signatures.
#include <algorithm>

#include "base/check.h"
#include "lang/infer.h"

namespace xlog::lang::infer {

namespace {

// ---- Which rule first ----

// Definitions before uses, as far as recursion allows, so that a conflict is reported where a
// predicate is used wrongly and not where it is defined. A depth-first walk over predicates with a
// stack of its own.
class DefinitionOrder {
 public:
  explicit DefinitionOrder(const Program& program) : program_(program) {
    seen_.resize(program.predicates.size(), false);
    emitted_.resize(program.rules.size(), false);
  }

  std::vector<uint32_t> rules() {
    for (uint32_t pred = 0; pred < program_.predicates.size(); ++pred) visit(pred);
    for (uint32_t rule = 0; rule < program_.rules.size(); ++rule) emit(rule);
    return std::move(order_);
  }

 private:
  struct Open {
    uint32_t pred;
    std::vector<uint32_t> below;
    size_t next;
  };

  void visit(uint32_t start) {
    enter(start);
    while (!stack_.empty()) {
      Open& top = stack_.back();
      if (top.next < top.below.size()) {
        const uint32_t below = top.below[top.next++];
        enter(below);
        continue;
      }
      for (const uint32_t rule : program_.predicates[top.pred].rules) emit(rule);
      stack_.pop_back();
    }
  }

  void enter(uint32_t pred) {
    if (seen_[pred]) return;
    seen_[pred] = true;
    Open open{pred, {}, 0};
    for (const uint32_t rule : program_.predicates[pred].rules) {
      collect(program_.rules[rule].body, open.below);
      for (const HeadElement& element : program_.rules[rule].head) {
        collect(element.condition, open.below);
      }
    }
    stack_.push_back(std::move(open));
  }

  static void collect(const std::vector<Literal>& body, std::vector<uint32_t>& out) {
    for (const Literal& literal : body) {
      if (literal.pred.valid()) out.push_back(literal.pred.index);
      collect(literal.body, out);
    }
  }

  void emit(uint32_t rule) {
    if (emitted_[rule]) return;
    emitted_[rule] = true;
    order_.push_back(rule);
  }

  const Program& program_;
  std::vector<bool> seen_, emitted_;
  std::vector<Open> stack_;
  std::vector<uint32_t> order_;
};

// ---- Atoms ----

void mark_bound(const std::vector<Literal>& body, std::vector<bool>& bound) {
  std::vector<VarId> variables;
  for (const Literal& literal : body) {
    const bool positive =
        literal.nots == 0 && literal.modal != Modal::NotKnow && literal.modal != Modal::NotPossible;
    if (literal.kind == LiteralKind::Atom && positive) collect_variables(literal, variables);
    if (literal.kind == LiteralKind::Builtin && positive) {
      for (const Term& arg : literal.args) collect_variables(arg, variables);
    }
    mark_bound(literal.body, bound);
  }
  for (const VarId var : variables) bound[var.index] = true;
}

void type_atom(Inference& inference, uint32_t rule, PredId pred, std::vector<Term>& args,
               bool in_head, const std::vector<HeadAggregate>* aggregates = nullptr) {
  for (uint32_t i = 0; i < args.size(); ++i) {
    if (aggregates != nullptr &&
        std::any_of(aggregates->begin(), aggregates->end(),
                    [i](const HeadAggregate& aggregate) { return aggregate.column == i; })) {
      continue;
    }
    NodeId column = inference.column(pred.index, i);
    if (inference.reported[column.index]) {  // no more words about a column without a type
      column = inference.graph.fresh();
      inference.graph.mark_error(column);
    }
    expect(inference, rule, args[i], column, Place{args[i].span, pred.index, i, {}, in_head});
  }
}

// ---- Built-ins ----

struct BuiltinTyper {
  Inference& inference;
  uint32_t rule;
  Literal& literal;
  std::string_view what;  // "`length`"

  TypeGraph& graph() { return inference.graph; }
  Origin origin() const { return {Origin::Kind::Result, literal.span, kNone, 0, what}; }
  NodeId scalar(TypeKind kind) { return graph().scalar(kind, origin()); }
  NodeId list_of(NodeId element) { return graph().list_of(element, origin()); }

  void argument(size_t i, NodeId expected) {
    Term& arg = literal.args[i];
    expect(inference, rule, arg, expected, Place{arg.span, kNone, 0, what, false});
  }

  // Any value; one that nothing else types is a term.
  void any(size_t i) {
    const NodeId node = type_term(inference, rule, literal.args[i]);
    graph().root(node).term_position = true;
  }

  // The list first: it usually says what the element is.
  void list_and_element(size_t list, size_t element) {
    const NodeId node = graph().fresh();
    argument(list, list_of(node));
    argument(element, node);
  }

  void same_lists() {
    const NodeId node = list_of(graph().fresh());
    for (size_t i = 0; i < literal.args.size(); ++i) argument(i, node);
  }

  void integers() {
    const NodeId node = graph().fresh();
    graph().root(node).arithmetic = true;
    for (size_t i = 0; i < literal.args.size(); ++i) argument(i, node);
    require(inference, Need::Integer, node, literal.span, what);
  }

  void mapped_columns() {
    XLOG_CHECK(literal.pred.valid(), "maplist without its predicate");
    const Predicate& mapped = inference.program[literal.pred];
    for (uint32_t i = 0; i < literal.args.size() && i < mapped.arity; ++i) {
      argument(i, list_of(inference.column(literal.pred.index, i)));
    }
  }

  void type() {
    switch (literal.builtin) {
      case BuiltinId::IsList:
        return any(0);
      case BuiltinId::Member:
      case BuiltinId::MemberCheck:
        return list_and_element(1, 0);
      case BuiltinId::Length:
        argument(0, list_of(graph().fresh()));
        return argument(1, scalar(TypeKind::U32));
      case BuiltinId::Nth:
        list_and_element(1, 2);
        return argument(0, scalar(TypeKind::U32));
      case BuiltinId::Append:
      case BuiltinId::Sort:
      case BuiltinId::MSort:
      case BuiltinId::ListToSet:
      case BuiltinId::Reverse:
        return same_lists();
      case BuiltinId::Functor:
        any(0);
        argument(1, scalar(TypeKind::Symbol));
        return argument(2, scalar(TypeKind::U32));
      case BuiltinId::Univ:
        any(0);
        return argument(1, list_of(scalar(TypeKind::Term)));
      case BuiltinId::Between:
        return integers();
      case BuiltinId::Findall:
        return argument(1, list_of(type_term(inference, rule, literal.args[0])));
      case BuiltinId::Maplist2:
      case BuiltinId::Maplist3:
        return mapped_columns();
    }
  }
};

std::string_view quoted_name(BuiltinId id) {
  static constexpr std::string_view kQuoted[] = {
#define XLOG_BUILTIN(name, spelling, arity, modes, help) std::string_view("`" spelling "`"),
#include "lang/builtins.def"
#undef XLOG_BUILTIN
  };
  return kQuoted[static_cast<size_t>(id)];
}

// ---- Aggregates ----

std::string_view quoted_name(AggregateFn fn) {
  switch (fn) {
    case AggregateFn::Count:
      return "`count`";
    case AggregateFn::Sum:
      return "`sum`";
    case AggregateFn::Min:
      return "`min`";
    case AggregateFn::Max:
      return "`max`";
    case AggregateFn::Avg:
      return "`avg`";
    case AggregateFn::LogSumExp:
      return "`logsumexp`";
    case AggregateFn::Findall:
      return "`findall`";
  }
  XLOG_UNREACHABLE("an unknown aggregate");
}

// The node of an aggregate's result. A sum waits until the type of its values is known.
NodeId type_aggregate(Inference& inference, uint32_t rule, AggregateFn fn, bool has_value,
                      Term& value, const Place& place) {
  TypeGraph& graph = inference.graph;
  const std::string_view what = quoted_name(fn);
  const Origin origin{Origin::Kind::Result, place.span, kNone, 0, what};
  if (!has_value) return graph.scalar(TypeKind::U64, origin);
  const NodeId node = type_term(inference, rule, value);
  switch (fn) {
    case AggregateFn::Count:
      return graph.scalar(TypeKind::U64, origin);
    case AggregateFn::Sum: {
      require(inference, Need::AggregateNumber, node, value.span, what);
      const NodeId result = graph.fresh();
      inference.sums.push_back({node, result, place, rule, false});
      return result;
    }
    case AggregateFn::Min:
    case AggregateFn::Max:
      require(inference, Need::AggregateNumber, node, value.span, what);
      return node;
    case AggregateFn::Avg:
      require(inference, Need::AggregateNumber, node, value.span, what);
      return graph.scalar(TypeKind::F64, origin);
    case AggregateFn::LogSumExp:
      require(inference, Need::AggregateNumber, node, value.span, what);
      inference.float_folds.push_back(node);
      return graph.scalar(TypeKind::F64, origin);
    case AggregateFn::Findall:
      break;
  }
  XLOG_UNREACHABLE("an unknown aggregate");
}

void type_head_aggregates(Inference& inference, uint32_t rule) {
  Rule& r = inference.program.rules[rule];
  for (HeadAggregate& aggregate : r.aggregates) {
    const PredId pred = r.head[0].pred;
    const Span span =
        aggregate.has_value ? aggregate.value.span : r.head[0].args[aggregate.column].span;
    const Place place{span, pred.index, aggregate.column, quoted_name(aggregate.fn), true};
    const NodeId result =
        type_aggregate(inference, rule, aggregate.fn, aggregate.has_value, aggregate.value, place);
    const NodeId column = inference.column(pred.index, aggregate.column);
    if (inference.graph.unify(result, column)) continue;
    if (inference.program[pred].declared) {
      report_types(inference, span, quoted_name(aggregate.fn), result, column, place);
    } else {
      report_column(inference, pred.index, aggregate.column, result, place);
    }
    inference.graph.mark_error(column);
    inference.graph.mark_error(result);
  }
}

// ---- Bodies ----

bool is_structure(const Term& term) {
  return term.kind == TermKind::List || term.kind == TermKind::Compound;
}

// Whether the literal is what gives this variable its value, so that it takes the type of the other
// side.
bool is_assigned(const Inference& inference, uint32_t rule, const Literal& literal,
                 const Term& side) {
  if (literal.op != CompareOp::Eq || side.kind != TermKind::Variable) return false;
  if (literal.is_assignment || !inference.bound_by_atom[side.var.index]) return true;
  return inference.program.rules[rule].variables[side.var.index].helper;
}

void type_compare(Inference& inference, uint32_t rule, Literal& literal) {
  Term& lhs = literal.lhs;
  Term& rhs = literal.rhs;
  const Place place{literal.span, kNone, 0, "this comparison", false};
  if (is_assigned(inference, rule, literal, lhs) || is_structure(rhs)) {
    const NodeId node = type_term(inference, rule, lhs);
    if (lhs.kind == TermKind::Variable && !is_structure(rhs)) {
      const NodeId value = type_term(inference, rule, rhs);
      unify_variable(inference, rule, lhs.var, value,
                     Place{rhs.span, kNone, 0, "the value it is given", false});
    } else {
      expect(inference, rule, rhs, node, place);
    }
    return;
  }
  if (is_assigned(inference, rule, literal, rhs) || is_structure(lhs)) {
    const NodeId node = type_term(inference, rule, rhs);
    expect(inference, rule, lhs, node, place);
    return;
  }
  const NodeId a = type_term(inference, rule, lhs);
  const NodeId b = type_term(inference, rule, rhs);
  add_comparison(inference, {&lhs, &rhs, a, b, rule, literal.span});
}

// `know p([X])` over a column of scalars asks about the element: a key may be written as a list or
// a term of one part.
void open_modal_keys(Inference& inference, Literal& literal) {
  for (uint32_t i = 0; i < literal.args.size(); ++i) {
    Term& arg = literal.args[i];
    if (!is_structure(arg) || arg.has_tail || arg.args.size() != 1) continue;
    const Node& column = inference.graph.root(inference.column(literal.pred.index, i));
    if (column.kind != NodeKind::Scalar || type_class(column.scalar) == TypeClass::Structured) {
      continue;
    }
    Term part = std::move(arg.args[0]);
    arg = std::move(part);
  }
}

void type_atoms(Inference& inference, uint32_t rule, std::vector<Literal>& body) {
  for (Literal& literal : body) {
    if (literal.kind == LiteralKind::Atom) {
      if (literal.modal != Modal::None) open_modal_keys(inference, literal);
      type_atom(inference, rule, literal.pred, literal.args, false);
    }
    type_atoms(inference, rule, literal.body);
  }
}

void type_others(Inference& inference, uint32_t rule, std::vector<Literal>& body) {
  for (Literal& literal : body) {
    type_others(inference, rule, literal.body);
    switch (literal.kind) {
      case LiteralKind::Atom:
        break;
      case LiteralKind::Compare:
        type_compare(inference, rule, literal);
        break;
      case LiteralKind::Builtin:
        BuiltinTyper{inference, rule, literal, quoted_name(literal.builtin)}.type();
        break;
      case LiteralKind::Aggregate: {
        const Place place{literal.span, kNone, 0, quoted_name(literal.aggregate), false};
        const NodeId result = type_aggregate(inference, rule, literal.aggregate, literal.has_value,
                                             literal.rhs, place);
        expect(inference, rule, literal.lhs, result, place);
        break;
      }
    }
  }
}

void type_bound(Inference& inference, uint32_t rule, std::optional<Term>& bound) {
  if (!bound) return;
  const NodeId node = type_term(inference, rule, *bound);
  inference.graph.root(node).arithmetic = true;
  require(inference, Need::Integer, node, bound->span, "a bound of a choice");
}

// Atoms say most about types, so they come before what only uses them; the head comes last.
void type_rule(Inference& inference, uint32_t rule) {
  Rule& r = inference.program.rules[rule];
  inference.bound_by_atom.assign(r.variables.size(), false);
  mark_bound(r.body, inference.bound_by_atom);
  for (HeadElement& element : r.head) mark_bound(element.condition, inference.bound_by_atom);

  type_atoms(inference, rule, r.body);
  for (HeadElement& element : r.head) type_atoms(inference, rule, element.condition);
  type_others(inference, rule, r.body);
  for (HeadElement& element : r.head) {
    type_others(inference, rule, element.condition);
    type_atom(inference, rule, element.pred, element.args, true, &r.aggregates);
  }
  type_head_aggregates(inference, rule);
  type_bound(inference, rule, r.lower);
  type_bound(inference, rule, r.upper);
}

}  // namespace

void type_rules(Inference& inference) {
  for (const uint32_t rule : DefinitionOrder(inference.program).rules()) {
    type_rule(inference, rule);
  }
}

void type_ground_atoms(Inference& inference) {
  for (ProbQuery& query : inference.program.prob_queries) {
    type_atom(inference, kNone, query.pred, query.args, false);
  }
  for (Evidence& evidence : inference.program.evidence) {
    type_atom(inference, kNone, evidence.pred, evidence.args, false);
  }
  for (NeuralDecl& neural : inference.program.neural) {
    if (neural.output >= inference.program[neural.pred].arity) continue;
    for (Term& label : neural.labels) {
      expect(inference, kNone, label, inference.column(neural.pred.index, neural.output),
             Place{label.span, neural.pred.index, neural.output, {}, true});
    }
  }
}

}  // namespace xlog::lang::infer
