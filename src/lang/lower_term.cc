// Terms and expressions. An argument of an atom is a variable, a constant or a structure of such;
// arithmetic in it moves to a comparison with a helper variable.
#include <fmt/format.h>

#include "base/check.h"
#include "lang/fold.h"
#include "lang/rule_lowering.h"

namespace xlog::lang {

using ast::Expr;
using ast::ExprKind;

RuleLowering::RuleLowering(Lowering& lowering, Span span) : low_(lowering), scope_(&root_) {
  rule.span = span;
  root_.out = &rule.body;
}

Diagnostic& RuleLowering::fail(Code code, Span span, std::string message) {
  failed = true;
  return low_.report(code, span, std::move(message));
}

// ---- Variables ----

Term RuleLowering::make_variable(Symbol name, Span span, bool is_anonymous, bool is_helper) {
  Term term;
  term.kind = TermKind::Variable;
  term.var = VarId{static_cast<uint32_t>(rule.variables.size())};
  term.span = span;
  Variable& added = rule.variables.emplace_back();
  added.name = name;
  added.anonymous = is_anonymous;
  added.helper = is_helper;
  added.span = span;
  return term;
}

Term RuleLowering::anonymous(Span span) { return make_variable({}, span, true, false); }
Term RuleLowering::helper(Span span) { return make_variable({}, span, false, true); }

VarId RuleLowering::find_variable(Symbol name) const {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    const auto found = scope->ids.find(name);
    if (found != scope->ids.end()) return found->second;
  }
  return {};
}

// A name belongs to the outermost level that mentions it outside inner braces, else to the braces
// where it stands.
Term RuleLowering::variable(Symbol name, Span span) {
  if (const VarId known = find_variable(name); known.valid()) {
    Term term;
    term.kind = TermKind::Variable;
    term.var = known;
    term.span = span;
    return term;
  }
  Scope* owner = scope_;
  for (Scope* scope = scope_->parent; scope != nullptr; scope = scope->parent) {
    if (scope->names.contains(name)) owner = scope;
  }
  return variable_of(*owner, name, span);
}

Term RuleLowering::variable_of(Scope& owner, Symbol name, Span span) {
  const bool is_fresh = is_fresh_variable(low_.text(name));
  Term term = make_variable(is_fresh ? Symbol{} : name, span, false, is_fresh);
  owner.ids.emplace(name, term.var);
  return term;
}

// ---- Arguments ----

Term RuleLowering::dummy(Span span) const {
  Term term;
  term.value = Value::i64(0);
  term.span = span;
  return term;
}

namespace {

Term constant(Value value, Span span) {
  Term term;
  term.value = value;
  term.span = span;
  return term;
}

Term arith(ArithOp op, Span span) {
  Term term;
  term.kind = TermKind::Arith;
  term.op = op;
  term.span = span;
  return term;
}

ArithOp arith_op(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::Add:
      return ArithOp::Add;
    case ast::BinaryOp::Sub:
      return ArithOp::Sub;
    case ast::BinaryOp::Mul:
      return ArithOp::Mul;
    case ast::BinaryOp::Div:
      return ArithOp::Div;
    case ast::BinaryOp::Mod:
      return ArithOp::Mod;
  }
  XLOG_UNREACHABLE("an unknown operator");
}

ArithOp builtin_op(std::string_view name) {
  if (name == "abs") return ArithOp::Abs;
  if (name == "min") return ArithOp::Min;
  if (name == "max") return ArithOp::Max;
  if (name == "pow") return ArithOp::Pow;
  return ArithOp::Cast;
}

}  // namespace

Term RuleLowering::argument(const Expr& e) {
  switch (e.kind) {
    case ExprKind::Variable:
      return variable(e.name, e.span);
    case ExprKind::Anonymous:
      return anonymous(e.span);
    case ExprKind::Integer:
      return constant(integer_literal(e), e.span);
    case ExprKind::Float:
      return constant(Value::f64(e.number), e.span);
    case ExprKind::String:
      return constant(Value::symbol(e.name), e.span);
    case ExprKind::Name:
      if (!e.has_parens) return constant(Value::symbol(e.name), e.span);
      return is_arithmetic(e, low_.symbols()) ? computed(e) : name_term(e);
    case ExprKind::List: {
      Term term;
      term.kind = TermKind::List;
      term.has_tail = e.has_tail;
      term.span = e.span;
      for (const Expr& arg : e.args) term.args.push_back(argument(arg));
      return term;
    }
    case ExprKind::Interval:
      fail(Code::InvalidInterval, e.span, "an interval cannot stand here")
          .help("bind a variable to it first: `X = lo..hi`");
      return dummy(e.span);
    case ExprKind::Aggregate: {
      Term result = helper(e.span);
      aggregate(e, result, false, e.span);
      return result;
    }
    case ExprKind::Negate:
    case ExprKind::Binary:
    case ExprKind::Conditional:
      return computed(e);
  }
  XLOG_UNREACHABLE("an unknown expression");
}

