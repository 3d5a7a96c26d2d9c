#include "epistemic/bulk_plan.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::epistemic {

using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::Term;
using lang::TermKind;
using lang::VarId;
using oracle::GroundHead;
using oracle::GroundKind;

namespace {

// Whether the value can be found by several threads at once: nothing gets a number on the way.
bool is_plain(const Term& term) {
  if (term.kind == TermKind::Variable || term.kind == TermKind::Constant) return true;
  if (term.kind != TermKind::Arith) return false;
  if (term.op == lang::ArithOp::Cast) {
    const bool between_numbers =
        lang::is_numeric(term.type.kind) && lang::is_numeric(term.args[0].type.kind);
    if (!between_numbers) return false;
  }
  return std::ranges::all_of(term.args, is_plain);
}

bool is_plain(const std::vector<Literal>& body) {
  return std::ranges::all_of(body, [](const Literal& literal) {
    return literal.kind != LiteralKind::Compare || (is_plain(literal.lhs) && is_plain(literal.rhs));
  });
}

BulkPlan::Slot slot_of(const BodyStep& step) {
  const Literal& literal = *step.literal;
  GroundKind kind = GroundKind::Modal;
  if (literal.modal == Modal::None) {
    kind = step.is_positive()   ? GroundKind::Pos
           : step.is_negative() ? GroundKind::Neg
                                : GroundKind::NotNot;
  }
  return {literal.pred, kind, literal.modal};
}

class BulkPlanner {
 public:
  BulkPlanner(const oracle::RuleTask& task, const lang::Rule& rule, const logic::RuleOrder& order)
      : task_(task), rule_(rule), order_(order) {}

  std::optional<BulkPlan> run() {
    made_.rule = &rule_;
    made_.is_choice = rule_.head_kind == lang::HeadKind::Choice;
    // Bounds of choices, and violations of what has no head but bounds, are found one by one.
    const bool is_bounded = made_.is_choice && (rule_.lower || rule_.upper);
    if (is_bounded && (!task_.growing || rule_.head.empty())) return std::nullopt;
    if (!rule_.aggregates.empty() || rule_.body.empty()) return std::nullopt;
    for (const lang::HeadElement& element : rule_.head) {
      if (!std::ranges::all_of(element.args, [](const Term& t) { return is_plain(t); })) return {};
    }
    const auto new_rows_of = task_.delta ? std::optional(task_.delta->literal) : std::nullopt;
    if (!add_track(made_.body, rule_.body, order_.body, new_rows_of, {})) return std::nullopt;
    const BodyStep& first = made_.body.body.steps.front();
    if (!first.is_atom() || !first.is_positive() || !first.columns.empty()) return std::nullopt;
    if (made_.is_choice ? !add_conditions() : !add_shape()) return std::nullopt;
    find_streams();
    return std::move(made_);
  }

 private:
  bool add_track(BulkPlan::Track& track, const std::vector<Literal>& body,
                 const logic::BodyOrder& order, std::optional<uint32_t> new_rows_of,
                 const std::vector<VarId>& bound) {
    if (!is_plain(body)) return false;
    std::optional<BodyPlan> plan = plan_body(body, order, new_rows_of, [&](VarId v) {
      return std::ranges::find(bound, v) != bound.end();
    });
    if (!plan) return false;
    track.body = std::move(*plan);
    for (const BodyStep& step : track.body.steps) {
      const bool is_open =
          step.is_atom() && step.literal->pred.valid() &&
          task_.database.states[step.literal->pred.index] == oracle::PredicateState::Open;
      track.slots.push_back(is_open ? static_cast<uint32_t>(made_.slots.size()) : BulkPlan::kNone);
      if (is_open) made_.slots.push_back(slot_of(step));
    }
    return true;
  }

