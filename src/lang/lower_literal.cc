// Body literals.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lang/fold.h"
#include "lang/modal.h"
#include "lang/rule_lowering.h"

namespace xlog::lang {

using ast::Expr;
using ast::ExprKind;

// ---- Bodies and braces ----

void RuleLowering::body(const std::vector<ast::Literal>& literals) {
  rule.body.reserve(literals.size());
  for (const ast::Literal& l : literals) literal(l);
}

void RuleLowering::enter(Scope& scope, std::vector<Literal>& out) {
  note_bound();
  scope.parent = scope_;
  scope.out = &out;
  scope_ = &scope;
}

void RuleLowering::choice_element(const ast::HeadElement& source, HeadElement& element) {
  Scope scope;
  collect_names(source.condition, scope.names);
  for (const Expr& arg : source.atom.args) collect_names(arg, scope.names);
  enter(scope, element.condition);
  for (const ast::Literal& l : source.condition) literal(l);
  element.args = head_arguments(source.atom);
  leave();
}

void RuleLowering::literal(const ast::Literal& l) {
  switch (l.kind) {
    case ast::LiteralKind::Atom:
      atom(l);
      break;
    case ast::LiteralKind::Compare:
      compare(l);
      break;
    case ast::LiteralKind::Is:
      assignment(l);
      break;
    case ast::LiteralKind::Univ: {
      Literal out;
      out.kind = LiteralKind::Builtin;
      out.builtin = BuiltinId::Univ;
      out.span = l.span;
      out.args.push_back(argument(l.lhs));
      out.args.push_back(argument(l.rhs));
      emit(std::move(out));
      break;
    }
  }
}

// ---- Comparisons ----

namespace {

bool is_negative(const std::vector<ast::PrefixOp>& prefix) {
  return std::count(prefix.begin(), prefix.end(), ast::PrefixOp::Not) % 2 == 1;
}

bool is_modal(const std::vector<ast::PrefixOp>& prefix) {
  return std::any_of(prefix.begin(), prefix.end(),
                     [](ast::PrefixOp op) { return op != ast::PrefixOp::Not; });
}

}  // namespace

void RuleLowering::compare(const ast::Literal& l) {
  if (is_modal(l.prefix)) {
    fail(Code::ModalOverBuiltin, l.span, "`know` and `possible` ask about atoms, not comparisons");
    return;
  }
  const bool negative = is_negative(l.prefix);
  const CompareOp op = negative ? ast::negate(l.op) : l.op;
  const bool left_interval = l.lhs.kind == ExprKind::Interval;
  if (left_interval || l.rhs.kind == ExprKind::Interval) {
    const Expr& interval = left_interval ? l.lhs : l.rhs;
    const Expr& x = left_interval ? l.rhs : l.lhs;
    if (l.op != CompareOp::Eq || x.kind == ExprKind::Interval) {
      fail(Code::InvalidInterval, interval.span, "an interval stands only on one side of `=`");
      return;
    }
    between(x, interval, l.span, negative ? 1 : 0);
    return;
  }
  const bool right_aggregate =
      l.rhs.kind == ExprKind::Aggregate && l.lhs.kind == ExprKind::Variable;
  const bool left_aggregate = l.lhs.kind == ExprKind::Aggregate && l.rhs.kind == ExprKind::Variable;
  if (op == CompareOp::Eq && (right_aggregate || left_aggregate)) {
    const Expr& result = right_aggregate ? l.lhs : l.rhs;
    aggregate(right_aggregate ? l.rhs : l.lhs, variable(result.name, result.span), false, l.span);
    return;
  }
  Literal out;
  out.kind = LiteralKind::Compare;
  out.span = l.span;
  out.op = op;
  out.lhs = value(l.lhs, false);
  out.rhs = value(l.rhs, false);
  emit(std::move(out));
}

void RuleLowering::between(const Expr& x, const Expr& interval, Span span, uint8_t nots) {
  Literal out;
  out.kind = LiteralKind::Builtin;
  out.builtin = BuiltinId::Between;
  out.span = span;
  out.nots = nots;
  out.args.push_back(argument(interval.args[0]));
  out.args.push_back(argument(interval.args[1]));
  out.args.push_back(argument(x));
  emit(std::move(out));
}

void RuleLowering::assignment(const ast::Literal& l) {
  if (l.lhs.kind != ExprKind::Variable) {
    fail(Code::InvalidAssignmentTarget, l.lhs.span, "`is` gives a value to a variable, not to this")
        .help("to test a value write `=`");
    return;
  }
  if (l.rhs.kind == ExprKind::Interval) {
    fail(Code::InvalidInterval, l.rhs.span, "an interval has many values; `is` takes one")
        .help("write `X = lo..hi`");
    return;
  }
  Term target = variable(l.lhs.name, l.lhs.span);
  if (l.rhs.kind == ExprKind::Aggregate) {
    aggregate(l.rhs, std::move(target), true, l.span);
    return;
  }
  Literal out;
  out.kind = LiteralKind::Compare;
  out.span = l.span;
  out.is_assignment = true;
  out.lhs = std::move(target);
  out.rhs = value(l.rhs, true);
  emit(std::move(out));
}

// ---- Atoms ----

namespace {

bool changes_the_program(std::string_view name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"call", "assert", "asserta", "assertz", "retract"});
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

bool is_reserved_pair_predicate(std::string_view name, size_t arity) {
  return (name == "pair" && arity == 3) || (name == "pairs" && arity == 2) ||
         (name == "zip" && arity == 3) || (name == "zip_with_index" && arity == 2) ||
         (name == "enumerate" && arity == 2);
}

}  // namespace

