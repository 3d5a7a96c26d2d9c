#include "epistemic/bounds.h"

#include <algorithm>
#include <atomic>
#include <span>

#include "base/check.h"
#include "epistemic/bulk_limits.h"
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

constexpr uint32_t kRulesAtATime = 1 << 14;  // by one thread

// Atoms that are derived so far; threads may add to them at once.
class Derived {
 public:
  explicit Derived(size_t atoms) : is_derived_(atoms, 0) {}
  bool operator[](AtomId atom) const {
    return std::atomic_ref(is_derived_[atom]).load(std::memory_order_relaxed) != 0;
  }
  void add(AtomId atom) { std::atomic_ref(is_derived_[atom]).store(1, std::memory_order_relaxed); }
  Interpretation as_interpretation() const {
    return Interpretation(is_derived_.begin(), is_derived_.end());
  }

 private:
  mutable std::vector<uint8_t> is_derived_;
};

// One least fixpoint: derives the heads of rules all of whose literals that wait are derived, and
// whose others hold. Rules mostly stand behind those that they need, so that going through them
// once or twice is nearly all there is to do; what then still waits is counted.
template <typename Waits, typename Holds, typename Derives>
class Growing {
 public:
  Growing(const GroundProgram& program, oracle::Context& context, const Parallel& parallel,
          const Waits& waits, const Holds& holds, const Derives& derives)
      : program_(program),
        context_(context),
        parallel_(parallel),
        waits_(waits),
        holds_(holds),
        derives_(derives),
        derived_(program.atom_count) {}

  Interpretation run() {
    constexpr uint32_t kSweeps = 3;
    const auto rules = static_cast<uint32_t>(program_.rules.size());
    bool changed = sweep(rules, [&](uint32_t i) { return look_at(i); });
    for (uint32_t s = 1; changed && !waiting_.empty() && s < kSweeps; ++s) {
      const std::vector<uint32_t> before = std::move(waiting_);
      changed = sweep(static_cast<uint32_t>(before.size()), [&](uint32_t i) {
        return is_waiting(program_.rules[before[i]]) ? Seen{before[i]} : fired(before[i]);
      });
    }
    if (changed && !waiting_.empty()) count_down();
    return derived_.as_interpretation();
  }

 private:
  struct Seen {
    uint32_t waiting = UINT32_MAX;  // the rule, if it waits
    bool has_derived = false;
  };

  // Looks at 0 .. n, and keeps the rules that wait, in order. Whether anything was derived.
  template <typename Look>
  bool sweep(uint32_t n, const Look& look) {
    context_.check_limits();
    std::vector<std::vector<uint32_t>> waiting((n + kRulesAtATime - 1) / kRulesAtATime);
    std::atomic<bool> changed = false;
    BulkLimits limits(context_);
    parallel_(n, kRulesAtATime, [&](uint32_t lo, uint32_t hi) {
      if (!limits.go_on(0)) return;
      std::vector<uint32_t>& mine = waiting[lo / kRulesAtATime];
      bool has_derived = false;
      for (uint32_t i = lo; i < hi; ++i) {
        const Seen seen = look(i);
        if (seen.waiting != UINT32_MAX) mine.push_back(seen.waiting);
        has_derived |= seen.has_derived;
      }
      if (has_derived) changed.store(true, std::memory_order_relaxed);
    });
    limits.throw_if_reached(context_);
    waiting_.clear();
    for (const std::vector<uint32_t>& some : waiting) {
      waiting_.insert(waiting_.end(), some.begin(), some.end());
    }
    return changed;
  }

  Seen look_at(uint32_t r) {
    const GroundRule rule = program_.rules[r];
    bool is_waiting = false;
    for (const GroundLiteral& literal : rule.body) {
      if (waits_(literal)) {
        is_waiting |= !derived_[literal.index];
      } else if (!holds_(literal)) {
        return {};
      }
    }
    const bool may_derive = std::ranges::any_of(
        rule.heads, [&](AtomId head) { return !derived_[head] && derives_(rule, head); });
    if (!may_derive) return {};
    return is_waiting ? Seen{r} : fired(r);
  }

  bool is_waiting(const GroundRule& rule) const {
    return std::ranges::any_of(rule.body, [&](const GroundLiteral& literal) {
      return waits_(literal) && !derived_[literal.index];
    });
  }

  Seen fired(uint32_t r) {
    Seen seen;
    fire(program_.rules[r], [&](AtomId) { seen.has_derived = true; });
    return seen;
  }

  template <typename Visit>
  void fire(const GroundRule& rule, const Visit& visit) {
    for (const AtomId head : rule.heads) {
      if (derived_[head] || !derives_(rule, head)) continue;
      derived_.add(head);
      visit(head);
    }
  }

