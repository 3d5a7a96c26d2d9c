#include "solve/weight_constraints.h"

#include <algorithm>

#include "base/check.h"
#include "solve/search.h"

namespace xlog::solve {

int64_t make_distinct(std::vector<WeightedLiteral>& terms) {
  std::ranges::sort(terms, {}, [](const WeightedLiteral& t) { return slot(t.literal); });
  int64_t sure = 0;
  size_t kept = 0;
  for (const auto& [literal, weight] : terms) {
    WeightedLiteral* last = kept == 0 ? nullptr : &terms[kept - 1];
    if (last != nullptr && last->literal == literal) {
      last->weight += weight;
    } else if (last != nullptr && last->literal == -literal) {
      sure += std::min(last->weight, weight);
      last->weight -= weight;
      if (last->weight < 0) *last = {literal, -last->weight};
      if (last->weight == 0) --kept;
    } else {
      terms[kept++] = {literal, weight};
    }
  }
  terms.resize(kept);
  return sure;
}

void WeightConstraints::need_variables(int32_t count) {
  occurrences_.resize(2 * static_cast<size_t>(count) + 1);
}

uint32_t WeightConstraints::add(Literal holds, int64_t bound, std::vector<WeightedLiteral> terms,
                                bool both) {
  std::ranges::stable_sort(terms, std::ranges::greater{}, &WeightedLiteral::weight);
  const auto index = static_cast<uint32_t>(constraints_.size());
  Constraint c{.holds = holds,
               .bound = bound,
               .begin = static_cast<uint32_t>(terms_.size()),
               .end = static_cast<uint32_t>(terms_.size() + terms.size()),
               .both = both};
  for (const auto& [literal, weight] : terms) {
    XLOG_CHECK(weight > 0, "weights are positive");
    c.total += weight;
    // What the search has not yet told us about it will.
    const int value = search_.position(literal) < search_.weight_head_ ? search_.value(literal) : 0;
    if (value > 0) c.reached += weight;
    if (value >= 0) c.reachable += weight;
    occurrences_[slot(literal)].push_back({index, true, weight});
    occurrences_[slot(-literal)].push_back({index, true, -weight});
  }
  occurrences_[slot(holds)].push_back({index, false, 0});
  occurrences_[slot(-holds)].push_back({index, false, 0});
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  constraints_.push_back(c);
  return index;
}

void WeightConstraints::raise_bound(uint32_t constraint, int64_t bound) {
  Constraint& c = constraints_[constraint];
  XLOG_CHECK(!c.both && bound >= c.bound, "what was learned from a constraint must stay true");
  c.bound = bound;
}

void WeightConstraints::remove(uint32_t constraint) {
  Constraint& c = constraints_[constraint];
  const auto forget = [&](Literal literal) {
    for (const Literal l : {literal, -literal}) {
      std::erase_if(occurrences_[slot(l)],
                    [&](const Occurrence& o) { return o.constraint == constraint; });
    }
  };
  for (uint32_t i = c.begin; i < c.end; ++i) forget(terms_[i].literal);
  forget(c.holds);
  c.end = c.begin;
}

bool WeightConstraints::assigned(Literal literal) {
  const std::vector<Occurrence>& list = occurrences_[slot(literal)];
  for (const auto& [index, is_term, weight] : list) {
    if (!is_term) continue;
    if (weight > 0) {
      constraints_[index].reached += weight;
    } else {
      constraints_[index].reachable += weight;
    }
  }
  // A true term says nothing about what can be reached, and a false one nothing about what is.
  return std::ranges::all_of(list, [&](const Occurrence& o) {
    if (!o.is_term) return settle(o.constraint);
    return o.weight > 0 ? look_up(o.constraint) : look_down(o.constraint);
  });
}

void WeightConstraints::unassigned(Literal literal) {
  for (const auto& [index, is_term, weight] : occurrences_[slot(literal)]) {
    if (!is_term) continue;
    if (weight > 0) {
      constraints_[index].reached -= weight;
    } else {
      constraints_[index].reachable -= weight;
    }
  }
}

bool WeightConstraints::settle(uint32_t constraint) {
  return look_up(constraint) && look_down(constraint);
}

bool WeightConstraints::look_up(uint32_t index) {
  const Constraint& c = constraints_[index];
  if (!c.both) return true;
  const Reason reason(Reason::Constraint, index);
  if (c.reached >= c.bound) return search_.imply(c.holds, reason);
  if (search_.value(c.holds) >= 0) return true;
  const int64_t spare = c.bound - c.reached;  // a term as heavy is too much
  for (uint32_t i = c.begin; i < c.end && terms_[i].weight >= spare; ++i) {
    const Literal literal = terms_[i].literal;
    if (search_.value(literal) == 0 && !search_.imply(-literal, reason)) return false;
  }
  return true;
}

bool WeightConstraints::look_down(uint32_t index) {
  const Constraint& c = constraints_[index];
  const Reason reason(Reason::Constraint, index);
  if (c.reachable < c.bound) return search_.imply(-c.holds, reason);
  if (c.reached >= c.bound || search_.value(c.holds) <= 0) return true;
  const int64_t spare = c.reachable - c.bound;  // a heavier term is needed
  for (uint32_t i = c.begin; i < c.end && terms_[i].weight > spare; ++i) {
    const Literal literal = terms_[i].literal;
    if (search_.value(literal) == 0 && !search_.imply(literal, reason)) return false;
  }
  return true;
}

void WeightConstraints::explain(uint32_t constraint, Literal literal,
                                std::vector<Literal>& clause) const {
  const Constraint& c = constraints_[constraint];
  clause.assign(1, literal);
  // A literal that is false as a conflict shows it was assigned the other way.
  const bool implied = search_.value(literal) > 0;
  const uint32_t before = implied ? search_.position(literal) : UINT32_MAX;
  const auto known = [&](Literal l) { return search_.position(l) < before; };

  const bool by_true_terms = literal == c.holds || [&] {
    if (literal == -c.holds) return false;
    // `holds` false limits the terms from above, true from below.
    return search_.value(c.holds) < 0;
  }();
  int64_t needed = 0;
  if (by_true_terms) {
    needed = c.bound;
  } else {
    needed = c.total - c.bound + 1;
  }
  if (literal != c.holds && literal != -c.holds) {
    clause.push_back(by_true_terms ? c.holds : -c.holds);
    const Literal term = by_true_terms ? -literal : literal;
    for (uint32_t i = c.begin; i < c.end; ++i) {
      if (terms_[i].literal == term) needed -= terms_[i].weight;
    }
  }
  for (uint32_t i = c.begin; i < c.end && needed > 0; ++i) {
    const Literal l = by_true_terms ? terms_[i].literal : -terms_[i].literal;
    if (search_.value(l) <= 0 || !known(l) || l == literal || l == -literal) continue;
    clause.push_back(-l);
    needed -= terms_[i].weight;
  }
  XLOG_CHECK(needed <= 0, "the terms explain what they implied");
}

}  // namespace xlog::solve
