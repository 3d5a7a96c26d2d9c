#include "logic/monotone.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "logic/components.h"

namespace xlog::logic {

using lang::AggregateFn;
using lang::ArithOp;
using lang::CompareOp;
using lang::Literal;
using lang::LiteralKind;
using lang::Program;
using lang::Rule;
using lang::Term;
using lang::TermKind;
using lang::TypeKind;
using lang::VarId;

void find_best_columns(const Program& program, Analysis& analysis) {
  analysis.best.assign(program.predicates.size(), std::nullopt);
  for (const Rule& rule : program.rules) {
    if (rule.aggregates.size() != 1 || rule.head.size() != 1) continue;
    const lang::HeadAggregate& aggregate = rule.aggregates[0];
    if (aggregate.fn != AggregateFn::Min && aggregate.fn != AggregateFn::Max) continue;
    const PredId head = rule.head[0].pred;
    const bool reads_itself = std::ranges::any_of(rule.body, [&](const Literal& literal) {
      return literal.kind == LiteralKind::Atom &&
             analysis.component_of[literal.pred.index] == analysis.component_of[head.index];
    });
    std::optional<Best>& best = analysis.best[head.index];
    if (reads_itself && !best) best = Best{aggregate.column, aggregate.fn};
  }
}

namespace {

bool is_unsigned(TypeKind kind) { return kind == TypeKind::U32 || kind == TypeKind::U64; }

// Multiplying by it, or dividing, keeps the order. Not so for a float 0, which makes NaN of an
// infinite value.
bool keeps_order_as_factor(const Term& term) {
  if (is_unsigned(term.type.kind)) return true;
  if (term.kind != TermKind::Constant || !lang::is_numeric(term.value.kind)) return false;
  return lang::is_float(term.value.kind) ? term.value.as_double() > 0 : term.value.as_signed() >= 0;
}

// Whether every value of `from` has one in `to`, and in the same order.
bool keeps_order(TypeKind from, TypeKind to) {
  if (from == to || (lang::is_integer(from) && lang::is_float(to))) return true;
  if (from == TypeKind::F32) return to == TypeKind::F64;
  if (from == TypeKind::U32) return to == TypeKind::U64 || to == TypeKind::I64;
  return from == TypeKind::I32 && to == TypeKind::I64;
}

std::string_view word_for(AggregateFn fn) {
  return fn == AggregateFn::Min ? "a minimum" : "a maximum";
}

// Follows the values of minima and maxima through one rule of their recursion.
class RuleCheck {
 public:
  RuleCheck(const Program& program, const Analysis& analysis, lang::Session& session,
            const Rule& rule)
      : program_(program),
        analysis_(analysis),
        session_(session),
        rule_(rule),
        head_(rule.head[0].pred),
        carries_(rule.variables.size()) {}

  void run() {
    if (!check_head_form()) return;
    if (!collect() || !check_occurrences() || !follow_equations() || !check_comparisons()) return;
    check_head();
  }

 private:
  // What a variable carries: the value of this literal, directly or through equations.
  using Carried = const Literal*;

  const std::optional<Best>& best_of(PredId pred) const { return analysis_.best[pred.index]; }
  bool inside(PredId pred) const {
    return analysis_.component_of[pred.index] == analysis_.component_of[head_.index];
  }
  std::string name_of(PredId pred) const {
    return lang::predicate_name(program_[pred], session_.names);
  }
  bool is_anonymous(const Term& term) const {
    return term.kind == TermKind::Variable && rule_.variables[term.var.index].anonymous;
  }

  // The first value that a term uses.
  Carried carried(const Term& term) const {
    std::vector<VarId> variables;
    lang::collect_variables(term, variables);
    for (VarId v : variables) {
      if (carries_[v.index] != nullptr) return carries_[v.index];
    }
    return nullptr;
  }

  bool refuse(Carried value, Span where, const std::string& why) {
    const AggregateFn fn = best_of(value->pred)->fn;
    session_.diagnostics
        .report(Code::AggregateInCycle, where,
                fmt::format("`{}` is {} inside its own recursion, but its value is used {}",
                            name_of(value->pred), word_for(fn), why))
        .label(value->span, "the value comes from here")
        .help(fmt::format(
            "inside the recursion it may go into such {} through `+`, `-` and expressions that "
            "rise with it, or be compared as `value {} bound`; do all else in a predicate above",
            word_for(fn), fn == AggregateFn::Min ? "<" : ">"));
    return false;
  }

  // ---- the steps ----

  // All rules of one predicate fold the same column in the same way.
  bool check_head_form() {
    const std::optional<Best>& best = best_of(head_);
    if (!best || rule_.aggregates.empty()) return true;
    const lang::HeadAggregate& first = rule_.aggregates[0];
    if (rule_.aggregates.size() == 1 && first.column == best->column && first.fn == best->fn) {
      return true;
    }
    session_.diagnostics
        .report(Code::AggregateInCycle, rule_.head_span,
                fmt::format("`{}` has `{}` in column {} inside its own recursion, and this rule "
                            "folds in another way",
                            name_of(head_), lang::spelling(best->fn), best->column + 1))
        .help("all rules of the predicate fold one column with one of `min` and `max`");
    return false;
  }

