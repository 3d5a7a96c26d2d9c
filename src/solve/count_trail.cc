#include "solve/count_trail.h"

#include <algorithm>

#include "base/check.h"

namespace xlog::solve {

CountTrail::CountTrail(const CountFormula& formula) {
  const auto count = static_cast<size_t>(formula.variables()) + 1;
  values_.assign(2 * count, 0);
  info_.resize(count);
  watches_.resize(2 * count);
  occurrences_.resize(2 * count);
  activity_.assign(count, 0);
  seen_.assign(count, 0);
  level_stamps_.assign(count + 1, 0);
  for (size_t c = 0; c < formula.clauses.size(); ++c) add_clause(formula.clauses[c]);
  for (const CountSum& sum : formula.sums) add_sum(sum);
  for (uint32_t s = 0; s < sums_.size() && !contradictory_; ++s) {
    contradictory_ = !settle(s);
  }
}

void CountTrail::add_clause(std::span<const Literal> clause) {
  std::vector<Literal> open(clause.begin(), clause.end());
  std::ranges::sort(open, {}, [](Literal l) { return slot(l); });
  open.erase(std::ranges::unique(open).begin(), open.end());
  for (size_t i = 1; i < open.size(); ++i) {
    if (open[i] == -open[i - 1]) return;
  }
  if (std::ranges::any_of(open, [&](Literal l) { return value(l) > 0; })) return;
  std::erase_if(open, [&](Literal l) { return value(l) < 0; });
  if (open.empty()) contradictory_ = true;
  if (open.size() == 1) enqueue(open[0], {});
  if (open.size() >= 2) attach(open, 0);
}

void CountTrail::add_sum(const CountSum& sum) {
  const auto index = static_cast<uint32_t>(sums_.size());
  Sum& made = sums_.emplace_back();
  made.terms_begin = static_cast<uint32_t>(terms_.size());
  terms_.insert(terms_.end(), sum.terms.begin(), sum.terms.end());
  made.terms_end = static_cast<uint32_t>(terms_.size());
  std::stable_sort(terms_.begin() + made.terms_begin, terms_.end(),
                   [](const auto& a, const auto& b) { return a.weight > b.weight; });
  made.thresholds_begin = static_cast<uint32_t>(thresholds_.size());
  for (const CountSum::Threshold& t : sum.thresholds) {
    thresholds_.push_back({t.holds, t.bound, index});
    occurrences_[slot(t.holds)].push_back({index, 0});
    occurrences_[slot(-t.holds)].push_back({index, 0});
  }
  made.thresholds_end = static_cast<uint32_t>(thresholds_.size());
  std::stable_sort(thresholds_.begin() + made.thresholds_begin, thresholds_.end(),
                   [](const auto& a, const auto& b) { return a.bound < b.bound; });
  for (const WeightedLiteral& term : sum.terms) {
    made.reachable += term.weight;
    occurrences_[slot(term.literal)].push_back({index, term.weight});
    occurrences_[slot(-term.literal)].push_back({index, -term.weight});
  }
}

void CountTrail::enqueue(Literal literal, Reason reason) {
  values_[slot(literal)] = 1;
  values_[slot(-literal)] = -1;
  info_[at(literal)] = {level(), static_cast<uint32_t>(trail_.size()),
                        level() == 0 ? Reason() : reason};
  trail_.push_back(literal);
}

void CountTrail::decide(Literal literal) {
  XLOG_CHECK(value(literal) == 0, "decisions are about open variables");
  level_begins_.push_back(trail_.size());
  enqueue(literal, {});
  assert_late();
}

// Clauses that would have been unit before this decision.
void CountTrail::assert_late() {
  size_t kept = 0;
  for (size_t i = 0; i < late_.size(); ++i) {
    if (late_[i].level >= level()) continue;  // what it rested on is gone
    const Literal asserted = late_[i].clause[0];
    if (value(asserted) == 0) {
      enqueue(asserted, late_[i].reason);
      if (late_[i].clause.size() == 1) info_[at(asserted)].level = 0;  // it needs no reason
    } else if (value(asserted) < 0 && conflict_.empty()) {
      conflict_ = late_[i].clause;
      conflict_is_late_ = true;
    }
    if (kept != i) late_[kept] = std::move(late_[i]);
    ++kept;
  }
  late_.resize(kept);
}

bool CountTrail::propagate() {
  if (contradictory_) conflict_.clear();
  if (contradictory_ || !conflict_.empty()) return false;
  for (;;) {
    if (!WatchedClauses::propagate(*this) || !propagate_sums()) return false;
    if (clause_head_ == trail_.size() && sum_head_ == trail_.size()) return true;
  }
}

// Stops as soon as something is implied, so that clauses go first.
bool CountTrail::propagate_sums() {
  if (sums_.empty()) sum_head_ = trail_.size();
  while (sum_head_ < trail_.size()) {
    const size_t before = trail_.size();
    if (!count_in(trail_[sum_head_++])) return false;
    if (trail_.size() > before) return true;
  }
  return true;
}

bool CountTrail::count_in(Literal literal) {
  // All counters first: what is undone later was done completely.
  for (const Occurrence& o : occurrences_[slot(literal)]) {
    if (o.weight > 0) sums_[o.sum].reached += o.weight;
    if (o.weight < 0) sums_[o.sum].reachable += o.weight;
  }
  return std::ranges::all_of(occurrences_[slot(literal)],
                             [&](const Occurrence& o) { return settle(o.sum); });
}

bool CountTrail::settle(uint32_t index) {
  const Sum& sum = sums_[index];
  uint32_t least = UINT32_MAX;  // the highest threshold to be reached, the lowest not to be
  uint32_t most = UINT32_MAX;
  for (uint32_t t = sum.thresholds_begin; t < sum.thresholds_end; ++t) {
    const Threshold& threshold = thresholds_[t];
    if (threshold.bound <= sum.reached) {
      if (!imply(threshold.holds, t)) return false;
    } else if (threshold.bound > sum.reachable) {
      if (!imply(-threshold.holds, t)) return false;
    } else {
      const int now = value(threshold.holds);
      if (now > 0) least = t;
      if (now < 0 && most == UINT32_MAX) most = t;
    }
  }
  if (least != UINT32_MAX) {
    const int64_t spare = sum.reachable - thresholds_[least].bound;
    for (uint32_t i = sum.terms_begin; i < sum.terms_end && terms_[i].weight > spare; ++i) {
      if (value(terms_[i].literal) == 0) imply(terms_[i].literal, least);
    }
  }
  if (most != UINT32_MAX) {
    const int64_t spare = thresholds_[most].bound - 1 - sum.reached;
    for (uint32_t i = sum.terms_begin; i < sum.terms_end && terms_[i].weight > spare; ++i) {
      if (value(terms_[i].literal) == 0) imply(-terms_[i].literal, most);
    }
  }
  return true;
}

bool CountTrail::imply(Literal literal, uint32_t threshold) {
  const int now = value(literal);
  if (now == 0) enqueue(literal, {Reason::Constraint, threshold});
  if (now < 0) explain_sum(literal, threshold, UINT32_MAX, conflict_);
  return now >= 0;
}

void CountTrail::backtrack(uint32_t target) {
  if (target >= level()) return;
  const size_t begin = level_begins_[target];
  for (size_t i = trail_.size(); i-- > begin;) {
    const Literal literal = trail_[i];
    if (i < sum_head_) {
      for (const Occurrence& o : occurrences_[slot(literal)]) {
        if (o.weight > 0) sums_[o.sum].reached -= o.weight;
        if (o.weight < 0) sums_[o.sum].reachable -= o.weight;
      }
    }
    values_[slot(literal)] = 0;
    values_[slot(-literal)] = 0;
  }
  trail_.resize(begin);
  level_begins_.resize(target);
  clause_head_ = std::min(clause_head_, begin);
  sum_head_ = std::min(sum_head_, begin);
  conflict_.clear();
  conflict_is_late_ = false;
}

}  // namespace xlog::solve