void RuleLowering::atom(const ast::Literal& l) {
  const PredicateKey key = key_of(l.atom);
  const std::string_view name = low_.text(key.name);
  if (!key.strong_negation && !low_.is_defined(key)) {
    if (key.arity == 1 && binding_test(l)) return;
    if (key.arity == 0 && (name == "true" || name == "false")) {
      if ((name == "true") == is_negative(l.prefix)) impossible(l.span);
      return;
    }
    if (const BuiltinInfo* info = find_builtin(name, key.arity)) return builtin(l, *info);
    if (changes_the_program(name) || is_reserved_pair_predicate(name, key.arity)) {
      Diagnostic& diagnostic = fail(Code::UnsupportedPredicate, l.atom.name_span,
                                    fmt::format("`{}/{}` is not available", name, key.arity));
      if (changes_the_program(name)) {
        diagnostic.help(
            "a program does not change while it runs; facts are inserted and retracted "
            "through a session");
      }
      return;
    }
    if (is_builtin_name(name)) {
      fail(Code::InvalidArgument, l.atom.span,
           fmt::format("the built-in `{}` does not take {} argument{}", name, key.arity,
                       key.arity == 1 ? "" : "s"));
      return;
    }
  }
  const CollapsedPrefix prefix = collapse(l.prefix);
  Literal out;
  out.span = l.span;
  out.modal = prefix.modal;
  out.nots = prefix.nots;
  out.args.reserve(l.atom.args.size());
  for (const Expr& arg : l.atom.args) out.args.push_back(argument(arg));
  out.pred = low_.use_predicate(key, l.atom.name_span);
  emit(std::move(out));
}

// ---- Built-ins ----

void RuleLowering::builtin(const ast::Literal& l, const BuiltinInfo& info) {
  if (is_modal(l.prefix)) {
    fail(Code::ModalOverBuiltin, l.span,
         fmt::format("`{}` is the same in every world", info.spelling))
        .help("remove `know` or `possible`");
    return;
  }
  const bool is_maplist = info.id == BuiltinId::Maplist2 || info.id == BuiltinId::Maplist3;
  if (is_maplist || info.id == BuiltinId::Findall) {
    if (!l.prefix.empty()) {
      fail(Code::InvalidArgument, l.span, fmt::format("`{}` cannot be negated", info.spelling))
          .help("define a predicate with it and negate that");
      return;
    }
    return is_maplist ? maplist(l, info) : findall(l);
  }
  Literal out;
  out.kind = LiteralKind::Builtin;
  out.builtin = info.id;
  out.span = l.span;
  out.nots = is_negative(l.prefix) ? 1 : 0;
  for (const Expr& arg : l.atom.args) out.args.push_back(argument(arg));
  emit(std::move(out));
}

// The goal was put into braces (normalise_goals in lower.cc): args = {_, { goal } with the template
// as value, list}.
void RuleLowering::findall(const ast::Literal& l) {
  const Expr& braces = l.atom.args[1];
  if (braces.kind != ExprKind::Aggregate || braces.body.empty()) {
    fail(Code::InvalidArgument, braces.span, "the goal of `findall` is an atom")
        .help("as in `findall(X, edge(1, X), L)`");
    return;
  }
  Literal out;
  out.kind = LiteralKind::Builtin;
  out.builtin = BuiltinId::Findall;
  out.span = l.span;
  const Expr& shape = braces.args[0];

  Scope scope;
  collect_names(braces.body, scope.names);
  collect_names(shape, scope.names);
  enter(scope, out.body);
  // What the template collects is its own, unless bound before: findall(X, p(X), L), q(X) collects
  // every X.
  std::vector<const Expr*> pending = {&shape};
  while (!pending.empty()) {
    const Expr& e = *pending.back();
    pending.pop_back();
    for (const Expr& arg : e.args) pending.push_back(&arg);
    if (e.kind != ExprKind::Variable) continue;
    const VarId known = find_variable(e.name);
    if (known.valid() && is_bound(known)) continue;
    if (!scope.ids.contains(e.name)) variable_of(scope, e.name, e.span);
  }
  for (const ast::Literal& goal : braces.body) literal(goal);
  Term collected = argument(shape);
  leave();
  out.args.push_back(std::move(collected));
  out.args.push_back(argument(l.atom.args[2]));
  emit(std::move(out));
}