  bool collect() {
    for (const Literal& literal : rule_.body) {
      if (literal.kind != LiteralKind::Atom || !inside(literal.pred)) continue;
      if (!best_of(literal.pred)) continue;
      if (literal.nots != 0) return refuse(&literal, literal.span, "under `not`");
      if (literal.modal != lang::Modal::None) {
        return refuse(&literal, literal.span,
                      fmt::format("under `{}`", lang::spelling(literal.modal)));
      }
      const Term& value = literal.args[best_of(literal.pred)->column];
      if (is_anonymous(value)) continue;
      if (value.kind != TermKind::Variable) {
        return refuse(&literal, literal.span, "in a match with one value");
      }
      if (carries_[value.var.index] != nullptr) {
        return refuse(&literal, literal.span, "in a join");
      }
      carries_[value.var.index] = &literal;
    }
    return true;
  }

  // A value stands in no other argument than its own.
  bool check_occurrences() {
    for (const Literal& literal : rule_.body) {
      if (literal.kind == LiteralKind::Compare) continue;
      std::vector<VarId> variables;
      lang::collect_variables(literal, variables);
      for (VarId v : variables) {
        const Carried value = carries_[v.index];
        if (value == nullptr) continue;
        if (value != &literal || std::ranges::count(variables, v) > 1) {
          const bool atom = literal.kind == LiteralKind::Atom;
          const bool folds = literal.kind == LiteralKind::Aggregate;
          return refuse(value, literal.span,
                        atom    ? "in a join"
                        : folds ? "in an aggregate"
                                : "in a built-in");
        }
      }
    }
    return true;
  }

  bool stands_in_arguments(VarId v) const {
    return std::ranges::any_of(rule_.body, [&](const Literal& literal) {
      if (literal.kind == LiteralKind::Compare) return false;
      std::vector<VarId> variables;
      lang::collect_variables(literal, variables);
      return std::ranges::find(variables, v) != variables.end();
    });
  }

  // A variable that this equation alone gives a value, by `other`.
  bool is_defined_by(const Term& term, const Term& other) const {
    return term.kind == TermKind::Variable && carries_[term.var.index] == nullptr &&
           carried(other) != nullptr && !stands_in_arguments(term.var);
  }

  // `N = D + W` makes N carry the value of D. Every equation with a value in it is one of these.
  bool follow_equations() {
    std::vector<bool> done(rule_.body.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < rule_.body.size(); ++i) {
        const Literal& literal = rule_.body[i];
        if (done[i] || literal.kind != LiteralKind::Compare || literal.op != CompareOp::Eq) {
          continue;
        }
        const bool left = is_defined_by(literal.lhs, literal.rhs);
        if (!left && !is_defined_by(literal.rhs, literal.lhs)) continue;
        const Term& expression = left ? literal.rhs : literal.lhs;
        if (!check_rises(expression)) return false;
        carries_[(left ? literal.lhs : literal.rhs).var.index] = carried(expression);
        done[i] = changed = true;
      }
    }
    for (size_t i = 0; i < rule_.body.size(); ++i) {
      const Literal& literal = rule_.body[i];
      if (done[i] || literal.kind != LiteralKind::Compare || literal.op != CompareOp::Eq) continue;
      const Carried left = carried(literal.lhs), right = carried(literal.rhs);
      if (left == nullptr && right == nullptr) continue;
      return refuse(left != nullptr ? left : right, literal.span, "in an equality");
    }
    return true;
  }

  bool check_comparisons() {
    for (const Literal& literal : rule_.body) {
      if (literal.kind != LiteralKind::Compare || literal.op == CompareOp::Eq) continue;
      const Carried left = carried(literal.lhs), right = carried(literal.rhs);
      if (left == nullptr && right == nullptr) continue;
      if (left != nullptr && right != nullptr) {
        return refuse(left, literal.span, "in a comparison with another such value");
      }
      const Carried value = left != nullptr ? left : right;
      const bool below = literal.op == CompareOp::Lt || literal.op == CompareOp::Le;
      const bool above = literal.op == CompareOp::Gt || literal.op == CompareOp::Ge;
      const bool from_below = left != nullptr ? below : above;
      const bool minimum = best_of(value->pred)->fn == AggregateFn::Min;
      if ((!below && !above) || from_below != minimum) {
        return refuse(value, literal.span,
                      fmt::format("in a comparison that a {} value can fail",
                                  minimum ? "smaller" : "larger"));
      }
      if (!check_rises(left != nullptr ? literal.lhs : literal.rhs)) return false;
    }
    return true;
  }

