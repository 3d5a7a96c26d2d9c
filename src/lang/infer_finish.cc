// The last touch on typed rules: variable terms get the type of their variable, ground structures
// become constants, and values that go into or come out of compound terms are converted in the
// open.
//
// Inside a term every value has one form (lang/arith.h, to_term). Where a variable of another type
// stands inside a compound term or a list of terms, a helper variable of type term takes its place,
// joined to it by an equation with a cast:
//
//   p(f(X)) :- q(X).            X of u32        p(f(H)) :- q(X), H = cast(X, term).
//   r(X) :- p(f(X)), X > 3.     X of i64        r(X) :- p(f(H)), X = cast(H, i64), X > 3.
//
// So every argument of a compound term is a term and evaluators match it bit by bit.
#include <utility>

#include "lang/arith.h"
#include "lang/infer.h"

namespace xlog::lang::infer {

namespace {

bool is_term_type(const Type& type) { return type.kind == TypeKind::Term; }

// Whether the i-th argument of a structure is a value inside a term.
bool is_inside_term(const Term& structure, size_t i) {
  if (structure.kind == TermKind::Compound) return true;
  if (structure.kind != TermKind::List) return false;
  if (is_term_type(structure.type)) return true;
  const bool is_tail = structure.has_tail && i + 1 == structure.args.size();
  return !is_tail && structure.type.kind == TypeKind::List && is_term_type(*structure.type.element);
}

class RuleFinisher {
 public:
  RuleFinisher(Rule& rule, Names& names) : rule_(rule), names_(names) {}

  void finish() {
    std::vector<bool> none(rule_.variables.size(), false);
    const std::vector<bool> bound = finish_body(rule_.body, none);
    for (HeadElement& element : rule_.head) {
      finish_body(element.condition, bound);
      std::vector<Literal>& joined = element.condition.empty() ? rule_.body : element.condition;
      Scope scope{joined, {}, Direction::IntoTerm, {}};
      for (Term& arg : element.args) finish_term(arg, scope);
      append(scope);
    }
    Scope scope{rule_.body, {}, Direction::IntoTerm, {}};
    for (HeadAggregate& aggregate : rule_.aggregates) finish_term(aggregate.value, scope);
    if (rule_.lower) finish_term(*rule_.lower, scope);
    if (rule_.upper) finish_term(*rule_.upper, scope);
    append(scope);
  }

 private:
  enum class Direction : uint8_t {
    IntoTerm,  // H = cast(X, term): X is bound elsewhere
    Either,    // X = cast(H, type) where nothing else binds X
  };

  // Literals to be added to one body, and the helper of each variable there.
  struct Scope {
    std::vector<Literal>& body;
    std::vector<bool> bound;
    Direction direction;
    std::vector<std::pair<VarId, VarId>> helpers;
    std::vector<Literal> added = {};
  };

  static void append(Scope& scope) {
    for (Literal& literal : scope.added) scope.body.push_back(std::move(literal));
    scope.added.clear();
  }

  // Variables that a literal of the body binds by itself, outside of terms.
  static void mark_bound(const std::vector<Literal>& body, std::vector<bool>& bound) {
    auto mark = [&bound](const Term& term) {
      if (term.kind == TermKind::Variable) bound[term.var.index] = true;
    };
    for (const Literal& literal : body) {
      if (literal.nots != 0) continue;
      const bool equation = literal.kind == LiteralKind::Compare && literal.op == CompareOp::Eq;
      for (const Term& arg : literal.args) mark(arg);
      if (equation || literal.kind == LiteralKind::Aggregate) mark(literal.lhs);
      if (equation) mark(literal.rhs);
    }
  }

