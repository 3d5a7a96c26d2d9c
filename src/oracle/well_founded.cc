#include "oracle/well_founded.h"

#include <algorithm>

#include "base/check.h"
#include "oracle/possible_results.h"

namespace xlog::oracle {

namespace {

using lang::Modal;
using logic::Mode;

// More open rows than this, and the results that are still possible are not looked at.
constexpr size_t kMaxOpenRows = 256;

PossibleResults results_of(const AggregateInput& input, const GroundProgram& program,
                           const Bounds& bounds, lang::Names& names, KnownResults* known) {
  std::vector<const std::vector<Value>*> certain, open;
  for (const auto& element : input.elements) {
    Truth truth = Truth::True;
    for (const GroundLiteral& literal : element.condition) {
      truth = std::min(truth, bounded_truth(literal, program, bounds, names, known));
    }
    if (truth == Truth::Unknown) open.push_back(&element.values);
    if (truth == Truth::True) certain.push_back(&element.values);
  }
  PossibleResults results;
  results.is_decided = open.empty();
  results.may_have_none = certain.empty();
  if (open.empty()) {
    results.values.emplace();
    std::optional<std::vector<Value>> result =
        fold_rows(input.folds, input.nonempty, certain, names);
    if (result) results.values->push_back(std::move(*result));
  } else if (open.size() <= kMaxOpenRows) {
    results.values = possible_results(input.folds, input.nonempty, certain, open, names);
  }
  return results;
}

Truth aggregate_truth(const GroundAggregate& aggregate, const GroundProgram& program,
                      const Bounds& bounds, lang::Names& names, KnownResults* known) {
  const AggregateInput& input = *aggregate.input;
  KnownResults alone;
  KnownResults& all = known == nullptr ? alone : *known;
  auto found = all.find(&input);
  if (found == all.end()) {
    found = all.emplace(&input, results_of(input, program, bounds, names, known)).first;
  }
  const PossibleResults& results = found->second;
  if (!results.values) return Truth::Unknown;
  const auto less = [&](const std::vector<Value>& a, const std::vector<Value>& b) {
    return row_less(a, b, names);
  };
  const auto at = std::ranges::lower_bound(*results.values, aggregate.result, less);
  if (at == results.values->end() || *at != aggregate.result) return Truth::False;
  // The only result there can be; without a certain row there might be none at all.
  const bool only = results.values->size() == 1 && !results.may_have_none;
  return results.is_decided || only ? Truth::True : Truth::Unknown;
}

// One least fixpoint: derives heads whose bodies hold by `literal_holds`, which may look at what is
// derived so far.
Interpretation least_fixpoint(
    const GroundProgram& program, Context& context,
    const std::function<bool(const GroundLiteral&, const Interpretation&)>& literal_holds,
    const std::function<bool(const GroundRule&, AtomId)>& derives) {
  Interpretation derived(program.atom_count, false);
  for (bool changed = true; changed;) {
    changed = false;
    for (const GroundRule rule : program.rules) {
      context.tick();
      const auto open_head = [&](AtomId head) { return !derived[head] && derives(rule, head); };
      if (std::none_of(rule.heads.begin(), rule.heads.end(), open_head)) continue;
      const auto holds_now = [&](const GroundLiteral& l) { return literal_holds(l, derived); };
      if (!std::all_of(rule.body.begin(), rule.body.end(), holds_now)) continue;
      for (AtomId head : rule.heads) {
        if (!open_head(head)) continue;
        derived[head] = true;
        changed = true;
      }
    }
  }
  return derived;
}

Interpretation grow_upper(const GroundProgram& program, Mode mode, const Bounds& old,
                          Context& context) {
  KnownResults known;
  const auto may_hold = [&](const GroundLiteral& literal, const Interpretation& derived) {
    const bool by_derivation =
        literal.kind == GroundKind::Pos ||
        (literal.kind == GroundKind::Modal && needs_foundation(literal.modal, mode));
    if (by_derivation) return bool{derived[literal.index]};
    return bounded_truth(literal, program, old, context.names(), &known) != Truth::False;
  };
  return least_fixpoint(program, context, may_hold, [&](const GroundRule& rule, AtomId head) {
    return may_support(rule, head, old);
  });
}

Interpretation grow_lower(const GroundProgram& program, const Bounds& old, Context& context) {
  KnownResults known;
  const auto must_hold = [&](const GroundLiteral& literal, const Interpretation& derived) {
    if (literal.kind == GroundKind::Pos) return bool{derived[literal.index]};
    return bounded_truth(literal, program, old, context.names(), &known) == Truth::True;
  };
  // A choice never forces its head; a disjunction forces one only when the others cannot hold.
  const auto forces = [&](const GroundRule& rule, AtomId head) {
    if (rule.kind == GroundHead::Choice) return false;
    return std::all_of(rule.heads.begin(), rule.heads.end(),
                       [&](AtomId other) { return other == head || !old.upper[other]; });
  };
  return least_fixpoint(program, context, must_hold, forces);
}

}  // namespace

bool may_support(const GroundRule& rule, AtomId head, const Bounds& bounds) {
  return std::ranges::none_of(rule.heads, [&](AtomId a) { return a != head && bounds.lower[a]; });
}

Truth bounded_truth(const GroundLiteral& literal, const GroundProgram& program,
                    const Bounds& bounds, lang::Names& names, KnownResults* known) {
  if (literal.kind == GroundKind::Aggregate) {
    return aggregate_truth(program.aggregates[literal.index], program, bounds, names, known);
  }
  // An atom that is true in all worlds is known and possible; one that is false in all is neither.
  const bool negated = literal.kind == GroundKind::Neg || literal.modal == Modal::NotKnow ||
                       literal.modal == Modal::NotPossible;
  if (bounds.lower[literal.index]) return negated ? Truth::False : Truth::True;
  if (!bounds.upper[literal.index]) return negated ? Truth::True : Truth::False;
  return Truth::Unknown;
}

Bounds well_founded_bounds(const GroundProgram& program, Mode mode, Context& context) {
  Bounds bounds{Interpretation(program.atom_count, false),
                Interpretation(program.atom_count, true)};
  while (true) {
    Interpretation upper = grow_upper(program, mode, bounds, context);
    const bool upper_changed = upper != bounds.upper;
    bounds.upper = std::move(upper);
    Interpretation lower = grow_lower(program, bounds, context);
    const bool lower_changed = lower != bounds.lower;
    bounds.lower = std::move(lower);
    if (!upper_changed && !lower_changed) return bounds;
  }
}

GroundProgram residual(const GroundProgram& program, const Bounds& bounds, lang::Names& names) {
  KnownResults known;
  GroundProgram left = replace_literals(program, [&](const GroundLiteral& l) {
    return bounded_truth(l, program, bounds, names, &known);
  });
  GroundRules rules;
  std::vector<AtomId> heads;
  for (GroundRule rule : left.rules) {
    if (rule.kind != GroundHead::Constraint) {
      // A rule with a head that holds anyway is satisfied, and by minimality supports nothing else.
      if (std::any_of(rule.heads.begin(), rule.heads.end(),
                      [&](AtomId a) { return bounds.lower[a]; }))
        continue;
      heads.clear();
      std::ranges::copy_if(rule.heads, std::back_inserter(heads),
                           [&](AtomId a) { return bounds.upper[a]; });
      XLOG_CHECK(!heads.empty(), "a rule that may fire has a head that may hold");
      rule.heads = heads;
      if (heads.size() == 1 && rule.kind == GroundHead::Disjunction) rule.kind = GroundHead::Normal;
    }
    rules.add(rule.kind, rule.heads, rule.body, rule.source);
  }
  left.rules = std::move(rules);
  return left;
}

}  // namespace xlog::oracle