  void check_head() {
    const lang::HeadElement& head = rule_.head[0];
    const std::optional<Best>& best = best_of(head_);
    for (uint32_t c = 0; c < head.args.size(); ++c) {
      const bool folded = best && c == best->column;
      const Term& term =
          folded && !rule_.aggregates.empty() ? rule_.aggregates[0].value : head.args[c];
      const Carried value = carried(term);
      if (value == nullptr) continue;
      if (!folded) {
        refuse(value, rule_.head_span,
               best ? "in a column that groups"
                    : fmt::format(
                          "in a column of `{}`, which is no such {}", name_of(head_),
                          best_of(value->pred)->fn == AggregateFn::Min ? "minimum" : "maximum"));
        return;
      }
      if (!check_rises(term)) return;
      for (VarId v : variables_of(term)) {
        if (carries_[v.index] == nullptr) continue;
        if (best_of(carries_[v.index]->pred)->fn == best->fn) continue;
        refuse(carries_[v.index], rule_.head_span,
               fmt::format("for {}, `{}`", word_for(best->fn), name_of(head_)));
        return;
      }
    }
  }

  static std::vector<VarId> variables_of(const Term& term) {
    std::vector<VarId> variables;
    lang::collect_variables(term, variables);
    return variables;
  }

  // ---- expressions ----

  // Whether an expression never falls when the values in it rise, and mixes no kinds of them.
  bool check_rises(const Term& term) {
    const Carried value = carried(term);
    if (value == nullptr || term.kind == TermKind::Variable) return true;
    if (const Term* culprit = why_not_rising(term)) {
      const Carried there = carried(*culprit);
      return refuse(there != nullptr ? there : value,
                    culprit->span.empty() ? rule_.head_span : culprit->span,
                    fmt::format("in `{}`, which does not rise with it",
                                lang::to_source(*culprit, rule_, program_, session_.names)));
    }
    for (VarId v : variables_of(term)) {
      if (carries_[v.index] == nullptr) continue;
      if (best_of(carries_[v.index]->pred)->fn == best_of(value->pred)->fn) continue;
      return refuse(value, term.span.empty() ? rule_.head_span : term.span,
                    "together with a value of the other kind");
    }
    return true;
  }

  // The part of an expression that may fall when a value in it rises; null when there is none.
  const Term* why_not_rising(const Term& term) const {
    if (carried(term) == nullptr || term.kind == TermKind::Variable) return nullptr;
    if (term.kind != TermKind::Arith) return &term;
    const std::vector<Term>& args = term.args;
    switch (term.op) {
      case ArithOp::Add:
      case ArithOp::Min:
      case ArithOp::Max:
        break;
      case ArithOp::Sub:
        if (carried(args[1]) != nullptr) return &term;
        break;
      case ArithOp::Mul: {
        const bool left = carried(args[0]) != nullptr, right = carried(args[1]) != nullptr;
        if (left && right && !is_unsigned(term.type.kind)) return &term;
        if (left != right && !keeps_order_as_factor(args[left ? 1 : 0])) return &term;
        break;
      }
      case ArithOp::Div:
        if (carried(args[1]) != nullptr || !keeps_order_as_factor(args[1])) return &term;
        break;
      case ArithOp::Cast:
        if (!keeps_order(args[0].type.kind, term.type.kind)) return &term;
        break;
      case ArithOp::If:
        if (carried(args[0]) != nullptr || carried(args[1]) != nullptr) return &term;
        break;
      case ArithOp::Neg:
      case ArithOp::Mod:
      case ArithOp::Abs:
      case ArithOp::Pow:
        return &term;
    }
    for (const Term& arg : args) {
      if (const Term* culprit = why_not_rising(arg)) return culprit;
    }
    return nullptr;
  }

  const Program& program_;
  const Analysis& analysis_;
  lang::Session& session_;
  const Rule& rule_;
  PredId head_;
  std::vector<Carried> carries_;  // by variable
};

// Candidates that hold in some worlds only would make the best value differ from world to world.
bool check_determined(const Program& program, const Component& component, PredId pred,
                      lang::Session& session) {
  if (component.klass == ComponentClass::Determined) return true;
  session.diagnostics
      .report(Code::AggregateInCycle, program[pred].span,
              fmt::format("`{}` folds its own recursion, which is not the same in all worlds: {}",
                          lang::predicate_name(program[pred], session.names), component.reason))
      .help("`min` and `max` inside their own recursion need input without choices");
  return false;
}

}  // namespace

void report_uses_not_monotone(const Program& program, const Analysis& analysis,
                              lang::Session& session) {
  for (const Component& component : analysis.components) {
    const auto best = std::ranges::find_if(
        component.predicates, [&](PredId pred) { return analysis.best[pred.index].has_value(); });
    if (best == component.predicates.end()) continue;
    const size_t errors_before = session.diagnostics.error_count();
    for (uint32_t index : component.rules) {
      const Rule& rule = program.rules[index];
      // A choice or disjunction is refused below.
      if (rule.head_kind != lang::HeadKind::Atom || session.diagnostics.full()) continue;
      RuleCheck(program, analysis, session, rule).run();
    }
    if (session.diagnostics.error_count() > errors_before) continue;
    check_determined(program, component, *best, session);
  }
}

}  // namespace xlog::logic
