#include "epistemic/joins.h"

#include <algorithm>
#include <span>

#include "epistemic/translate.h"
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

namespace {

bool is_positive(const Literal& literal) {
  return literal.modal == Modal::None && literal.nots == 0;
}

bool is_negative(const Literal& literal) {
  return literal.modal == Modal::None ? literal.nots == 1 : is_negated(literal.modal);
}

}  // namespace

// ---- what each literal does ----

class Joins::Compiler {
 public:
  explicit Compiler(const BodyTask& task) : task_(task) {}

  Plan run() {
    Plan plan;
    std::vector<uint32_t> sequence = task_.order.sequence;
    if (task_.delta) {
      const auto first = std::ranges::find(sequence, task_.delta->literal);
      // Atoms compare identity, comparisons numbers: they must not change places.
      const bool only_atoms = std::all_of(sequence.begin(), first, [&](uint32_t index) {
        return task_.body[index].kind == LiteralKind::Atom;
      });
      if (only_atoms) std::rotate(sequence.begin(), first, first + 1);
    }
    for (const uint32_t index : sequence) {
      const Literal& literal = task_.body[index];
      Step& step = plan.steps.emplace_back();
      step.literal = &literal;
      step.index = index;
      const bool is_join = literal.kind == LiteralKind::Atom      ? look_up(literal, step)
                           : literal.kind == LiteralKind::Compare ? compare(literal, step)
                                                                  : false;
      if (!is_join) return {.is_join = false, .steps = {}};
    }
    return plan;
  }

 private:
  bool is_bound(VarId variable) const {
    return task_.bindings.bound(variable) || std::ranges::find(bound_, variable) != bound_.end();
  }
  bool is_bound(const Term& term) const {
    if (term.kind == TermKind::Variable) return is_bound(term.var);
    return std::ranges::all_of(term.args, [&](const Term& arg) { return is_bound(arg); });
  }

  bool look_up(const Literal& literal, Step& step) {
    for (uint32_t c = 0; c < literal.args.size(); ++c) {
      const Term& arg = literal.args[c];
      if (arg.kind != TermKind::Variable && arg.kind != TermKind::Constant) return false;
      if (arg.kind == TermKind::Constant || is_bound(arg.var)) {
        step.columns.push_back(c);
        step.known.push_back({c, &arg});
        continue;
      }
      // A row that is only tested for names no variables.
      if (!is_positive(literal)) return false;
      const bool repeated = std::ranges::any_of(
          step.bound, [&](const auto& other) { return other.second == arg.var; });
      (repeated ? step.equals : step.bound).emplace_back(c, arg.var);
    }
    for (const auto& [column, variable] : step.bound) bound_.push_back(variable);
    return true;
  }

  bool compare(const Literal& literal, Step& step) {
    const bool left = is_bound(literal.lhs), right = is_bound(literal.rhs);
    if (left && right) return true;
    const Term& unknown = left ? literal.rhs : literal.lhs;
    if (literal.op != lang::CompareOp::Eq || unknown.kind != TermKind::Variable) return false;
    step.assigned = unknown.var;
    step.value = left ? &literal.lhs : &literal.rhs;
    bound_.push_back(unknown.var);
    return true;
  }

  const BodyTask& task_;
  std::vector<VarId> bound_;  // by the literals so far
};

// ---- one enumeration ----

class Joins::Run {
 public:
  Run(oracle::Context& context, const BodyTask& task, const Plan& plan)
      : context_(context), task_(task), bindings_(task.bindings) {
    for (const Step& step : plan.steps) {
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
      const bool some = !step.columns.empty() && step.columns.size() < step.literal->args.size();
      if (some) place.index = &place.relation->index(step.columns);
    }
  }

  void start() { go_on(0); }

 private:
  struct Place {
    explicit Place(const Step& step_in) : step(step_in) {}
    const Step& step;
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
    return is_positive(literal) ? join(place, position) : test(place, position);
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
    const Step& step = place.step;
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
    if (!place.open) return go_on(position + 1);
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
    const bool negative = is_negative(literal);
    if (!place.open) {
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

const Joins::Plan& Joins::plan_of(const BodyTask& task) {
  const uint32_t delta = task.delta ? task.delta->literal : UINT32_MAX;
  const auto [found, is_new] = plans_.try_emplace({&task.body, delta});
  if (is_new) found->second = Compiler(task).run();
  return found->second;
}

bool Joins::solve(const BodyTask& task) {
  if (task.body.empty()) {
    task.visit(task.bindings, {});
    return true;
  }
  const Plan& plan = plan_of(task);
  if (!plan.is_join) return false;
  Run(context_, task, plan).start();
  return true;
}

oracle::Instantiation instantiate_by_joins(oracle::Context& context) {
  Joins joins(context);
  const oracle::Shortcut shortcut{[&](const BodyTask& task) { return joins.solve(task); }};
  context.shortcut = &shortcut;
  oracle::Instantiation made = oracle::instantiate(context);
  context.shortcut = nullptr;
  return made;
}

}  // namespace xlog::epistemic