Term RuleLowering::name_term(const Expr& e) {
  Term term;
  term.kind = TermKind::Compound;
  term.functor = e.name;
  term.span = e.span;
  for (const Expr& arg : e.args) term.args.push_back(argument(arg));
  return term;
}

Term RuleLowering::computed(const Expr& e) {
  if (in_branch_ > 0) {
    fail(Code::ExpressionInTermPosition, e.span,
         "a term inside a branch of `if` cannot hold an expression")
        .help("compute it before the condition");
    return dummy(e.span);
  }
  Literal literal;
  literal.kind = LiteralKind::Compare;
  literal.span = e.span;
  literal.rhs = value(e, false);
  literal.lhs = helper(e.span);
  Term result = literal.lhs;
  emit(std::move(literal));
  return result;
}

// ---- Values ----

Term RuleLowering::value(const Expr& e, bool arithmetic) {
  switch (e.kind) {
    case ExprKind::Name: {
      if (!e.has_parens) return argument(e);
      const bool is_builtin = is_builtin_function(low_.text(e.name), e.args.size());
      if (is_builtin && (arithmetic || is_arithmetic(e, low_.symbols()))) return builtin_call(e);
      return arithmetic ? unknown_function(e) : name_term(e);
    }
    case ExprKind::Negate: {
      Term term = arith(ArithOp::Neg, e.span);
      term.args.push_back(value(e.args[0], true));
      return term;
    }
    case ExprKind::Binary: {
      Term term = arith(arith_op(e.binary_op), e.span);
      for (const Expr& arg : e.args) term.args.push_back(value(arg, true));
      return term;
    }
    case ExprKind::Conditional:
      return conditional(e);
    case ExprKind::Aggregate:
      if (in_branch_ > 0) {
        fail(Code::PredicateCallInBranch, e.span, "an aggregate cannot stand in a branch of `if`")
            .help("compute it before the condition");
        return dummy(e.span);
      }
      return argument(e);
    default:
      return argument(e);
  }
}

Term RuleLowering::conditional(const Expr& e) {
  Term term = arith(ArithOp::If, e.span);
  term.compare = e.compare_op;
  for (size_t i = 0; i < 4; ++i) {
    const int branch = i >= 2 ? 1 : 0;
    in_branch_ += branch;
    term.args.push_back(value(e.args[i], true));
    in_branch_ -= branch;
  }
  return term;
}

Term RuleLowering::builtin_call(const Expr& e) {
  Term term = arith(builtin_op(low_.text(e.name)), e.span);
  term.args.push_back(value(e.args[0], true));
  if (term.op == ArithOp::Abs) return term;
  if (term.op != ArithOp::Cast) {
    term.args.push_back(value(e.args[1], true));
    return term;
  }
  const Expr& target = e.args[1];
  if (target.kind != ExprKind::Name || target.has_parens) {
    fail(Code::InvalidArgument, target.span, "the second argument of `cast` is a type")
        .help("as in `cast(X, f64)`");
    return dummy(e.span);
  }
  const std::optional<Type> type = low_.resolve_type({target.name, {}, target.span});
  if (!type) {
    failed = true;
    return dummy(e.span);
  }
  term.type = *type;
  return term;
}

Term RuleLowering::unknown_function(const Expr& e) {
  const std::string_view name = low_.shown(e.name);
  std::vector<size_t> arities = low_.functions.arities(e.name);
  if (is_builtin_function_name(name)) arities.push_back(name == "abs" ? 1 : 2);
  if (!arities.empty()) {
    fail(Code::FunctionArity, e.span,
         fmt::format("function `{}` takes {} argument{}, not {}", name, arities.front(),
                     arities.front() == 1 ? "" : "s", e.args.size()));
    return dummy(e.span);
  }
  std::vector<std::string_view> known = low_.functions.shown_names();
  known.insert(known.end(), {"abs", "min", "max", "pow", "cast"});
  Diagnostic& diagnostic =
      fail(Code::UndefinedFunction, e.span, fmt::format("there is no function `{}`", name));
  if (const auto near = did_you_mean(name, known)) {
    diagnostic.help(fmt::format("did you mean `{}`?", *near));
  } else if (low_.is_defined({e.name, static_cast<uint32_t>(e.args.size()) + 1, false})) {
    diagnostic.help(fmt::format(
        "`{}` is a predicate: write `{}(..., V)` as a goal of its own and use V", name, name));
  } else {
    diagnostic.help(fmt::format("define it with `func {}(...) = ....`", name));
  }
  return dummy(e.span);
}

