// The search under counting and compiling: both values of a variable, one after the other, and what
// is left falls into components that have nothing to do with each other. Results of components are
// kept, because the same ones come back in other branches (Bacchus, Dalmao, Pitassi 2003; Sang et
// al. 2004; Thurley 2006). What a result is, the tally says:
//
//   struct Tally {
//     using Branch; using Value;
//     Value none();                                          // of what has no model
//     bool is_none(const Value&);
//     Branch begin(span<const Literal> assigned, span<const int32_t> free);
//     void include(Branch&, const Value&);                   // a component of the branch
//     Value either(Branch*, Branch*);                        // null: a branch without a model
//     size_t bytes(const Value&);                            // outside of itself
//   };
//
// Clauses that are learned speak about all of the formula, so that in a component they may use that
// another one has no model. A branch with a component without models has none itself, and whatever
// was kept of its other components is forgotten (Sang et al. 2004).
#pragma once

#include <optional>
#include <vector>

#include "solve/count_cache.h"
#include "solve/count_components.h"
#include "solve/count_loops.h"
#include "solve/count_order.h"
#include "solve/count_trail.h"
#include "solve/limit_watch.h"
#include "solve/model_count.h"

namespace xlog::solve {

template <typename Tally>
class CountSearch {
 public:
  using Branch = typename Tally::Branch;
  using Value = typename Tally::Value;

  // By variable: those that are kept always have their place in a result; of others that is enough
  // which decide all.
  CountSearch(const CountFormula& formula, const std::vector<bool>& kept, Tally& tally,
              const CountOptions& options, const Limits& limits)
      : tally_(tally),
        trail_(formula),
        consistent_(trail_.propagate()),
        ranks_(decision_ranks(formula, trail_)),
        components_(formula, trail_, kept),
        loops_(formula, trail_),
        cache_(std::min(options.cache_bytes, limits.memory_bytes.value_or(UINT64_MAX) / 2)),
        watch_(limits),
        limits_(limits) {}

  // Nothing where a limit was reached.
  std::optional<Value> run() {
    if (is_over()) return std::nullopt;
    if (!consistent_ || !propagate(components_.whole())) return tally_.none();
    frames_.emplace_back();
    frames_.back().top = components_.top();
    split(components_.whole());
    while (step()) {
      if (!(++steps_ & 0xff) && is_over()) return std::nullopt;
    }
    return std::move(result_);
  }

  Outcome outcome() const { return outcome_; }
  uint64_t conflicts() const { return trail_.conflicts(); }
  uint64_t decisions() const { return decisions_; }

 private:
  // A component, and which of its variable's values is looked at. The first frame is the whole
  // formula and decides nothing.
  struct Frame {
    CountComponent component;
    CountKey key;
    Literal decision = 0;
    bool second = false;
    std::optional<Branch> first_branch;
    std::optional<Branch> branch;       // nothing: it has no model
    std::vector<CountComponent> parts;  // still to do, the last first
    bool several = false;               // there was more than one
    size_t top = 0;                     // of the components' stack below the branch
    uint64_t begun = 0;
  };

  bool is_over() {
    if (limits_.conflicts && trail_.conflicts() > *limits_.conflicts) {
      outcome_ = Outcome::Unknown;
      return true;
    }
    if (!watch_.reached()) return false;
    outcome_ = watch_.outcome();
    return true;
  }

  // After propagation: what is left of the component in this branch.
  void split(const CountComponent& component) {
    Frame& frame = frames_.back();
    frame.begun = cache_.now();
    frame.branch.reset();
    frame.parts.clear();
    if (!components_.split(component)) return;
    frame.branch = tally_.begin(components_.assigned(), components_.free());
    frame.parts.assign(components_.found().begin(), components_.found().end());
    frame.several = frame.parts.size() > 1;
    // Small ones first: if one has no model, that is found soon.
    std::ranges::stable_sort(frame.parts, std::ranges::greater{},
                             [](const CountComponent& c) { return c.end - c.begin; });
  }

  // The next component of the branch, or the next branch, or back; false at the end.
  bool step() {
    Frame& frame = frames_.back();
    if (frame.branch && !frame.parts.empty()) {
      const CountComponent part = frame.parts.back();
      frame.parts.pop_back();
      const CountKey key = components_.key(part);
      if (const Value* known = cache_.find(key)) {
        take(*known);
      } else {
        open(part, key);
      }
      return true;
    }
    if (frame.decision == 0) {
      result_ = tally_.either(frame.branch ? &*frame.branch : nullptr, nullptr);
      return false;
    }
    trail_.backtrack(trail_.level() - 1);
    components_.drop_to(frame.top);
    if (!frame.second) {
      frame.first_branch = std::move(frame.branch);
      frame.second = true;
      decide(-frame.decision);
      return true;
    }
    const Value value = tally_.either(frame.first_branch ? &*frame.first_branch : nullptr,
                                      frame.branch ? &*frame.branch : nullptr);
    cache_.add(frame.key, value, tally_.bytes(value));
    frames_.pop_back();
    take(value);
    return true;
  }

  // The result of a component of the branch on top.
  void take(const Value& value) {
    Frame& frame = frames_.back();
    if (!tally_.is_none(value)) {
      tally_.include(*frame.branch, value);
      return;
    }
    if (frame.several) cache_.forget_since(frame.begun);
    frame.branch.reset();
  }

  void open(const CountComponent& component, const CountKey& key) {
    Frame& frame = frames_.emplace_back();
    frame.component = component;
    frame.key = key;
    frame.top = components_.top();
    frame.decision = choose(component);
    ++decisions_;
    decide(frame.decision);
  }

  void decide(Literal literal) {
    Frame& frame = frames_.back();
    trail_.decide(literal);
    if (propagate(frame.component)) {
      split(frame.component);
      return;
    }
    trail_.learn();
    frame.branch.reset();
    frame.parts.clear();
  }

  bool propagate(const CountComponent& component) {
    for (;;) {
      if (!trail_.propagate()) return false;
      if (loops_.empty()) return true;
      switch (loops_.look(components_.variables(component), trail_)) {
        case CountLoops::Found::Nothing:
          return true;
        case CountLoops::Found::Implied:
          break;
        case CountLoops::Found::Conflict:
          return false;
      }
    }
  }

  Literal choose(const CountComponent& component) {
    uint32_t best = 0;
    double best_score = -1;
    for (const uint32_t v : components_.variables(component)) {
      if (components_.is_derived(v)) continue;
      const auto variable = static_cast<int32_t>(v);
      const double score = ranks_[v] + 10 * trail_.activity(variable) + components_.occurrences(v);
      if (score > best_score) {
        best = v;
        best_score = score;
      }
    }
    return static_cast<Literal>(best);
  }

  Tally& tally_;
  CountTrail trail_;
  const bool consistent_;
  const std::vector<double> ranks_;  // by variable: those to decide first have the highest
  CountComponents components_;
  CountLoops loops_;
  CountCache<Value> cache_;
  LimitWatch watch_;
  const Limits& limits_;
  Outcome outcome_ = Outcome::Sat;
  std::vector<Frame> frames_;
  std::optional<Value> result_;
  uint64_t steps_ = 0;
  uint64_t decisions_ = 0;
};

}  // namespace xlog::solve