  // Which of the rules that wait do so for an atom, in one array for all atoms.
  void count_down() {
    std::vector<uint32_t> starts(size_t{program_.atom_count} + 1, 0);
    std::vector<uint32_t> missing(waiting_.size(), 0);
    const auto each = [&](const auto& visit) {
      for (uint32_t w = 0; w < waiting_.size(); ++w) {
        for (const GroundLiteral& literal : program_.rules[waiting_[w]].body) {
          if (waits_(literal) && !derived_[literal.index]) visit(literal.index, w);
        }
      }
    };
    each([&](AtomId a, uint32_t w) {
      ++starts[a + 1];
      ++missing[w];
    });
    for (size_t a = 0; a < program_.atom_count; ++a) starts[a + 1] += starts[a];
    std::vector<uint32_t> waiting_for(starts.back());
    std::vector<uint32_t> at(starts.begin(), starts.end() - 1);
    each([&](AtomId a, uint32_t w) { waiting_for[at[a]++] = w; });

    std::vector<AtomId> todo;
    const auto add = [&](AtomId atom) { todo.push_back(atom); };
    for (uint32_t w = 0; w < waiting_.size(); ++w) {
      if (missing[w] == 0) fire(program_.rules[waiting_[w]], add);
    }
    while (!todo.empty()) {
      context_.tick();
      const AtomId atom = todo.back();
      todo.pop_back();
      for (uint32_t i = starts[atom]; i < starts[atom + 1]; ++i) {
        if (--missing[waiting_for[i]] == 0) fire(program_.rules[waiting_[waiting_for[i]]], add);
      }
    }
  }

  const GroundProgram& program_;
  oracle::Context& context_;
  const Parallel& parallel_;
  const Waits& waits_;
  const Holds& holds_;
  const Derives& derives_;
  Derived derived_;
  std::vector<uint32_t> waiting_;  // rules
};

template <typename Waits, typename Holds, typename Derives>
Interpretation grow(const GroundProgram& program, oracle::Context& context,
                    const Parallel& parallel, const Waits& waits, const Holds& holds,
                    const Derives& derives) {
  return Growing(program, context, parallel, waits, holds, derives).run();
}

// Folding an aggregate may add to the names.
const Parallel& for_program(const GroundProgram& program, const Parallel& parallel) {
  static const Parallel alone = in_turn;
  return program.aggregates.empty() ? parallel : alone;
}

class Alternation {
 public:
  Alternation(const GroundProgram& program, logic::Mode mode, oracle::Context& context,
              const Parallel& parallel)
      : program_(program),
        context_(context),
        mode_(mode),
        parallel_(for_program(program, parallel)),
        upper_reads_itself_(any_literal(is_affirmative_or_folds)),
        lower_reads_itself_(!program.aggregates.empty()) {}

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
      grows_upper = lower_changed || (upper_changed && upper_reads_itself_);
      grows_lower = lower_changed && lower_reads_itself_;
    }
    return bounds;
  }

 private:
  template <typename Test>
  bool any_literal(const Test& test) const {
    std::atomic<bool> found = false;
    parallel_(static_cast<uint32_t>(program_.rules.size()), kRulesAtATime,
              [&](uint32_t lo, uint32_t hi) {
                for (uint32_t r = lo; r < hi; ++r) {
                  const GroundRule rule = program_.rules[r];
                  if (rule.heads.empty() || !std::ranges::any_of(rule.body, test)) continue;
                  found.store(true, std::memory_order_relaxed);
                  return;
                }
              });
    return found;
  }

  static bool is_positive(const GroundLiteral& literal) { return literal.kind == GroundKind::Pos; }
  // `not not p`, and the modal literals that are true once p is in all worlds.
  static bool is_affirmative(const GroundLiteral& literal) {
    return literal.kind == GroundKind::NotNot ||
           (literal.kind == GroundKind::Modal && !is_negated(literal.modal));
  }
  static bool is_affirmative_or_folds(const GroundLiteral& literal) {
    return is_affirmative(literal) || literal.kind == GroundKind::Aggregate;
  }
  // Whether a literal may hold only once its atom is derived.
  bool derives_upper(const GroundLiteral& literal) const {
    return is_positive(literal) ||
           (literal.kind == GroundKind::Modal && oracle::needs_foundation(literal.modal, mode_));
  }

  // Where there are aggregates one processor does it all.
  Interpretation grow_upper(const Bounds& old) {
    oracle::KnownResults known;
    return grow(
        program_, context_, parallel_, [&](const GroundLiteral& l) { return derives_upper(l); },
        [&](const GroundLiteral& l) {
          return oracle::bounded_truth(l, program_, old, context_.names(), &known) != Truth::False;
        },
        [&](const GroundRule& rule, AtomId head) { return oracle::may_support(rule, head, old); });
  }

  // A choice never forces its head; a disjunction forces one only when the others cannot hold. What
  // is derived is in all worlds, so that literals that say no more than this need not wait for the
  // next turn: in a recursion through `know p` there would be one for each step of it.
  Interpretation grow_lower(const Bounds& old) {
    oracle::KnownResults known;
    return grow(
        program_, context_, parallel_,
        [](const GroundLiteral& l) { return is_positive(l) || is_affirmative(l); },
        [&](const GroundLiteral& l) {
          return oracle::bounded_truth(l, program_, old, context_.names(), &known) == Truth::True;
        },
        [&](const GroundRule& rule, AtomId head) {
          return rule.kind != GroundHead::Choice && std::ranges::all_of(rule.heads, [&](AtomId a) {
                   return a == head || !old.upper[a];
                 });
        });
  }

  const GroundProgram& program_;
  oracle::Context& context_;
  const logic::Mode mode_;
  const Parallel& parallel_;
  // By literals that are no plain atom and no negation a bound may depend on itself as it was. Else
  // the upper one depends on the lower one alone, and the lower one on the upper one.
  const bool upper_reads_itself_;
  const bool lower_reads_itself_;
};