// ---- Aggregates ----

// The value and the body of an aggregate are inside its braces.
void collect_names(const Expr& e, NameSet& out) {
  if (e.kind == ExprKind::Variable) out.insert(e.name);
  if (e.kind == ExprKind::Aggregate) return;
  for (const Expr& arg : e.args) collect_names(arg, out);
}

void collect_names(const std::vector<ast::Literal>& literals, NameSet& out) {
  for (const ast::Literal& literal : literals) {
    for (const Expr& arg : literal.atom.args) collect_names(arg, out);
    collect_names(literal.lhs, out);
    collect_names(literal.rhs, out);
  }
}

void RuleLowering::aggregate(const Expr& e, Term lhs, bool is_assignment, Span span) {
  const std::optional<AggregateFn> fn = find_aggregate(low_.text(e.name));
  if (!fn) {
    fail(Code::InvalidArgument, e.span, fmt::format("`{}` is no aggregate", low_.text(e.name)));
    return;
  }
  Literal literal;
  literal.kind = LiteralKind::Aggregate;
  literal.span = span;
  literal.aggregate = *fn;
  literal.lhs = std::move(lhs);
  literal.is_assignment = is_assignment;
  literal.has_value = !e.args.empty();
  if (!literal.has_value && *fn != AggregateFn::Count) {
    fail(Code::InvalidArgument, e.span, fmt::format("`{}` needs a value", spelling(*fn)))
        .help(fmt::format("as in `{} X : {{ p(X) }}`", spelling(*fn)));
    return;
  }
  Scope scope;
  collect_names(e.body, scope.names);
  for (const Expr& arg : e.args) collect_names(arg, scope.names);
  enter(scope, literal.body);
  for (const ast::Literal& inner : e.body) this->literal(inner);
  if (literal.has_value) literal.rhs = value(e.args[0], false);
  leave();
  emit(std::move(literal));
}

// ---- Heads ----

namespace {

const Expr* find_anonymous(const Expr& e) {
  if (e.kind == ExprKind::Anonymous) return &e;
  if (e.kind == ExprKind::Aggregate) return nullptr;
  for (const Expr& arg : e.args) {
    if (const Expr* found = find_anonymous(arg)) return found;
  }
  return nullptr;
}

}  // namespace

Term RuleLowering::head_argument(const Expr& e) {
  if (const Expr* blank = find_anonymous(e)) {
    fail(Code::InvalidHead, blank->span, "`_` in a head has no value")
        .help("name the variable and bind it in the body");
    return dummy(e.span);
  }
  if (e.kind != ExprKind::Interval) return argument(e);
  Literal literal;
  literal.kind = LiteralKind::Builtin;
  literal.builtin = BuiltinId::Between;
  literal.span = e.span;
  literal.args.push_back(argument(e.args[0]));
  literal.args.push_back(argument(e.args[1]));
  literal.args.push_back(helper(e.span));
  Term result = literal.args.back();
  emit(std::move(literal));
  return result;
}

std::vector<Term> RuleLowering::head_arguments(const ast::Atom& atom) {
  std::vector<Term> args;
  args.reserve(atom.args.size());
  for (const Expr& arg : atom.args) args.push_back(head_argument(arg));
  return args;
}

// `h(K, sum(V))`.
void RuleLowering::head_aggregates(const ast::Atom& atom, HeadElement& element) {
  for (uint32_t i = 0; i < atom.args.size(); ++i) {
    const Expr& arg = atom.args[i];
    const bool is_call = arg.kind == ExprKind::Name && arg.has_parens;
    const std::optional<AggregateFn> fn =
        is_call ? find_aggregate(low_.text(arg.name)) : std::nullopt;
    const bool fits =
        fn && (arg.args.size() == 1 || (arg.args.empty() && *fn == AggregateFn::Count));
    if (!fits) {
      element.args.push_back(head_argument(arg));
      continue;
    }
    const bool counts_rows =
        arg.args.empty() || (*fn == AggregateFn::Count && arg.args[0].kind == ExprKind::Anonymous);
    HeadAggregate aggregate{i, *fn, !counts_rows, dummy(arg.span)};
    if (aggregate.has_value) aggregate.value = value(arg.args[0], false);
    rule.aggregates.push_back(std::move(aggregate));
    element.args.push_back(dummy(arg.span));
  }
}

}  // namespace xlog::lang
