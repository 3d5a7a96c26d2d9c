// The last touch on typed rules: variable terms get the type of their variable, ground structures
// become constants, and values that go into or come out of compound terms are converted in the
// open.
//
// Inside a term every value has one form (lang/arith.h, to_term). Where a variable of another type
// stands inside a compound term or a list of terms, a helper variable of type term takes its place,
// joined to it by an equation with a cast; where the structure is matched, so that it may bind the
// variable, by one in each direction (the one that is not needed to bind holds anyway):
//
//   p(f(X)) :- q(X).            X of u32        p(f(H)) :- q(X), H = cast(X, term).
//   r(X) :- p(f(X)), X > 3.     X of i64        r(X) :- p(f(H)), X = cast(H, i64), H = cast(X,
//   term), X > 3.
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
    finish_body(rule_.body);
    for (HeadElement& element : rule_.head) {
      finish_body(element.condition);
      Scope scope{element.condition.empty() ? rule_.body : element.condition};
      for (Term& arg : element.args) finish_term(arg, scope);
      append(scope);
    }
    Scope scope{rule_.body};
    for (HeadAggregate& aggregate : rule_.aggregates) finish_term(aggregate.value, scope);
    if (rule_.lower) finish_term(*rule_.lower, scope);
    if (rule_.upper) finish_term(*rule_.upper, scope);
    append(scope);
  }

 private:
  struct Helper {
    VarId variable, helper;
    bool binds;  // has the equation that gives the variable its value
  };

  // Literals to be added to one body, and the helper of each variable there.
  struct Scope {
    std::vector<Literal>& body;
    bool matched = false;  // the structure is matched against rows; else it is built
    std::vector<Helper> helpers = {};
    std::vector<Literal> added = {};
  };

  static void append(Scope& scope) {
    for (Literal& literal : scope.added) scope.body.push_back(std::move(literal));
    scope.added.clear();
  }

  void finish_body(std::vector<Literal>& body) {
    Scope scope{body};
    for (Literal& literal : body) {
      scope.matched = literal.nots == 0 && literal.modal == Modal::None;
      finish_body(literal.body);
      const bool findall =
          literal.kind == LiteralKind::Builtin && literal.builtin == BuiltinId::Findall;
      for (size_t i = 0; i < literal.args.size(); ++i) {
        if (findall && i == 0) {  // built once a solution of the goal
          Scope goal{literal.body};
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
    Helper& entry = helper_of(arg, scope);
    arg.var = entry.helper;
    arg.type = Type{TypeKind::Term, nullptr};
    if (!scope.matched || entry.binds) return;
    entry.binds = true;
    scope.added.push_back(equation(entry.variable, entry.helper));
  }

  Helper& helper_of(const Term& variable_term, Scope& scope) {
    for (Helper& entry : scope.helpers) {
      if (entry.variable == variable_term.var) return entry;
    }
    const VarId helper{static_cast<uint32_t>(rule_.variables.size())};
    Variable variable;
    variable.helper = true;
    variable.type = Type{TypeKind::Term, nullptr};
    variable.span = variable_term.span;
    rule_.variables.push_back(std::move(variable));
    scope.added.push_back(equation(helper, variable_term.var));
    return scope.helpers.emplace_back(Helper{variable_term.var, helper, false});
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
