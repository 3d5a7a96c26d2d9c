#include "solve/search.h"

#include <algorithm>

#include "base/check.h"
#include "base/memory.h"

namespace xlog::solve {

int32_t Search::new_variable() {
  need_variables(variables_ + 1);
  return variables_;
}

void Search::need_variables(int32_t count) {
  if (count < variables_ || (count == variables_ && !info_.empty())) return;
  XLOG_CHECK(count < (1 << 29), "reasons hold literals of 30 bits");
  const auto size = static_cast<size_t>(count) + 1;
  values_.resize(2 * size - 1);
  watches_.resize(2 * size - 1);
  info_.resize(size);
  phases_.resize(size);
  activity_.resize(size);
  seen_.resize(size);
  level_stamps_.resize(size + 2);
  is_preferred_.resize(size);
  weights_.need_variables(count);
  for (int32_t v = variables_ + 1; v <= count; ++v) heap_.insert(static_cast<uint32_t>(v));
  variables_ = count;
}

void Search::prefer(std::span<const int32_t> variables) {
  leave_enumeration();
  projecting_ = true;
  for (const int32_t v : variables) {
    is_preferred_[static_cast<size_t>(v)] = true;
    preferred_heap_.insert(static_cast<uint32_t>(v));
  }
}

void Search::prefer_nothing() {
  leave_enumeration();
  projecting_ = false;
  for (size_t v = 1; v < is_preferred_.size(); ++v) {
    if (!is_preferred_[v]) continue;
    is_preferred_[v] = false;
    heap_.insert(static_cast<uint32_t>(v));
  }
  while (!preferred_heap_.empty()) preferred_heap_.take_first();
}

void Search::forget_activity() {
  leave_enumeration();
  std::ranges::fill(activity_, 0.0);
  activity_step_ = 1;
  heap_.rebuild();
  preferred_heap_.rebuild();
}

void Search::leave_enumeration() {
  backtrack(0);
  late_.clear();
  enumerating_ = false;
  at_model_ = false;
  any_model_ = false;
  floor_ = 0;
}

// Goes back no further than to where two literals of the clause are not false: many questions under
// the same assumptions need not assume them again and again.
void Search::add(std::span<const Literal> clause) {
  if (enumerating_) leave_enumeration();
  backtrack(std::min(level(), static_cast<uint32_t>(assumptions_.size())));
  at_model_ = false;
  const auto rank = [&](Literal l) { return value(l) >= 0 ? UINT32_MAX : level_of(l); };
  std::vector<Literal>& open = open_;
  for (;;) {
    open.clear();
    for (const Literal literal : clause) {
      if (fixed_value(literal) > 0) return;
      if (fixed_value(literal) == 0) open.push_back(literal);
    }
    std::ranges::sort(open, {}, [](Literal l) { return slot(l); });
    open.erase(std::ranges::unique(open).begin(), open.end());
    for (size_t i = 1; i < open.size(); ++i) {
      if (open[i - 1] == -open[i]) return;
    }
    if (level() == 0) break;
    if (open.size() < 2) {
      backtrack(0);
      continue;
    }
    std::ranges::stable_sort(open, std::ranges::greater{}, rank);
    if (rank(open[1]) == UINT32_MAX) break;
    backtrack(rank(open[1]) - 1);
  }
  if (open.empty()) {
    contradictory_ = true;
  } else if (open.size() == 1) {
    enqueue(open[0], {});
  } else {
    binary_or_clause(open, 0);
  }
}

uint32_t Search::add_weight_constraint(Literal holds, int64_t bound,
                                       std::vector<WeightedLiteral> terms, bool both) {
  leave_enumeration();
  const bool also_term = std::ranges::any_of(terms, [&](const WeightedLiteral& term) {
    return variable_of(term.literal) == variable_of(holds);
  });
  if (also_term) {
    const Literal same = new_variable();
    add({-same, holds});
    add({same, -holds});
    holds = same;
  }
  const uint32_t index = weights_.add(holds, bound, std::move(terms), both);
  unsettled_.push_back(index);
  return index;
}

void Search::add_weighted_sum(Literal holds, int64_t bound, std::vector<WeightedLiteral> terms) {
  bound -= make_distinct(terms);
  int64_t total = 0;
  for (auto& [literal, weight] : terms) {
    weight = std::min(weight, std::max<int64_t>(bound, 1));
    total += weight;
  }
  if (bound <= 0 || total < bound) {
    add({bound <= 0 ? holds : -holds});
    return;
  }
  const bool any = std::ranges::all_of(terms, [&](const auto& t) { return t.weight >= bound; });
  const bool all =
      std::ranges::all_of(terms, [&](const auto& t) { return total - t.weight < bound; });
  if (!any && !all) {
    add_weight_constraint(holds, bound, std::move(terms));
    return;
  }
  const int sign = any ? 1 : -1;
  std::vector<Literal> clause = {-sign * holds};
  for (const auto& [literal, weight] : terms) {
    clause.push_back(sign * literal);
    add({sign * holds, -sign * literal});
  }
  add(clause);
}

void Search::raise_bound(uint32_t constraint, int64_t bound) {
  leave_enumeration();
  weights_.raise_bound(constraint, bound);
  unsettled_.push_back(constraint);
}

void Search::remove_weight_constraint(uint32_t constraint) {
  leave_enumeration();
  std::erase(unsettled_, constraint);
  weights_.remove(constraint);
}

void Search::set_assumptions(std::span<const Literal> assumptions) {
  for (const Literal literal : assumptions) need_variables(variable_of(literal));
  if (enumerating_) leave_enumeration();
  // Each assumption has its level, so those that stay keep what they implied.
  size_t same = 0;
  while (same < assumptions.size() && same < assumptions_.size() &&
         assumptions[same] == assumptions_[same]) {
    ++same;
  }
  backtrack(static_cast<uint32_t>(same));
  assumptions_.assign(assumptions.begin(), assumptions.end());
}

Outcome Search::solve(const Limits& limits) {
  if (enumerating_) leave_enumeration();
  failed_.clear();
  return run(limits);
}

void Search::start_enumeration() {
  leave_enumeration();
  failed_.clear();
  enumerating_ = true;
  exhausted_ = false;
  any_model_ = false;
}

Outcome Search::next(const Limits& limits) {
  XLOG_CHECK(enumerating_, "next follows start_enumeration");
  if (exhausted_) return Outcome::Unsat;
  if (at_model_) {
    at_model_ = false;
    uint32_t last = level();
    if (projecting_) {
      while (last > floor_ && !levels_[last - 1].preferred) --last;
    }
    if (!close(last)) return Outcome::Unsat;
  }
  const Outcome outcome = run(limits);
  any_model_ |= outcome == Outcome::Sat;
  return outcome;
}

bool Search::close(uint32_t level) {
  for (;;) {
    if (level <= root()) {
      exhausted_ = true;
      return false;
    }
    const Literal decision = levels_[level - 1].decision;
    backtrack(level - 1);
    floor_ = level - 1;
    // Going back may have asserted the decision itself for good; then its other side is empty.
    if (value(decision) <= 0) {
      if (value(decision) == 0) enqueue(-decision, {});
      return true;
    }
    level = floor_;
  }
}

bool Search::propagate_facts() {
  leave_enumeration();
  if (!contradictory_ && !propagate()) contradictory_ = true;
  return !contradictory_;
}

Outcome Search::run(const Limits& limits) {
  limits_ = limits;
  const uint64_t first_conflict = conflicts_;
  restarts_ = 0;
  restart_at_ = conflicts_;
  if (contradictory_) return Outcome::Unsat;
  if (level() == 0 && trail_.size() > simplified_at_ + 100) simplify();
  Outcome stopped{};
  // Between two models a look at the clock would cost more than the second.
  if (limits.memory_bytes && !any_model_) next_look_ = {};  // it does not begin without memory
  if (any_model_ ? interrupted(limits) : out_of(limits, stopped)) {
    return any_model_ ? Outcome::Unknown : stopped;
  }
  for (;;) {
    if (!propagate()) {
      if (!resolve_conflict()) return Outcome::Unsat;
      if (limits.conflicts && conflicts_ - first_conflict >= *limits.conflicts) {
        return Outcome::Unknown;
      }
      if ((++steps_ & 0x3ff) == 0 && out_of(limits, stopped)) return stopped;
      continue;
    }
    if ((++steps_ & 0x3ff) == 0 && out_of(limits, stopped)) return stopped;
    if (conflicts_ >= reduce_at_) reduce_learned();
    if (restart_due()) {
      backtrack(std::max(floor_, std::min(level(), static_cast<uint32_t>(assumptions_.size()))));
      continue;
    }
    const Step step = decide();
    if (step == Step::Failed) return Outcome::Unsat;
    if (step == Step::Decided) continue;
    Learned learned = Learned::Quiet;
    for (Propagator* propagator : propagators_) {
      learned = propagator->check(*this);
      if (learned != Learned::Quiet) break;
    }
    if (learned == Learned::Stopped) return out_of(limits, stopped) ? stopped : Outcome::Unknown;
    if (learned == Learned::Conflict && !resolve_conflict()) return Outcome::Unsat;
    if (learned != Learned::Quiet) continue;
    at_model_ = true;
    return Outcome::Sat;
  }
}

bool Search::interrupted(const Limits& limits) {
  return limits.interrupt != nullptr && limits.interrupt->load(std::memory_order_relaxed);
}

bool Search::out_of(const Limits& limits, Outcome& outcome) {
  if (interrupted(limits)) {
    outcome = Outcome::Unknown;
    return true;
  }
  const auto now = std::chrono::steady_clock::now();
  if (limits.deadline && now >= *limits.deadline) {
    outcome = Outcome::Timeout;
    return true;
  }
  if (now < next_look_) return false;
  next_look_ = now + kBetweenLooks;
  if (limits.progress) limits.progress();
  outcome = Outcome::Unknown;
  return limits.memory_bytes && own_memory() > *limits.memory_bytes;
}

Search::Step Search::decide() {
  while (level() < assumptions_.size()) {
    const Literal assumption = assumptions_[level()];
    if (value(assumption) < 0) {
      find_failed(std::span(&assumption, 1));
      failed_.push_back(assumption);
      exhausted_ = true;
      return Step::Failed;
    }
    const bool open = value(assumption) == 0;
    new_level(open ? assumption : 0, false);
    if (open) {
      enqueue(assumption, {});
      return Step::Decided;
    }
  }
  if (enumerating_ && level() < root()) {
    new_level(0, false);
    floor_ = root();
  }
  bool preferred = false;
  const uint32_t variable = pick(preferred);
  if (variable == 0) return Step::Total;
  const auto v = static_cast<Literal>(variable);
  const Literal decision = phases_[variable] ? v : -v;
  new_level(decision, preferred);
  enqueue(decision, {});
  return Step::Decided;
}

// 0 when all variables have a value.
uint32_t Search::pick(bool& preferred) {
  while (!preferred_heap_.empty()) {
    const uint32_t variable = preferred_heap_.take_first();
    if (value(static_cast<Literal>(variable)) != 0) continue;
    preferred = true;
    return variable;
  }
  while (!heap_.empty()) {
    const uint32_t variable = heap_.take_first();
    if (value(static_cast<Literal>(variable)) == 0) return variable;
  }
  return 0;
}

void Search::new_level(Literal decision, bool preferred) {
  levels_.push_back({trail_.size(), decision, preferred});
  if (levels_.size() >= level_stamps_.size()) level_stamps_.resize(levels_.size() + 1);
}

void Search::backtrack(uint32_t level) {
  constexpr uint32_t kFarJump = 160;
  if (this->level() <= level) return;
  // Leaving a model is no jump: the next question starts from the phases that were set.
  const bool keep_phases = keep_phases_ || (!at_model_ && this->level() - level >= kFarJump);
  at_model_ = false;
  const size_t begin = levels_[level].trail_begin;
  for (Propagator* propagator : propagators_) propagator->undo(*this, level, begin);
  for (size_t i = trail_.size(); i-- > begin;) {
    const Literal literal = trail_[i];
    const auto v = static_cast<uint32_t>(variable_of(literal));
    if (i < weight_head_) weights_.unassigned(literal);
    values_[slot(literal)] = 0;
    values_[slot(-literal)] = 0;
    if (keep_phases) phases_[v] = literal > 0;
    (is_preferred_[v] ? preferred_heap_ : heap_).insert(v);
  }
  trail_.resize(begin);
  levels_.resize(level);
  clause_head_ = begin;
  weight_head_ = std::min(weight_head_, begin);
  if (!late_.empty()) assert_late();
}

void Search::assert_late() {
  size_t kept = 0;
  for (size_t i = 0; i < late_.size(); ++i) {
    const Late entry = late_[i];
    if (entry.level > level()) continue;
    if (value(entry.literal) == 0) enqueue(entry.literal, entry.reason);
    if (entry.level < level()) late_[kept++] = entry;
  }
  late_.resize(kept);
}

// After 60 conflicts, times 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ... (Luby, Sinclair, Zuckerman 1993).
bool Search::restart_due() {
  if (conflicts_ < restart_at_) return false;
  uint64_t n = ++restarts_;
  uint64_t size = 1;
  while (size < n) size = 2 * size + 1;
  while (size != n) {
    size /= 2;
    if (n > size) n -= size;
  }
  constexpr uint64_t kUnit = 60;
  restart_at_ = conflicts_ + kUnit * ((size + 1) / 2);
  return restarts_ > 1;
}

}  // namespace xlog::solve
