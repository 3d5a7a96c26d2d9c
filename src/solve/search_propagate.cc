// Unit propagation over watched clauses and weight constraints, and what propagators add to it.
#include <algorithm>

#include "base/check.h"
#include "solve/search.h"

namespace xlog::solve {

void Search::enqueue(Literal literal, Reason reason) {
  values_[slot(literal)] = 1;
  values_[slot(-literal)] = -1;
  info_[static_cast<size_t>(variable_of(literal))] = {level(), static_cast<uint32_t>(trail_.size()),
                                                      level() == 0 ? Reason() : reason};
  trail_.push_back(literal);
}

bool Search::imply(Literal literal, Reason reason) {
  const int now = value(literal);
  if (now == 0) enqueue(literal, reason);
  if (now < 0) {
    XLOG_CHECK(reason.kind() == Reason::Constraint, "clauses find their conflicts themselves");
    weights_.explain(reason.place(), literal, conflict_);
  }
  return now >= 0;
}

bool Search::propagate() {
  for (;;) {
    if (!WatchedClauses::propagate(*this) || !propagate_weights()) return false;
    if (clause_head_ < trail_.size()) continue;
    Learned learned = Learned::Quiet;
    for (Propagator* propagator : propagators_) {
      learned = propagator->propagate(*this);
      if (learned != Learned::Quiet) break;
    }
    if (learned == Learned::Conflict) return false;
    if (learned == Learned::Quiet) return true;
  }
}

// Stops as soon as something is implied, so that clauses go first.
bool Search::propagate_weights() {
  while (!unsettled_.empty()) {
    const uint32_t constraint = unsettled_.back();
    unsettled_.pop_back();
    if (!weights_.settle(constraint)) return false;
  }
  if (weights_.empty()) return true;
  while (weight_head_ < trail_.size()) {
    const size_t before = trail_.size();
    if (!weights_.assigned(trail_[weight_head_++])) return false;
    if (trail_.size() > before) return true;
  }
  return true;
}

uint32_t Search::store(std::span<const Literal> clause, uint32_t spread) {
  XLOG_CHECK(arena_.size() + kHeader + clause.size() < kMostClauseWords,
             "clauses take more than 4 GiB");
  const auto place = static_cast<uint32_t>(arena_.size());
  arena_.push_back(static_cast<uint32_t>(clause.size()));
  arena_.push_back(spread);
  arena_.push_back(0);
  for (const Literal literal : clause) arena_.push_back(static_cast<uint32_t>(literal));
  (spread == 0 ? given_ : learned_).push_back(place);
  return place;
}

// Watches the first two literals.
Reason Search::binary_or_clause(std::span<const Literal> clause, uint32_t spread) {
  if (clause.size() == 2) {
    watch(clause[0], {clause[1], kBinaryWatch});
    watch(clause[1], {clause[0], kBinaryWatch});
    return Reason::binary(clause[1]);
  }
  const uint32_t place = store(clause, spread);
  watch(clause[0], {clause[1], place});
  watch(clause[1], {clause[0], place});
  return {Reason::Clause, place};
}

Learned Search::learn(std::span<const Literal> clause) {
  if (clause.empty()) {
    conflict_.clear();
    return Learned::Conflict;
  }
  std::vector<Literal> literals(clause.begin(), clause.end());
  // Watch what is true or open, then what became false last.
  const auto rank = [&](Literal l) { return value(l) >= 0 ? UINT32_MAX : level_of(l); };
  std::ranges::stable_sort(literals, std::ranges::greater{}, rank);
  const uint32_t first = rank(literals[0]);
  const uint32_t second = literals.size() == 1 ? 0 : rank(literals[1]);
  const Reason reason = literals.size() == 1
                            ? Reason()
                            : binary_or_clause(literals, std::max(2u, count_levels(literals)));
  if (first != UINT32_MAX) {
    if (first == second || first <= floor_ || first == 0) {
      conflict_ = literals;
      return Learned::Conflict;
    }
    backtrack(std::max(second, floor_));
    if (value(literals[0]) < 0) {
      conflict_ = literals;
      return Learned::Conflict;
    }
  }
  if (second == UINT32_MAX || value(literals[0]) > 0) return Learned::Quiet;
  if (literals.size() == 1) {
    // What has no reason stands where analysis never resolves.
    backtrack(floor_);
    if (value(literals[0]) < 0) return learn(literals);
    if (value(literals[0]) > 0) return Learned::Implied;
  }
  enqueue(literals[0], reason);
  if (second < level()) late_.push_back({literals[0], reason, second});
  return Learned::Implied;
}

}  // namespace xlog::solve