void RuleLowering::maplist(const ast::Literal& l, const BuiltinInfo& info) {
  const Expr& reference = l.atom.args[0];
  if (reference.kind != ExprKind::Name || reference.has_parens) {
    fail(Code::InvalidArgument, reference.span, "the first argument of `maplist` names a predicate")
        .help("as in `maplist(good, [1, 2])`");
    return;
  }
  const PredicateKey key{reference.name, info.arity - 1, false};
  if (!low_.is_defined(key) && find_builtin(low_.text(key.name), key.arity) != nullptr) {
    fail(Code::InvalidArgument, reference.span,
         fmt::format("`maplist` takes a predicate of the program, not the built-in `{}`",
                     low_.text(key.name)));
    return;
  }
  Literal out;
  out.kind = LiteralKind::Builtin;
  out.builtin = info.id;
  out.span = l.span;
  out.pred = low_.use_predicate(key, reference.span);
  for (size_t i = 1; i < l.atom.args.size(); ++i) out.args.push_back(argument(l.atom.args[i]));
  emit(std::move(out));
}

// ---- ground, var, nonvar: decided from what the literals before them bind ----

void RuleLowering::note_bound() {
  Scope& scope = *scope_;
  for (; scope.bound_upto < scope.out->size(); ++scope.bound_upto) {
    const Literal& l = (*scope.out)[scope.bound_upto];
    if (l.nots != 0 || l.modal != Modal::None) continue;
    std::vector<VarId> variables;
    if (l.kind == LiteralKind::Atom || l.kind == LiteralKind::Builtin) {
      for (const Term& arg : l.args) collect_variables(arg, variables);
    } else if (l.kind == LiteralKind::Aggregate || l.is_assignment) {
      collect_variables(l.lhs, variables);
    } else if (l.op == CompareOp::Eq) {
      std::vector<VarId> left, right;
      collect_variables(l.lhs, left);
      collect_variables(l.rhs, right);
      const auto bound = [&](VarId v) { return is_bound(v); };
      if (std::all_of(left.begin(), left.end(), bound) ||
          std::all_of(right.begin(), right.end(), bound)) {
        variables.insert(variables.end(), left.begin(), left.end());
        variables.insert(variables.end(), right.begin(), right.end());
      }
    }
    for (const VarId v : variables) scope.bound.insert(v.index);
  }
}

bool RuleLowering::is_bound(VarId var) const {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    if (scope->bound.contains(var.index)) return true;
  }
  return false;
}

bool RuleLowering::is_ground_here(const Expr& e) const {
  if (e.kind == ExprKind::Anonymous) return false;
  if (e.kind == ExprKind::Variable) {
    const VarId var = find_variable(e.name);
    return var.valid() && is_bound(var);
  }
  return std::all_of(e.args.begin(), e.args.end(),
                     [&](const Expr& arg) { return is_ground_here(arg); });
}

// True when the literal was one of the three.
bool RuleLowering::binding_test(const ast::Literal& l) {
  const std::string_view name = low_.text(l.atom.name);
  if (name != "ground" && name != "var" && name != "nonvar") return false;
  if (is_modal(l.prefix)) {
    fail(Code::ModalOverBuiltin, l.span, fmt::format("`{}` is the same in every world", name));
    return true;
  }
  note_bound();
  const Expr& e = l.atom.args[0];
  const bool is_variable = e.kind == ExprKind::Variable || e.kind == ExprKind::Anonymous;
  const bool is_free = is_variable && !is_ground_here(e);
  bool holds = name == "ground" ? is_ground_here(e) : name == "var" ? is_free : !is_free;
  if (is_negative(l.prefix)) holds = !holds;
  if (!holds) impossible(l.span);
  return true;
}

void RuleLowering::impossible(Span span) {
  if (scope_->parent == nullptr) {
    never = true;
    return;
  }
  // Inside braces the rule itself may still hold: a comparison that never does.
  Literal out;
  out.kind = LiteralKind::Compare;
  out.span = span;
  out.lhs.value = Value::i64(0);
  out.rhs.value = Value::i64(1);
  out.lhs.span = out.rhs.span = span;
  emit(std::move(out));
}

}  // namespace xlog::lang
