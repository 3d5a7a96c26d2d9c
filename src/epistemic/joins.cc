#include "epistemic/joins.h"

#include <algorithm>
#include <span>

#include "epistemic/group_bounds.h"
#include "lang/arith.h"

namespace xlog::epistemic {

using lang::Literal;
using lang::LiteralKind;
using lang::Modal;
using lang::PredId;
using lang::Term;
using lang::TermKind;
using lang::Value;
using lang::VarId;
using oracle::Bindings;
using oracle::BodyTask;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::Matcher;
using oracle::PredicateState;
using oracle::Relation;

// ---- one enumeration ----

class Joins::Run {
 public:
  Run(oracle::Context& context, const BodyTask& task, const BodyPlan& plan)
      : context_(context), task_(task), bindings_(task.bindings) {
    for (const BodyStep& step : plan.steps) {
      Place& place = places_.emplace_back(step);
      if (step.literal->kind != LiteralKind::Atom) continue;
      const PredId pred = step.literal->pred;
      place.relation = &task.database.relations[pred.index];
      place.open = task.database.states[pred.index] == PredicateState::Open;
      place.last = place.relation->size();
      if (task.delta && task.delta->literal == step.index) {
        place.first = task.delta->first;
        place.last = task.delta->last;
      }
      place.key.resize(step.columns.size());
      if (step.needs_index()) place.index = &place.relation->index(step.columns);
    }
  }

  void start() { go_on(0); }

 private:
  struct Place {
    explicit Place(const BodyStep& step_in) : step(step_in) {}
    const BodyStep& step;
    Relation* relation = nullptr;
    bool open = false;
    size_t first = 0, last = 0;  // the rows that it sees
    const Relation::Index* index = nullptr;
    std::vector<Value> key;
  };

  void go_on(size_t position) {
    context_.tick();
    if (position == places_.size()) return task_.visit(bindings_, remaining_);
    Place& place = places_[position];
    const Literal& literal = *place.step.literal;
    if (literal.kind == LiteralKind::Compare) return compare(place, position);
    for (size_t k = 0; k < place.key.size(); ++k) {
      const Term& term = *place.step.known[k].term;
      place.key[k] = term.kind == TermKind::Variable ? bindings_[term.var] : term.value;
    }
    return place.step.is_positive() ? join(place, position) : test(place, position);
  }

  // ---- positive atoms ----

  void join(Place& place, size_t position) {
    if (place.index != nullptr) {
      for (uint32_t row = place.index->first(place.key); row != Relation::Index::kNone;
           row = place.index->next(row)) {
        if (row >= place.first && row < place.last) try_row(place, position, row);
      }
    } else if (place.key.empty()) {
      for (size_t row = place.first; row < place.last; ++row) try_row(place, position, row);
    } else {
      const std::optional<size_t> row = place.relation->find(place.key);
      if (row && *row >= place.first && *row < place.last) try_row(place, position, *row);
    }
  }

  void try_row(const Place& place, size_t position, size_t row) {
    const BodyStep& step = place.step;
    const std::span<const Value> values = place.relation->row(row);
    const size_t mark = bindings_.mark();
    for (const auto& [column, variable] : step.bound) bindings_.bind(variable, values[column]);
    const bool fits = std::ranges::all_of(step.equals, [&](const auto& equal) {
      return bindings_[equal.second] == values[equal.first];
    });
    if (fits) go_on_with(place, position, row);
    bindings_.undo(mark);
  }

  void go_on_with(const Place& place, size_t position, size_t row) {
    if (!place.open || task_.database.is_certain(place.step.literal->pred, row)) {
      return go_on(position + 1);
    }
    remaining_.push_back({GroundKind::Pos, Modal::None, name_of(place, row)});
    go_on(position + 1);
    remaining_.pop_back();
  }

  oracle::AtomId name_of(const Place& place, size_t row) {
    return task_.growing ? Matcher::kUndecided : task_.database.atom(place.step.literal->pred, row);
  }

  // ---- negated and modal atoms, whose variables are bound ----

  void test(const Place& place, size_t position) {
    const Literal& literal = *place.step.literal;
    const std::optional<size_t> row = place.relation->find(place.key);
    const bool negative = place.step.is_negative();
    if (!place.open || (row && task_.database.is_certain(literal.pred, *row))) {
      if (row.has_value() != negative) go_on(position + 1);
      return;
    }
    const bool may_come =
        task_.growing && context_.analysis.component_of[literal.pred.index] == *task_.growing;
    if (!row && !may_come) {
      if (negative) go_on(position + 1);
      return;
    }
    GroundLiteral open{GroundKind::Modal, literal.modal, Matcher::kUndecided};
    if (literal.modal == Modal::None) open.kind = negative ? GroundKind::Neg : GroundKind::NotNot;
    if (row) open.index = name_of(place, *row);
    remaining_.push_back(open);
    go_on(position + 1);
    remaining_.pop_back();
  }

  // ---- comparisons ----

  void compare(const Place& place, size_t position) {
    if (place.step.assigned) {
      const std::optional<Value> value = task_.matcher.value_of(*place.step.value, bindings_);
      if (!value) return;
      const size_t mark = bindings_.mark();
      bindings_.bind(*place.step.assigned, *value);
      go_on(position + 1);
      bindings_.undo(mark);
      return;
    }
    const Literal& literal = *place.step.literal;
    const std::optional<Value> a = task_.matcher.value_of(literal.lhs, bindings_);
    const std::optional<Value> b = task_.matcher.value_of(literal.rhs, bindings_);
    if (a && b && lang::compare_values(literal.op, *a, *b, context_.names())) go_on(position + 1);
  }

  oracle::Context& context_;
  const BodyTask& task_;
  Bindings& bindings_;
  std::vector<Place> places_;
  std::vector<GroundLiteral> remaining_;
};

const std::optional<BodyPlan>& Joins::plan_of(const BodyTask& task) {
  const uint32_t delta = task.delta ? task.delta->literal : UINT32_MAX;
  const auto [found, is_new] = plans_.try_emplace({&task.body, delta});
  if (is_new) {
    const auto new_rows_of = task.delta ? std::optional(delta) : std::nullopt;
    found->second = plan_body(task.body, task.order, new_rows_of,
                              [&](VarId v) { return task.bindings.bound(v); });
  }
  return found->second;
}

bool Joins::solve(const BodyTask& task) {
  if (task.body.empty()) {
    task.visit(task.bindings, {});
    return true;
  }
  const std::optional<BodyPlan>& plan = plan_of(task);
  if (!plan) return false;
  Run(context_, task, *plan).start();
  return true;
}

oracle::Instantiation instantiate_by_joins(oracle::Context& context, const Parallel& parallel,
                                           const BulkSizes& sizes) {
  Joins joins(context);
  BulkGrounding bulk(context, parallel, sizes);
  GroupBounds groups(context);
  const oracle::Shortcut shortcut{
      .solve = [&](const BodyTask& task) { return joins.solve(task); },
      .derive = [&](const oracle::RuleTask& task,
                    oracle::Derived& derived) { return bulk.derive(task, derived); },
      .ground =
          [&](const oracle::RuleTask& task, oracle::GroundProgram& ground) {
            const oracle::Shortcut::Grounding done = groups.ground(task, ground);
            return done == oracle::Shortcut::Grounding::NotDone ? bulk.ground(task, ground) : done;
          },
      .parallel = parallel};
  context.shortcut = &shortcut;
  oracle::Instantiation made = oracle::instantiate(context);
  context.shortcut = nullptr;
  return made;
}

}  // namespace xlog::epistemic