  // Rules without heads and without open literals are violated by the first instance: that is for
  // others to say.
  bool add_shape() {
    if (rule_.head.empty() && made_.slots.empty()) return false;
    BulkPlan::Shape& shape = made_.shapes.emplace_back();
    shape.kind = rule_.head.empty() ? GroundHead::Constraint : GroundHead::Normal;
    for (uint32_t e = 0; e < rule_.head.size(); ++e) shape.heads.push_back(e);
    for (uint32_t s = 0; s < made_.slots.size(); ++s) shape.slots.push_back(s);
    return true;
  }

  bool add_conditions() {
    const auto of_body = static_cast<uint32_t>(made_.slots.size());
    for (uint32_t e = 0; e < rule_.head.size(); ++e) {
      const auto before = static_cast<uint32_t>(made_.slots.size());
      if (!add_track(made_.conditions.emplace_back(), rule_.head[e].condition, order_.conditions[e],
                     std::nullopt, made_.body.body.binds)) {
        return false;
      }
      BulkPlan::Shape& shape = made_.shapes.emplace_back();
      shape.kind = GroundHead::Choice;
      shape.heads = {e};
      for (uint32_t s = 0; s < of_body; ++s) shape.slots.push_back(s);
      for (uint32_t s = before; s < made_.slots.size(); ++s) shape.slots.push_back(s);
    }
    return true;
  }

  void find_streams() {
    for (uint32_t e = 0; e < rule_.head.size(); ++e) {
      const auto same = std::ranges::find(rule_.head, rule_.head[e].pred, &lang::HeadElement::pred);
      const auto first = static_cast<uint32_t>(same - rule_.head.begin());
      made_.stream_of.push_back(first == e ? made_.streams++ : made_.stream_of[first]);
    }
  }

  const oracle::RuleTask& task_;
  const lang::Rule& rule_;
  const logic::RuleOrder& order_;
  BulkPlan made_;
};

}  // namespace

std::optional<BulkPlan> plan_in_bulk(const oracle::RuleTask& task, const oracle::Context& context) {
  return BulkPlanner(task, context.program.rules[task.rule], context.analysis.orders[task.rule])
      .run();
}

// The plan of `head :- instances(X, ...), open literals`.
BulkPlan plan_over_instances(const oracle::RuleTask& task, const oracle::Context& context,
                             uint32_t element, const std::vector<VarId>& variables) {
  const lang::Rule& rule = context.program.rules[task.rule];
  const bool is_choice = rule.head_kind == lang::HeadKind::Choice;
  auto made = std::make_unique<lang::Rule>();
  made->variables = rule.variables;
  if (is_choice) {
    made->head = {rule.head[element]};
  } else {
    made->head = rule.head;
  }
  Literal& instances = made->body.emplace_back();
  for (const VarId v : variables) {
    Term& term = instances.args.emplace_back();
    term.kind = TermKind::Variable;
    term.var = v;
  }
  const auto add_open = [&](const std::vector<Literal>& body, const logic::BodyOrder& order) {
    for (const uint32_t i : order.sequence) {
      const bool is_open = body[i].kind == LiteralKind::Atom &&
                           task.database.states[body[i].pred.index] == oracle::PredicateState::Open;
      if (is_open) made->body.push_back(body[i]);
    }
  };
  const logic::RuleOrder& order = context.analysis.orders[task.rule];
  add_open(rule.body, order.body);
  if (is_choice) add_open(rule.head[element].condition, order.conditions[element]);
  logic::RuleOrder as_written;
  for (uint32_t i = 0; i < made->body.size(); ++i) as_written.body.sequence.push_back(i);
  std::optional<BulkPlan> plan = BulkPlanner(task, *made, as_written).run();
  XLOG_CHECK(plan.has_value(), "what bounds were found for needs no more than joins");
  if (is_choice) plan->shapes.front().kind = GroundHead::Choice;
  plan->own_rule = std::move(made);
  return std::move(*plan);
}

}  // namespace xlog::epistemic
