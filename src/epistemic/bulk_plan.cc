#include "epistemic/bulk_plan.h"

#include <algorithm>

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
  BulkPlanner(const oracle::RuleTask& task, const oracle::Context& context)
      : task_(task),
        rule_(context.program.rules[task.rule]),
        order_(context.analysis.orders[task.rule]) {}

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
      const bool is_open = step.is_atom() && task_.database.states[step.literal->pred.index] ==
                                                 oracle::PredicateState::Open;
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
  return BulkPlanner(task, context).run();
}

}  // namespace xlog::epistemic
