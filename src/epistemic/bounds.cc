#include "epistemic/bounds.h"

#include <algorithm>
#include <optional>

#include "epistemic/translate.h"

namespace xlog::epistemic {

using oracle::AtomId;
using oracle::Bounds;
using oracle::GroundHead;
using oracle::GroundKind;
using oracle::GroundLiteral;
using oracle::GroundProgram;
using oracle::GroundRule;
using oracle::Interpretation;
using oracle::Truth;

namespace {

// Which rules wait for an atom, in one array for all atoms.
class Waiting {
 public:
  template <typename IsDerived>
  Waiting(const GroundProgram& program, const IsDerived& is_derived)
      : starts_(program.atom_count + 1, 0) {
    const auto each = [&](const auto& visit) {
      for (uint32_t r = 0; r < program.rules.size(); ++r) {
        if (program.rules[r].heads.empty()) continue;
        for (const GroundLiteral& literal : program.rules[r].body) {
          if (is_derived(literal)) visit(literal.index, r);
        }
      }
    };
    each([&](AtomId a, uint32_t) { ++starts_[a + 1]; });
    for (size_t a = 0; a < program.atom_count; ++a) starts_[a + 1] += starts_[a];
    rules_.resize(starts_.back());
    std::vector<uint32_t> at(starts_.begin(), starts_.end() - 1);
    each([&](AtomId a, uint32_t r) { rules_[at[a]++] = r; });
  }

  std::span<const uint32_t> rules(AtomId atom) const {
    return std::span(rules_).subspan(starts_[atom], starts_[atom + 1] - starts_[atom]);
  }

 private:
  std::vector<uint32_t> starts_, rules_;
};

class Alternation {
 public:
  Alternation(const GroundProgram& program, logic::Mode mode, oracle::Context& context)
      : program_(program),
        context_(context),
        mode_(mode),
        waiting_for_lower_(program, is_positive) {
    look_at_literals();
    if (!has_founded_) return;
    waiting_for_upper_.emplace(program, [&](const GroundLiteral& l) { return derives_upper(l); });
  }

  // A bound is grown again when something changes that it was grown from.
  Bounds run() {
    Bounds bounds{Interpretation(program_.atom_count, false),
                  Interpretation(program_.atom_count, true)};
    bool grows_upper = true, grows_lower = true;
    while (grows_upper || grows_lower) {
      bool upper_changed = false, lower_changed = false;
      if (grows_upper) {
        Interpretation upper = grow_upper(bounds);
        upper_changed = upper != bounds.upper;
        bounds.upper = std::move(upper);
      }
      if (grows_lower || upper_changed) {
        Interpretation lower = grow_lower(bounds);
        lower_changed = lower != bounds.lower;
        bounds.lower = std::move(lower);
      }
      grows_upper = lower_changed || (upper_changed && reads_both_);
      grows_lower = lower_changed && reads_both_;
    }
    return bounds;
  }

 private:
  void look_at_literals() {
    for (const GroundRule rule : program_.rules) {
      if (rule.heads.empty()) continue;
      for (const GroundLiteral& literal : rule.body) {
        if (literal.kind == GroundKind::Pos || literal.kind == GroundKind::Neg) continue;
        has_founded_ |= derives_upper(literal);
        reads_both_ |= literal.kind != GroundKind::Modal || !is_negated(literal.modal);
      }
    }
  }

  static bool is_positive(const GroundLiteral& literal) { return literal.kind == GroundKind::Pos; }
  // Whether a literal may hold only once its atom is derived.
  bool derives_upper(const GroundLiteral& literal) const {
    return is_positive(literal) ||
           (literal.kind == GroundKind::Modal && oracle::needs_foundation(literal.modal, mode_));
  }

  // Derives the heads of rules all of whose literals that wait are derived, and whose others hold.
  template <typename Waits, typename Holds, typename Derives>
  Interpretation grow(const Waiting& waiting, const Waits& waits, const Holds& holds,
                      const Derives& derives) {
    Interpretation derived(program_.atom_count, false);
    std::vector<uint32_t> missing(program_.rules.size(), UINT32_MAX);
    std::vector<AtomId> todo;
    const auto fire = [&](const GroundRule& rule) {
      for (const AtomId head : rule.heads) {
        if (derived[head] || !derives(rule, head)) continue;
        derived[head] = true;
        todo.push_back(head);
      }
    };
    for (uint32_t r = 0; r < program_.rules.size(); ++r) {
      context_.tick();
      const GroundRule rule = program_.rules[r];
      if (rule.heads.empty()) continue;
      uint32_t count = 0;
      bool may_fire = true;
      for (const GroundLiteral& literal : rule.body) {
        if (waits(literal)) {
          ++count;
        } else if (!holds(literal)) {
          may_fire = false;
          break;
        }
      }
      if (!may_fire) continue;
      missing[r] = count;
      if (count == 0) fire(rule);
    }
    while (!todo.empty()) {
      context_.tick();
      const AtomId atom = todo.back();
      todo.pop_back();
      for (const uint32_t r : waiting.rules(atom)) {
        if (missing[r] != UINT32_MAX && --missing[r] == 0) fire(program_.rules[r]);
      }
    }
    return derived;
  }

  Interpretation grow_upper(const Bounds& old) {
    return grow(
        has_founded_ ? *waiting_for_upper_ : waiting_for_lower_,
        [&](const GroundLiteral& l) { return derives_upper(l); },
        [&](const GroundLiteral& l) {
          return oracle::bounded_truth(l, program_, old, context_.names()) != Truth::False;
        },
        [](const GroundRule&, AtomId) { return true; });
  }

  // A choice never forces its head; a disjunction forces one only when the others cannot hold.
  Interpretation grow_lower(const Bounds& old) {
    return grow(
        waiting_for_lower_, is_positive,
        [&](const GroundLiteral& l) {
          return oracle::bounded_truth(l, program_, old, context_.names()) == Truth::True;
        },
        [&](const GroundRule& rule, AtomId head) {
          return rule.kind != GroundHead::Choice && std::ranges::all_of(rule.heads, [&](AtomId a) {
                   return a == head || !old.upper[a];
                 });
        });
  }

  const GroundProgram& program_;
  oracle::Context& context_;
  logic::Mode mode_;
  // Some literal is no plain atom and no negation: each bound may then depend on itself as it was.
  // Else the upper one depends on the lower one alone, and the lower one on the upper one.
  bool reads_both_ = false;
  bool has_founded_ = false;  // some literal waits for the upper bound alone
  Waiting waiting_for_lower_;
  std::optional<Waiting> waiting_for_upper_;  // where it is not the same
};

}  // namespace

Bounds well_founded_bounds(const GroundProgram& program, logic::Mode mode,
                           oracle::Context& context) {
  return Alternation(program, mode, context).run();
}

}  // namespace xlog::epistemic
