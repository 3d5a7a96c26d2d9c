// Rules, constraints, choices, disjunctions and probabilistic clauses.
#include <fmt/format.h>

#include <algorithm>

#include "lang/fold.h"
#include "lang/lower.h"
#include "lang/rule_lowering.h"

namespace xlog::lang {

using ast::Expr;
using ast::ExprKind;

namespace {

// ---- Function calls ----

bool expand_functions(Lowering& low, ast::Rule& rule) {
  Expander& expander = *low.expander;
  expander.start_statement();
  if (!expander.expand(rule.body)) return false;
  if (rule.lower && !expander.expand(*rule.lower, rule.body)) return false;
  if (rule.upper && !expander.expand(*rule.upper, rule.body)) return false;
  const bool is_choice = rule.head_kind == ast::HeadKind::Choice;
  for (ast::HeadElement& element : rule.head) {
    if (!expander.expand(element.condition)) return false;
    std::vector<ast::Literal>& goals = is_choice ? element.condition : rule.body;
    if (!expander.expand(element.atom.args, goals)) return false;
    if (element.probability && !expander.expand(*element.probability, rule.body)) return false;
  }
  return true;
}

// ---- Scopes ----

bool has_braces(const Expr& e) {
  if (e.kind == ExprKind::Aggregate) return true;
  return std::any_of(e.args.begin(), e.args.end(), has_braces);
}

bool has_braces(const std::vector<ast::Literal>& body) {
  return std::any_of(body.begin(), body.end(), [](const ast::Literal& l) {
    return has_braces(l.lhs) || has_braces(l.rhs) ||
           std::any_of(l.atom.args.begin(), l.atom.args.end(),
                       [](const Expr& arg) { return has_braces(arg); });
  });
}

void note_own_names(const ast::Rule& rule, NameSet& out) {
  const bool is_choice = rule.head_kind == ast::HeadKind::Choice;
  bool needed = is_choice || has_braces(rule.body);
  for (const ast::HeadElement& element : rule.head) {
    for (const Expr& arg : element.atom.args) needed = needed || has_braces(arg);
  }
  if (!needed) return;
  collect_names(rule.body, out);
  if (rule.lower) collect_names(*rule.lower, out);
  if (rule.upper) collect_names(*rule.upper, out);
  if (is_choice) return;
  for (const ast::HeadElement& element : rule.head) {
    for (const Expr& arg : element.atom.args) collect_names(arg, out);
  }
}

// ---- Heads ----

bool is_constant(const Expr& e) {
  if (e.kind == ExprKind::Variable || e.kind == ExprKind::Anonymous ||
      e.kind == ExprKind::Interval || e.kind == ExprKind::Aggregate) {
    return false;
  }
  return std::all_of(e.args.begin(), e.args.end(), is_constant);
}

// In a clause without a body constant arithmetic is computed here, as in facts.
void fold_constant_arguments(Lowering& low, ast::Atom& atom) {
  for (Expr& arg : atom.args) {
    if (!is_arithmetic(arg, low.symbols()) || !is_constant(arg)) continue;
    if (arg.kind == ExprKind::Name && low.text(arg.name) == "cast") continue;
    const std::optional<Value> value = fold(arg, low.session.names, low.session.diagnostics);
    if (!value || !is_numeric(value->kind)) continue;
    Expr folded;
    folded.span = arg.span;
    if (value->kind == TypeKind::F64) {
      folded.kind = ExprKind::Float;
      folded.number = value->as_double();
    } else {
      folded.kind = ExprKind::Integer;
      folded.negative = value->kind == TypeKind::I64 && value->as_signed() < 0;
      folded.magnitude = folded.negative ? uint64_t{0} - value->bits : value->bits;
    }
    arg = std::move(folded);
  }
}

const Expr* find_variable(const Expr& e) {
  if (e.kind == ExprKind::Variable || e.kind == ExprKind::Anonymous) return &e;
  if (e.kind == ExprKind::Aggregate) return nullptr;
  for (const Expr& arg : e.args) {
    if (const Expr* found = find_variable(arg)) return found;
  }
  return nullptr;
}

bool check_ground_heads(Lowering& low, const ast::Rule& rule) {
  for (const ast::HeadElement& element : rule.head) {
    for (const Expr& arg : element.atom.args) {
      const Expr* variable = find_variable(arg);
      if (variable == nullptr) continue;
      low.report(Code::NotGround, variable->span, "a clause without a body holds no variables")
          .help("bind it in a body: `head :- body.`");
      return false;
    }
  }
  return true;
}

bool names_aggregate(const Lowering& low, const Expr& arg) {
  return arg.kind == ExprKind::Name && arg.has_parens && arg.args.size() == 1 &&
         find_aggregate(low.text(arg.name)).has_value();
}

bool check_no_aggregates(Lowering& low, const ast::Rule& rule) {
  for (const ast::HeadElement& element : rule.head) {
    for (const Expr& arg : element.atom.args) {
      if (!names_aggregate(low, arg)) continue;
      low.report(Code::InvalidHead, arg.span,
                 "an aggregate stands only in the head of a plain rule")
          .help("compute it in a predicate of its own, or with `N = sum X : { ... }` in the body");
      return false;
    }
  }
  return true;
}

// ---- Probabilities ----

std::optional<double> probability_of(Lowering& low, const Expr& e) {
  const std::optional<Value> value = fold(e, low.session.names, low.session.diagnostics);
  if (!value) return std::nullopt;
  if (!is_numeric(value->kind) || !(value->as_double() >= 0 && value->as_double() <= 1)) {
    low.report(Code::InvalidProbability, e.span, "a probability is a number from 0 to 1");
    return std::nullopt;
  }
  return value->as_double();
}

bool set_probabilities(Lowering& low, const ast::Rule& source, Rule& rule, Span statement) {
  constexpr double kRounding = 1e-12;
  double sum = 0;
  for (size_t i = 0; i < source.head.size(); ++i) {
    const std::optional<double> p = probability_of(low, *source.head[i].probability);
    if (!p) return false;
    rule.head[i].probability = *p;
    sum += *p;
  }
  if (sum <= 1 + kRounding) return true;
  low.report(Code::InvalidProbability, statement,
             fmt::format(
                 "the probabilities of this annotated disjunction add up to {}, more than 1", sum));
  return false;
}

// ---- Putting it together ----

HeadKind head_kind_of(const ast::Rule& rule) {
  switch (rule.head_kind) {
    case ast::HeadKind::None:
      return HeadKind::None;
    case ast::HeadKind::Atom:
      return HeadKind::Atom;
    case ast::HeadKind::Disjunction:
      return HeadKind::Disjunction;
    case ast::HeadKind::Choice:
      return HeadKind::Choice;
    case ast::HeadKind::Annotated:
      return rule.head.size() == 1 ? HeadKind::Atom : HeadKind::Disjunction;
  }
  return HeadKind::None;
}

bool lower_heads(Lowering& low, const ast::Rule& source, RuleLowering& out) {
  for (const ast::HeadElement& from : source.head) {
    HeadElement element;
    element.pred = low.find_predicate(key_of(from.atom));
    if (!element.pred.valid()) return false;  // a reserved name, reported
    element.span = from.atom.span;
    out.rule.head_span = cover(out.rule.head_span, from.atom.span);
    if (source.head_kind == ast::HeadKind::Choice) {
      out.choice_element(from, element);
    } else if (source.head_kind == ast::HeadKind::Atom) {
      out.head_aggregates(from.atom, element);
    } else {
      element.args = out.head_arguments(from.atom);
    }
    out.rule.head.push_back(std::move(element));
  }
  return true;
}

// Bounds that no choice keeps to: there is no world in which the body holds.
void warn_of_bounds(Lowering& low, const ast::Rule& source, const Rule& rule) {
  const auto constant = [](const std::optional<Term>& bound) -> std::optional<int64_t> {
    const bool is_small = bound && bound->kind == TermKind::Constant &&
                          is_integer(bound->value.kind) && bound->value.bits <= INT64_MAX;
    return is_small ? std::optional(bound->value.as_signed()) : std::nullopt;
  };
  const std::optional<int64_t> lower = constant(rule.lower), upper = constant(rule.upper);
  if (!lower) return;
  const bool is_counted =
      std::ranges::all_of(rule.head, [](const auto& element) { return element.condition.empty(); });
  std::string why;
  if (upper && *lower > *upper) {
    why = fmt::format("{} is more than {}", *lower, *upper);
  } else if (is_counted && *lower > std::ssize(rule.head)) {
    why = fmt::format("there {} {} atom{} to choose", rule.head.size() == 1 ? "is" : "are",
                      rule.head.size(), rule.head.size() == 1 ? "" : "s");
  } else {
    return;
  }
  low.report(Code::ImpossibleBounds, source.lower->span,
             fmt::format("at least {} atom{} can never be chosen: {}", *lower,
                         *lower == 1 ? "" : "s", why))
      .help(rule.body.empty() ? "the program has no world" : "no world has the body of this rule");
}

bool check_trainable_weight(Lowering& low, const ast::Rule& source) {
  if (!source.trainable_weight) return true;
  const std::optional<Value> weight =
      fold(*source.trainable_weight, low.session.names, low.session.diagnostics);
  if (!weight) return false;
  if (is_numeric(weight->kind)) return true;
  low.report(Code::InvalidArgument, source.trainable_weight->span,
             "the weight of a rule is a number");
  return false;
}

}  // namespace

void lower_rule(Lowering& low, ast::Rule& source, Span statement) {
  if (!expand_functions(low, source)) return;
  const bool has_body = !source.body.empty();
  const bool is_plain = source.head_kind == ast::HeadKind::Atom;
  if (is_plain && !has_body) return lower_fact(low, source.head[0].atom, statement);

  if (!is_plain && !check_no_aggregates(low, source)) return;
  if (!has_body && source.head_kind != ast::HeadKind::Choice && !check_ground_heads(low, source))
    return;
  if (!has_body) {
    for (ast::HeadElement& element : source.head) fold_constant_arguments(low, element.atom);
  }

  RuleLowering out(low, statement);
  note_own_names(source, out.own_names());
  out.rule.head_kind = head_kind_of(source);
  out.rule.annotated = source.head_kind == ast::HeadKind::Annotated;
  out.rule.learnable = source.learnable_mask ? source.learnable_mask : source.trainable_name;
  out.rule.head_span = source.head.empty() ? statement : Span{};
  out.body(source.body);
  if (source.lower) out.rule.lower = out.argument(*source.lower);
  if (source.upper) out.rule.upper = out.argument(*source.upper);
  const bool ok = lower_heads(low, source, out) && check_trainable_weight(low, source) &&
                  (!out.rule.annotated || set_probabilities(low, source, out.rule, statement));
  if (!ok || out.failed || out.never) return;
  warn_of_bounds(low, source, out.rule);
  low.add_rule(std::move(out.rule));
}

}  // namespace xlog::lang