  std::vector<bool> finish_body(std::vector<Literal>& body, std::vector<bool> bound) {
    bound.resize(rule_.variables.size(), false);
    mark_bound(body, bound);
    Scope scope{body, bound, Direction::Either, {}};
    for (Literal& literal : body) {
      const bool negative = literal.nots != 0 || literal.modal != Modal::None;
      scope.direction = negative ? Direction::IntoTerm : Direction::Either;
      finish_body(literal.body, bound);
      const bool findall =
          literal.kind == LiteralKind::Builtin && literal.builtin == BuiltinId::Findall;
      for (size_t i = 0; i < literal.args.size(); ++i) {
        if (findall && i == 0) {  // built once a solution of the goal
          Scope goal{literal.body, {}, Direction::IntoTerm, {}};
          finish_term(literal.args[i], goal);
          append(goal);
        } else {
          finish_term(literal.args[i], scope);
        }
      }
      finish_term(literal.lhs, scope);
      finish_term(literal.rhs, scope);
    }
    append(scope);
    return bound;
  }

  // Recursion follows the term, whose nesting the parser limits.
  void finish_term(Term& term, Scope& scope) {
    if (term.kind == TermKind::Variable) {
      if (term.var.valid()) term.type = rule_.variables[term.var.index].type;
      return;
    }
    bool ground = term.kind == TermKind::List || term.kind == TermKind::Compound;
    for (size_t i = 0; i < term.args.size(); ++i) {
      Term& arg = term.args[i];
      finish_term(arg, scope);
      if (arg.kind != TermKind::Constant) ground = false;
      if (arg.kind == TermKind::Constant || is_term_type(arg.type) || !is_inside_term(term, i)) {
        continue;
      }
      if (arg.kind == TermKind::Variable) convert_variable(arg, scope);
      if (arg.kind == TermKind::Arith) arg = cast_of(std::move(arg), Type{TypeKind::Term, nullptr});
    }
    if (ground) fold(term);
  }

  void fold(Term& term) {
    const auto value = evaluate(
        term, [](VarId) { return Value{}; }, names_);
    if (!value) return;  // the tail is no list: an error that was reported
    term.kind = TermKind::Constant;
    term.value = *value;
    term.args.clear();
    term.has_tail = false;
  }

  void convert_variable(Term& arg, Scope& scope) {
    const VarId inner = arg.var;
    arg.type = Type{TypeKind::Term, nullptr};
    for (const auto& [variable, helper] : scope.helpers) {
      if (variable == inner) {
        arg.var = helper;
        return;
      }
    }
    const VarId helper{static_cast<uint32_t>(rule_.variables.size())};
    Variable variable;
    variable.helper = true;
    variable.type = arg.type;
    variable.span = arg.span;
    rule_.variables.push_back(std::move(variable));
    arg.var = helper;
    scope.helpers.emplace_back(inner, helper);

    const bool bound = inner.index < scope.bound.size() && scope.bound[inner.index];
    const bool into_term = scope.direction == Direction::IntoTerm || bound;
    scope.added.push_back(into_term ? equation(helper, inner) : equation(inner, helper));
  }

  // to = cast(from, type of to)
  Literal equation(VarId to, VarId from) const {
    const auto variable = [this](VarId var) {
      Term term;
      term.kind = TermKind::Variable;
      term.var = var;
      term.type = rule_.variables[var.index].type;
      term.span = rule_.variables[var.index].span;
      return term;
    };
    Literal literal;
    literal.kind = LiteralKind::Compare;
    literal.op = CompareOp::Eq;
    literal.lhs = variable(to);
    literal.rhs = cast_of(variable(from), literal.lhs.type);
    literal.span = literal.rhs.span;
    return literal;
  }

  Rule& rule_;
  Names& names_;
};

void finish_ground(Term& term, Names& names) {
  for (Term& arg : term.args) finish_ground(arg, names);
  if (term.kind != TermKind::List && term.kind != TermKind::Compound) return;
  const auto value = evaluate(
      term, [](VarId) { return Value{}; }, names);
  if (!value) return;
  term.kind = TermKind::Constant;
  term.value = *value;
  term.args.clear();
  term.has_tail = false;
}

}  // namespace

void finish_rules(Inference& inference) {
  Names& names = inference.session.names;
  for (Rule& rule : inference.program.rules) RuleFinisher(rule, names).finish();
  for (ProbQuery& query : inference.program.prob_queries) {
    for (Term& arg : query.args) finish_ground(arg, names);
  }
  for (Evidence& evidence : inference.program.evidence) {
    for (Term& arg : evidence.args) finish_ground(arg, names);
  }
}

}  // namespace xlog::lang::infer
