#include "solve/minimality.h"

#include <algorithm>
#include <map>

#include "base/check.h"

namespace xlog::solve {

MinimalityCheck::MinimalityCheck(std::vector<HeadCycle> components) {
  for (HeadCycle& component : components) testers_.push_back(make_tester(std::move(component)));
}

MinimalityCheck::Tester MinimalityCheck::make_tester(HeadCycle component) {
  Tester tester;
  tester.search = std::make_unique<Search>();
  Search& search = *tester.search;
  std::map<int32_t, int32_t> copies;
  const auto copy = [&](Literal literal) {
    const auto [it, added] = copies.try_emplace(variable_of(literal), 0);
    if (added) {
      it->second = search.new_variable();
      tester.outside.push_back(it->first);
      tester.inside.push_back(it->second);
    }
    return literal > 0 ? it->second : -it->second;
  };
  std::vector<Literal> some_leaves;
  for (const Literal atom : component.atoms) {
    const Literal holds = copy(atom);
    const Literal stays = search.new_variable();
    const Literal leaves = search.new_variable();
    search.add({-stays, holds});
    search.add({-leaves, holds});
    search.add({-leaves, -stays});
    tester.stays.push_back(stays);
    some_leaves.push_back(leaves);
  }
  search.add(some_leaves);
  for (const HeadCycleRule& rule : component.rules) {
    std::vector<Literal> clause;
    for (const Literal condition : rule.conditions) clause.push_back(-copy(condition));
    for (const uint32_t need : rule.needs) clause.push_back(-tester.stays[need]);
    if (!rule.choice) {
      for (const uint32_t head : rule.heads) clause.push_back(tester.stays[head]);
      search.add(clause);
      continue;
    }
    for (const uint32_t head : rule.heads) {
      std::vector<Literal> one = clause;
      one.push_back(tester.stays[head]);
      one.push_back(-copy(component.atoms[head]));
      search.add(one);
    }
  }
  tester.component = std::move(component);
  return tester;
}

Learned MinimalityCheck::check(Search& search) {
  Limits limits = search.limits();
  limits.conflicts.reset();
  for (const Tester& tester : testers_) {
    std::vector<Literal> assumptions;
    for (size_t i = 0; i < tester.outside.size(); ++i) {
      assumptions.push_back(search.value(tester.outside[i]) > 0 ? tester.inside[i]
                                                                : -tester.inside[i]);
    }
    tester.search->set_assumptions(assumptions);
    const Outcome outcome = tester.search->solve(limits);
    if (outcome == Outcome::Sat) return reject(search, tester);
    if (outcome != Outcome::Unsat) return Learned::Stopped;
  }
  return Learned::Quiet;
}

// One atom of the set is false, or some rule from outside supports the set: of each such rule a
// literal that would have to change for it.
Learned MinimalityCheck::reject(Search& search, const Tester& tester) {
  const HeadCycle& component = tester.component;
  std::vector<bool> in_set(component.atoms.size());
  size_t first = component.atoms.size();
  for (size_t a = 0; a < component.atoms.size(); ++a) {
    in_set[a] = search.value(component.atoms[a]) > 0 && tester.search->value(tester.stays[a]) < 0;
    if (in_set[a] && first == component.atoms.size()) first = a;
  }
  XLOG_CHECK(first < component.atoms.size(), "an unfounded set has an atom");
  std::vector<Literal> clause = {-component.atoms[first]};
  for (const HeadCycleRule& rule : component.rules) {
    if (std::ranges::none_of(rule.heads, [&](uint32_t h) { return in_set[h]; })) continue;
    if (std::ranges::any_of(rule.needs, [&](uint32_t n) { return in_set[n]; })) continue;
    Literal obstacle = 0;
    const auto offer = [&](Literal literal) {
      if (search.value(literal) >= 0) return;
      if (obstacle == 0 || search.level_of(literal) < search.level_of(obstacle)) obstacle = literal;
    };
    for (const Literal condition : rule.conditions) offer(condition);
    for (const uint32_t need : rule.needs) offer(component.atoms[need]);
    if (!rule.choice) {
      for (const uint32_t head : rule.heads) {
        if (!in_set[head]) offer(-component.atoms[head]);
      }
    }
    XLOG_CHECK(obstacle != 0, "no rule supports an unfounded set");
    clause.push_back(obstacle);
  }
  std::ranges::sort(clause);
  clause.erase(std::ranges::unique(clause).begin(), clause.end());
  return search.learn(clause);
}

}  // namespace xlog::solve
