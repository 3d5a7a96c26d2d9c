#include "solve/count_loops.h"

#include <algorithm>

namespace xlog::solve {

CountLoops::CountLoops(const CountFormula& formula, const CountTrail& trail) : formula_(formula) {
  if (formula.copy_of.empty()) return;
  states_.resize(static_cast<size_t>(formula.variables()) + 1);
  for (size_t c = 0; c < formula.clauses.size(); ++c) {
    const std::span<const Literal> clause = formula.clauses[c];
    const auto derives = [&](Literal l) { return l > 0 && formula.is_derived(l); };
    const auto head = std::ranges::find_if(clause, derives);
    if (head == clause.end()) continue;
    if (std::ranges::any_of(clause, [&](Literal l) { return trail.value(l) > 0; })) continue;
    Way way{.derived = static_cast<uint32_t>(*head), .conditions = {}, .needs = {}};
    for (const Literal l : clause) {
      if (l == *head || trail.value(l) < 0) continue;
      if (formula.is_derived(variable_of(l))) {
        way.needs.push_back(static_cast<uint32_t>(-l));
      } else {
        way.conditions.push_back(-l);
      }
    }
    const auto index = static_cast<uint32_t>(ways_.size());
    states_[way.derived].ways.push_back(index);
    for (const uint32_t needed : way.needs) states_[needed].uses.push_back(index);
    ways_.push_back(std::move(way));
  }
  missing_.resize(ways_.size());
}

void CountLoops::find_possible(const CountTrail& trail) {
  found_.clear();
  const auto take = [&](uint32_t variable) {
    if (!is_lost(variable)) return;
    states_[variable].possible = true;
    found_.push_back(variable);
  };
  for (const uint32_t d : open_) {
    for (const uint32_t w : states_[d].ways) {
      const Way& way = ways_[w];
      missing_[w] = UINT32_MAX;
      if (std::ranges::any_of(way.conditions, [&](Literal l) { return trail.value(l) < 0; })) {
        continue;
      }
      uint32_t missing = 0;
      bool blocked = false;
      for (const uint32_t n : way.needs) {
        const int value = trail.value(static_cast<Literal>(n));
        blocked = blocked || value < 0;
        missing += value == 0;
      }
      if (blocked) continue;
      missing_[w] = missing;
      if (missing == 0) take(d);
    }
  }
  while (!found_.empty()) {
    const uint32_t d = found_.back();
    found_.pop_back();
    for (const uint32_t w : states_[d].uses) {
      const bool waits = states_[ways_[w].derived].open == time_ && missing_[w] != UINT32_MAX;
      if (waits && --missing_[w] == 0) take(ways_[w].derived);
    }
  }
}

// A false literal that is no derived one; 0 where there is none.
Literal CountLoops::why_blocked(const Way& way, const CountTrail& trail) const {
  for (const Literal l : way.conditions) {
    if (trail.value(l) < 0) return l;
  }
  for (const uint32_t n : way.needs) {
    const Literal atom = formula_.original(static_cast<int32_t>(n));
    if (trail.value(atom) < 0) return atom;
  }
  return 0;
}

CountLoops::Found CountLoops::look(std::span<const uint32_t> variables, CountTrail& trail) {
  ++time_;
  open_.clear();
  for (const uint32_t v : variables) {
    if (!formula_.is_derived(static_cast<int32_t>(v)) || !trail.is_open(static_cast<int32_t>(v))) {
      continue;
    }
    states_[v].open = time_;
    states_[v].possible = false;
    open_.push_back(v);
  }
  find_possible(trail);
  std::erase_if(open_, [&](uint32_t d) { return !is_lost(d); });
  if (open_.empty()) return Found::Nothing;
  clause_.assign(1, 0);
  for (const uint32_t d : open_) {
    for (const uint32_t w : states_[d].ways) {
      const Way& way = ways_[w];
      if (std::ranges::any_of(way.needs, [&](uint32_t n) { return is_lost(n); })) continue;
      const Literal why = why_blocked(way, trail);
      if (why == 0) return Found::Nothing;
      clause_.push_back(why);
    }
  }
  std::ranges::sort(clause_.begin() + 1, clause_.end());
  clause_.erase(std::unique(clause_.begin() + 1, clause_.end()), clause_.end());
  bool any = false;
  for (const uint32_t d : open_) {
    const Literal atom = formula_.original(static_cast<int32_t>(d));
    if (trail.value(atom) < 0) continue;
    clause_[0] = -atom;
    any = true;
    if (!trail.imply(clause_)) return Found::Conflict;
  }
  return any ? Found::Implied : Found::Nothing;
}

}  // namespace xlog::solve
