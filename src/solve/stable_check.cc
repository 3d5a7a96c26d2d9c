#include "solve/stable_check.h"

#include <algorithm>

namespace xlog::solve {

void FoundedCheck::take_new_rules() {
  const auto first = static_cast<uint32_t>(positive_.size());
  const auto last = static_cast<uint32_t>(program_.rules());
  positive_.resize(last, 0);
  seen_.resize(last, 0);
  missing_.resize(last, 0);
  first_.resize(static_cast<size_t>(program_.atoms()) + 1, kNone);
  for (uint32_t r = first; r < last; ++r) {
    const Rule rule = program_.rule(r);
    for (uint32_t i = 0; i < rule.body.size(); ++i) {
      if (rule.body[i] < 0) continue;
      uint32_t& newest = first_[static_cast<size_t>(rule.body[i])];
      occurrences_.push_back({r, i, newest});
      newest = static_cast<uint32_t>(occurrences_.size() - 1);
      ++positive_[r];
    }
    if (rule.weighted || positive_[r] == 0) always_.push_back(r);
  }
}

template <typename Visit>
void FoundedCheck::for_each_occurrence(size_t atom, const Visit& visit) const {
  for (uint32_t o = first_[atom]; o != kNone; o = occurrences_[o].next) visit(occurrences_[o]);
}

void FoundedCheck::derive(std::span<const Atom> head, const std::vector<bool>& in_set) {
  for (const Atom a : head) {
    const auto i = static_cast<size_t>(a);
    if (!in_set[i] || is_derived_[i]) continue;
    is_derived_[i] = true;
    derived_.push_back(a);
  }
}

std::optional<int64_t> FoundedCheck::open_weight(const Rule& rule,
                                                 const std::vector<bool>& in_set) {
  const auto is_true = [&](Literal l) {
    return in_set[static_cast<size_t>(variable_of(l))] == (l > 0);
  };
  int64_t open = 0;
  if (!rule.weighted) {
    for (const Literal l : rule.body) {
      if (!is_true(l)) return std::nullopt;
      open += l > 0;
    }
    return open;
  }
  open = std::max<int64_t>(rule.bound, 0);
  int64_t weight = 0;
  for (size_t i = 0; i < rule.body.size(); ++i) {
    if (!is_true(rule.body[i])) continue;
    weight += rule.weights[i];
    if (rule.body[i] < 0) open -= rule.weights[i];
  }
  if (weight < rule.bound) return std::nullopt;
  return open;
}

// False where the body holds and the head does not.
bool FoundedCheck::take(uint32_t r, const std::vector<bool>& in_set) {
  const Rule rule = program_.rule(r);
  const std::optional<int64_t> open = open_weight(rule, in_set);
  if (!open) return true;
  const auto holds = [&](Atom a) { return bool{in_set[static_cast<size_t>(a)]}; };
  if (rule.head_kind == HeadKind::Disjunction && std::ranges::none_of(rule.head, holds)) {
    return false;
  }
  missing_[r] = *open;
  if (*open > 0) {
    touched_.push_back(r);
  } else {
    derive(rule.head, in_set);
  }
  return true;
}

void FoundedCheck::forget() {
  for (const uint32_t r : touched_) {
    seen_[r] = 0;
    missing_[r] = 0;
  }
  touched_.clear();
}

bool FoundedCheck::holds(const std::vector<bool>& in_set, const std::vector<bool>& given) {
  forget();
  is_derived_.assign(static_cast<size_t>(program_.atoms()) + 1, false);
  derived_.clear();
  for (Atom a = 1; a <= program_.atoms(); ++a) {
    if (given[static_cast<size_t>(a)]) derive(std::span(&a, 1), in_set);
  }
  for (const uint32_t r : always_) {
    if (!take(r, in_set)) return false;
  }
  for (size_t a = 1; a <= static_cast<size_t>(program_.atoms()); ++a) {
    if (!in_set[a]) continue;
    bool satisfied = true;
    for_each_occurrence(a, [&](const Occurrence& at) {
      if (seen_[at.rule]++ == 0) touched_.push_back(at.rule);
      if (seen_[at.rule] != positive_[at.rule] || program_.rule(at.rule).weighted) return;
      satisfied = satisfied && take(at.rule, in_set);
    });
    if (!satisfied) return false;
  }
  while (!derived_.empty()) {
    const auto a = static_cast<size_t>(derived_.back());
    derived_.pop_back();
    for_each_occurrence(a, [&](const Occurrence& at) {
      if (missing_[at.rule] <= 0) return;
      const Rule rule = program_.rule(at.rule);
      missing_[at.rule] -= rule.weighted ? rule.weights[at.place] : 1;
      if (missing_[at.rule] <= 0) derive(rule.head, in_set);
    });
  }
  return in_set == is_derived_;
}

}  // namespace xlog::solve