// Calls `take` with the kind of what is left of a rule, its heads and its body, if anything is.
template <typename Take>
class Leftovers {
 public:
  Leftovers(const GroundProgram& program, const Bounds& bounds, lang::Names& names,
            const Take& take)
      : program_(program), bounds_(bounds), names_(names), take_(take) {}

  void look_at(uint32_t r) {
    const GroundRule rule = program_.rules[r];
    // A rule with a head that holds anyway is satisfied, and by minimality supports nothing else.
    if (std::ranges::any_of(rule.heads, [&](AtomId a) { return bool{bounds_.lower[a]}; })) return;
    body_.clear();
    for (const GroundLiteral& literal : rule.body) {
      const Truth truth = oracle::bounded_truth(literal, program_, bounds_, names_);
      if (truth == Truth::False) return;
      if (truth == Truth::Unknown) body_.push_back(literal);
    }
    heads_.clear();
    std::ranges::copy_if(rule.heads, std::back_inserter(heads_),
                         [&](AtomId a) { return bool{bounds_.upper[a]}; });
    XLOG_CHECK(rule.heads.empty() || !heads_.empty(),
               "a rule that may fire has a head that may hold");
    const bool is_normal = heads_.size() == 1 && rule.kind == GroundHead::Disjunction;
    take_(is_normal ? GroundHead::Normal : rule.kind, heads_, body_, rule.source);
  }

 private:
  const GroundProgram& program_;
  const Bounds& bounds_;
  lang::Names& names_;
  const Take& take_;
  std::vector<AtomId> heads_;
  std::vector<GroundLiteral> body_;
};

}  // namespace

Bounds well_founded_bounds(const GroundProgram& program, logic::Mode mode, oracle::Context& context,
                           const Parallel& parallel) {
  return Alternation(program, mode, context, parallel).run();
}

GroundProgram residual(const GroundProgram& program, const Bounds& bounds, oracle::Context& context,
                       const Parallel& parallel) {
  using oracle::GroundRules;
  if (!program.aggregates.empty()) return oracle::residual(program, bounds, context.names());
  GroundProgram left;
  left.atom_count = program.atom_count;
  const auto rules = static_cast<uint32_t>(program.rules.size());
  const auto each = [&](uint32_t lo, uint32_t hi, const auto& take) {
    Leftovers leftovers(program, bounds, context.names(), take);
    for (uint32_t r = lo; r < hi; ++r) leftovers.look_at(r);
  };
  std::vector<GroundRules::Extent> extents((rules + kRulesAtATime - 1) / kRulesAtATime);
  parallel(rules, kRulesAtATime, [&](uint32_t lo, uint32_t hi) {
    GroundRules::Extent extent;
    each(lo, hi, [&](GroundHead, const auto& heads, const auto& body, uint32_t) {
      extent += {1, heads.size(), body.size()};
    });
    extents[lo / kRulesAtATime] = extent;
  });
  GroundRules::Extent at;
  for (GroundRules::Extent& extent : extents) at += std::exchange(extent, at);
  context.check_limits();
  left.rules.extend(at);
  parallel(rules, kRulesAtATime, [&](uint32_t lo, uint32_t hi) {
    GroundRules::Writer writer(left.rules, extents[lo / kRulesAtATime]);
    each(lo, hi, [&](GroundHead kind, const auto& heads, const auto& body, uint32_t source) {
      for (const AtomId head : heads) writer.add_head(head);
      for (const GroundLiteral& literal : body) writer.add_literal(literal);
      writer.end_rule(kind, source);
    });
  });
  oracle::replace_in_bounds(
      program,
      [&](const GroundLiteral& l) {
        return oracle::bounded_truth(l, program, bounds, context.names());
      },
      left);
  return left;
}

}  // namespace xlog::epistemic
